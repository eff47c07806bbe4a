// The invoice page: which of its states is shown, and what is said when it changes.

import { useEffect, useMemo, useReducer } from 'preact/hooks'
import type { Invoice } from '../api/shapes.ts'
import { price } from '../money.ts'
import { Fact, Frame, shopName, usePage, What } from '../page.tsx'
import { useNow } from '../parts/deadline.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Failed, Loading } from '../parts/whole.tsx'
import { locale, t } from '../words/words.ts'
import { Awaiting } from './awaiting.tsx'
import { Confirming } from './confirming.tsx'
import { Ended, Review, Untrusted } from './ended.tsx'
import { Receipt } from './receipt.tsx'
import { Partial } from './rest.tsx'
import { tabTitle, useAnnouncements } from './said.ts'
import { isPayable, isUnderWay, openStore, type Settled, type Store } from './store.ts'

const Gone = lazy('help', async () => (await import('./gone.tsx')).Gone)
const Demo = lazy('demo', async () => (await import('./demo.tsx')).Demo)

export function InvoicePage({ id }: { id: string }) {
  const { api, config } = usePage()
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const store = useMemo(() => openStore(api, config, id, () => redraw(0)), [id])
  useEffect(() => {
    void store.refresh()
    return store.follow()
  }, [store])
  const shown = store.current()
  if (shown.kind === 'loading') return <Loading />
  if (shown.kind === 'failed') return <Failed why={shown.why} again={store.refresh} />
  return <Ready shown={shown} store={store} />
}

function Ready({ shown, store }: { shown: Settled; store: Store }) {
  const { config } = usePage()
  const { invoice } = shown
  const now = useNow()
  const shop = shopName(config, invoice.merchant.display_name)
  const deadline = deadlineOf(invoice)
  const isOver = invoice.status === 'awaiting_payment' && Date.parse(deadline) <= now
  // The server says when it is over, too; its answer may add that something arrived in time.
  useEffect(() => {
    if (isOver) void store.refresh()
  }, [isOver])
  useAnnouncements(invoice, shown.kind === 'untrusted')
  const isOpen = shown.kind === 'ready' && !isOver && isPayable(invoice)
  return (
    <Frame
      shop={shop}
      title={tabTitle(shown, isOver)}
      isTest={!invoice.livemode}
      isStale={store.isStale()}
      what={<What description={invoice.description} price={price(invoice.amount.amount, invoice.amount.currency, locale())} />}
      aside={<Aside isOpen={isOpen} hasMoney={invoice.payments.length > 0} />}
    >
      {isOpen && invoice.payments.some((payment) => payment.status === 'reversed') && <Gone />}
      <Main shown={shown} store={store} shop={shop} now={now} deadline={deadline} isOver={isOver} />
      {config.isDemo && (isOpen || isUnderWay(invoice)) && <Demo invoice={invoice} store={store} />}
    </Frame>
  )
}

/** A link's invoice has to be given a network first, and that sooner. */
const deadlineOf = (invoice: Invoice) =>
  invoice.select_by !== null && invoice.payment_options.length === 0 ? invoice.select_by : invoice.expires_at

interface Main {
  shown: Settled
  store: Store
  shop: string
  now: number
  deadline: string
  isOver: boolean
}

function Main({ shown, store, shop, now, deadline, isOver }: Main) {
  const { invoice } = shown
  if (shown.kind === 'untrusted') return <Untrusted invoice={invoice} shop={shop} why={shown.why} />
  switch (invoice.status) {
    case 'awaiting_payment':
      if (!isOver) return <Awaiting invoice={invoice} ways={shown.ways} hidden={shown.hidden} store={store} shop={shop} now={now} deadline={deadline} />
      return <Expired invoice={invoice} shop={shop} />
    case 'expired':
      return <Expired invoice={invoice} shop={shop} />
    case 'partially_paid':
      if (!isPayable(invoice)) return <Expired invoice={invoice} shop={shop} />
      return <Partial invoice={invoice} ways={shown.ways} store={store} shop={shop} now={now} />
    case 'detected':
    case 'confirming':
      return <Confirming invoice={invoice} store={store} />
    case 'paid':
    case 'overpaid':
    case 'paid_late':
      return <Receipt invoice={invoice} shop={shop} store={store} />
    case 'under_review':
      return <Review invoice={invoice} shop={shop} />
    case 'cancelled':
      return (
        <Ended invoice={invoice} shop={shop} glyph="cross" title={t('pay.cancelled')}>
          {t('pay.cancelled_text')}
        </Ended>
      )
  }
}

function Expired({ invoice, shop }: { invoice: Invoice; shop: string }) {
  return (
    <Ended invoice={invoice} shop={shop} glyph="clock" title={t('pay.over')}>
      {t('pay.expired_text')}
    </Ended>
  )
}

function Aside({ isOpen, hasMoney }: { isOpen: boolean; hasMoney: boolean }) {
  if (!isOpen && !hasMoney) return null
  return (
    <aside class="aside">
      {isOpen && (
        <ol class="how">
          <li>{t('pay.how_1')}</li>
          <li>{t('pay.how_2')}</li>
          <li>{t('pay.how_3')}</li>
        </ol>
      )}
      <Fact glyph="direct">{t(isOpen ? 'pay.direct' : 'pay.was_direct')}</Fact>
    </aside>
  )
}

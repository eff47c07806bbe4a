// The invoice page: which of its states is shown, and what is said when it changes.

import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { Invoice } from '../api/shapes.ts'
import { recall, remember } from '#shared/keep.ts'
import { price } from '#shared/money.ts'
import { Fact, Frame, shopName, usePage } from '../page.tsx'
import { announce } from '#shared/parts/announce.tsx'
import { useNow } from '../parts/deadline.tsx'
import { ahead, lazy } from '../parts/lazy.tsx'
import { Bones, Failed, Loading, Unsure } from '../parts/whole.tsx'
import { locale, t } from '../words/words.ts'
import { Awaiting } from './awaiting.tsx'
import { title as payTitle } from './pick.tsx'
import { restSaid, restWay } from './remaining.ts'
import { isChecked, isPayable, isUnderWay, onlyWay, openStore, type Settled, type Store } from './store.ts'
import { Untrusted } from './untrusted.tsx'

const Gone = lazy('help', async () => (await import('./gone.tsx')).Gone)
const Demo = lazy('demo', async () => (await import('./demo.tsx')).Demo)
const useLater = ahead('later', () => import('./later.tsx'))

export function InvoicePage({ id }: { id: string }) {
  const { api, config } = usePage()
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const store = useMemo(() => openStore(api, config, id, () => redraw(0)), [id])
  useEffect(() => store.follow(), [store])
  const shown = store.current()
  if (shown.kind === 'loading') return <Loading />
  if (shown.kind === 'failed') return <Failed why={shown.why} again={store.refresh} />
  return <Ready shown={shown} store={store} />
}

/** What the page is about now. */
type Face = 'untrusted' | 'unsure' | 'pay' | 'rest' | 'later'

function faceOf(shown: Settled, isOver: boolean, isUnsure: boolean): Face {
  if (shown.kind === 'untrusted') return 'untrusted'
  if (isUnsure) return 'unsure'
  if (!isPayable(shown.invoice) || isOver) return 'later'
  if (shown.invoice.status === 'awaiting_payment') return 'pay'
  return restWay(shown.invoice, shown.ways) ? 'rest' : 'later'
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
  const face = faceOf(shown, isOver, store.isUnsure())
  const later = useLater(face === 'later' || face === 'rest')
  useAnnouncements(invoice, face, later.part)

  const [picked, setPicked] = useState(() => recall(`way.${invoice.id}`))
  const choose = (asset: string | null) => {
    remember(`way.${invoice.id}`, asset ?? '')
    setPicked(asset)
  }
  const ways = shown.kind === 'ready' ? shown.ways : []
  const only = shown.kind === 'ready' ? onlyWay(ways, shown.hidden) : null
  const way = only ?? ways.find((one) => one.asset === picked)

  const isOpen = face === 'pay' || face === 'rest'
  const titles: Record<Face, () => string | undefined> = {
    untrusted: () => t('pay.untrusted'),
    unsure: () => t('pay.unsure'),
    pay: () => (isChecked(way) ? payTitle(way) : t('pay.choose')),
    rest: () => restSaid(invoice),
    later: () => later.part?.title({ invoice }),
  }
  const main = () => {
    if (shown.kind === 'untrusted') return <Untrusted invoice={invoice} shop={shop} why={shown.why} />
    if (face === 'unsure') return <Unsure />
    if (face === 'pay') {
      const isOnly = only !== null
      return <Awaiting {...{ invoice, ways, way, isOnly, choose, store, shop, now, deadline }} hidden={shown.hidden} />
    }
    if (later.part && face === 'rest') return <later.part.Partial invoice={invoice} ways={ways} store={store} shop={shop} now={now} />
    if (later.part) return <later.part.Later shown={shown} store={store} shop={shop} />
    return later.isAway ? <Unsure /> : <Bones />
  }
  return (
    <Frame
      shop={shop}
      title={titles[face]()}
      isTest={!invoice.livemode}
      isStale={store.isStale()}
      what={{ description: invoice.description, price: price(invoice.amount.amount, invoice.amount.currency, locale()) }}
      aside={<Aside isOpen={isOpen} paid={invoice.payments.length > 0 && later.part !== null} />}
    >
      {isOpen && invoice.payments.some((payment) => payment.status === 'reversed') && <Gone />}
      {main()}
      {config.isDemo && (isOpen || isUnderWay(invoice)) && <Demo invoice={invoice} store={store} />}
    </Frame>
  )
}

/** A link's invoice has to be given a network first, and that sooner. */
const deadlineOf = (invoice: Invoice) =>
  invoice.select_by !== null && invoice.payment_options.length === 0 ? invoice.select_by : invoice.expires_at

/** Says aloud what changed: once, and urgently only where the payer has to act or to stop. */
function useAnnouncements(invoice: Invoice, face: Face, later: typeof import('./later.tsx') | null): void {
  // What comes late changes no status.
  const late = invoice.closed_at === null ? '' : invoice.payments.length
  const state = face === 'rest' ? `rest ${invoice.amount_remaining?.amount}` : face === 'later' ? `${invoice.status} ${late}` : face
  const before = useRef(state)
  useEffect(() => {
    if (before.current === state || (face === 'later' && later === null)) return
    before.current = state
    if (face === 'untrusted') announce(t('pay.untrusted'), 'assertive')
    else if (face === 'unsure') announce(t('pay.unsure'), 'assertive')
    else if (face === 'rest') announce(restSaid(invoice), 'assertive')
    else if (face === 'later' && later) announce(...later.said(invoice))
  }, [state, later])
}

function Aside({ isOpen, paid }: { isOpen: boolean; paid: boolean }) {
  if (!isOpen && !paid) return null
  return (
    <aside class="aside">
      {isOpen && (
        <ol class="how">
          <li>{t('pay.how_1')}</li>
          <li>{t('pay.how_2')}</li>
          <li>{t('pay.how_3')}</li>
        </ol>
      )}
      <Fact glyph="direct">{t(isOpen ? 'pay.direct' : 'later.was_direct')}</Fact>
    </aside>
  )
}

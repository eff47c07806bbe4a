// Money that arrived for good: the receipt, which prints alone.

import type { Invoice } from '../api/shapes.ts'
import { explorerLink, networkName } from '#shared/chain/networks.ts'
import { returnLink } from '../config.ts'
import { usePage } from '../page.tsx'
import { shortened } from '#shared/parts/address.tsx'
import { Hero, networkOf, symbolOf, Tokens, tokens } from '../parts/amount.tsx'
import { Icon, type Glyph } from '#shared/parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Note, State } from '#shared/parts/state.tsx'
import { moment } from '#shared/time.ts'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import type { Store } from './store.ts'

const Email = lazy('help', async () => (await import('./email.tsx')).Email)

const GLYPHS: Partial<Record<Invoice['status'], Glyph>> = { overpaid: 'plus', paid_late: 'clock' }

export function heading(invoice: Invoice): string {
  const extra = invoice.amount_overpaid
  if (invoice.status === 'overpaid' && extra) {
    return t('later.too_much', { amount: tokens(extra.amount, symbolOf(extra.asset)) })
  }
  return t(invoice.status === 'paid_late' ? 'later.late' : 'later.paid')
}

/** The same, with an amount that stays in one line. */
function Title({ invoice }: { invoice: Invoice }) {
  const extra = invoice.amount_overpaid
  if (invoice.status !== 'overpaid' || !extra) return <>{heading(invoice)}</>
  return <Text word="later.too_much" amount={<Tokens amount={extra.amount} symbol={symbolOf(extra.asset)} />} />
}

export function Receipt({ invoice, shop, store }: { invoice: Invoice; shop: string; store: Store }) {
  const { config, query } = usePage()
  const back = returnLink(config, query.get('return_url'), invoice.return_url)
  const note = invoice.status === 'overpaid' ? t('later.too_much_text') : invoice.status === 'paid_late' ? t('later.late_text') : null
  return (
    <>
      <div class="receipt">
        <div class="card">
          <State tone="ok" glyph={GLYPHS[invoice.status] ?? 'check'} title={<Title invoice={invoice} />} isFocused>
            {invoice.amounts_received.map((one) => (
              <p key={one.asset}>
                <Hero amount={one.amount} symbol={symbolOf(one.asset)} />
              </p>
            ))}
            <p class="dim">
              <Text word="later.paid_to" shop={shop} time={moment(invoice.paid_at ?? invoice.expires_at)} />
            </p>
            {note && (
              <Note tone={invoice.status === 'paid_late' ? 'warn' : 'info'} glyph={GLYPHS[invoice.status] ?? 'alert'}>
                {note}
              </Note>
            )}
          </State>
          <Facts invoice={invoice} />
        </div>
      </div>
      <div class="after stack">
        {back && (
          <a class="btn wide primary" href={back} rel="noopener">
            <span>
              <Text word="later.return" shop={shop} />
            </span>
          </a>
        )}
        {invoice.capabilities.notify && <Email invoice={invoice} store={store} />}
        <p class="small">
          <button type="button" class="link withicon" onClick={() => print()}>
            <Icon name="print" />
            {t('later.print')}
          </button>
        </p>
      </div>
    </>
  )
}

function Facts({ invoice }: { invoice: Invoice }) {
  const counted = invoice.payments.filter((payment) => payment.status !== 'reversed')
  return (
    <dl class="facts">
      {invoice.description && (
        <>
          <dt>{t('later.for')}</dt>
          <dd>
            <bdi>{invoice.description}</bdi>
          </dd>
        </>
      )}
      <dt>{t('pay.price')}</dt>
      <dd>
        <bdi class="num ltr">
          {invoice.amount.amount} {invoice.amount.currency}
        </bdi>
      </dd>
      {counted.map((payment) => {
        const network = networkOf(payment.asset)
        const link = explorerLink(network, payment.tx_hash)
        const hash = (
          <>
            <code class="ltr short">{shortened(payment.tx_hash)}</code>
            <code class="ltr full">{payment.tx_hash}</code>
          </>
        )
        return (
          <>
            {counted.length > 1 && (
              <>
                <dt>{t('pay.received')}</dt>
                <dd>
                  <Tokens amount={payment.amount} symbol={symbolOf(payment.asset)} />
                </dd>
              </>
            )}
            <dt>{t('pay.network')}</dt>
            <dd>
              <bdi>{networkName(network, network)}</bdi>
            </dd>
            <dt>{t('later.transaction')}</dt>
            <dd>
              {link ? (
                <a href={link} rel="noopener noreferrer" target="_blank">
                  {hash}
                </a>
              ) : (
                hash
              )}
            </dd>
          </>
        )
      })}
      <dt>{t('later.number')}</dt>
      <dd>
        <code class="ltr">{invoice.id}</code>
      </dd>
    </dl>
  )
}

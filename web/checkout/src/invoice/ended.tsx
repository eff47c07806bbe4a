// States in which nothing is to be sent: over, cancelled, being checked.

import type { ComponentChildren } from 'preact'
import type { Invoice, Payment } from '../api/shapes.ts'
import { returnLink } from '../config.ts'
import { recall } from '#shared/keep.ts'
import { usePage } from '../page.tsx'
import { symbolOf, Tokens } from '../parts/amount.tsx'
import type { Glyph } from '#shared/parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { Note, State } from '#shared/parts/state.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import { Contact } from './untrusted.tsx'

const Lookup = lazy('help', async () => (await import('./below.ts')).Lookup)

interface Ended {
  invoice: Invoice
  shop: string
  glyph: Glyph
  title: string
  children: ComponentChildren
}

/** Over or cancelled: no address, and a way to find out what became of money already sent. */
export function Ended({ invoice, shop, glyph, title, children }: Ended) {
  const { config, query, go } = usePage()
  const back = returnLink(config, query.get('return_url'), invoice.return_url)
  const slug = recall(`link.${invoice.id}`)
  return (
    <div class="card">
      <State glyph={glyph} title={title} isFocused>
        {cameLate(invoice) && (
          <Note tone="info" glyph="clock">
            {t('later.came_late')}
          </Note>
        )}
        <p>{children}</p>
      </State>
      {invoice.capabilities.lookup && <Lookup invoice={invoice} isLate />}
      {(slug || back || config.supportUrl) && (
        <div class="stack">
          {slug && (
            <button type="button" class="btn wide primary" onClick={() => go(`l/${slug}`)}>
              {t('later.new')}
            </button>
          )}
          {back && (
            <a class="btn wide" href={back} rel="noopener">
              <span>
                <Text word="later.return" shop={shop} />
              </span>
            </a>
          )}
          <Contact shop={shop} />
        </div>
      )}
      <Reference invoice={invoice} />
    </div>
  )
}

/** What the shop knows this payment by, when it is asked. */
const Reference = ({ invoice }: { invoice: Invoice }) => (
  <dl class="facts">
    <dt>{t('later.reference')}</dt>
    <dd>
      <code class="ltr">{invoice.id}</code>
    </dd>
  </dl>
)

/** Money came, or is on its way, that no longer counts: it is the payer's to ask for. */
export const cameLate = (invoice: Invoice) => isOver(invoice) && invoice.payments.some(isLate)
const isOver = ({ closed_at, paid_at }: Invoice) => closed_at !== null && paid_at === null
const isLate = ({ status }: Payment) => status !== 'reversed' && status !== 'credited'

/** Nobody chose how to pay in time, so that no address was ever given out: only a choice lets it live until the end. */
const isUnpicked = (invoice: Invoice) => {
  const { select_by, closed_at, expires_at, payment_options } = invoice
  if (select_by === null) return false
  return closed_at === null ? payment_options.length === 0 : Date.parse(closed_at) < Date.parse(expires_at)
}
export const expiredText = (invoice: Invoice) => t(isUnpicked(invoice) ? 'later.unpicked_text' : 'later.expired_text')

export function Expired({ invoice, shop }: { invoice: Invoice; shop: string }) {
  return (
    <Ended invoice={invoice} shop={shop} glyph="clock" title={t('later.over')}>
      {expiredText(invoice)}
    </Ended>
  )
}

/** Being checked, without a reason: that is between the shop and whoever decides. */
export function Review({ invoice, shop }: { invoice: Invoice; shop: string }) {
  const { config } = usePage()
  const got = invoice.amounts_received[0] ?? invoice.payments[0]
  return (
    <div class="card">
      <State glyph="eye" title={t('later.review')}>
        <p>
          <Text
            word="later.review_text"
            shop={shop}
            amount={got && <Tokens amount={got.amount} symbol={symbolOf(got.asset)} />}
          />
        </p>
        <p class="dim">{t('later.review_more')}</p>
      </State>
      {config.supportUrl && (
        <div>
          <Contact shop={shop} />
        </div>
      )}
      <Reference invoice={invoice} />
    </div>
  )
}

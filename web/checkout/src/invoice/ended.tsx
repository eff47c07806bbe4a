// States in which nothing is to be sent: over, cancelled, being checked, not to be trusted.

import type { ComponentChildren } from 'preact'
import type { Invoice } from '../api/shapes.ts'
import { returnLink } from '../config.ts'
import { recall } from '../keep.ts'
import { usePage } from '../page.tsx'
import { symbolOf, Tokens } from '../parts/amount.tsx'
import { CopyButton } from '../parts/copy.tsx'
import type { Glyph } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { State } from '../parts/state.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'

const Lookup = lazy('help', async () => (await import('./lookup.tsx')).Lookup)

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
  const back = returnLink(config, query.get('return_url'))
  const slug = recall(`link.${invoice.id}`)
  return (
    <div class="card">
      <State glyph={glyph} title={title} isFocused>
        <p>{children}</p>
      </State>
      {invoice.capabilities.lookup && <Lookup invoice={invoice} isLate />}
      {(slug || back || config.supportUrl) && (
        <div class="stack">
          {slug && (
            <button type="button" class="btn wide primary" onClick={() => go(`l/${slug}`)}>
              {t('pay.new')}
            </button>
          )}
          {back && (
            <a class="btn wide" href={back} rel="noopener">
              <span>
                <Text word="pay.return" shop={shop} />
              </span>
            </a>
          )}
          {!back && <Contact shop={shop} />}
        </div>
      )}
    </div>
  )
}

/** Being checked, without a reason: that is between the shop and whoever decides. */
export function Review({ invoice, shop }: { invoice: Invoice; shop: string }) {
  const { config } = usePage()
  const got = invoice.amounts_received[0] ?? invoice.payments[0]
  return (
    <div class="card">
      <State glyph="eye" title={t('pay.review')}>
        <p>
          <Text
            word="pay.review_text"
            shop={shop}
            amount={got && <Tokens amount={got.amount} symbol={symbolOf(got.asset)} />}
          />
        </p>
        <p class="dim">{t('pay.review_more')}</p>
      </State>
      {config.supportUrl && (
        <div>
          <Contact shop={shop} />
        </div>
      )}
    </div>
  )
}

export function Untrusted({ invoice, shop, why }: { invoice: Invoice; shop: string; why: 'mismatch' | 'unpinned' }) {
  return (
    <div class="card alarm">
      <State tone="bad" glyph="stop" title={t('pay.untrusted')} isFocused>
        <p>
          <Text word={why === 'mismatch' ? 'pay.untrusted_text' : 'pay.unpinned_text'} shop={shop} />
        </p>
      </State>
      <div class="stack">
        <p>
          <b>{t('pay.todo')}</b>
        </p>
        <ol class="list">
          <li>{t('pay.todo_1')}</li>
          <li>{t('pay.todo_2')}</li>
        </ol>
        <div class="row">
          <code class="addr one">{invoice.id}</code>
          <CopyButton value={invoice.id} />
        </div>
        <Contact shop={shop} />
      </div>
    </div>
  )
}

function Contact({ shop }: { shop: string }) {
  const { config } = usePage()
  if (!config.supportUrl) return null
  return (
    <a class="btn wide" href={config.supportUrl} rel="noopener">
      <span>
        <Text word="pay.contact" shop={shop} />
      </span>
    </a>
  )
}

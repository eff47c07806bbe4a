// A page that was given a wrong address, or cannot tell: none is shown, and the payer is told to stop.

import type { Invoice } from '../api/shapes.ts'
import { usePage } from '../page.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { State } from '#shared/parts/state.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'

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

export function Contact({ shop }: { shop: string }) {
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

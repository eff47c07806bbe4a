// Pages without content: still loading, or failed.

import type { Refused } from '../api/client.ts'
import { Frame, shopName, usePage } from '../page.tsx'
import { seconds } from '../time.ts'
import { t } from '../words/words.ts'
import { State } from './state.tsx'

/** Grey bars, which do not move. */
export function Loading() {
  const { config } = usePage()
  const shop = shopName(config, null)
  return (
    <Frame shop={shop} title={shop} isTest={false}>
      <div class="card" aria-busy="true">
        <div class="stack">
          <div class="bone" />
          <div class="bone tall" />
        </div>
      </div>
    </Frame>
  )
}

interface Failed {
  /** Null when the answer could not be read. */
  why: Refused | null
  again: () => void
  missing?: { title: string; text: string }
}

export function Failed({ why, again, missing }: Failed) {
  const { config } = usePage()
  const shop = shopName(config, null)
  const isMissing = why !== null && why.status >= 400 && why.status < 500 && why.status !== 429
  const lost = missing ?? { title: t('pay.missing'), text: t('pay.missing_text') }
  const [title, text] = isMissing
    ? [lost.title, lost.text]
    : why?.status === 429
      ? [t('pay.broken'), t('pay.slow_down', { time: seconds(why.retryAfterS ?? 20) })]
      : [t('pay.broken'), why?.status === 0 ? t('pay.offline') : t('pay.broken_text')]
  return (
    <Frame shop={shop} title={title} isTest={false}>
      <div class="card">
        <State glyph="alert" title={title} isFocused>
          <p>{text}</p>
        </State>
        {!isMissing && (
          <div>
            <button type="button" class="btn wide" onClick={again}>
              {t('pay.again')}
            </button>
          </div>
        )}
      </div>
    </Frame>
  )
}

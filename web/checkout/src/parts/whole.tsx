// Pages without content: still loading, or failed.

import { Component, type ComponentChildren } from 'preact'
import type { Refused } from '#shared/api/ask.ts'
import { Frame, shopName, usePage } from '../page.tsx'
import { seconds } from '#shared/time.ts'
import { t } from '../words/words.ts'
import { State } from '#shared/parts/state.tsx'

/** Grey bars, which do not move. */
export const Bones = () => (
  <div class="card" aria-busy="true">
    <div class="stack">
      <div class="bone" />
      <div class="bone tall" />
    </div>
  </div>
)

export function Loading() {
  const { config } = usePage()
  const shop = shopName(config, null)
  return (
    <Frame shop={shop} isTest={false}>
      <Bones />
    </Frame>
  )
}

interface Failed {
  /** Null when the answer could not be read. */
  why: Refused | null
  again: () => void
  missing?: { title: string; text: string }
  /** What was known of the shop and the mode before it failed. */
  shop?: string | undefined
  isTest?: boolean
}

export function Failed({ why, again, missing, shop: known, isTest = false }: Failed) {
  const { config } = usePage()
  const shop = known ?? shopName(config, null)
  const isMissing = why !== null && why.isMissing
  const lost = missing ?? { title: t('pay.missing'), text: t('pay.missing_text') }
  const [title, text] = isMissing
    ? [lost.title, lost.text]
    : why?.status === 429
      ? [t('pay.broken'), t('pay.slow_down', { time: seconds(why.retryAfterS ?? 20) })]
      : [t('pay.broken'), t('pay.broken_text')]
  return (
    <Frame shop={shop} title={title} isTest={isTest}>
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

/** What is left to say when this page does not know how things stand: no address, and what not to do. */
export function Unsure() {
  return (
    <div class="card">
      <State glyph="alert" title={t('pay.unsure')} isFocused>
        <p>{t('pay.unsure_text')}</p>
      </State>
      <div>
        <button type="button" class="btn wide" onClick={() => location.reload()}>
          {t('pay.again')}
        </button>
      </div>
    </div>
  )
}

/** A page in a frame: only its way out. */
export function Framed() {
  const { config } = usePage()
  return (
    <Frame shop={shopName(config, null)} title={t('pay.framed')} isTest={false}>
      <div class="card">
        <State glyph="alert" title={t('pay.framed')}>
          <p>{t('pay.framed_text')}</p>
        </State>
        <div>
          <a class="btn wide primary" href={location.href} target="_top">
            {t('pay.framed_open')}
          </a>
        </div>
      </div>
    </Frame>
  )
}

/** Whatever goes wrong inside leaves a card with words, and never an empty page. */
export class Caught extends Component<{ children: ComponentChildren }, { isBroken: boolean }> {
  override state = { isBroken: false }
  static override getDerivedStateFromError = () => ({ isBroken: true })
  override render() {
    if (!this.state.isBroken) return this.props.children
    return <Broken />
  }
}

function Broken() {
  const { config } = usePage()
  return (
    <Frame shop={shopName(config, null)} title={t('pay.unsure')} isTest={false}>
      <Unsure />
    </Frame>
  )
}

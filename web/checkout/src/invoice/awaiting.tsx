// Waiting for a payment: choosing how, then sending it.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Invoice } from '../api/shapes.ts'
import { Deadline } from '../parts/deadline.tsx'
import { lazy } from '../parts/lazy.tsx'
import { t } from '../words/words.ts'
import { Pay } from './pay.tsx'
import { Pick } from './pick.tsx'
import { isChecked, type Store, type Way } from './store.ts'

const below = () => import('./below.ts')
const RateOf = lazy('help', async () => (await below()).RateOf)
const Lookup = lazy('help', async () => (await below()).Lookup)

interface Awaiting {
  invoice: Invoice
  ways: Way[]
  hidden: number
  /** What was chosen, or is the only one. */
  way: Way | null | undefined
  isOnly: boolean
  choose: (asset: string | null) => void
  store: Store
  shop: string
  now: number
  deadline: string
}

export function Awaiting({ invoice, ways, hidden, way, isOnly, choose, store, shop, now, deadline }: Awaiting) {
  const [before, setBefore] = useState<string | null>(null)
  if (!isChecked(way)) {
    const word = deadline === invoice.expires_at ? 'pay.before' : 'pay.choose_before'
    const pick = async (to: Way) => {
      if (to.address === null) await store.pick(to.asset)
      choose(to.asset)
    }
    const head = <Deadline at={deadline} word={word} now={now} />
    return <Pick ways={ways} hidden={hidden} before={before} choose={pick} head={head} />
  }
  const change = () => {
    setBefore(way.asset)
    choose(null)
  }
  return (
    <>
      <Pay
        invoice={invoice}
        way={way}
        shop={shop}
        amount={way.amount_due}
        isRest={false}
        isFocused={!isOnly}
        change={isOnly ? undefined : change}
        distrust={store.distrust}
        head={<Deadline at={invoice.expires_at} word="pay.before" now={now} />}
      />
      <After invoice={invoice}>
        {way.rate && <RateOf way={way} invoice={invoice} now={now} />}
      </After>
    </>
  )
}

/** Below the card: one quiet question, which opens the check of a transaction. */
export function After({ invoice, children }: { invoice: Invoice; children?: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div class="after stack">
      {children}
      {invoice.capabilities.lookup &&
        (isOpen ? (
          <Lookup invoice={invoice} />
        ) : (
          <p class="small">
            <button type="button" class="link" onClick={() => setOpen(true)}>
              {t('pay.sent_question')}
            </button>
          </p>
        ))}
    </div>
  )
}

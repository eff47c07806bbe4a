// Waiting for a payment: choosing how, then sending it.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Invoice } from '../api/shapes.ts'
import { recall, remember } from '../keep.ts'
import { Deadline } from '../parts/deadline.tsx'
import { lazy } from '../parts/lazy.tsx'
import { clock } from '../time.ts'
import { t } from '../words/words.ts'
import { Pay } from './pay.tsx'
import { Pick } from './pick.tsx'
import { isChecked, type Store, type Way } from './store.ts'

const Lookup = lazy('help', async () => (await import('./lookup.tsx')).Lookup)

interface Awaiting {
  invoice: Invoice
  ways: Way[]
  hidden: number
  store: Store
  shop: string
  now: number
  deadline: string
}

export function Awaiting({ invoice, ways, hidden, store, shop, now, deadline }: Awaiting) {
  const only = ways.length === 1 && hidden === 0 && ways[0]?.address ? ways[0].asset : null
  const [chosen, setChosen] = useState(() => only ?? recall(`way.${invoice.id}`))
  const [before, setBefore] = useState<string | null>(null)
  const way = ways.find((one) => one.asset === chosen)
  const choose = async (to: Way) => {
    if (to.address === null) await store.pick(to.asset)
    remember(`way.${invoice.id}`, to.asset)
    setChosen(to.asset)
  }
  if (!isChecked(way)) {
    const word = deadline === invoice.expires_at ? 'pay.before' : 'pay.choose_before'
    const head = <Deadline at={deadline} word={word} now={now} />
    return <Pick ways={ways} hidden={hidden} before={before} choose={choose} head={head} />
  }
  const isVolatile = way.symbol === 'BTC'
  return (
    <>
      <Pay
        invoice={invoice}
        way={way}
        shop={shop}
        amount={way.amount_due}
        isRest={false}
        isFocused={before !== null || only === null}
        change={
          only === null
            ? () => {
                setBefore(way.asset)
                setChosen(null)
              }
            : undefined
        }
        distrust={store.distrust}
        head={<Deadline at={invoice.expires_at} word="pay.before" now={now} />}
      />
      <After invoice={invoice}>
        {isVolatile && <p class="small dim">{t('pay.fixed', { time: clock(invoice.expires_at, now) })}</p>}
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

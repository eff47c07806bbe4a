// What the page says besides showing it: in the browser's tab, and aloud.

import { useEffect, useRef } from 'preact/hooks'
import type { Invoice } from '../api/shapes.ts'
import { recall } from '../keep.ts'
import { announce } from '../parts/announce.tsx'
import { symbolOf, tokens } from '../parts/amount.tsx'
import { t } from '../words/words.ts'
import { said as seenSaid } from './confirming.tsx'
import { title as payTitle } from './pick.tsx'
import { heading } from './receipt.tsx'
import type { Settled } from './store.ts'

const restSaid = (invoice: Invoice): string => {
  const rest = invoice.amount_remaining
  return rest ? `${t('pay.send_rest')} ${tokens(rest.amount, symbolOf(rest.asset))}` : ''
}

export function tabTitle(shown: Settled, isOver: boolean): string {
  const { invoice } = shown
  if (shown.kind === 'untrusted') return t('pay.untrusted')
  if (isOver) return t('pay.over')
  switch (invoice.status) {
    case 'awaiting_payment': {
      const way = shown.ways.find((one) => one.asset === recall(`way.${invoice.id}`))
      return way ? payTitle(way) : t('pay.choose')
    }
    case 'partially_paid':
      return restSaid(invoice)
    case 'detected':
      return t('pay.seen')
    case 'confirming':
      return t('pay.confirming')
    case 'expired':
      return t('pay.over')
    case 'under_review':
      return t('pay.review')
    case 'cancelled':
      return t('pay.cancelled')
    default:
      return heading(invoice)
  }
}

/** Says aloud what changed: once, and urgently only where the payer has to act or to stop. */
export function useAnnouncements(invoice: Invoice, isUntrusted: boolean): void {
  const state = isUntrusted ? 'untrusted' : invoice.status === 'partially_paid' ? `part ${invoice.amount_remaining?.amount}` : invoice.status
  const before = useRef(state)
  useEffect(() => {
    if (before.current === state) return
    before.current = state
    if (isUntrusted) return announce(t('pay.untrusted'), 'assertive')
    switch (invoice.status) {
      case 'detected':
      case 'confirming':
        return announce(seenSaid(invoice))
      case 'partially_paid':
        return announce(restSaid(invoice), 'assertive')
      case 'expired':
        return announce(`${t('pay.over')}. ${t('pay.expired_text')}`, 'assertive')
      case 'cancelled':
        return announce(`${t('pay.cancelled')}. ${t('pay.cancelled_text')}`, 'assertive')
      case 'under_review':
        return announce(t('pay.review'))
      case 'paid':
      case 'overpaid':
      case 'paid_late':
        return announce(heading(invoice))
    }
  }, [state])
}

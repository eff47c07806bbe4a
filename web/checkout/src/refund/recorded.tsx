// After the claim: recorded, being checked, sent, or taken back.

import type { Claim } from '../api/asked.ts'
import { explorerLink } from '#shared/chain/networks.ts'
import { networkOf, Tokens } from '../parts/amount.tsx'
import { Note, State } from '#shared/parts/state.tsx'
import { Track } from '../parts/track.tsx'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import { nameOf } from './claim.ts'

/** Whoever else opens the link learns that there is an address, and not which. */
export const masked = (address: string) =>
  address.includes('•') || address.length <= 12 ? address : `${address.slice(0, 6)} •••• ${address.slice(-4)}`

interface Recorded {
  claim: Claim
  shop: string
  /** The address was sent in after another one. */
  isTooLate: boolean
}

/** What has become of the refund, in a few words. */
export function recordedTitle({ status }: Claim): string {
  switch (status) {
    case 'cancelled':
      return t('refund.taken_back')
    case 'in_review':
      return t('refund.in_review')
    case 'sent':
      return t('refund.sent')
    default:
      return t('refund.recorded')
  }
}

export function Recorded({ claim, shop, isTooLate }: Recorded) {
  const amount = <Tokens amount={claim.amount} symbol={claim.symbol} />
  if (claim.status === 'cancelled') {
    return (
      <div class="card">
        <State glyph="cross" title={recordedTitle(claim)} isFocused>
          <p>{t('refund.taken_back_text')}</p>
        </State>
      </div>
    )
  }
  if (claim.status === 'in_review') {
    return (
      <div class="card">
        <State glyph="eye" title={recordedTitle(claim)} isFocused>
          <p>{t('refund.in_review_text')}</p>
          {isTooLate && <Note tone="warn">{t('refund.already')}</Note>}
        </State>
        <Facts claim={claim} />
      </div>
    )
  }
  const isSent = claim.status === 'sent'
  const link = claim.tx_hash ? explorerLink(claim.payout?.network ?? networkOf(claim.asset), claim.tx_hash) : null
  return (
    <>
      <div class="card">
        <State tone="ok" glyph="check" title={recordedTitle(claim)} isFocused>
          <p class="dim">
            <Text word={isSent ? 'refund.sent_text' : 'refund.recorded_text'} shop={shop} amount={amount} />
          </p>
          {isTooLate && <Note tone="warn">{t('refund.already')}</Note>}
        </State>
        <Track
          steps={[
            { name: t('refund.got_address'), text: '', state: 'past' },
            { name: t('refund.shop_sends'), text: t('refund.by_hand'), state: isSent ? 'past' : 'now' },
            { name: t('refund.sent'), text: isSent ? '' : t('refund.see_here'), state: isSent ? 'past' : 'next' },
          ]}
        />
        <Facts claim={claim} />
      </div>
      {link && (
        <div class="after">
          <p class="small">
            <a href={link} rel="noopener noreferrer" target="_blank">
              {t('pay.view')}
            </a>
          </p>
        </div>
      )}
    </>
  )
}

function Facts({ claim }: { claim: Claim }) {
  return (
    <dl class="facts">
      <dt>{t('refund.amount')}</dt>
      <dd>
        <Tokens amount={claim.amount} symbol={claim.symbol} />
      </dd>
      {claim.payout && (
        <>
          <dt>{t('pay.network')}</dt>
          <dd>
            <bdi>{nameOf(claim, claim.payout.network)}</bdi>
          </dd>
          <dt>{t('refund.address')}</dt>
          <dd>
            <code class="ltr">{masked(claim.payout.address)}</code>
          </dd>
        </>
      )}
    </dl>
  )
}

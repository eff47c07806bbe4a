// The objects that are asked for beside the invoice, each by a part of the pages that is fetched when it is needed.

import { free, hash } from '#shared/api/free.ts'
import { decimal, flag, instant, list, maybe, oneOf, part, type Reader, record, text, word } from '#shared/api/read.ts'
import { merchant } from './shapes.ts'
import type * as Api from '#shared/api/types.ts'

export const link = part<Api.CheckoutPaymentLink>()({
  livemode: flag,
  merchant,
  description: maybe(free),
  amount_type: oneOf('fixed', 'payer_chosen'),
  currency: free,
  amount: maybe(decimal),
  min_amount: maybe(decimal),
  max_amount: maybe(decimal),
  expires_at: maybe(instant),
  return_url: maybe(text),
  status: word(),
})
/** A refused order closes the page with a word of its own. */
export type Link = Omit<ReturnType<typeof link>, 'status'> & { status: string }

export const binding = part<Api.WalletBinding>()({
  asset: text,
  network: text,
  sender: text,
  destination: text,
  token_contract: maybe(text),
  amount: decimal,
  amount_base_units: decimal,
})
export type Binding = ReturnType<typeof binding>

const transfer = part<Api.LookedUpTransfer>()({ asset: text, amount: text, attributed: flag, reason: maybe(word()) })

export const lookup = part<Omit<Api.TxLookup, 'transfers'> & { transfers: ReturnType<typeof transfer>[] }>()({
  found: flag,
  network: maybe(text),
  attributed: flag,
  transfers: list(transfer),
})
export type Lookup = ReturnType<typeof lookup>

export const notice = part<Api.PayerNotice>()({ email: free, status: word() })
export type Notice = ReturnType<typeof notice>

export const exchanges = record({
  data: list(
    record({
      exchange: text,
      name: free,
      networks: list(
        record({
          network: text,
          label: maybe(free),
          withdrawal_fee: maybe(decimal),
          source_url: text,
          verified_at: maybe(instant),
        }),
      ),
    }),
  ),
}) satisfies Reader<{ data: Api.ExchangeEntry[] }>
export type Exchange = Api.ExchangeEntry

const CLAIM_STATUSES = ['unclaimed', 'ready_to_send', 'in_review', 'sent', 'cancelled'] as const

export const claim = part<Api.RefundClaim>()({
  status: oneOf(...CLAIM_STATUSES),
  amount: decimal,
  asset: text,
  symbol: free,
  merchant,
  networks: list(part<Api.ClaimNetwork>()({ network: text, network_name: free })),
  expires_at: instant,
  payout: maybe(part<Api.ClaimPayout>()({ address: text, network: text })),
  tx_hash: maybe(hash),
})
export type Claim = ReturnType<typeof claim>

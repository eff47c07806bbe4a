// The parts of the API's objects that these pages use. `part` ties them to the types that are generated
// from the OpenAPI document: a field that changes there no longer compiles here.

import { decimal, flag, instant, list, maybe, oneOf, part, type Reader, record, text } from './read.ts'
import type * as Api from './types.ts'

const STATUSES = [
  'awaiting_payment',
  'detected',
  'confirming',
  'paid',
  'partially_paid',
  'overpaid',
  'paid_late',
  'expired',
  'under_review',
  'cancelled',
] as const satisfies Api.InvoiceStatus[]

const fiat = part<Api.FiatAmount>()({ amount: decimal, currency: text })
const token = part<Api.TokenAmount>()({ amount: decimal, asset: text })
const merchant = part<Api.MerchantName>()({ display_name: maybe(text) })

const derivation: Reader<Api.AddressDerivation> = (value) => {
  const { scheme } = record({ scheme: text })(value)
  switch (scheme) {
    case 'create2_forwarder_v1':
    case 'tron_create2_forwarder_v1':
      return record({ scheme: oneOf(scheme), factory: text, salt: text, destination: text })(value)
    case 'bip84_v1':
      return record({ scheme: oneOf(scheme), account_xpub: text, path: text })(value)
    default:
      return record({
        scheme: oneOf('program_address_v1'),
        program: text,
        destination: text,
        salt: text,
        mint: text,
      })(value)
  }
}

const pendingOption = part<Api.PendingOption>()({
  asset: text,
  symbol: text,
  network: text,
  network_name: text,
  amount_due: decimal,
})

const paymentOption = part<Api.CheckoutPaymentOption>()({
  asset: text,
  symbol: text,
  network: text,
  network_name: text,
  amount_due: decimal,
  address: text,
  address_derivation: maybe(derivation),
})

const payment = part<Api.CheckoutPayment>()({
  asset: text,
  amount: decimal,
  tx_hash: text,
  finality: text,
  status: text,
})

const capabilities = part<Api.Capabilities>()({
  wallet_payments: flag,
  notify: flag,
  lookup: flag,
  exchanges: flag,
})

export const invoice = part<Api.CheckoutInvoice>()({
  id: text,
  livemode: flag,
  status: oneOf(...STATUSES),
  amount: fiat,
  description: maybe(text),
  payment_options: list(paymentOption),
  pending_options: list(pendingOption),
  select_by: maybe(instant),
  amount_remaining: maybe(token),
  amount_overpaid: maybe(token),
  amounts_received: list(token),
  expires_at: instant,
  paid_at: maybe(instant),
  closed_at: maybe(instant),
  merchant,
  address_held_until: maybe(instant),
  as_of: instant,
  payments: list(payment),
  capabilities,
  session_token: text,
})
export type Invoice = ReturnType<typeof invoice>
export type Payment = ReturnType<typeof payment>

/** Of a streamed event only as much as tells whether there is news, and when a payment was first seen. */
export const news = record({
  id: (value) => (typeof value === 'number' ? value : 0),
  type: text,
  created_at: instant,
  invoice: record({ status: text, payments: list(payment) }),
}) satisfies Reader<Pick<Api.InvoiceEvent, 'id' | 'type' | 'created_at'>>

export const link = part<Api.CheckoutPaymentLink>()({
  livemode: flag,
  merchant,
  description: maybe(text),
  amount_type: oneOf('fixed', 'payer_chosen'),
  currency: text,
  amount: maybe(decimal),
  min_amount: maybe(decimal),
  max_amount: maybe(decimal),
  expires_at: maybe(instant),
  status: text,
})
export type Link = ReturnType<typeof link>

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

const transfer = part<Api.LookedUpTransfer>()({ asset: text, amount: text, attributed: flag, reason: maybe(text) })

export const lookup = part<Omit<Api.TxLookup, 'transfers'> & { transfers: ReturnType<typeof transfer>[] }>()({
  found: flag,
  network: maybe(text),
  attributed: flag,
  transfers: list(transfer),
})
export type Lookup = ReturnType<typeof lookup>

export const notice = part<Api.PayerNotice>()({ email: text, status: text })
export type Notice = ReturnType<typeof notice>

export const exchanges = record({
  data: list(
    record({
      exchange: text,
      name: text,
      networks: list(
        record({
          network: text,
          label: maybe(text),
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
  symbol: text,
  merchant,
  networks: list(part<Api.ClaimNetwork>()({ network: text, network_name: text })),
  expires_at: instant,
  payout: maybe(part<Api.ClaimPayout>()({ address: text, network: text })),
  tx_hash: maybe(text),
})
export type Claim = ReturnType<typeof claim>

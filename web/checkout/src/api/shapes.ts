// The parts of the API's objects that these pages use. `part` ties them to the types that are generated
// from the OpenAPI document: a field that changes there no longer compiles here.

import { free, hash } from '#shared/api/free.ts'
import { decimal, flag, instant, list, maybe, oneOf, part, type Reader, record, text, word } from '#shared/api/read.ts'
import type * as Api from '#shared/api/types.ts'

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

const fiat = part<Api.FiatAmount>()({ amount: decimal, currency: free })
const token = part<Api.TokenAmount>()({ amount: decimal, asset: text })
export const merchant = part<Api.MerchantName>()({ display_name: free })

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

const rate = part<Api.Rate>()({ price: decimal, at: instant, sources: list(free) })

const offered = {
  asset: text,
  symbol: free,
  network: text,
  network_name: free,
  amount_due: decimal,
  rate: maybe(rate),
}

const pendingOption = part<Api.PendingOption>()(offered)

const paymentOption = part<Api.CheckoutPaymentOption>()({ ...offered, address: text, address_derivation: maybe(derivation) })

const payment = part<Api.CheckoutPayment>()({
  asset: text,
  amount: decimal,
  tx_hash: hash,
  finality: word(),
  status: word(),
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
  description: maybe(free),
  payment_options: list(paymentOption),
  pending_options: list(pendingOption),
  select_by: maybe(instant),
  amount_remaining: maybe(token),
  amount_overpaid: maybe(token),
  amounts_received: list(token),
  expires_at: instant,
  paid_at: maybe(instant),
  closed_at: maybe(instant),
  address_held_until: maybe(instant),
  as_of: instant,
  return_url: maybe(text),
  merchant,
  payments: list(payment),
  capabilities,
  session_token: text,
})
export type Invoice = ReturnType<typeof invoice>
export type Payment = ReturnType<typeof payment>

/** Of a streamed event only as much as tells whether there is news, and when a payment was first seen. */
export const news = record({
  id: (value) => (typeof value === 'number' ? value : 0),
  type: word<Api.InvoiceEvent['type']>(),
  created_at: instant,
  invoice: record({ status: text, payments: list(payment) }),
}) satisfies Reader<Pick<Api.InvoiceEvent, 'id' | 'type' | 'created_at'>>

// Written by scripts/api-types.mjs from openapi.json. Do not edit.

/** How anyone can compute the deposit address again. */
export type AddressDerivation = {
  scheme: "create2_forwarder_v1"
  factory: string
  salt: string
  destination: string
} | {
  scheme: "tron_create2_forwarder_v1"
  factory: string
  salt: string
  destination: string
} | {
  scheme: "bip84_v1"
  account_xpub: string
  path: string
} | {
  scheme: "program_address_v1"
  program: string
  destination: string
  salt: string
  mint: string
}

/** Who sets the amount of a payment link. */
export type AmountType = "fixed" | "payer_chosen"

export type BindWalletRequest = {
  asset: string
  sender: string
  proof?: string | null
}

/** What the payer's page can offer for this invoice. */
export type Capabilities = {
  wallet_payments: boolean
  notify: boolean
  lookup: boolean
  exchanges: boolean
}

/** An invoice as its payer sees it. */
export type CheckoutInvoice = {
  id: string
  object: "checkout_invoice"
  livemode: boolean
  status: InvoiceStatus
  amount: FiatAmount
  description: string | null
  payment_options: CheckoutPaymentOption[]
  pending_options: PendingOption[]
  select_by: string | null
  amounts_received: TokenAmount[]
  amount_remaining?: TokenAmount | null
  amount_overpaid?: TokenAmount | null
  expires_at: string
  created_at: string
  paid_at: string | null
  closed_at: string | null
  address_held_until: string | null
  as_of: string
  checkout_url: string
  return_url: string | null
  payment_link: string | null
  merchant: MerchantName
  payments: CheckoutPayment[]
  capabilities: Capabilities
  session_token: string
}

/** A payment as the payer sees it. */
export type CheckoutPayment = {
  asset: string
  amount: string
  tx_hash: string
  finality: string
  status: string
}

/** A payment link as its payers see it. */
export type CheckoutPaymentLink = {
  object: "checkout_payment_link"
  livemode: boolean
  slug: string
  merchant: MerchantName
  description: string | null
  amount_type: AmountType
  currency: string
  amount: string | null
  min_amount: string | null
  max_amount: string | null
  expires_at: string | null
  return_url: string | null
  status: string
}

/** One way to pay, with what the address was computed from. */
export type CheckoutPaymentOption = {
  asset: string
  symbol: string
  network: string
  network_name: string
  amount_due: string
  address: string
  address_derivation: AddressDerivation | null
}

/** A network on which a refund can be received. */
export type ClaimNetwork = {
  network: string
  network_name: string
}

/** Where a payer wants a refund. */
export type ClaimPayout = {
  network: string
  address: string
}

export type ClaimRefundRequest = {
  network: string
  address: string
}

export type ExchangeEntry = {
  exchange: string
  name: string
  networks: ExchangeNetwork[]
}

/** Exchanges a payer may pay from. */
export type ExchangeList = {
  object: "list"
  data: ExchangeEntry[]
  next_cursor: string | null
}

export type ExchangeNetwork = {
  network: string
  label: string | null
  withdrawal_fee: string | null
  source_url: string
  verified_at: string | null
}

/** A price in a fiat currency. */
export type FiatAmount = {
  amount: string
  currency: string
}

/** One event of an invoice's live stream. */
export type InvoiceEvent = {
  id: number
  type: string
  invoice_id: string
  created_at: string
  invoice: StreamedInvoice
}

/** Where an invoice stands. */
export type InvoiceStatus = "awaiting_payment" | "detected" | "confirming" | "paid" | "partially_paid" | "overpaid" | "paid_late" | "expired" | "under_review" | "cancelled"

export type LinkInvoiceRequest = {
  amount?: string | null
}

/** A transfer inside a transaction that was looked up. */
export type LookedUpTransfer = {
  asset: string
  amount: string
  to: string
  attributed: boolean
  reason: string | null
}

/** Who is being paid. */
export type MerchantName = {
  display_name: string
}

export type NotifyRequest = {
  email: string
  locale?: string | null
  session_token: string
}

/** The address a receipt goes to. */
export type PayerNotice = {
  object: "payer_notice"
  email: string
  locale: string
  status: string
}

/** One way to pay that has no address until the payer picks it. */
export type PendingOption = {
  asset: string
  symbol: string
  network: string
  network_name: string
  amount_due: string
}

export type PickOptionRequest = {
  asset: string
}

/** A refund as its payer sees it. What the lists say is the merchant's to know. */
export type RefundClaim = {
  object: "refund_claim"
  status: string
  amount: string
  asset: string
  symbol: string
  merchant: MerchantName
  networks: ClaimNetwork[]
  expires_at: string
  payout: ClaimPayout | null
  tx_hash: string | null
}

/** An invoice as its live stream shows it to the payer. */
export type StreamedInvoice = {
  id: string
  object: "checkout_invoice"
  livemode: boolean
  status: InvoiceStatus
  amount: FiatAmount
  description: string | null
  payment_options: CheckoutPaymentOption[]
  pending_options: PendingOption[]
  select_by: string | null
  amounts_received: TokenAmount[]
  amount_remaining?: TokenAmount
  amount_overpaid?: TokenAmount
  expires_at: string
  created_at: string
  paid_at: string | null
  closed_at: string | null
  return_url: string | null
  payment_link: string | null
  merchant: MerchantName
  payments: CheckoutPayment[]
}

/** An amount of one asset. */
export type TokenAmount = {
  amount: string
  asset: string
}

/** What is known of a transaction. For information: looking never credits. */
export type TxLookup = {
  object: "tx_lookup"
  tx_hash: string
  found: boolean
  network: string | null
  transfers: LookedUpTransfer[]
  attributed: boolean
}

/** What a connected wallet must send. */
export type WalletBinding = {
  object: "wallet_binding"
  asset: string
  symbol: string
  network: string
  sender: string
  destination: string
  token_contract: string | null
  decimals: number
  amount: string
  amount_base_units: string
  expires_at: string
}

// Written by sdk/scripts/generate.mjs from openapi.json. Do not edit.

/** How anyone can compute the deposit address again. */
export type AddressDerivation = {
  scheme: 'create2_forwarder_v1'
  factory: string
  salt: string
  destination: string
} | {
  scheme: 'tron_create2_forwarder_v1'
  factory: string
  salt: string
  destination: string
} | {
  scheme: 'bip84_v1'
  account_xpub: string
  path: string
} | {
  scheme: 'program_address_v1'
  program: string
  destination: string
  salt: string
  mint: string
}

/** Exactly one of the two. */
export interface AdvanceClockRequest {
  advance_seconds?: number | null
  advance_to?: string | null
}

/** Who sets the amount of a payment link. */
export type AmountType = 'fixed' | 'payer_chosen'

/** A token or coin on a network, and whether this account can be paid in it. */
export interface Asset {
  /** The code by which requests name it. */
  asset: string
  symbol: string
  /** CAIP-2 id of the network. */
  network: string
  network_name: string
  /** CAIP-2 namespace: `eip155`, `tron` or `bip122`. */
  family: 'eip155' | 'tron' | 'bip122' | 'solana'
  decimals: number
  /** Whether its price moves against currencies. */
  volatile: boolean
  /**
   * The one currency that a stablecoin is priced in; null for what is volatile, which goes with every currency that
   * there is a price in.
   */
  currency: string | null
  /** Whether invoices of this account can offer it now. */
  available: boolean
  /**
   * Why not: `no_destination` (no payout address on its chain), `not_watched` (live mode, and this server has no
   * endpoints of its network) or `no_price` (no current price in any currency).
   */
  unavailable_reason: 'no_destination' | 'not_watched' | 'no_price' | null
}

export interface BindWalletRequest {
  /** One of the invoice's options, on an EVM or TRON network. */
  asset: string
  /**
   * The connected wallet's address, as it shows it. Not a deposit address, a merchant's destination, or
   * the contract of a token or factory.
   */
  sender: string
  /**
   * The wallet's signature (EIP-191, on TRON TIP-191; 65 bytes in hexadecimal) over four lines:
   * `Till wallet binding`, the invoice's id, and `asset` and `sender` as they are sent here. Must be right if it is
   * there; a server with `wallets.require_proof` binds no wallet without it.
   */
  proof?: string | null
}

export interface CancelSubscriptionRequest {
  /** True: the subscription ends with the period that is paid for. */
  at_period_end?: boolean | null
}

/** What the payer's page can offer for this invoice. */
export interface Capabilities {
  wallet_payments: boolean
  notify: boolean
  lookup: boolean
  exchanges: boolean
}

/** An invoice as its payer sees it. */
export interface CheckoutInvoice {
  id: string
  object: 'checkout_invoice'
  livemode: boolean
  status: InvoiceStatus
  amount: FiatAmount
  description: string | null
  /** Empty once the invoice is closed. */
  payment_options: CheckoutPaymentOption[]
  /** Empty once the invoice is closed. */
  pending_options: PendingOption[]
  select_by: string | null
  amounts_received: TokenAmount[]
  amount_remaining?: TokenAmount | null
  amount_overpaid?: TokenAmount | null
  expires_at: string
  created_at: string
  paid_at: string | null
  closed_at: string | null
  /**
   * Once closed: until when its addresses are still its own, so that money which comes late is found here. Null while it is
   * open, and where it never had an address.
   */
  address_held_until: string | null
  /** When this was so, by the clock that decides about this invoice: in test mode the one that the merchant moves. */
  as_of: string
  checkout_url: string
  /** Where to go afterwards. */
  return_url: string | null
  payment_link: string | null
  merchant: MerchantName
  payments: CheckoutPayment[]
  capabilities: Capabilities
  /** Bound to this invoice and this visit; keep it to the page. */
  session_token: string
}

/** A payment as the payer sees it. */
export interface CheckoutPayment {
  asset: string
  amount: string
  tx_hash: string
  finality: Finality
  status: PaymentStatus
}

/** A payment link as its payers see it. */
export interface CheckoutPaymentLink {
  object: 'checkout_payment_link'
  livemode: boolean
  slug: string
  merchant: MerchantName
  description: string | null
  /** `fixed` or `payer_chosen`. */
  amount_type: AmountType
  currency: string
  amount: string | null
  min_amount: string | null
  max_amount: string | null
  expires_at: string | null
  /** Where to go from the link itself; null where the way back leads from an invoice only. */
  return_url: string | null
  /** Whether it takes payments: `active`, or why not: `inactive`, `expired`, `sold_out`, `fully_reserved`. */
  status: 'active' | 'inactive' | 'expired' | 'sold_out' | 'fully_reserved'
}

/** One way to pay, with what the address was computed from. */
export interface CheckoutPaymentOption {
  asset: string
  symbol: string
  network: string
  network_name: string
  amount_due: string
  rate?: Rate | null
  address: string
  address_derivation: AddressDerivation | null
}

/** A network on which a refund can be received. */
export interface ClaimNetwork {
  /** CAIP-2 id. */
  network: string
  network_name: string
}

/** Where a payer wants a refund. */
export interface ClaimPayout {
  network: string
  address: string
}

export interface ClaimRefundRequest {
  /** One of `networks[].network`. */
  network: string
  /** Where to send it on that network. */
  address: string
}

export interface CreateCustomerRequest {
  name?: string | null
  /** Stored encrypted; used only for reminders of this customer's renewals. */
  email?: string | null
  /** Up to 20 pairs, keys of at most 40 and values of at most 500 characters. */
  metadata?: Record<string, string> | null
}

export interface CreateInvoiceRequest {
  /** Price in major units of the currency, as a decimal string. */
  amount: string
  /** ISO 4217 code. Stablecoins are priced only in their own currency. */
  currency: string
  /** Asset codes to offer. Default: the merchant's `default_assets`. */
  assets?: string[] | null
  /** Shown to the payer. */
  description?: string | null
  /** Your own reference, never shown to the payer. */
  customer_ref?: string | null
  /**
   * Where the payer goes afterwards, an https: address (in test mode also http: of the payer's own computer);
   * `{invoice}` stands for the id. Default: the merchant's.
   */
  return_url?: string | null
  /** Up to 20 pairs, keys of at most 40 and values of at most 500 characters. Never shown to the payer. */
  metadata?: Record<string, string> | null
}

export interface CreatePaymentLinkRequest {
  amount_type: AmountType
  /** ISO 4217 code. */
  currency: string
  /** Required for a fixed link, refused for a payer-chosen one. */
  amount?: string | null
  min_amount?: string | null
  max_amount?: string | null
  description?: string | null
  /** Default: the merchant's defaults when each invoice is made. */
  assets?: string[] | null
  quantity_limit?: number | null
  /** Must be in the future. */
  expires_at?: string | null
  /**
   * Where payers go afterwards, an https: address (in test mode also http: of their own computer); `{invoice}` stands
   * for the id. Default: the merchant's.
   */
  return_url?: string | null
  /** Copied to every invoice made from the link. */
  metadata?: Record<string, string> | null
  active?: boolean | null
}

export interface CreatePlanRequest {
  name: string
  /** Price per period in major units of the currency. */
  amount: string
  /** ISO 4217 code. */
  currency: string
  interval: IntervalUnit
  /** At most 365 days, 52 weeks, 12 months or 1 year. */
  interval_count?: number | null
  trial_days?: number | null
  /** How long a renewal may stay unpaid before the subscription is past due. */
  grace_days?: number | null
  /** Invoices per period before the subscription is cancelled. */
  max_attempts?: number | null
  /** Default: the merchant's defaults when each invoice is made. */
  assets?: string[] | null
  /** IANA name of the time zone in which periods are counted. */
  billing_timezone?: string | null
}

export interface CreateRefundRequest {
  /** Whole tokens. Default: what was paid too much. */
  amount?: string | null
  /** An asset that the invoice received, a wrong one too. Default: the one it was paid in. */
  asset?: string | null
  reason?: RefundReason | null
}

export interface CreateSubscriptionRequest {
  customer: string
  /** Must be active. */
  plan: string
  /** In place of the plan's own trial; 0 starts billing now. */
  trial_days?: number | null
  /** Up to 20 pairs, keys of at most 40 and values of at most 500 characters. */
  metadata?: Record<string, string> | null
}

/** Who subscribes. */
export interface Customer {
  id: string
  object: 'customer'
  livemode: boolean
  name: string | null
  /** Stored encrypted; used only for reminders of this customer's renewals. */
  email: string | null
  metadata: Record<string, string>
  /** Prepaid credit in the tokens that arrived. Present when the customer is retrieved by its id. */
  credit?: TokenAmount[]
  created_at: string
}

export type Decision = 'accept' | 'reject'

/** What became of a delivery attempt. */
export type DeliveryStatus = 'pending' | 'succeeded' | 'failed'

/** Something that the views disagree about. */
export interface Discrepancy {
  /** Null for `digest_mismatch`, which is about a day and not about an asset. */
  asset: string | null
  /**
   * `refunded_beyond_received`, `chain`, `ledger_chain`, `invoice_chain`, `refund_not_paid`, `sent_in_review`,
   * `sent_after_cancel`, `unknown_payment`, `unattributed` or `digest_mismatch`, which are flagged; `pending`, `reversed`, `held`, `dust`, `excess_not_shown`,
   * `excess_is_credit` or `sent_in_another_asset`, which explain;
   * `refunded_and_reversed`, which is flagged until its invoice is paid.
   */
  kind: string
  amount: string
  /** `explained` or `flagged`. */
  severity: 'explained' | 'flagged'
  invoice: string | null
  network: string | null
  tx_hash: string | null
  index: number | null
  detail: string
}

export interface ErrorBody {
  /** The class of the error. */
  type: 
    | 'invalid_request_error'
    | 'authentication_error'
    | 'permission_error'
    | 'idempotency_error'
    | 'rate_limit_error'
    | 'api_error'
  /** Stable; branch on it. */
  code: 
    | 'body_invalid_json'
    | 'body_too_large'
    | 'content_type_invalid'
    | 'method_not_allowed'
    | 'parameter_invalid'
    | 'parameter_missing'
    | 'parameter_unknown'
    | 'resource_missing'
    | 'route_not_found'
    | 'api_key_missing'
    | 'api_key_invalid'
    | 'authorization_header_invalid'
    | 'secret_key_in_url'
    | 'publishable_key_not_allowed'
    | 'api_key_permission_denied'
    | 'livemode_disabled'
    | 'mode_not_configured'
    | 'test_mode_only'
    | 'idempotency_key_required'
    | 'idempotency_key_invalid'
    | 'idempotency_key_reused'
    | 'idempotency_key_in_use'
    | 'currency_unsupported'
    | 'asset_unavailable'
    | 'price_unavailable'
    | 'deposit_addresses_exhausted'
    | 'invoice_not_awaiting_payment'
    | 'invoice_not_cancellable'
    | 'review_not_open'
    | 'review_requires_dashboard'
    | 'asset_not_offered'
    | 'wallet_unsupported'
    | 'sender_invalid'
    | 'wallet_binding_limit'
    | 'unique_amount_unavailable'
    | 'checkout_session_invalid'
    | 'email_invalid'
    | 'notify_limit_reached'
    | 'notify_session_mismatch'
    | 'feature_unavailable'
    | 'amount_invalid'
    | 'amount_required'
    | 'asset_not_received'
    | 'nothing_received'
    | 'refund_exceeds_received'
    | 'refund_not_ready'
    | 'refund_already_sent'
    | 'network_unavailable'
    | 'claim_expired'
    | 'claim_cancelled'
    | 'claim_already_sent'
    | 'claim_already_submitted'
    | 'amount_too_small'
    | 'amount_too_large'
    | 'payment_link_inactive'
    | 'payment_link_expired'
    | 'payment_link_sold_out'
    | 'payment_link_fully_reserved'
    | 'payment_link_busy'
    | 'plan_archived'
    | 'subscription_state'
    | 'subscription_invoice_failed'
    | 'destination_immutable'
    | 'live_change_requires_dashboard'
    | 'webhook_url_forbidden'
    | 'webhook_url_missing'
    | 'rate_limited'
    | 'internal_error'
    | 'service_unavailable'
    | 'account_disabled'
    | 'cannot_change_self'
    | 'csrf_failed'
    | 'no_organization'
    | 'operator_conflict'
    | 'origin_not_allowed'
    | 'permission_denied'
    | 'role_not_assignable'
    | 'second_factor_required'
    | 'step_up_required'
    | 'address_invalid'
    | 'destination_invalid'
    | 'network_invalid'
    | 'network_not_enabled'
    | 'no_change'
    | 'already_member'
    | 'application_approved'
    | 'application_pending'
    | 'application_not_approved'
    | 'application_not_reviewable'
    | 'change_pending'
    | 'change_not_pending'
    | 'destinations_not_ready'
    | 'last_owner'
    | 'mfa_not_pending'
    | 'passkey_already_registered'
    | 'passkey_required'
    | 'totp_already_enabled'
    | 'totp_not_set_up'
    | 'ceremony_expired'
    | 'invite_invalid'
    | 'magic_link_invalid'
    | 'passkey_failed'
    | 'session_expired'
    | 'session_missing'
    | 'signup_link_invalid'
    | 'too_many_attempts'
    | 'too_many_signups'
    | 'already_paid'
    | 'invoice_cancelled'
  /** For people; may change. */
  message: string
  /** The field concerned, when there is one. */
  param: string | null
  /** The code's documentation. */
  doc_url: string
  /** The same as the `x-request-id` header. */
  request_id: string
}

export interface ExchangeEntry {
  exchange: string
  name: string
  networks: ExchangeNetwork[]
}

/** Exchanges a payer may pay from. */
export interface ExchangeList {
  object: 'list'
  data: ExchangeEntry[]
  next_cursor: string | null
}

export interface ExchangeNetwork {
  /** CAIP-2 id. */
  network: string
  /** The network's name on the withdrawal screen; null unless verified. */
  label: string | null
  withdrawal_fee: string | null
  source_url: string
  verified_at: string | null
}

/** A price in a fiat currency. */
export interface FiatAmount {
  /** Major units as a decimal string, never a JSON number. */
  amount: string
  /** ISO 4217 code. */
  currency: string
}

/** A sum. */
export interface Figure {
  item: string
  amount: string
}

/** How settled the chain holds a transfer to be. */
export type Finality = 'pending' | 'included' | 'safe' | 'final'

/** What periods are counted in. */
export type IntervalUnit = 'day' | 'week' | 'month' | 'year'

/** An invoice as its merchant sees it. */
export interface Invoice {
  id: string
  object: 'invoice'
  livemode: boolean
  /** See the states of an invoice. */
  status: InvoiceStatus
  amount: FiatAmount
  description: string | null
  /** Your own reference; never shown to the payer. */
  customer_ref: string | null
  /** Your own data; never shown to the payer. */
  metadata: Record<string, string>
  payment_options: PaymentOption[]
  /** Options of a payment-link invoice whose payer has not picked a network yet. */
  pending_options: PendingOption[]
  /** When a payment-link invoice expires unless a network was picked. */
  select_by: string | null
  /** What was received, final and not reversed, per asset. */
  amounts_received: TokenAmount[]
  amount_remaining?: TokenAmount | null
  amount_overpaid?: TokenAmount | null
  review?: Review | null
  expires_at: string
  created_at: string
  paid_at: string | null
  closed_at: string | null
  /** Where the payer pays. */
  checkout_url: string
  /** Where the payer goes afterwards. */
  return_url: string | null
  payment_link: string | null
  customer: string | null
  subscription: string | null
}

/** One event of an invoice's live stream. */
export interface InvoiceEvent {
  /** The event's number in this invoice's stream, from 1, without gaps. */
  id: number
  /** `invoice.created` or `invoice.{status}`. */
  type: 
    | 'invoice.created'
    | 'invoice.awaiting_payment'
    | 'invoice.detected'
    | 'invoice.confirming'
    | 'invoice.paid'
    | 'invoice.partially_paid'
    | 'invoice.overpaid'
    | 'invoice.paid_late'
    | 'invoice.expired'
    | 'invoice.under_review'
    | 'invoice.cancelled'
  invoice_id: string
  created_at: string
  /** The payer's view of the invoice at that moment. */
  invoice: StreamedInvoice
}

/** Where an invoice stands. */
export type InvoiceStatus = 
  | 'awaiting_payment'
  | 'detected'
  | 'confirming'
  | 'paid'
  | 'partially_paid'
  | 'overpaid'
  | 'paid_late'
  | 'expired'
  | 'under_review'
  | 'cancelled'

/** One asset in one group. */
export interface LedgerBalance {
  asset: string
  /** `received`, `held`, `settled`, `overpaid`, `refundable`, `prepaid_credit`, `refunds_due` or `refunds_sent`. */
  account: 
    | 'received'
    | 'held'
    | 'settled'
    | 'overpaid'
    | 'refundable'
    | 'prepaid_credit'
    | 'refunds_due'
    | 'refunds_sent'
  /** Before `from`. */
  opening: string
  /** What moved it in the period. */
  postings: string
  /** Before `to`. */
  closing: string
  /** What moved it in the equally long period before. */
  previous_period: string
}

/** The ledger's balances over a period. */
export interface LedgerBalances {
  object: 'ledger_balances'
  from: string
  to: string
  balances: LedgerBalance[]
}

export interface LinkInvoiceRequest {
  /** Required for payer-chosen links, omitted for fixed ones. */
  amount?: string | null
}

/** A transfer inside a transaction that was looked up. */
export interface LookedUpTransfer {
  asset: string
  amount: string
  to: string
  attributed: boolean
  /**
   * Why it is not attributed to this invoice; null when it is. One of `not_for_this_invoice`,
   * `not_in_the_chain_any_more`, `not_observed_yet` (it is for this invoice, but we have not seen it
   * ourselves), `asset_not_offered`.
   */
  reason: 'not_for_this_invoice' | 'not_in_the_chain_any_more' | 'not_observed_yet' | 'asset_not_offered' | null
}

export interface MarkSentRequest {
  /** `0x` and 64 hex digits; without `0x` on TRON and Bitcoin; a Solana signature. */
  tx_hash: string
}

/** Who is being paid. */
export interface MerchantName {
  /** The name that the merchant chose, or else the account's. */
  display_name: string
}

/** A merchant's settings in one mode. */
export interface MerchantSettings {
  object: 'merchant_settings'
  livemode: boolean
  display_name: string | null
  webhook_url: string | null
  /** Assets offered when an invoice names none. */
  default_assets: string[] | null
  /** How much less than the price still pays a new invoice, in basis points. */
  underpay_tolerance_bps: number | null
  /** An invoice that receives this much or more, as an amount of its own currency, waits for a person. */
  manual_review_amount: string | null
  /** Where payers ask for help: an https: or mailto: address. */
  support_url: string | null
  /** Where payers go afterwards, unless the invoice or the payment link says otherwise; `{invoice}` stands for the id. */
  return_url: string | null
  /** The colour of payers' pages. */
  accent: string | null
  /** Payout addresses by CAIP-2 namespace; an account key for `bip122`. Read-only here. */
  registered_destinations: Record<string, string>
}

export interface NotifyRequest {
  email: string
  /** A language tag; default `en`. */
  locale?: string | null
  /** From the payer's view of this invoice. */
  session_token: string
}

/** The address a receipt goes to. */
export interface PayerNotice {
  object: 'payer_notice'
  /** Masked: whoever loads the page does not learn it. */
  email: string
  /** The language the mails are written in. */
  locale: string
  /** `scheduled` or `sent`. */
  status: 'scheduled' | 'sent'
}

/** An on-chain transfer attributed to an invoice. */
export interface Payment {
  id: string
  object: 'payment'
  livemode: boolean
  invoice: string
  /** `pending`, `confirming`, `credited`, `held`, `refundable` or `reversed`. */
  status: PaymentStatus
  /** `pending`, `included`, `safe` or `final`. */
  finality: Finality
  asset: string
  symbol: string
  network: string
  /** Whole tokens. */
  amount: string
  tx_hash: string
  /** Log index, output number or instruction index. */
  index: number
  block_number: number | null
  block_hash: string | null
  block_time: string | null
  /** The sender, where the network tells one; the first of them where a transaction spends what several had. */
  from: string | null
  to: string
  /** `deposit_address` or `wallet_binding`. */
  attributed_by: 'deposit_address' | 'wallet_binding'
  first_seen_at: string
  credited_at: string | null
}

/** A reusable URL that makes one invoice per payer. */
export interface PaymentLink {
  id: string
  object: 'payment_link'
  livemode: boolean
  slug: string
  /** Share this one: it carries the publishable key. */
  url: string
  /** `fixed` or `payer_chosen`. */
  amount_type: AmountType
  currency: string
  /** The price of a fixed link. */
  amount: string | null
  min_amount: string | null
  max_amount: string | null
  description: string | null
  /** Null: the merchant's defaults at the time each invoice is made. */
  assets: string[] | null
  quantity_limit: number | null
  quantity_used: number
  expires_at: string | null
  /** Where payers go afterwards, with `{invoice}` for the id; null: where the settings say. */
  return_url: string | null
  /** Copied to every invoice made from the link. */
  metadata: Record<string, string>
  active: boolean
  created_at: string
}

/** One way to pay an invoice, with its address. */
export interface PaymentOption {
  asset: string
  symbol: string
  /** CAIP-2 id of the network. */
  network: string
  network_name: string
  /**
   * Whole tokens to send. Where a refund was sent of a payment that a reorganisation took away since, that is owed with the
   * price and is part of it.
   */
  amount_due: string
  rate?: Rate | null
  /**
   * The deposit address: this invoice's alone, and the merchant's alone to empty. Null once the invoice is closed and the
   * address has cooled down: it may be another invoice's then. Null as well while an open invoice takes this asset no
   * more: its price moves and the invoice's rate is over, or the subscription that it is of has ended.
   */
  address: string | null
}

/** Where a payment stands. */
export type PaymentStatus = 'pending' | 'confirming' | 'credited' | 'held' | 'refundable' | 'reversed'

/** Where the payer wants the refund, and what the lists say of it. */
export interface Payout {
  address: string
  /** CAIP-2 id. */
  network: string
  /**
   * What to send there: the refund's token on that network. The books have the refund under the asset received, which is
   * the refund's own `asset`.
   */
  asset: string
  screening: Screening
}

/** One way to pay that has no address until the payer picks it. */
export interface PendingOption {
  asset: string
  symbol: string
  network: string
  network_name: string
  amount_due: string
  rate?: Rate | null
}

export interface PickOptionRequest {
  /** One of `pending_options[].asset` or `payment_options[].asset`. */
  asset: string
}

/** What subscriptions are charged, and how often. */
export interface Plan {
  id: string
  object: 'plan'
  livemode: boolean
  /** `active` or `archived`. */
  status: PlanStatus
  name: string
  /** Price per period, in major units of the currency. */
  amount: string
  currency: string
  /** `day`, `week`, `month` or `year`. */
  interval: IntervalUnit
  interval_count: number
  trial_days: number
  /** How long a renewal may stay unpaid before the subscription is past due. */
  grace_days: number
  /** Invoices per period before the subscription is cancelled. */
  max_attempts: number
  /** Null: the merchant's defaults at the time each invoice is made. */
  assets: string[] | null
  /** IANA name of the time zone in which periods are counted. */
  billing_timezone: string
  created_at: string
}

/** Whether a plan takes new subscriptions. */
export type PlanStatus = 'active' | 'archived'

/** What one whole token counts as while the invoice's rate holds. */
export interface Rate {
  /** Of one whole token, in the invoice's currency. */
  price: string
  /** When the price was so: of several sources, the time of the oldest. */
  at: string
  /** Who said so: hosts, or networks with a price contract. Empty where the operator has set the price. */
  sources: string[]
}

/** One asset, as each view has it. */
export interface ReconciledAsset {
  asset: string
  /** What was posted about the period's invoices, by account group. */
  ledger: Figure[]
  /** What arrived on chains for them, and what arrived for nobody. */
  chain: Figure[]
  /** What they show, and their refunds. */
  invoices: Figure[]
}

/** Three views of a period, and what they disagree about. */
export interface Reconciliation {
  object: 'reconciliation'
  from: string
  to: string
  discrepancies: Discrepancy[]
  assets: ReconciledAsset[]
}

/** Money to be sent back to a payer, by the merchant's own wallet. */
export interface Refund {
  id: string
  object: 'refund'
  livemode: boolean
  invoice: string
  /** `unclaimed`, `ready_to_send`, `in_review`, `sent` or `cancelled`. */
  status: RefundStatus
  /**
   * Why it is `in_review`, null otherwise. `sanctions`, `blacklist` or `screening_unavailable`: what the lists say of
   * the address, or of who paid. `payment_reversed`: a payment that it is drawn from left the chain. `price_uncovered`:
   * the price was paid beside it, and is not any more. `finality_violation`: the network took back final blocks. Where
   * several apply, the first of these.
   */
  review_reason: 
    | 'sanctions'
    | 'blacklist'
    | 'screening_unavailable'
    | 'payment_reversed'
    | 'price_uncovered'
    | 'finality_violation' | null
  /** Whole tokens. */
  amount: string
  asset: string
  /**
   * Why, if it was said: `overpaid`, `late_payment`, `wrong_asset`, `review_rejected`, `requested_by_payer`,
   * `duplicate` or `other`.
   */
  reason: RefundReason | null
  /**
   * The link to send to the payer: whoever has it says where the money goes. Null in events, which are kept, and for those who
   * may only read.
   */
  claim_url: string | null
  /** The credential in that link; null where that is. */
  claim_token: string | null
  payout: Payout | null
  /** The transaction that sent it. */
  tx_hash: string | null
  created_at: string
  /** When the link stops working unless it was used. */
  expires_at: string
  claimed_at: string | null
  sent_at: string | null
  cancelled_at: string | null
}

/** A refund as its payer sees it. What the lists say is the merchant's to know. */
export interface RefundClaim {
  object: 'refund_claim'
  /** `unclaimed`, `ready_to_send`, `in_review` or `sent`. */
  status: RefundStatus
  /** Whole tokens. */
  amount: string
  asset: string
  symbol: string
  merchant: MerchantName
  /** Where it can be received. */
  networks: ClaimNetwork[]
  expires_at: string
  payout: ClaimPayout | null
  /** The transaction that sent it. */
  tx_hash: string | null
}

/** Why a refund is made. */
export type RefundReason = 
  | 'overpaid'
  | 'late_payment'
  | 'wrong_asset'
  | 'review_rejected'
  | 'requested_by_payer'
  | 'duplicate'
  | 'other'

/** Where a refund stands. */
export type RefundStatus = 'unclaimed' | 'ready_to_send' | 'in_review' | 'sent' | 'cancelled'

export interface ResolveReviewRequest {
  decision: Decision
  /** Why, for your own records. */
  reason: string
}

/** Why an invoice waits for a person's decision. */
export interface Review {
  /** `manual_review`, `sanctions`, `blacklist` or `finality_violation`. */
  hold: 'manual_review' | 'sanctions' | 'blacklist' | 'finality_violation'
  opened_at: string
}

/** What one list says. */
export interface ScreenedList {
  list: string
  /** `clear`, `match` or `unavailable`. */
  result: 'clear' | 'match' | 'unavailable'
  checked_at: string
}

/** What the lists say of an address. */
export interface Screening {
  /** `clear`, `match`, or `unavailable` when a list could not be asked: only what is clear may be paid. */
  result: 'clear' | 'match' | 'unavailable'
  lists: ScreenedList[]
}

export interface SimulatePaymentRequest {
  /** Asset code, or a symbol together with `network`. Default: the invoice's first option. */
  asset?: string | null
  /** CAIP-2 id; must agree with a full asset code. */
  network?: string | null
  /** Whole tokens. Default: the option's amount due. */
  amount?: string | null
  /** Levels to walk through, rising. Default: included, final. */
  finality_steps?: Finality[] | null
  /** Extension: who sends it, for screening and wallet payments. */
  sender?: string | null
}

/** An invoice as its live stream shows it to the payer. */
export interface StreamedInvoice {
  id: string
  object: 'checkout_invoice'
  livemode: boolean
  status: InvoiceStatus
  amount: FiatAmount
  description: string | null
  /** Those of them that are still offered: empty once the invoice is closed. */
  payment_options: CheckoutPaymentOption[]
  /** Empty once the invoice is closed. */
  pending_options: PendingOption[]
  select_by: string | null
  amounts_received: TokenAmount[]
  /** Present while partially paid. */
  amount_remaining?: TokenAmount
  /** Present when overpaid. */
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

/** A customer on a plan. */
export interface Subscription {
  id: string
  object: 'subscription'
  livemode: boolean
  /** `active`, `past_due`, `incomplete`, `paused` or `cancelled`. */
  status: SubscriptionStatus
  customer: string
  plan: string
  metadata: Record<string, string>
  created_at: string
  /** The period that was paid last, the trial, or the first period while it is unpaid. */
  current_period_start: string
  current_period_end: string
  trial_end: string | null
  /** When the next renewal is invoiced; null while one is open, and when there will be none. */
  next_invoice_at: string | null
  latest_invoice: string | null
  /** Which attempt to charge the period is under way; 0 when none is. */
  attempt: number
  past_due_since: string | null
  paused_at: string | null
  cancel_at_period_end: boolean
  cancelled_at: string | null
  /** `requested` or `unpaid`; null unless cancelled. */
  cancellation_reason: 'requested' | 'unpaid' | null
}

/** Where a subscription stands. */
export type SubscriptionStatus = 'active' | 'past_due' | 'incomplete' | 'paused' | 'cancelled'

/** An account's test clock. */
export interface TestClock {
  object: 'test_clock'
  /** Business time of this account in test mode. */
  now: string
}

/** An amount of one asset. */
export interface TokenAmount {
  /** Whole tokens as a decimal string. */
  amount: string
  /** Asset code. */
  asset: string
}

export interface TopUpRequest {
  /** In major units of the currency, as a decimal string. */
  amount: string
  /** ISO 4217 code. Stablecoins are priced only in their own currency. */
  currency: string
  /** Asset codes to offer. Default: the merchant's `default_assets`. */
  assets?: string[] | null
}

/** What is known of a transaction. For information: looking never credits. */
export interface TxLookup {
  object: 'tx_lookup'
  tx_hash: string
  found: boolean
  network: string | null
  transfers: LookedUpTransfer[]
  attributed: boolean
}

export interface UpdatePaymentLinkRequest {
  amount_type?: AmountType | null
  currency?: string | null
  amount?: string | null
  min_amount?: string | null
  max_amount?: string | null
  description?: string | null
  assets?: string[] | null
  quantity_limit?: number | null
  expires_at?: string | null
  return_url?: string | null
  /** Replaced as a whole. */
  metadata?: Record<string, string> | null
  active?: boolean | null
}

export interface UpdateSettingsRequest {
  display_name?: string | null
  /** A public https URL; null stops deliveries. In live mode it is changed from the server's shell, not with a key. */
  webhook_url?: string | null
  default_assets?: string[] | null
  /** Basis points; 50 means 0.5 %. Applies to new invoices. */
  underpay_tolerance_bps?: number | null
  /** Decimal string, an amount of each invoice's own currency; null turns manual review by amount off. */
  manual_review_amount?: string | null
  /** Where payers ask for help: an https: or mailto: address. */
  support_url?: string | null
  /** Where payers go afterwards, an https: address; `{invoice}` stands for the id. The default of invoices and links. */
  return_url?: string | null
  /** The colour of payers' pages, as `#rrggbb`. */
  accent?: string | null
}

/** What a connected wallet must send. */
export interface WalletBinding {
  object: 'wallet_binding'
  asset: string
  symbol: string
  network: string
  sender: string
  /** The merchant's registered destination; compare it with the one pinned in the checkout. */
  destination: string
  /** Null for a native coin. */
  token_contract: string | null
  decimals: number
  /** Whole tokens, to be sent exactly. */
  amount: string
  amount_base_units: string
  expires_at: string
}

/** One attempt to deliver an event. */
export interface WebhookDelivery {
  id: string
  object: 'webhook_delivery'
  livemode: boolean
  /** The event's id, the same for every retry and replay. */
  event: string
  event_type: string
  invoice: string | null
  url: string
  /** `pending`, `succeeded` or `failed`. */
  status: DeliveryStatus
  attempt: number
  status_code: number | null
  latency_ms: number | null
  error: string | null
  /** The first 1 KiB of what the endpoint answered. */
  response_body: string | null
  created_at: string
  attempted_at: string | null
  /** When a failed attempt will be retried; null when it will not. */
  next_attempt_at: string | null
}

/** A webhook secret, shown once. */
export interface WebhookSecret {
  object: 'webhook_secret'
  /** Signs deliveries from now on; readable only in this answer. */
  secret: string
}

export type ErrorType = ErrorBody['type']
export type ErrorCode = ErrorBody['code']

/** One page of a list, newest first. */
export interface Page<Item> {
  object: 'list'
  data: Item[]
  /** What to pass as `cursor` for the next page; null on the last one. */
  next_cursor: string | null
}

/** What all events have. */
export interface EventOf<Type extends string, Data> {
  /** The same for every retry and replay. */
  id: string
  object: 'event'
  livemode: boolean
  created_at: string
  invoice_id: string | null
  type: Type
  data: Data
}

/** What a webhook brings: one of these, told apart by `type`. */
export type Event =
  | EventOf<'invoice.created', { object: Invoice }>
  | EventOf<'invoice.awaiting_payment', { object: Invoice }>
  | EventOf<'invoice.detected', { object: Invoice }>
  | EventOf<'invoice.paid', { object: Invoice }>
  | EventOf<'invoice.partially_paid', { object: Invoice }>
  | EventOf<'invoice.overpaid', { object: Invoice }>
  | EventOf<'invoice.paid_late', { object: Invoice }>
  | EventOf<'invoice.expired', { object: Invoice }>
  | EventOf<'invoice.under_review', { object: Invoice }>
  | EventOf<'invoice.cancelled', { object: Invoice }>
  | EventOf<'invoice.payment_reversed', { object: Invoice; payment: Payment }>
  | EventOf<'invoice.wrong_asset', { object: Invoice; payment: Payment }>
  | EventOf<'invoice.late_payment', { object: Invoice; payment: Payment }>
  | EventOf<'invoice.review_resolved', { object: Invoice; review: {
  decision: 'accept' | 'reject'
  reason: string
  via: 'api' | 'dashboard'
} }>
  | EventOf<'refund.claimed', { object: Refund }>
  | EventOf<'payment_link.created', { object: PaymentLink }>
  | EventOf<'payment_link.updated', { object: PaymentLink }>
  | EventOf<'payment_link.deactivated', { object: PaymentLink }>
  | EventOf<'subscription.created', { object: Subscription }>
  | EventOf<'subscription.invoice_created', { object: Subscription; invoice: Invoice }>
  | EventOf<'subscription.renewed', { object: Subscription; invoice?: Invoice }>
  | EventOf<'subscription.past_due', { object: Subscription }>
  | EventOf<'subscription.paused', { object: Subscription }>
  | EventOf<'subscription.resumed', { object: Subscription }>
  | EventOf<'subscription.updated', { object: Subscription }>
  | EventOf<'subscription.cancelled', { object: Subscription }>

export type EventType = Event['type']

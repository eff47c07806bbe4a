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

/** Exactly one of the two. */
export type AdvanceClockRequest = {
  advance_seconds?: number | null
  advance_to?: string | null
}

/** Who sets the amount of a payment link. */
export type AmountType = "fixed" | "payer_chosen"

/** The passkey's answer. */
export type AnswerConfirmation = {
  credential: Record<string, unknown>
}

/** A key of the API. Of a secret one only its making shows the whole. */
export type ApiKey = {
  id: string
  object: "api_key"
  livemode: boolean
  kind: KeyKind
  name: string | null
  hint: string
  key: string | null
  created_by: ApiKeyCreator
  created_at: string
  last_used_at: string | null
  exposed_at: string | null
  revoked_at: string | null
}

/** Whose role decides what a secret key may do. */
export type ApiKeyCreator = {
  type: "user" | "cli"
  id: string | null
  email: string | null
}

/** An organisation's application for live mode. */
export type Application = {
  id: string
  object: "application"
  status: "draft" | "pending" | "approved" | "rejected"
  business_name: string | null
  website: string | null
  country: string | null
  contact_email: string | null
  business_description: string | null
  expected_monthly_volume: string | null
  submitted_at: string | null
  decided_at: string | null
  decided_by: DecidedBy | null
  reason: string | null
}

export type ApproveApplication = {
  note?: string | null
  submitted_at?: string | null
}

/** A token or coin on a network, and whether this account can be paid in it. */
export type Asset = {
  asset: string
  symbol: string
  network: string
  network_name: string
  family: "eip155" | "tron" | "bip122" | "solana"
  decimals: number
  volatile: boolean
  currency: string | null
  available: boolean
  unavailable_reason: "no_destination" | "not_watched" | "no_price" | null
}

/** Who did something. */
export type AuditActor = {
  type: "user" | "api_key" | "cli" | "system"
  id: string | null
  label: string
}

/** An entry of the audit log. */
export type AuditEvent = {
  id: string
  object: "audit_event"
  created_at: string
  actor: AuditActor
  action: string
  mode: "test" | "live" | null
  target: AuditTarget
  ip: string | null
  user_agent: string | null
  session: string | null
  request_id: string | null
  details: Record<string, unknown>
}

/** What something was done to. */
export type AuditTarget = {
  type: string
  id: string
}

/** The request to come. */
export type BeginConfirmation = {
  path: string
  body_sha256: string
}

export type BindWalletRequest = {
  asset: string
  sender: string
  proof?: string | null
}

export type CancelSubscriptionRequest = {
  at_period_end?: boolean | null
}

/** What the payer's page can offer for this invoice. */
export type Capabilities = {
  wallet_payments: boolean
  notify: boolean
  lookup: boolean
  exchanges: boolean
}

/** What a passkey is asked, to be answered once within five minutes. */
export type Ceremony = {
  object: "ceremony"
  id: string
  options: Record<string, unknown>
  expires_at: string
}

/** A change of where money or webhooks go. */
export type Change = {
  id: string
  object: "change"
  livemode: boolean
  kind: ChangeKind
  family: "eip155" | "tron" | "bip122" | "solana" | null
  from: string | null
  to: string | null
  status: "pending" | "effective" | "cancelled"
  requested_by: Person
  requested_at: string
  effective_at: string
  cancelled_by: Person | null
  cancelled_at: string | null
  secret: string | null
}

/** What is changed. */
export type ChangeKind = "destination" | "webhook_url" | "webhook_secret"

export type ChangeRole = {
  role: MemberRole
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
  finality: Finality
  status: PaymentStatus
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
  status: "active" | "inactive" | "expired" | "sold_out" | "fully_reserved"
}

/** One way to pay, with what the address was computed from. */
export type CheckoutPaymentOption = {
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

/** A code of this moment. */
export type CodeRequest = {
  code: string
}

/** A passkey's yes to one request. */
export type Confirmation = {
  object: "confirmation"
  id: string
  status: "pending" | "confirmed"
  path: string
  options: Record<string, unknown> | null
  expires_at: string
}

export type CreateApiKeyRequest = {
  kind: KeyKind
  name: string
}

export type CreateChangeRequest = {
  kind: ChangeKind
  family?: string | null
  address?: string | null
  webhook_url?: string | null
  delay_seconds?: number | null
}

export type CreateCustomerRequest = {
  name?: string | null
  email?: string | null
  metadata?: Record<string, string> | null
}

export type CreateInvite = {
  email: string
  role: MemberRole
}

export type CreateInvoiceRequest = {
  amount: string
  currency: string
  assets?: string[] | null
  description?: string | null
  customer_ref?: string | null
  return_url?: string | null
  metadata?: Record<string, string> | null
}

export type CreateOperatedOrganization = {
  name: string
  owner_email: string
}

/** What the organisation is called. */
export type CreateOrganization = {
  name: string
}

export type CreatePaymentLinkRequest = {
  amount_type: AmountType
  currency: string
  amount?: string | null
  min_amount?: string | null
  max_amount?: string | null
  description?: string | null
  assets?: string[] | null
  quantity_limit?: number | null
  expires_at?: string | null
  return_url?: string | null
  metadata?: Record<string, string> | null
  active?: boolean | null
}

export type CreatePlanRequest = {
  name: string
  amount: string
  currency: string
  interval: IntervalUnit
  interval_count?: number | null
  trial_days?: number | null
  grace_days?: number | null
  max_attempts?: number | null
  assets?: string[] | null
  billing_timezone?: string | null
}

export type CreateRefundRequest = {
  amount?: string | null
  asset?: string | null
  reason?: RefundReason | null
}

export type CreateSubscriptionRequest = {
  customer: string
  plan: string
  trial_days?: number | null
  metadata?: Record<string, string> | null
}

/** Who subscribes. */
export type Customer = {
  id: string
  object: "customer"
  livemode: boolean
  name: string | null
  email: string | null
  metadata: Record<string, string>
  credit?: TokenAmount[]
  created_at: string
}

/** Who decided on an application. */
export type DecidedBy = {
  type: "operator" | "cli"
  id: string | null
}

export type Decision = "accept" | "reject"

/** What became of a delivery attempt. */
export type DeliveryStatus = "pending" | "succeeded" | "failed"

/** Where a merchant is paid on the networks of one family. */
export type Destination = {
  object: "destination"
  family: string
  address: string | null
  networks: DestinationNetwork[]
  effective_since: string | null
  pending_change: string | null
}

export type DestinationNetwork = {
  network: string
  network_name: string
  enabled: boolean
}

/** A code of this moment, where the user has no passkey. */
export type DisableTotp = {
  code?: string | null
}

/** Something that the views disagree about. */
export type Discrepancy = {
  asset: string | null
  kind: string
  amount: string
  severity: "explained" | "flagged"
  invoice: string | null
  network: string | null
  tx_hash: string | null
  index: number | null
  detail: string
}

export type DismissRequest = {
  note: string
}

/** Where a link is mailed to. */
export type EmailRequest = {
  email: string
}

/** What a webhook delivers. */
export type Event = {
  id: string
  object: "event"
  type: "invoice.created" | "invoice.awaiting_payment" | "invoice.detected" | "invoice.paid" | "invoice.partially_paid" | "invoice.overpaid" | "invoice.paid_late" | "invoice.expired" | "invoice.under_review" | "invoice.cancelled" | "invoice.payment_reversed" | "invoice.wrong_asset" | "invoice.late_payment" | "invoice.review_resolved" | "refund.claimed" | "payment_link.created" | "payment_link.updated" | "payment_link.deactivated" | "subscription.created" | "subscription.invoice_created" | "subscription.renewed" | "subscription.past_due" | "subscription.paused" | "subscription.resumed" | "subscription.updated" | "subscription.cancelled"
  livemode: boolean
  created_at: string
  invoice_id: string | null
  data: {
    object: Invoice | Refund | PaymentLink | Subscription
    payment?: Payment
    review?: {
      decision: "accept" | "reject"
      reason: string
      via: "api" | "dashboard"
    }
    invoice?: Invoice
  }
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

/** A sum. */
export type Figure = {
  item: string
  amount: string
}

/** How settled the chain holds a transfer to be. */
export type Finality = "pending" | "included" | "safe" | "final"

export type GiveReason = {
  reason: string
}

/** An account in one mode, at a glance. */
export type Home = {
  object: "home"
  livemode: boolean
  now: string
  needs_you: HomeNeed[]
  volumes: HomeVolume[]
  networks: NetworkHealth[]
  setup: SetupStep[]
  missing: string[]
}

/** Something that waits for a person. */
export type HomeNeed = {
  kind: "review_open" | "refund_ready_to_send" | "refund_in_review" | "webhook_failing" | "change_pending" | "unattributed_deposit" | "network_degraded" | "key_exposed"
  count: number
  oldest_at: string
}

/** What was credited of an asset on one day of UTC. */
export type HomeVolume = {
  asset: string
  day: string
  amount: string
  payments: number
}

/** What periods are counted in. */
export type IntervalUnit = "day" | "week" | "month" | "year"

/** An invitation into an organisation. */
export type Invite = {
  id: string
  object: "invite"
  email: string
  role: string
  status: "open" | "accepted" | "withdrawn" | "expired"
  invited_by: Person | null
  created_at: string
  expires_at: string
  link: string | null
}

/** What an invitation offers, before it is accepted. */
export type InviteOffer = {
  object: "invite_offer"
  organization: OfferedOrganization
  email: string
  role: string
  expires_at: string
  user_exists: boolean
}

/** An organisation that an operator made, and the invitation to its owner. */
export type InvitedOrganization = {
  organization: Organization
  invite: Invite
}

/** An invoice as its merchant sees it. */
export type Invoice = {
  id: string
  object: "invoice"
  livemode: boolean
  status: InvoiceStatus
  amount: FiatAmount
  description: string | null
  customer_ref: string | null
  metadata: Record<string, string>
  payment_options: PaymentOption[]
  pending_options: PendingOption[]
  select_by: string | null
  amounts_received: TokenAmount[]
  amount_remaining?: TokenAmount | null
  amount_overpaid?: TokenAmount | null
  review?: Review | null
  expires_at: string
  created_at: string
  paid_at: string | null
  closed_at: string | null
  checkout_url: string
  return_url: string | null
  payment_link: string | null
  customer: string | null
  subscription: string | null
}

/** One event of an invoice's live stream. */
export type InvoiceEvent = {
  id: number
  type: "invoice.created" | "invoice.awaiting_payment" | "invoice.detected" | "invoice.confirming" | "invoice.paid" | "invoice.partially_paid" | "invoice.overpaid" | "invoice.paid_late" | "invoice.expired" | "invoice.under_review" | "invoice.cancelled"
  invoice_id: string
  created_at: string
  invoice: StreamedInvoice
}

/** Where an invoice stands. */
export type InvoiceStatus = "awaiting_payment" | "detected" | "confirming" | "paid" | "partially_paid" | "overpaid" | "paid_late" | "expired" | "under_review" | "cancelled"

/** Whether a key is secret. */
export type KeyKind = "secret" | "publishable"

/** One asset in one group. */
export type LedgerBalance = {
  asset: string
  account: "received" | "held" | "settled" | "overpaid" | "refundable" | "prepaid_credit" | "refunds_due" | "refunds_sent"
  opening: string
  postings: string
  closing: string
  previous_period: string
}

/** The ledger's balances over a period. */
export type LedgerBalances = {
  object: "ledger_balances"
  from: string
  to: string
  balances: LedgerBalance[]
}

/** A signed hash of a day's entries in the journal and of the digest before it. */
export type LedgerDigest = {
  id: string
  object: "ledger_digest"
  day: string
  entries: number
  first_entry: string
  last_entry: string
  root: string
  previous: string
  key_id: string
  signature: string
  created_at: string
}

export type LinkInvoiceRequest = {
  amount?: string | null
}

/** That a link was asked for; not whether anybody has the address. */
export type LinkRequest = {
  object: "link_request"
  status: string
}

/** One page of a list, newest first. */
export type List_ApiKey = {
  object: "list"
  data: ApiKey[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Asset = {
  object: "list"
  data: Asset[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_AuditEvent = {
  object: "list"
  data: AuditEvent[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Change = {
  object: "list"
  data: Change[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Customer = {
  object: "list"
  data: Customer[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Destination = {
  object: "list"
  data: Destination[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Event = {
  object: "list"
  data: Event[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Invite = {
  object: "list"
  data: Invite[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Invoice = {
  object: "list"
  data: Invoice[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_LedgerDigest = {
  object: "list"
  data: LedgerDigest[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Member = {
  object: "list"
  data: Member[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Notice = {
  object: "list"
  data: Notice[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_OperatedNetwork = {
  object: "list"
  data: OperatedNetwork[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_OperatedOrganization = {
  object: "list"
  data: OperatedOrganization[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Passkey = {
  object: "list"
  data: Passkey[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Payment = {
  object: "list"
  data: Payment[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_PaymentLink = {
  object: "list"
  data: PaymentLink[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Plan = {
  object: "list"
  data: Plan[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Refund = {
  object: "list"
  data: Refund[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_ReviewedApplication = {
  object: "list"
  data: ReviewedApplication[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Session = {
  object: "list"
  data: Session[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_Subscription = {
  object: "list"
  data: Subscription[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_UnattributedDeposit = {
  object: "list"
  data: UnattributedDeposit[]
  next_cursor: string | null
}

/** One page of a list, newest first. */
export type List_WebhookDelivery = {
  object: "list"
  data: WebhookDelivery[]
  next_cursor: string | null
}

/** A transfer inside a transaction that was looked up. */
export type LookedUpTransfer = {
  asset: string
  amount: string
  to: string
  attributed: boolean
  reason: "not_for_this_invoice" | "not_in_the_chain_any_more" | "not_observed_yet" | "asset_not_offered" | null
}

/** What came of a mail to the operator's own address. */
export type MailTest = {
  object: "mail_test"
  to: string
  status: "sent" | "failed"
  detail: string | null
}

export type MarkSentRequest = {
  tx_hash: string
}

/** A person in an organisation. */
export type Member = {
  id: string
  object: "member"
  email: string
  name: string | null
  role: string
  passkeys: number
  totp_enabled: boolean
  joined_at: string
  last_active_at: string | null
  keys: MemberKeys
}

/** How many keys there are in each mode. */
export type MemberKeys = {
  test: number
  live: number
}

/** What a member is in an organization. */
export type MemberRole = "owner" | "admin" | "developer" | "support" | "viewer"

/** Who is being paid. */
export type MerchantName = {
  display_name: string
}

/** A merchant's settings in one mode. */
export type MerchantSettings = {
  object: "merchant_settings"
  livemode: boolean
  display_name: string | null
  webhook_url: string | null
  default_assets: string[] | null
  underpay_tolerance_bps: number | null
  manual_review_amount: string | null
  support_url: string | null
  return_url: string | null
  accent: string | null
  registered_destinations: Record<string, string>
}

/** An endpoint of a network, without what may be secret of its address. */
export type NetworkEndpoint = {
  host: string
  status: "ok" | "failing" | "wrong" | "contradicted" | "doubted"
  height: number | null
  error: string | null
}

/** How a network stands. */
export type NetworkHealth = {
  network: string
  network_name: string
  status: "ok" | "behind" | "halted" | "simulated"
  head_height: number | null
  final_height: number | null
  head_at: string | null
  lag_seconds: number | null
}

/** An organisation that was just made, with the keys of its test mode, shown once. */
export type NewOrganization = {
  organization: Organization
  test: TestKeys
}

/** What a member or operator was told. */
export type Notice = {
  id: string
  object: "notice"
  kind: string
  created_at: string
  target: string
  mail: "sent" | "queued" | "failed" | "off"
  read_at: string | null
}

export type NotifyRequest = {
  email: string
  locale?: string | null
  session_token: string
}

export type OfferedOrganization = {
  name: string
}

/** How a network stands, as operators see it. */
export type OperatedNetwork = {
  network: string
  network_name: string
  status: "ok" | "behind" | "halted" | "simulated"
  head_height: number | null
  final_height: number | null
  head_at: string | null
  lag_seconds: number | null
  mode: "test" | "live"
  endpoints: NetworkEndpoint[]
}

/** An organisation as operators see it. */
export type OperatedOrganization = {
  id: string
  object: "organization"
  name: string
  role: string | null
  live: boolean
  application_status: string
  disabled: boolean
  created_at: string
  members: number
  disabled_reason: string | null
  last_invoice_at: string | null
}

/** An account and the people who work with it. */
export type Organization = {
  id: string
  object: "organization"
  name: string
  role: string | null
  live: boolean
  application_status: string
  disabled: boolean
  created_at: string
}

/** A passkey, as its user knows it. */
export type Passkey = {
  id: string
  object: "passkey"
  name: string
  created_at: string
  last_used_at: string | null
  backed_up: boolean
}

/** The passkey's answer to a ceremony. */
export type PasskeyAnswer = {
  ceremony: string
  credential: Record<string, unknown>
}

/** The address a receipt goes to. */
export type PayerNotice = {
  object: "payer_notice"
  email: string
  locale: string
  status: "scheduled" | "sent"
}

/** An on-chain transfer attributed to an invoice. */
export type Payment = {
  id: string
  object: "payment"
  livemode: boolean
  invoice: string
  status: PaymentStatus
  finality: Finality
  asset: string
  symbol: string
  network: string
  amount: string
  tx_hash: string
  index: number
  block_number: number | null
  block_hash: string | null
  block_time: string | null
  from: string | null
  to: string
  attributed_by: "deposit_address" | "wallet_binding"
  first_seen_at: string
  credited_at: string | null
}

/** A reusable URL that makes one invoice per payer. */
export type PaymentLink = {
  id: string
  object: "payment_link"
  livemode: boolean
  slug: string
  url: string
  amount_type: AmountType
  currency: string
  amount: string | null
  min_amount: string | null
  max_amount: string | null
  description: string | null
  assets: string[] | null
  quantity_limit: number | null
  quantity_used: number
  expires_at: string | null
  return_url: string | null
  metadata: Record<string, string>
  active: boolean
  created_at: string
}

/** One way to pay an invoice, with its address. */
export type PaymentOption = {
  asset: string
  symbol: string
  network: string
  network_name: string
  amount_due: string
  rate?: Rate | null
  address: string | null
}

/** Where a payment stands. */
export type PaymentStatus = "pending" | "confirming" | "credited" | "held" | "refundable" | "reversed"

/** Where the payer wants the refund, and what the lists say of it. */
export type Payout = {
  address: string
  network: string
  asset: string
  screening: Screening
}

/** One way to pay that has no address until the payer picks it. */
export type PendingOption = {
  asset: string
  symbol: string
  network: string
  network_name: string
  amount_due: string
  rate?: Rate | null
}

/** Somebody, by name. */
export type Person = {
  id: string
  email: string
}

export type PickOptionRequest = {
  asset: string
}

/** What subscriptions are charged, and how often. */
export type Plan = {
  id: string
  object: "plan"
  livemode: boolean
  status: PlanStatus
  name: string
  amount: string
  currency: string
  interval: IntervalUnit
  interval_count: number
  trial_days: number
  grace_days: number
  max_attempts: number
  assets: string[] | null
  billing_timezone: string
  created_at: string
}

/** Whether a plan takes new subscriptions. */
export type PlanStatus = "active" | "archived"

export type Queue = {
  queue: "webhooks" | "mail" | "timers"
  waiting: number
  oldest_due_at: string | null
  failed_24h: number
}

/** How much work waits. */
export type Queues = {
  object: "queues"
  queues: Queue[]
}

/** What one whole token counts as while the invoice's rate holds. */
export type Rate = {
  price: string
  at: string
  sources: string[]
}

/** One asset, as each view has it. */
export type ReconciledAsset = {
  asset: string
  ledger: Figure[]
  chain: Figure[]
  invoices: Figure[]
}

/** Three views of a period, and what they disagree about. */
export type Reconciliation = {
  object: "reconciliation"
  from: string
  to: string
  discrepancies: Discrepancy[]
  assets: ReconciledAsset[]
}

/** Money to be sent back to a payer, by the merchant's own wallet. */
export type Refund = {
  id: string
  object: "refund"
  livemode: boolean
  invoice: string
  status: RefundStatus
  review_reason: "sanctions" | "blacklist" | "screening_unavailable" | "payment_reversed" | "price_uncovered" | "finality_violation" | null
  amount: string
  asset: string
  reason: RefundReason | null
  claim_url: string | null
  claim_token: string | null
  payout: Payout | null
  tx_hash: string | null
  created_at: string
  expires_at: string
  claimed_at: string | null
  sent_at: string | null
  cancelled_at: string | null
}

/** A refund as its payer sees it. What the lists say is the merchant's to know. */
export type RefundClaim = {
  object: "refund_claim"
  status: RefundStatus
  amount: string
  asset: string
  symbol: string
  merchant: MerchantName
  networks: ClaimNetwork[]
  expires_at: string
  payout: ClaimPayout | null
  tx_hash: string | null
}

/** Why a refund is made. */
export type RefundReason = "overpaid" | "late_payment" | "wrong_asset" | "review_rejected" | "requested_by_payer" | "duplicate" | "other"

/** Where a refund stands. */
export type RefundStatus = "unclaimed" | "ready_to_send" | "in_review" | "sent" | "cancelled"

/** A passkey that the browser made, and what its user calls it. */
export type RegisterPasskey = {
  ceremony: string
  credential: Record<string, unknown>
  name: string
}

export type RejectApplication = {
  reason: string
  submitted_at?: string | null
}

/** What the organization is called from now on. */
export type RenameOrganization = {
  name: string
}

/** What a passkey is called. */
export type RenamePasskey = {
  name: string
}

export type ResolveReviewRequest = {
  decision: Decision
  reason: string
}

/** Why an invoice waits for a person's decision. */
export type Review = {
  hold: "manual_review" | "sanctions" | "blacklist" | "finality_violation"
  opened_at: string
}

/** An application, with whose it is. */
export type ReviewedApplication = {
  id: string
  object: "application"
  status: "draft" | "pending" | "approved" | "rejected"
  business_name: string | null
  website: string | null
  country: string | null
  contact_email: string | null
  business_description: string | null
  expected_monthly_volume: string | null
  submitted_at: string | null
  decided_at: string | null
  decided_by: DecidedBy | null
  reason: string | null
  organization: Organization
}

/** How many sessions were ended. */
export type Revoked = {
  object: "revoked"
  count: number
}

/** What one list says. */
export type ScreenedList = {
  list: string
  result: "clear" | "match" | "unavailable"
  checked_at: string
}

/** What the lists say of an address. */
export type Screening = {
  result: "clear" | "match" | "unavailable"
  lists: ScreenedList[]
}

/** A passkey's answer to a ceremony, or a code. */
export type SecondFactorRequest = {
  ceremony?: string | null
  credential?: Record<string, unknown> | null
  code?: string | null
}

/** A browser that is signed in. */
export type Session = {
  object: "session"
  id: string
  state: "active" | "second_factor_pending"
  method: string
  current: boolean
  csrf_token: string | null
  user: User | null
  second_factors: string[]
  organizations: Organization[]
  created_at: string
  last_used_at: string
  expires_at: string
  ip: string | null
  user_agent: string | null
}

/** A step of setting an account up. */
export type SetupStep = {
  step: "passkey" | "destinations" | "webhook_url" | "api_key_used" | "first_payment" | "application"
  done: boolean
}

/** What signing out answers. */
export type SignedOut = {
  object: "signed_out"
}

export type SimulatePaymentRequest = {
  asset?: string | null
  network?: string | null
  amount?: string | null
  finality_steps?: Finality[] | null
  sender?: string | null
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

/** A customer on a plan. */
export type Subscription = {
  id: string
  object: "subscription"
  livemode: boolean
  status: SubscriptionStatus
  customer: string
  plan: string
  metadata: Record<string, string>
  created_at: string
  current_period_start: string
  current_period_end: string
  trial_end: string | null
  next_invoice_at: string | null
  latest_invoice: string | null
  attempt: number
  past_due_since: string | null
  paused_at: string | null
  cancel_at_period_end: boolean
  cancelled_at: string | null
  cancellation_reason: "requested" | "unpaid" | null
}

/** Where a subscription stands. */
export type SubscriptionStatus = "active" | "past_due" | "incomplete" | "paused" | "cancelled"

/** An account's test clock. */
export type TestClock = {
  object: "test_clock"
  now: string
}

export type TestKeys = {
  secret_key: string
  publishable_key: string
  webhook_secret: string
}

/** An amount of one asset. */
export type TokenAmount = {
  amount: string
  asset: string
}

/** The token of a link. */
export type TokenRequest = {
  token: string
}

export type TopUpRequest = {
  amount: string
  currency: string
  assets?: string[] | null
}

/** A new secret for authenticator codes, shown once. */
export type TotpSetup = {
  object: "totp_setup"
  secret: string
  otpauth_url: string
  expires_at: string
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

/** A transfer to an address of the account that is no payment of any invoice. */
export type UnattributedDeposit = {
  id: string
  object: "unattributed_deposit"
  livemode: boolean
  status: "open" | "dismissed"
  reason: "no_lease" | "ambiguous" | "unknown_token"
  asset: string
  symbol: string | null
  network: string
  amount: string
  tx_hash: string
  index: number
  from: string | null
  to: string
  block_time: string | null
  first_seen_at: string
  note: string | null
}

/** What is asked of whoever wants to take real payments. Fields that are left out stay as they are. */
export type UpdateApplication = {
  business_name?: string | null
  website?: string | null
  country?: string | null
  contact_email?: string | null
  business_description?: string | null
  expected_monthly_volume?: string | null
}

export type UpdatePaymentLinkRequest = {
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
  metadata?: Record<string, string> | null
  active?: boolean | null
}

export type UpdateSettingsRequest = {
  display_name?: string | null
  webhook_url?: string | null
  default_assets?: string[] | null
  underpay_tolerance_bps?: number | null
  manual_review_amount?: string | null
  support_url?: string | null
  return_url?: string | null
  accent?: string | null
}

/** What to change of the user. */
export type UpdateUser = {
  name?: string | null
  locale?: string | null
}

/** A person who signs in. */
export type User = {
  id: string
  object: "user"
  email: string
  email_verified: boolean
  name: string | null
  locale: string | null
  operator: boolean
  passkeys: number
  totp_enabled: boolean
  created_at: string
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

/** One attempt to deliver an event. */
export type WebhookDelivery = {
  id: string
  object: "webhook_delivery"
  livemode: boolean
  event: string
  event_type: string
  invoice: string | null
  url: string
  status: DeliveryStatus
  attempt: number
  status_code: number | null
  latency_ms: number | null
  error: string | null
  response_body: string | null
  created_at: string
  attempted_at: string | null
  next_attempt_at: string | null
}

/** A webhook secret, shown once. */
export type WebhookSecret = {
  object: "webhook_secret"
  secret: string
}

// Written by sdk/scripts/generate.mjs from openapi.json. Do not edit.

import type { Pages } from './pages.ts'
import { type RequestOptions, type Requests, segment } from './requests.ts'
import type { StreamOptions } from './stream.ts'
import type {
  AdvanceClockRequest,
  Asset,
  BindWalletRequest,
  CancelSubscriptionRequest,
  CheckoutInvoice,
  CheckoutPaymentLink,
  ClaimRefundRequest,
  CreateCustomerRequest,
  CreateInvoiceRequest,
  CreatePaymentLinkRequest,
  CreatePlanRequest,
  CreateRefundRequest,
  CreateSubscriptionRequest,
  Customer,
  DeliveryStatus,
  Event,
  EventType,
  ExchangeList,
  Invoice,
  InvoiceEvent,
  InvoiceStatus,
  LedgerBalances,
  LinkInvoiceRequest,
  MarkSentRequest,
  MerchantSettings,
  NotifyRequest,
  PayerNotice,
  Payment,
  PaymentLink,
  PaymentStatus,
  PickOptionRequest,
  Plan,
  Reconciliation,
  Refund,
  RefundClaim,
  RefundStatus,
  ResolveReviewRequest,
  SimulatePaymentRequest,
  Subscription,
  SubscriptionStatus,
  TestClock,
  TopUpRequest,
  TxLookup,
  UpdatePaymentLinkRequest,
  UpdateSettingsRequest,
  WalletBinding,
  WebhookDelivery,
  WebhookSecret,
} from './types.ts'

export interface InvoicesListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
  /** Only those that stand there. */
  status?: InvoiceStatus
  /** As the invoice has it, in full. */
  customer_ref?: string
  /** Made at this moment or later: an RFC 3339 date-time, or a date (midnight UTC). */
  from?: string
  /** Made before this moment. */
  to?: string
}

export interface RefundsListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
  /** Invoice id. */
  invoice?: string
  /** Only those that stand there. */
  status?: RefundStatus
}

export interface ReconciliationRetrieveParams {
  /** The first moment, as an RFC 3339 date-time or a date (midnight UTC). Default: 30 days before `to`. */
  from?: string
  /** The moment after the last. Default: now. At most 366 days after `from`. */
  to?: string
  /** Only this asset. */
  asset?: string
}

export interface ReconciliationBalancesParams {
  /** The first moment, as an RFC 3339 date-time or a date (midnight UTC). Default: 30 days before `to`. */
  from?: string
  /** The moment after the last. Default: now. At most 366 days after `from`. */
  to?: string
  /** Only this asset. */
  asset?: string
}

export interface ReconciliationExportParams {
  /** The first moment, as an RFC 3339 date-time or a date (midnight UTC). Default: 30 days before `to`. */
  from?: string
  /** The moment after the last. Default: now. At most 366 days after `from`. */
  to?: string
  /** Only this asset. */
  asset?: string
}

export interface PaymentsListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
  /** Invoice id. */
  invoice?: string
  /** Only those that stand there. */
  status?: PaymentStatus
  /** Asset code. */
  asset?: string
  /** As the network writes it. */
  tx_hash?: string
}

export interface EventsListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
  /** Only those of this type. */
  type?: EventType
  /** The first moment of `created_at`, as an RFC 3339 date-time or a date (midnight UTC). */
  from?: string
  /** The moment after the last. */
  to?: string
}

export interface WebhookDeliveriesListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
  /** Only attempts that ended so. */
  status?: DeliveryStatus
  /** Such as `invoice.paid`. */
  event_type?: string
  /** Event id. */
  event?: string
  /** Invoice id. */
  invoice?: string
}

export interface PaymentLinksListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
  /** Only those that are switched on, or off. */
  active?: boolean
}

export interface CustomersListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
}

export interface PlansListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
}

export interface SubscriptionsListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
  /** Only those that stand there. */
  status?: SubscriptionStatus
  /** Customer id. */
  customer?: string
}

export interface AssetsListParams {
  /** How many to a page. */
  limit?: number
  /** The previous page's `next_cursor`. */
  cursor?: string
}

export interface CheckoutLookupTransactionParams {
  /** `0x` and 64 hex digits, 64 hex digits (TRON, Bitcoin), or a Solana signature. */
  tx_hash: string
}

export class InvoicesResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** List invoices, newest first */
  list(params: InvoicesListParams = {}, options: RequestOptions = {}): Pages<Invoice> {
    return this.#client.pages({ method: 'GET', path: `/v1/invoices`, query: params }, options)
  }

  /**
   * Create an invoice.
   * Priced in fiat; each asset gets its exact amount due and an address of this invoice's own.
   */
  create(params: CreateInvoiceRequest, options: RequestOptions = {}): Promise<Invoice> {
    return this.#client.request({ method: 'POST', path: `/v1/invoices`, body: params }, options)
  }

  /** Retrieve an invoice */
  retrieve(id: string, options: RequestOptions = {}): Promise<Invoice> {
    return this.#client.request({ method: 'GET', path: `/v1/invoices/${segment(id)}` }, options)
  }

  /** Cancel an invoice nothing was paid to */
  cancel(id: string, options: RequestOptions = {}): Promise<Invoice> {
    return this.#client.request({ method: 'POST', path: `/v1/invoices/${segment(id)}/cancel` }, options)
  }

  /** Decide about a held payment */
  resolveReview(id: string, params: ResolveReviewRequest, options: RequestOptions = {}): Promise<Invoice> {
    return this.#client.request({ method: 'POST', path: `/v1/invoices/${segment(id)}/resolve_review`, body: params }, options)
  }

  /**
   * Follow an invoice live.
   * Server-sent events: `id` is the number of the event in this invoice's stream, `event` its type, `data` a
   * complete InvoiceEvent. Resume with `Last-Event-ID` or `last_event_id`.
   */
  events(id: string, options: StreamOptions = {}): AsyncIterableIterator<InvoiceEvent> {
    return this.#client.stream(`/v1/invoices/${segment(id)}/events`, options)
  }
}

export class RefundsResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /**
   * Refund what an invoice received.
   * Makes a link for the payer, who says where the money is to be sent. Without an amount: what was paid too much.
   */
  create(id: string, params: CreateRefundRequest = {}, options: RequestOptions = {}): Promise<Refund> {
    return this.#client.request({ method: 'POST', path: `/v1/invoices/${segment(id)}/refunds`, body: params }, options)
  }

  /** List refunds, newest first */
  list(params: RefundsListParams = {}, options: RequestOptions = {}): Pages<Refund> {
    return this.#client.pages({ method: 'GET', path: `/v1/refunds`, query: params }, options)
  }

  /** Retrieve a refund */
  retrieve(id: string, options: RequestOptions = {}): Promise<Refund> {
    return this.#client.request({ method: 'GET', path: `/v1/refunds/${segment(id)}` }, options)
  }

  /** Cancel a refund that was not sent */
  cancel(id: string, options: RequestOptions = {}): Promise<Refund> {
    return this.#client.request({ method: 'POST', path: `/v1/refunds/${segment(id)}/cancel` }, options)
  }

  /**
   * Say that a refund was sent, and by which transaction.
   * Send it from your own wallet first, to `payout.address` on `payout.network`. The address is held against the
   * lists once more: should one name it now, the refund is `in_review`. A payout that was made while the refund was
   * `ready_to_send` can be recorded after it became `in_review` where the chain shows it or cannot be asked, and after it
   * was cancelled where the chain shows it; reconciliation flags it.
   */
  markSent(id: string, params: MarkSentRequest, options: RequestOptions = {}): Promise<Refund> {
    return this.#client.request({ method: 'POST', path: `/v1/refunds/${segment(id)}/mark_sent`, body: params }, options)
  }
}

export class ReconciliationResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** Compare ledger, chain and invoices of a period */
  retrieve(params: ReconciliationRetrieveParams = {}, options: RequestOptions = {}): Promise<Reconciliation> {
    return this.#client.request({ method: 'GET', path: `/v1/reconciliation`, query: params }, options)
  }

  /** The ledger's balances over a period */
  balances(params: ReconciliationBalancesParams = {}, options: RequestOptions = {}): Promise<LedgerBalances> {
    return this.#client.request({ method: 'GET', path: `/v1/reconciliation/balances`, query: params }, options)
  }

  /** The report as CSV */
  export(params: ReconciliationExportParams = {}, options: RequestOptions = {}): Promise<string> {
    return this.#client.requestText({ method: 'GET', path: `/v1/reconciliation/export`, query: params }, options)
  }
}

export class PaymentsResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** List payments, newest first */
  list(params: PaymentsListParams = {}, options: RequestOptions = {}): Pages<Payment> {
    return this.#client.pages({ method: 'GET', path: `/v1/payments`, query: params }, options)
  }
}

export class EventsResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /**
   * List events, newest first.
   * What webhooks deliver, whether or not a webhook URL was set when it happened: for a server that missed some. An event is kept
   * for 400 days unless the server's operator says otherwise. A deposit address that its invoice has lost since is null.
   * Events of one moment may appear a little later than newer ones: who follows the log reads its last minute again, and tells
   * what it knows already by `id`.
   */
  list(params: EventsListParams = {}, options: RequestOptions = {}): Pages<Event> {
    return this.#client.pages({ method: 'GET', path: `/v1/events`, query: params }, options)
  }

  /**
   * Retrieve an event.
   * As the list of events shows it.
   */
  retrieve(id: string, options: RequestOptions = {}): Promise<Event> {
    return this.#client.request({ method: 'GET', path: `/v1/events/${segment(id)}` }, options)
  }
}

export class WebhookDeliveriesResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /**
   * List webhook deliveries, newest first.
   * One object per attempt.
   */
  list(params: WebhookDeliveriesListParams = {}, options: RequestOptions = {}): Pages<WebhookDelivery> {
    return this.#client.pages({ method: 'GET', path: `/v1/webhook_deliveries`, query: params }, options)
  }

  /**
   * Deliver an event again.
   * The same event under the same id, as a new delivery, to the current webhook URL.
   */
  replay(id: string, options: RequestOptions = {}): Promise<WebhookDelivery> {
    return this.#client.request({ method: 'POST', path: `/v1/webhook_deliveries/${segment(id)}/replay` }, options)
  }
}

export class MerchantResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** Retrieve the merchant's settings in this mode */
  retrieveSettings(options: RequestOptions = {}): Promise<MerchantSettings> {
    return this.#client.request({ method: 'GET', path: `/v1/merchant/settings` }, options)
  }

  /**
   * Change the merchant's settings in this mode.
   * Omitted fields stay as they are; null clears.
   */
  updateSettings(params: UpdateSettingsRequest = {}, options: RequestOptions = {}): Promise<MerchantSettings> {
    return this.#client.request({ method: 'POST', path: `/v1/merchant/settings`, body: params }, options)
  }

  /**
   * Replace the webhook secret.
   * Both secrets sign for 24 hours, the new one first. The new one is readable only here.
   */
  rollWebhookSecret(options: RequestOptions = {}): Promise<WebhookSecret> {
    return this.#client.request({ method: 'POST', path: `/v1/merchant/webhook_secret/roll` }, options)
  }
}

export class PaymentLinksResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** List payment links, newest first */
  list(params: PaymentLinksListParams = {}, options: RequestOptions = {}): Pages<PaymentLink> {
    return this.#client.pages({ method: 'GET', path: `/v1/payment_links`, query: params }, options)
  }

  /** Create a payment link */
  create(params: CreatePaymentLinkRequest, options: RequestOptions = {}): Promise<PaymentLink> {
    return this.#client.request({ method: 'POST', path: `/v1/payment_links`, body: params }, options)
  }

  /** Retrieve a payment link */
  retrieve(id: string, options: RequestOptions = {}): Promise<PaymentLink> {
    return this.#client.request({ method: 'GET', path: `/v1/payment_links/${segment(id)}` }, options)
  }

  /**
   * Change a payment link.
   * Omitted fields stay as they are, null clears an optional one, `metadata` is replaced as a whole. Changes
   * apply to invoices made afterwards.
   */
  update(id: string, params: UpdatePaymentLinkRequest = {}, options: RequestOptions = {}): Promise<PaymentLink> {
    return this.#client.request({ method: 'POST', path: `/v1/payment_links/${segment(id)}`, body: params }, options)
  }
}

export class CustomersResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** List customers, newest first */
  list(params: CustomersListParams = {}, options: RequestOptions = {}): Pages<Customer> {
    return this.#client.pages({ method: 'GET', path: `/v1/customers`, query: params }, options)
  }

  /** Create a customer */
  create(params: CreateCustomerRequest = {}, options: RequestOptions = {}): Promise<Customer> {
    return this.#client.request({ method: 'POST', path: `/v1/customers`, body: params }, options)
  }

  /** Retrieve a customer, with its prepaid credit */
  retrieve(id: string, options: RequestOptions = {}): Promise<Customer> {
    return this.#client.request({ method: 'GET', path: `/v1/customers/${segment(id)}` }, options)
  }

  /**
   * Invoice a top-up of prepaid credit.
   * An ordinary invoice. Once its payment is final, everything received becomes the customer's credit, in the tokens that
   * arrived, and the next renewals take it before anything is invoiced. A reversal takes it back.
   */
  topUp(id: string, params: TopUpRequest, options: RequestOptions = {}): Promise<Invoice> {
    return this.#client.request({ method: 'POST', path: `/v1/customers/${segment(id)}/top_up`, body: params }, options)
  }
}

export class PlansResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** List plans, newest first */
  list(params: PlansListParams = {}, options: RequestOptions = {}): Pages<Plan> {
    return this.#client.pages({ method: 'GET', path: `/v1/plans`, query: params }, options)
  }

  /** Create a plan */
  create(params: CreatePlanRequest, options: RequestOptions = {}): Promise<Plan> {
    return this.#client.request({ method: 'POST', path: `/v1/plans`, body: params }, options)
  }

  /** Retrieve a plan */
  retrieve(id: string, options: RequestOptions = {}): Promise<Plan> {
    return this.#client.request({ method: 'GET', path: `/v1/plans/${segment(id)}` }, options)
  }

  /**
   * Archive a plan.
   * It takes no new subscriptions; those it has keep renewing.
   */
  archive(id: string, options: RequestOptions = {}): Promise<Plan> {
    return this.#client.request({ method: 'POST', path: `/v1/plans/${segment(id)}/archive` }, options)
  }
}

export class SubscriptionsResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** List subscriptions, newest first */
  list(params: SubscriptionsListParams = {}, options: RequestOptions = {}): Pages<Subscription> {
    return this.#client.pages({ method: 'GET', path: `/v1/subscriptions`, query: params }, options)
  }

  /**
   * Create a subscription.
   * With a trial it is active at once; without, it is incomplete until its first invoice, made now, is paid.
   */
  create(params: CreateSubscriptionRequest, options: RequestOptions = {}): Promise<Subscription> {
    return this.#client.request({ method: 'POST', path: `/v1/subscriptions`, body: params }, options)
  }

  /** Retrieve a subscription */
  retrieve(id: string, options: RequestOptions = {}): Promise<Subscription> {
    return this.#client.request({ method: 'GET', path: `/v1/subscriptions/${segment(id)}` }, options)
  }

  /** Cancel a subscription, now or at the end of the period that is paid for */
  cancel(id: string, params: CancelSubscriptionRequest = {}, options: RequestOptions = {}): Promise<Subscription> {
    return this.#client.request({ method: 'POST', path: `/v1/subscriptions/${segment(id)}/cancel`, body: params }, options)
  }

  /**
   * Pause a subscription.
   * No invoices and no reminders until it is resumed. An open renewal invoice nothing was paid to is cancelled.
   */
  pause(id: string, options: RequestOptions = {}): Promise<Subscription> {
    return this.#client.request({ method: 'POST', path: `/v1/subscriptions/${segment(id)}/pause` }, options)
  }

  /**
   * Resume a paused subscription.
   * Inside the period that is paid for it goes on; after it, billing starts anew now, with a new invoice.
   */
  resume(id: string, options: RequestOptions = {}): Promise<Subscription> {
    return this.#client.request({ method: 'POST', path: `/v1/subscriptions/${segment(id)}/resume` }, options)
  }
}

export class AssetsResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /**
   * List the assets of this mode.
   * A stablecoin is priced in its own currency only; a volatile asset in any currency that there is a price in.
   */
  list(params: AssetsListParams = {}, options: RequestOptions = {}): Pages<Asset> {
    return this.#client.pages({ method: 'GET', path: `/v1/assets`, query: params }, options)
  }
}

export class RefundClaimsResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** Retrieve a refund as its payer */
  retrieve(token: string, options: RequestOptions = {}): Promise<RefundClaim> {
    return this.#client.request({ method: 'GET', path: `/v1/refund_claims/${segment(token)}` }, options)
  }

  /**
   * Say where a refund is to be sent.
   * The first claim is kept: a different address cannot replace it.
   */
  claim(token: string, params: ClaimRefundRequest, options: RequestOptions = {}): Promise<RefundClaim> {
    return this.#client.request({ method: 'POST', path: `/v1/refund_claims/${segment(token)}`, body: params }, options)
  }
}

export class CheckoutResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /** How networks are called on exchanges' withdrawal screens */
  listExchanges(options: RequestOptions = {}): Promise<ExchangeList> {
    return this.#client.request({ method: 'GET', path: `/v1/checkout/exchanges` }, options)
  }

  /** Retrieve an invoice as its payer */
  retrieveInvoice(id: string, options: RequestOptions = {}): Promise<CheckoutInvoice> {
    return this.#client.request({ method: 'GET', path: `/v1/checkout/invoices/${segment(id)}` }, options)
  }

  /**
   * Look a transaction up.
   * Says where its transfers went and whether one is attributed to this invoice. For information only.
   */
  lookupTransaction(id: string, params: CheckoutLookupTransactionParams, options: RequestOptions = {}): Promise<TxLookup> {
    return this.#client.request({ method: 'GET', path: `/v1/checkout/invoices/${segment(id)}/lookup`, query: params }, options)
  }

  /**
   * Leave an address for the receipt.
   * Nothing is sent before a payment arrived. At most 3 different addresses per invoice, from one session.
   */
  notifyPayer(id: string, params: NotifyRequest, options: RequestOptions = {}): Promise<PayerNotice> {
    return this.#client.request({ method: 'POST', path: `/v1/checkout/invoices/${segment(id)}/notify`, body: params }, options)
  }

  /**
   * Pick how to pay.
   * Leases the network's address; one address covers every EVM network the invoice offers.
   */
  pickPaymentOption(id: string, params: PickOptionRequest, options: RequestOptions = {}): Promise<CheckoutInvoice> {
    return this.#client.request({ method: 'POST', path: `/v1/checkout/invoices/${segment(id)}/payment_option`, body: params }, options)
  }

  /**
   * Bind the payer's wallet.
   * Says exactly what the wallet must send, straight to the merchant's destination.
   */
  bindWallet(id: string, params: BindWalletRequest, options: RequestOptions = {}): Promise<WalletBinding> {
    return this.#client.request({ method: 'POST', path: `/v1/checkout/invoices/${segment(id)}/wallet_binding`, body: params }, options)
  }

  /** Retrieve a payment link as its payer */
  retrieveLink(slug: string, options: RequestOptions = {}): Promise<CheckoutPaymentLink> {
    return this.#client.request({ method: 'GET', path: `/v1/checkout/links/${segment(slug)}` }, options)
  }

  /** Create an invoice from a payment link */
  createLinkInvoice(slug: string, params: LinkInvoiceRequest = {}, options: RequestOptions = {}): Promise<CheckoutInvoice> {
    return this.#client.request({ method: 'POST', path: `/v1/checkout/links/${segment(slug)}/invoices`, body: params }, options)
  }
}

export class TestHelpersResource {
  readonly #client: Requests

  constructor(client: Requests) {
    this.#client = client
  }

  /**
   * Simulate a payment.
   * A synthetic transfer to the invoice's deposit address, through the same door as real ones.
   */
  simulatePayment(id: string, params: SimulatePaymentRequest = {}, options: RequestOptions = {}): Promise<Invoice> {
    return this.#client.request({ method: 'POST', path: `/v1/test_helpers/invoices/${segment(id)}/simulate_payment`, body: params }, options)
  }

  /** Undo a simulated payment, as a chain reorganisation would */
  reversePayment(id: string, options: RequestOptions = {}): Promise<Payment> {
    return this.#client.request({ method: 'POST', path: `/v1/test_helpers/payments/${segment(id)}/reverse` }, options)
  }

  /** Read the test clock */
  retrieveClock(options: RequestOptions = {}): Promise<TestClock> {
    return this.#client.request({ method: 'GET', path: `/v1/test_helpers/clock` }, options)
  }

  /**
   * Move the test clock forward.
   * When it answers, everything that fell due has happened, in order.
   */
  advanceClock(params: AdvanceClockRequest = {}, options: RequestOptions = {}): Promise<TestClock> {
    return this.#client.request({ method: 'POST', path: `/v1/test_helpers/clock`, body: params }, options)
  }
}

/** All resources of one client. */
export class Resources {
  readonly invoices: InvoicesResource
  readonly refunds: RefundsResource
  readonly reconciliation: ReconciliationResource
  readonly payments: PaymentsResource
  readonly events: EventsResource
  readonly webhookDeliveries: WebhookDeliveriesResource
  readonly merchant: MerchantResource
  readonly paymentLinks: PaymentLinksResource
  readonly customers: CustomersResource
  readonly plans: PlansResource
  readonly subscriptions: SubscriptionsResource
  readonly assets: AssetsResource
  readonly refundClaims: RefundClaimsResource
  readonly checkout: CheckoutResource
  readonly testHelpers: TestHelpersResource

  constructor(client: Requests) {
    this.invoices = new InvoicesResource(client)
    this.refunds = new RefundsResource(client)
    this.reconciliation = new ReconciliationResource(client)
    this.payments = new PaymentsResource(client)
    this.events = new EventsResource(client)
    this.webhookDeliveries = new WebhookDeliveriesResource(client)
    this.merchant = new MerchantResource(client)
    this.paymentLinks = new PaymentLinksResource(client)
    this.customers = new CustomersResource(client)
    this.plans = new PlansResource(client)
    this.subscriptions = new SubscriptionsResource(client)
    this.assets = new AssetsResource(client)
    this.refundClaims = new RefundClaimsResource(client)
    this.checkout = new CheckoutResource(client)
    this.testHelpers = new TestHelpersResource(client)
  }
}

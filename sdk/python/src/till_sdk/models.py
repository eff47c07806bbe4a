# Written by sdk/scripts/generate.mjs from openapi.json. Do not edit.
"""What the API answers and what webhooks bring."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

ErrorType = Literal[
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "idempotency_error",
    "rate_limit_error",
    "api_error",
]
"""The class of the error."""

ErrorCode = Literal[
    "body_invalid_json",
    "body_too_large",
    "content_type_invalid",
    "method_not_allowed",
    "parameter_invalid",
    "parameter_missing",
    "parameter_unknown",
    "resource_missing",
    "route_not_found",
    "api_key_missing",
    "api_key_invalid",
    "authorization_header_invalid",
    "secret_key_in_url",
    "publishable_key_not_allowed",
    "api_key_permission_denied",
    "livemode_disabled",
    "mode_not_configured",
    "test_mode_only",
    "idempotency_key_required",
    "idempotency_key_invalid",
    "idempotency_key_reused",
    "idempotency_key_in_use",
    "currency_unsupported",
    "asset_unavailable",
    "price_unavailable",
    "deposit_addresses_exhausted",
    "invoice_not_awaiting_payment",
    "invoice_not_cancellable",
    "review_not_open",
    "review_requires_dashboard",
    "asset_not_offered",
    "wallet_unsupported",
    "sender_invalid",
    "wallet_binding_limit",
    "unique_amount_unavailable",
    "checkout_session_invalid",
    "email_invalid",
    "notify_limit_reached",
    "notify_session_mismatch",
    "feature_unavailable",
    "amount_invalid",
    "amount_required",
    "asset_not_received",
    "nothing_received",
    "refund_exceeds_received",
    "refund_not_ready",
    "refund_already_sent",
    "network_unavailable",
    "claim_expired",
    "claim_cancelled",
    "claim_already_sent",
    "claim_already_submitted",
    "amount_too_small",
    "amount_too_large",
    "payment_link_inactive",
    "payment_link_expired",
    "payment_link_sold_out",
    "payment_link_fully_reserved",
    "payment_link_busy",
    "plan_archived",
    "subscription_state",
    "subscription_invoice_failed",
    "destination_immutable",
    "live_change_requires_dashboard",
    "webhook_url_forbidden",
    "webhook_url_missing",
    "rate_limited",
    "internal_error",
    "service_unavailable",
    "account_disabled",
    "cannot_change_self",
    "csrf_failed",
    "no_organization",
    "operator_conflict",
    "origin_not_allowed",
    "permission_denied",
    "role_not_assignable",
    "second_factor_required",
    "step_up_required",
    "address_invalid",
    "destination_invalid",
    "network_invalid",
    "network_not_enabled",
    "no_change",
    "already_member",
    "application_approved",
    "application_pending",
    "application_not_approved",
    "application_not_reviewable",
    "change_pending",
    "change_not_pending",
    "destinations_not_ready",
    "last_owner",
    "mfa_not_pending",
    "passkey_already_registered",
    "passkey_required",
    "totp_already_enabled",
    "totp_not_set_up",
    "ceremony_expired",
    "invite_invalid",
    "magic_link_invalid",
    "passkey_failed",
    "session_expired",
    "session_missing",
    "signup_link_invalid",
    "too_many_attempts",
    "too_many_signups",
    "already_paid",
    "invoice_cancelled",
]
"""Stable; branch on it."""

AmountType = Literal[
    "fixed",
    "payer_chosen",
]
"""Who sets the amount of a payment link."""

Decision = Literal[
    "accept",
    "reject",
]

DeliveryStatus = Literal[
    "pending",
    "succeeded",
    "failed",
]
"""What became of a delivery attempt."""

Finality = Literal[
    "pending",
    "included",
    "safe",
    "final",
]
"""How settled the chain holds a transfer to be."""

IntervalUnit = Literal[
    "day",
    "week",
    "month",
    "year",
]
"""What periods are counted in."""

InvoiceStatus = Literal[
    "awaiting_payment",
    "detected",
    "confirming",
    "paid",
    "partially_paid",
    "overpaid",
    "paid_late",
    "expired",
    "under_review",
    "cancelled",
]
"""Where an invoice stands."""

PaymentStatus = Literal[
    "pending",
    "confirming",
    "credited",
    "held",
    "refundable",
    "reversed",
]
"""Where a payment stands."""

PlanStatus = Literal[
    "active",
    "archived",
]
"""Whether a plan takes new subscriptions."""

RefundReason = Literal[
    "overpaid",
    "late_payment",
    "wrong_asset",
    "review_rejected",
    "requested_by_payer",
    "duplicate",
    "other",
]
"""Why a refund is made."""

RefundStatus = Literal[
    "unclaimed",
    "ready_to_send",
    "in_review",
    "sent",
    "cancelled",
]
"""Where a refund stands."""

SubscriptionStatus = Literal[
    "active",
    "past_due",
    "incomplete",
    "paused",
    "cancelled",
]
"""Where a subscription stands."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asset:
    """A token or coin on a network, and whether this account can be paid in it."""

    asset: str
    """The code by which requests name it."""
    symbol: str
    network: str
    """CAIP-2 id of the network."""
    network_name: str
    family: Literal["eip155", "tron", "bip122", "solana"]
    """CAIP-2 namespace: `eip155`, `tron` or `bip122`."""
    decimals: int
    volatile: bool
    """Whether its price moves against currencies."""
    currency: str | None
    """The one currency that a stablecoin is priced in; null for what is volatile, which goes with every currency that
    there is a price in.
    """
    available: bool
    """Whether invoices of this account can offer it now."""
    unavailable_reason: Literal["no_destination", "not_watched", "no_price"] | None
    """Why not: `no_destination` (no payout address on its chain), `not_watched` (live mode, and this server has no
    endpoints of its network) or `no_price` (no current price in any currency).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Capabilities:
    """What the payer's page can offer for this invoice."""

    wallet_payments: bool
    notify: bool
    lookup: bool
    exchanges: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutInvoice:
    """An invoice as its payer sees it."""

    id: str
    object: Literal["checkout_invoice"]
    livemode: bool
    status: InvoiceStatus
    amount: FiatAmount
    description: str | None
    payment_options: list[CheckoutPaymentOption]
    """Empty once the invoice is closed."""
    pending_options: list[PendingOption]
    """Empty once the invoice is closed."""
    select_by: datetime | None
    amounts_received: list[TokenAmount]
    amount_remaining: TokenAmount | None = None
    amount_overpaid: TokenAmount | None = None
    expires_at: datetime
    created_at: datetime
    paid_at: datetime | None
    closed_at: datetime | None
    address_held_until: datetime | None
    """Once closed: until when its addresses are still its own, so that money which comes late is found here. Null while it is
    open, and where it never had an address.
    """
    as_of: datetime
    """When this was so, by the clock that decides about this invoice: in test mode the one that the merchant moves."""
    checkout_url: str
    return_url: str | None
    """Where to go afterwards."""
    payment_link: str | None
    merchant: MerchantName
    payments: list[CheckoutPayment]
    capabilities: Capabilities
    session_token: str
    """Bound to this invoice and this visit; keep it to the page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutPayment:
    """A payment as the payer sees it."""

    asset: str
    amount: str
    tx_hash: str
    finality: Finality
    status: PaymentStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutPaymentLink:
    """A payment link as its payers see it."""

    object: Literal["checkout_payment_link"]
    livemode: bool
    slug: str
    merchant: MerchantName
    description: str | None
    amount_type: AmountType
    """`fixed` or `payer_chosen`."""
    currency: str
    amount: str | None
    min_amount: str | None
    max_amount: str | None
    expires_at: datetime | None
    return_url: str | None
    """Where to go from the link itself; null where the way back leads from an invoice only."""
    status: Literal["active", "inactive", "expired", "sold_out", "fully_reserved"]
    """Whether it takes payments: `active`, or why not: `inactive`, `expired`, `sold_out`, `fully_reserved`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckoutPaymentOption:
    """One way to pay, with what the address was computed from."""

    asset: str
    symbol: str
    network: str
    network_name: str
    amount_due: str
    rate: Rate | None = None
    address: str
    address_derivation: AddressDerivation | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimNetwork:
    """A network on which a refund can be received."""

    network: str
    """CAIP-2 id."""
    network_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimPayout:
    """Where a payer wants a refund."""

    network: str
    address: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Customer:
    """Who subscribes."""

    id: str
    object: Literal["customer"]
    livemode: bool
    name: str | None
    email: str | None
    """Stored encrypted; used only for reminders of this customer's renewals."""
    metadata: dict[str, str]
    credit: list[TokenAmount] | None = None
    """Prepaid credit in the tokens that arrived. Present when the customer is retrieved by its id."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Discrepancy:
    """Something that the views disagree about."""

    asset: str | None
    """Null for `digest_mismatch`, which is about a day and not about an asset."""
    kind: str
    """`refunded_beyond_received`, `chain`, `ledger_chain`, `invoice_chain`, `refund_not_paid`, `sent_in_review`,
    `sent_after_cancel`, `unknown_payment`, `unattributed` or `digest_mismatch`, which are flagged; `pending`, `reversed`, `held`, `dust`, `excess_not_shown`,
    `excess_is_credit` or `sent_in_another_asset`, which explain;
    `refunded_and_reversed`, which is flagged until its invoice is paid.
    """
    amount: str
    severity: Literal["explained", "flagged"]
    """`explained` or `flagged`."""
    invoice: str | None
    network: str | None
    tx_hash: str | None
    index: int | None
    detail: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeEntry:
    exchange: str
    name: str
    networks: list[ExchangeNetwork]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeList:
    """Exchanges a payer may pay from."""

    object: Literal["list"]
    data: list[ExchangeEntry]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeNetwork:
    network: str
    """CAIP-2 id."""
    label: str | None
    """The network's name on the withdrawal screen; null unless verified."""
    withdrawal_fee: str | None
    source_url: str
    verified_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class FiatAmount:
    """A price in a fiat currency."""

    amount: str
    """Major units as a decimal string, never a JSON number."""
    currency: str
    """ISO 4217 code."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """A sum."""

    item: str
    amount: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Invoice:
    """An invoice as its merchant sees it."""

    id: str
    object: Literal["invoice"]
    livemode: bool
    status: InvoiceStatus
    """See the states of an invoice."""
    amount: FiatAmount
    description: str | None
    customer_ref: str | None
    """Your own reference; never shown to the payer."""
    metadata: dict[str, str]
    """Your own data; never shown to the payer."""
    payment_options: list[PaymentOption]
    pending_options: list[PendingOption]
    """Options of a payment-link invoice whose payer has not picked a network yet."""
    select_by: datetime | None
    """When a payment-link invoice expires unless a network was picked."""
    amounts_received: list[TokenAmount]
    """What was received, final and not reversed, per asset."""
    amount_remaining: TokenAmount | None = None
    amount_overpaid: TokenAmount | None = None
    review: Review | None = None
    expires_at: datetime
    created_at: datetime
    paid_at: datetime | None
    closed_at: datetime | None
    checkout_url: str
    """Where the payer pays."""
    return_url: str | None
    """Where the payer goes afterwards."""
    payment_link: str | None
    customer: str | None
    subscription: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceEvent:
    """One event of an invoice's live stream."""

    id: int
    """The event's number in this invoice's stream, from 1, without gaps."""
    type: Literal["invoice.created", "invoice.awaiting_payment", "invoice.detected", "invoice.confirming", "invoice.paid", "invoice.partially_paid", "invoice.overpaid", "invoice.paid_late", "invoice.expired", "invoice.under_review", "invoice.cancelled"]
    """`invoice.created` or `invoice.{status}`."""
    invoice_id: str
    created_at: datetime
    invoice: StreamedInvoice
    """The payer's view of the invoice at that moment."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerBalance:
    """One asset in one group."""

    asset: str
    account: Literal["received", "held", "settled", "overpaid", "refundable", "prepaid_credit", "refunds_due", "refunds_sent"]
    """`received`, `held`, `settled`, `overpaid`, `refundable`, `prepaid_credit`, `refunds_due` or `refunds_sent`."""
    opening: str
    """Before `from`."""
    postings: str
    """What moved it in the period."""
    closing: str
    """Before `to`."""
    previous_period: str
    """What moved it in the equally long period before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerBalances:
    """The ledger's balances over a period."""

    object: Literal["ledger_balances"]
    from_: datetime
    to: datetime
    balances: list[LedgerBalance]


@dataclass(frozen=True, kw_only=True, slots=True)
class LookedUpTransfer:
    """A transfer inside a transaction that was looked up."""

    asset: str
    amount: str
    to: str
    attributed: bool
    reason: Literal["not_for_this_invoice", "not_in_the_chain_any_more", "not_observed_yet", "asset_not_offered"] | None
    """Why it is not attributed to this invoice; null when it is. One of `not_for_this_invoice`,
    `not_in_the_chain_any_more`, `not_observed_yet` (it is for this invoice, but we have not seen it
    ourselves), `asset_not_offered`.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantName:
    """Who is being paid."""

    display_name: str
    """The name that the merchant chose, or else the account's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MerchantSettings:
    """A merchant's settings in one mode."""

    object: Literal["merchant_settings"]
    livemode: bool
    display_name: str | None
    webhook_url: str | None
    default_assets: list[str] | None
    """Assets offered when an invoice names none."""
    underpay_tolerance_bps: int | None
    """How much less than the price still pays a new invoice, in basis points."""
    manual_review_amount: str | None
    """An invoice that receives this much or more, as an amount of its own currency, waits for a person."""
    support_url: str | None
    """Where payers ask for help: an https: or mailto: address."""
    return_url: str | None
    """Where payers go afterwards, unless the invoice or the payment link says otherwise; `{invoice}` stands for the id."""
    accent: str | None
    """The colour of payers' pages."""
    registered_destinations: dict[str, str]
    """Payout addresses by CAIP-2 namespace; an account key for `bip122`. Read-only here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PayerNotice:
    """The address a receipt goes to."""

    object: Literal["payer_notice"]
    email: str
    """Masked: whoever loads the page does not learn it."""
    locale: str
    """The language the mails are written in."""
    status: Literal["scheduled", "sent"]
    """`scheduled` or `sent`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Payment:
    """An on-chain transfer attributed to an invoice."""

    id: str
    object: Literal["payment"]
    livemode: bool
    invoice: str
    status: PaymentStatus
    """`pending`, `confirming`, `credited`, `held`, `refundable` or `reversed`."""
    finality: Finality
    """`pending`, `included`, `safe` or `final`."""
    asset: str
    symbol: str
    network: str
    amount: str
    """Whole tokens."""
    tx_hash: str
    index: int
    """Log index, output number or instruction index."""
    block_number: int | None
    block_hash: str | None
    block_time: datetime | None
    from_: str | None
    """The sender, where the network tells one; the first of them where a transaction spends what several had."""
    to: str
    attributed_by: Literal["deposit_address", "wallet_binding"]
    """`deposit_address` or `wallet_binding`."""
    first_seen_at: datetime
    credited_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentLink:
    """A reusable URL that makes one invoice per payer."""

    id: str
    object: Literal["payment_link"]
    livemode: bool
    slug: str
    url: str
    """Share this one: it carries the publishable key."""
    amount_type: AmountType
    """`fixed` or `payer_chosen`."""
    currency: str
    amount: str | None
    """The price of a fixed link."""
    min_amount: str | None
    max_amount: str | None
    description: str | None
    assets: list[str] | None
    """Null: the merchant's defaults at the time each invoice is made."""
    quantity_limit: int | None
    quantity_used: int
    expires_at: datetime | None
    return_url: str | None
    """Where payers go afterwards, with `{invoice}` for the id; null: where the settings say."""
    metadata: dict[str, str]
    """Copied to every invoice made from the link."""
    active: bool
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentOption:
    """One way to pay an invoice, with its address."""

    asset: str
    symbol: str
    network: str
    """CAIP-2 id of the network."""
    network_name: str
    amount_due: str
    """Whole tokens to send. Where a refund was sent of a payment that a reorganisation took away since, that is owed with the
    price and is part of it.
    """
    rate: Rate | None = None
    address: str | None
    """The deposit address: this invoice's alone, and the merchant's alone to empty. Null once the invoice is closed and the
    address has cooled down: it may be another invoice's then. Null as well while an open invoice takes this asset no
    more: its price moves and the invoice's rate is over, or the subscription that it is of has ended.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Payout:
    """Where the payer wants the refund, and what the lists say of it."""

    address: str
    network: str
    """CAIP-2 id."""
    asset: str
    """What to send there: the refund's token on that network. The books have the refund under the asset received, which is
    the refund's own `asset`.
    """
    screening: Screening


@dataclass(frozen=True, kw_only=True, slots=True)
class PendingOption:
    """One way to pay that has no address until the payer picks it."""

    asset: str
    symbol: str
    network: str
    network_name: str
    amount_due: str
    rate: Rate | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What subscriptions are charged, and how often."""

    id: str
    object: Literal["plan"]
    livemode: bool
    status: PlanStatus
    """`active` or `archived`."""
    name: str
    amount: str
    """Price per period, in major units of the currency."""
    currency: str
    interval: IntervalUnit
    """`day`, `week`, `month` or `year`."""
    interval_count: int
    trial_days: int
    grace_days: int
    """How long a renewal may stay unpaid before the subscription is past due."""
    max_attempts: int
    """Invoices per period before the subscription is cancelled."""
    assets: list[str] | None
    """Null: the merchant's defaults at the time each invoice is made."""
    billing_timezone: str
    """IANA name of the time zone in which periods are counted."""
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Rate:
    """What one whole token counts as while the invoice's rate holds."""

    price: str
    """Of one whole token, in the invoice's currency."""
    at: datetime
    """When the price was so: of several sources, the time of the oldest."""
    sources: list[str]
    """Who said so: hosts, or networks with a price contract. Empty where the operator has set the price."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReconciledAsset:
    """One asset, as each view has it."""

    asset: str
    ledger: list[Figure]
    """What was posted about the period's invoices, by account group."""
    chain: list[Figure]
    """What arrived on chains for them, and what arrived for nobody."""
    invoices: list[Figure]
    """What they show, and their refunds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reconciliation:
    """Three views of a period, and what they disagree about."""

    object: Literal["reconciliation"]
    from_: datetime
    to: datetime
    discrepancies: list[Discrepancy]
    assets: list[ReconciledAsset]


@dataclass(frozen=True, kw_only=True, slots=True)
class Refund:
    """Money to be sent back to a payer, by the merchant's own wallet."""

    id: str
    object: Literal["refund"]
    livemode: bool
    invoice: str
    status: RefundStatus
    """`unclaimed`, `ready_to_send`, `in_review`, `sent` or `cancelled`."""
    review_reason: Literal["sanctions", "blacklist", "screening_unavailable", "payment_reversed", "price_uncovered", "finality_violation"] | None
    """Why it is `in_review`, null otherwise. `sanctions`, `blacklist` or `screening_unavailable`: what the lists say of
    the address, or of who paid. `payment_reversed`: a payment that it is drawn from left the chain. `price_uncovered`:
    the price was paid beside it, and is not any more. `finality_violation`: the network took back final blocks. Where
    several apply, the first of these.
    """
    amount: str
    """Whole tokens."""
    asset: str
    reason: RefundReason | None
    """Why, if it was said: `overpaid`, `late_payment`, `wrong_asset`, `review_rejected`, `requested_by_payer`,
    `duplicate` or `other`.
    """
    claim_url: str | None
    """The link to send to the payer: whoever has it says where the money goes. Null in events, which are kept, and for those who
    may only read.
    """
    claim_token: str | None
    """The credential in that link; null where that is."""
    payout: Payout | None
    tx_hash: str | None
    """The transaction that sent it."""
    created_at: datetime
    expires_at: datetime
    """When the link stops working unless it was used."""
    claimed_at: datetime | None
    sent_at: datetime | None
    cancelled_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RefundClaim:
    """A refund as its payer sees it. What the lists say is the merchant's to know."""

    object: Literal["refund_claim"]
    status: RefundStatus
    """`unclaimed`, `ready_to_send`, `in_review` or `sent`."""
    amount: str
    """Whole tokens."""
    asset: str
    symbol: str
    merchant: MerchantName
    networks: list[ClaimNetwork]
    """Where it can be received."""
    expires_at: datetime
    payout: ClaimPayout | None
    tx_hash: str | None
    """The transaction that sent it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Review:
    """Why an invoice waits for a person's decision."""

    hold: Literal["manual_review", "sanctions", "blacklist", "finality_violation"]
    """`manual_review`, `sanctions`, `blacklist` or `finality_violation`."""
    opened_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class ScreenedList:
    """What one list says."""

    list: str
    result: Literal["clear", "match", "unavailable"]
    """`clear`, `match` or `unavailable`."""
    checked_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Screening:
    """What the lists say of an address."""

    result: Literal["clear", "match", "unavailable"]
    """`clear`, `match`, or `unavailable` when a list could not be asked: only what is clear may be paid."""
    lists: list[ScreenedList]


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamedInvoice:
    """An invoice as its live stream shows it to the payer."""

    id: str
    object: Literal["checkout_invoice"]
    livemode: bool
    status: InvoiceStatus
    amount: FiatAmount
    description: str | None
    payment_options: list[CheckoutPaymentOption]
    """Those of them that are still offered: empty once the invoice is closed."""
    pending_options: list[PendingOption]
    """Empty once the invoice is closed."""
    select_by: datetime | None
    amounts_received: list[TokenAmount]
    amount_remaining: TokenAmount | None = None
    """Present while partially paid."""
    amount_overpaid: TokenAmount | None = None
    """Present when overpaid."""
    expires_at: datetime
    created_at: datetime
    paid_at: datetime | None
    closed_at: datetime | None
    return_url: str | None
    payment_link: str | None
    merchant: MerchantName
    payments: list[CheckoutPayment]


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """A customer on a plan."""

    id: str
    object: Literal["subscription"]
    livemode: bool
    status: SubscriptionStatus
    """`active`, `past_due`, `incomplete`, `paused` or `cancelled`."""
    customer: str
    plan: str
    metadata: dict[str, str]
    created_at: datetime
    current_period_start: datetime
    """The period that was paid last, the trial, or the first period while it is unpaid."""
    current_period_end: datetime
    trial_end: datetime | None
    next_invoice_at: datetime | None
    """When the next renewal is invoiced; null while one is open, and when there will be none."""
    latest_invoice: str | None
    attempt: int
    """Which attempt to charge the period is under way; 0 when none is."""
    past_due_since: datetime | None
    paused_at: datetime | None
    cancel_at_period_end: bool
    cancelled_at: datetime | None
    cancellation_reason: Literal["requested", "unpaid"] | None
    """`requested` or `unpaid`; null unless cancelled."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TestClock:
    """An account's test clock."""

    object: Literal["test_clock"]
    now: datetime
    """Business time of this account in test mode."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenAmount:
    """An amount of one asset."""

    amount: str
    """Whole tokens as a decimal string."""
    asset: str
    """Asset code."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TxLookup:
    """What is known of a transaction. For information: looking never credits."""

    object: Literal["tx_lookup"]
    tx_hash: str
    found: bool
    network: str | None
    transfers: list[LookedUpTransfer]
    attributed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class WalletBinding:
    """What a connected wallet must send."""

    object: Literal["wallet_binding"]
    asset: str
    symbol: str
    network: str
    sender: str
    destination: str
    """The merchant's registered destination; compare it with the one pinned in the checkout."""
    token_contract: str | None
    """Null for a native coin."""
    decimals: int
    amount: str
    """Whole tokens, to be sent exactly."""
    amount_base_units: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookDelivery:
    """One attempt to deliver an event."""

    id: str
    object: Literal["webhook_delivery"]
    livemode: bool
    event: str
    """The event's id, the same for every retry and replay."""
    event_type: str
    invoice: str | None
    url: str
    status: DeliveryStatus
    """`pending`, `succeeded` or `failed`."""
    attempt: int
    status_code: int | None
    latency_ms: int | None
    error: str | None
    response_body: str | None
    """The first 1 KiB of what the endpoint answered."""
    created_at: datetime
    attempted_at: datetime | None
    next_attempt_at: datetime | None
    """When a failed attempt will be retried; null when it will not."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookSecret:
    """A webhook secret, shown once."""

    object: Literal["webhook_secret"]
    secret: str
    """Signs deliveries from now on; readable only in this answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AddressDerivationCreate2ForwarderV1:
    """EVM: CREATE2 of the forwarder whose init code carries `destination`."""

    scheme: Literal["create2_forwarder_v1"]
    factory: str
    salt: str
    destination: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AddressDerivationTronCreate2ForwarderV1:
    """TRON: the same, with TRON's prefix byte."""

    scheme: Literal["tron_create2_forwarder_v1"]
    factory: str
    salt: str
    destination: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AddressDerivationBip84V1:
    """Bitcoin: P2WPKH of the child key."""

    scheme: Literal["bip84_v1"]
    account_xpub: str
    path: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AddressDerivationProgramAddressV1:
    """Solana: the token account of the program-derived address."""

    scheme: Literal["program_address_v1"]
    program: str
    destination: str
    salt: str
    mint: str

AddressDerivation = AddressDerivationCreate2ForwarderV1 | AddressDerivationTronCreate2ForwarderV1 | AddressDerivationBip84V1 | AddressDerivationProgramAddressV1
"""How anyone can compute the deposit address again."""

EventType = Literal[
    "invoice.created",
    "invoice.awaiting_payment",
    "invoice.detected",
    "invoice.paid",
    "invoice.partially_paid",
    "invoice.overpaid",
    "invoice.paid_late",
    "invoice.expired",
    "invoice.under_review",
    "invoice.cancelled",
    "invoice.payment_reversed",
    "invoice.wrong_asset",
    "invoice.late_payment",
    "invoice.review_resolved",
    "refund.claimed",
    "payment_link.created",
    "payment_link.updated",
    "payment_link.deactivated",
    "subscription.created",
    "subscription.invoice_created",
    "subscription.renewed",
    "subscription.past_due",
    "subscription.paused",
    "subscription.resumed",
    "subscription.updated",
    "subscription.cancelled",
]
"""What an event tells of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceData:
    object: Invoice


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceWithPaymentData:
    object: Invoice
    payment: Payment


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceWithReviewReview:
    decision: Literal["accept", "reject"]
    reason: str
    via: Literal["api", "dashboard"]


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceWithReviewData:
    object: Invoice
    review: InvoiceWithReviewReview


@dataclass(frozen=True, kw_only=True, slots=True)
class RefundData:
    object: Refund


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentLinkData:
    object: PaymentLink


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionData:
    object: Subscription


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionWithInvoiceData:
    object: Subscription
    invoice: Invoice


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionWithOptionalInvoiceData:
    object: Subscription
    invoice: Invoice | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceCreatedEvent:
    """`invoice.created`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.created"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceAwaitingPaymentEvent:
    """`invoice.awaiting_payment`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.awaiting_payment"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceDetectedEvent:
    """`invoice.detected`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.detected"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoicePaidEvent:
    """`invoice.paid`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.paid"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoicePartiallyPaidEvent:
    """`invoice.partially_paid`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.partially_paid"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceOverpaidEvent:
    """`invoice.overpaid`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.overpaid"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoicePaidLateEvent:
    """`invoice.paid_late`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.paid_late"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceExpiredEvent:
    """`invoice.expired`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.expired"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceUnderReviewEvent:
    """`invoice.under_review`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.under_review"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceCancelledEvent:
    """`invoice.cancelled`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.cancelled"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoicePaymentReversedEvent:
    """`invoice.payment_reversed`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.payment_reversed"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceWithPaymentData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceWrongAssetEvent:
    """`invoice.wrong_asset`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.wrong_asset"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceWithPaymentData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceLatePaymentEvent:
    """`invoice.late_payment`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.late_payment"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceWithPaymentData


@dataclass(frozen=True, kw_only=True, slots=True)
class InvoiceReviewResolvedEvent:
    """`invoice.review_resolved`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["invoice.review_resolved"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: InvoiceWithReviewData


@dataclass(frozen=True, kw_only=True, slots=True)
class RefundClaimedEvent:
    """`refund.claimed`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["refund.claimed"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: RefundData


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentLinkCreatedEvent:
    """`payment_link.created`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["payment_link.created"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: PaymentLinkData


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentLinkUpdatedEvent:
    """`payment_link.updated`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["payment_link.updated"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: PaymentLinkData


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentLinkDeactivatedEvent:
    """`payment_link.deactivated`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["payment_link.deactivated"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: PaymentLinkData


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionCreatedEvent:
    """`subscription.created`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["subscription.created"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: SubscriptionData


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionInvoiceCreatedEvent:
    """`subscription.invoice_created`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["subscription.invoice_created"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: SubscriptionWithInvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionRenewedEvent:
    """`subscription.renewed`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["subscription.renewed"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: SubscriptionWithOptionalInvoiceData


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionPastDueEvent:
    """`subscription.past_due`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["subscription.past_due"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: SubscriptionData


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionPausedEvent:
    """`subscription.paused`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["subscription.paused"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: SubscriptionData


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionResumedEvent:
    """`subscription.resumed`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["subscription.resumed"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: SubscriptionData


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionUpdatedEvent:
    """`subscription.updated`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["subscription.updated"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: SubscriptionData


@dataclass(frozen=True, kw_only=True, slots=True)
class SubscriptionCancelledEvent:
    """`subscription.cancelled`"""

    id: str
    """The same for every retry and replay."""
    object: Literal["event"]
    type: Literal["subscription.cancelled"]
    livemode: bool
    created_at: datetime
    invoice_id: str | None
    data: SubscriptionData

Event = (
    InvoiceCreatedEvent
    | InvoiceAwaitingPaymentEvent
    | InvoiceDetectedEvent
    | InvoicePaidEvent
    | InvoicePartiallyPaidEvent
    | InvoiceOverpaidEvent
    | InvoicePaidLateEvent
    | InvoiceExpiredEvent
    | InvoiceUnderReviewEvent
    | InvoiceCancelledEvent
    | InvoicePaymentReversedEvent
    | InvoiceWrongAssetEvent
    | InvoiceLatePaymentEvent
    | InvoiceReviewResolvedEvent
    | RefundClaimedEvent
    | PaymentLinkCreatedEvent
    | PaymentLinkUpdatedEvent
    | PaymentLinkDeactivatedEvent
    | SubscriptionCreatedEvent
    | SubscriptionInvoiceCreatedEvent
    | SubscriptionRenewedEvent
    | SubscriptionPastDueEvent
    | SubscriptionPausedEvent
    | SubscriptionResumedEvent
    | SubscriptionUpdatedEvent
    | SubscriptionCancelledEvent
)
"""What a webhook brings: one of these, told apart by `type`."""

EVENTS: dict[str, type[Event]] = {
    "invoice.created": InvoiceCreatedEvent,
    "invoice.awaiting_payment": InvoiceAwaitingPaymentEvent,
    "invoice.detected": InvoiceDetectedEvent,
    "invoice.paid": InvoicePaidEvent,
    "invoice.partially_paid": InvoicePartiallyPaidEvent,
    "invoice.overpaid": InvoiceOverpaidEvent,
    "invoice.paid_late": InvoicePaidLateEvent,
    "invoice.expired": InvoiceExpiredEvent,
    "invoice.under_review": InvoiceUnderReviewEvent,
    "invoice.cancelled": InvoiceCancelledEvent,
    "invoice.payment_reversed": InvoicePaymentReversedEvent,
    "invoice.wrong_asset": InvoiceWrongAssetEvent,
    "invoice.late_payment": InvoiceLatePaymentEvent,
    "invoice.review_resolved": InvoiceReviewResolvedEvent,
    "refund.claimed": RefundClaimedEvent,
    "payment_link.created": PaymentLinkCreatedEvent,
    "payment_link.updated": PaymentLinkUpdatedEvent,
    "payment_link.deactivated": PaymentLinkDeactivatedEvent,
    "subscription.created": SubscriptionCreatedEvent,
    "subscription.invoice_created": SubscriptionInvoiceCreatedEvent,
    "subscription.renewed": SubscriptionRenewedEvent,
    "subscription.past_due": SubscriptionPastDueEvent,
    "subscription.paused": SubscriptionPausedEvent,
    "subscription.resumed": SubscriptionResumedEvent,
    "subscription.updated": SubscriptionUpdatedEvent,
    "subscription.cancelled": SubscriptionCancelledEvent,
}

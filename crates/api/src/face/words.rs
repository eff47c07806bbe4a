//! Requests, parameters and errors as the OpenAPI document describes them. Bodies are read by `http::fields`;
//! these say the same in types that client generators understand.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use till_core::error::Code;
use till_engine::view::{
    FiatAmount, MerchantName, PayerOptionView, PayerPaymentView, PendingOptionView, TokenAmount,
};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoParams, IntoResponses, ToSchema};

pub const INVOICE_STATUSES: &[&str] = &[
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
];

pub const PAYMENT_STATUSES: &[&str] = &[
    "pending",
    "confirming",
    "credited",
    "held",
    "refundable",
    "reversed",
];

/// Where an invoice stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvoiceStatus {
    AwaitingPayment,
    Detected,
    Confirming,
    Paid,
    PartiallyPaid,
    Overpaid,
    PaidLate,
    Expired,
    UnderReview,
    Cancelled,
}

/// Where a payment stands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaymentStatus {
    Pending,
    Confirming,
    Credited,
    Held,
    Refundable,
    Reversed,
}

/// How settled the chain holds a transfer to be.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finality {
    Pending,
    Included,
    Safe,
    Final,
}

/// What became of a delivery attempt.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    Pending,
    Succeeded,
    Failed,
}

#[derive(ToSchema)]
pub struct CreateInvoiceRequest {
    /// Price in major units of the currency, as a decimal string.
    #[schema(example = "25.00")]
    amount: String,
    /// ISO 4217 code. Stablecoins are priced only in their own currency.
    #[schema(example = "USD")]
    currency: String,
    /// Asset codes to offer. Default: the merchant's `default_assets`.
    #[schema(max_items = 20)]
    assets: Option<Vec<String>>,
    /// Shown to the payer.
    #[schema(max_length = 500)]
    description: Option<String>,
    /// Your own reference, never shown to the payer.
    #[schema(max_length = 200)]
    customer_ref: Option<String>,
    /// Up to 20 pairs, keys of at most 40 and values of at most 500 characters. Never shown to the payer.
    metadata: Option<BTreeMap<String, String>>,
}

#[derive(ToSchema)]
pub struct ResolveReviewRequest {
    #[schema(value_type = Decision)]
    decision: Decision,
    /// Why, for your own records.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    Accept,
    Reject,
}

#[derive(ToSchema)]
pub struct UpdateSettingsRequest {
    #[schema(max_length = 100)]
    display_name: Option<String>,
    /// A public https URL; null stops deliveries. In live mode this is changed on the dashboard.
    webhook_url: Option<String>,
    default_assets: Option<Vec<String>>,
    /// Basis points; 50 means 0.5 %. Applies to new invoices.
    #[schema(minimum = 0, maximum = 10000)]
    underpay_tolerance_bps: Option<i32>,
    /// Decimal string in USD; null turns manual review by amount off.
    manual_review_amount: Option<String>,
}

#[derive(ToSchema)]
pub struct SimulatePaymentRequest {
    /// Asset code, or a symbol together with `network`. Default: the invoice's first option.
    asset: Option<String>,
    /// CAIP-2 id; must agree with a full asset code.
    network: Option<String>,
    /// Whole tokens. Default: the option's amount due.
    amount: Option<String>,
    /// Levels to walk through, rising. Default: included, final.
    finality_steps: Option<Vec<Finality>>,
    /// Extension: who sends it, for screening and wallet payments.
    sender: Option<String>,
}

/// Exactly one of the two.
#[derive(ToSchema)]
pub struct AdvanceClockRequest {
    #[schema(minimum = 0)]
    advance_seconds: Option<i64>,
    #[schema(format = DateTime)]
    advance_to: Option<String>,
}

#[derive(ToSchema)]
pub struct CreatePaymentLinkRequest {
    amount_type: AmountType,
    /// ISO 4217 code.
    currency: String,
    /// Required for a fixed link, refused for a payer-chosen one.
    amount: Option<String>,
    min_amount: Option<String>,
    max_amount: Option<String>,
    #[schema(max_length = 500)]
    description: Option<String>,
    /// Default: the merchant's defaults when each invoice is made.
    assets: Option<Vec<String>>,
    #[schema(minimum = 1, maximum = 1_000_000)]
    quantity_limit: Option<i32>,
    /// Must be in the future.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// Copied to every invoice made from the link.
    metadata: Option<BTreeMap<String, String>>,
    #[schema(default = true)]
    active: Option<bool>,
}

#[derive(ToSchema)]
pub struct UpdatePaymentLinkRequest {
    amount_type: Option<AmountType>,
    currency: Option<String>,
    amount: Option<String>,
    min_amount: Option<String>,
    max_amount: Option<String>,
    #[schema(max_length = 500)]
    description: Option<String>,
    assets: Option<Vec<String>>,
    #[schema(minimum = 1, maximum = 1_000_000)]
    quantity_limit: Option<i32>,
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// Replaced as a whole.
    metadata: Option<BTreeMap<String, String>>,
    active: Option<bool>,
}

/// Who sets the amount of a payment link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AmountType {
    Fixed,
    PayerChosen,
}

#[derive(ToSchema)]
pub struct LinkInvoiceRequest {
    /// Required for payer-chosen links, omitted for fixed ones.
    amount: Option<String>,
}

#[derive(ToSchema)]
pub struct PickOptionRequest {
    /// One of `pending_options[].asset` or `payment_options[].asset`.
    asset: String,
}

#[derive(ToSchema)]
pub struct BindWalletRequest {
    /// One of the invoice's options, on an EVM or TRON network.
    asset: String,
    /// The connected wallet's address, as it shows it.
    sender: String,
}

#[derive(ToSchema)]
pub struct NotifyRequest {
    email: String,
    /// A language tag; default `en`.
    locale: Option<String>,
    /// From the payer's view of this invoice.
    session_token: String,
}

/// Exchanges a payer may pay from.
#[derive(ToSchema)]
pub struct ExchangeList {
    #[schema(example = "list", pattern = "^list$")]
    object: String,
    data: Vec<ExchangeEntry>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(ToSchema)]
pub struct ExchangeEntry {
    exchange: String,
    name: String,
    networks: Vec<ExchangeNetwork>,
}

#[derive(ToSchema)]
pub struct ExchangeNetwork {
    /// CAIP-2 id.
    network: String,
    /// The network's name on the withdrawal screen; null unless verified.
    #[schema(required)]
    label: Option<String>,
    #[schema(required)]
    withdrawal_fee: Option<String>,
    source_url: String,
    #[schema(required, format = DateTime)]
    verified_at: Option<String>,
}

/// One event of an invoice's live stream.
#[derive(ToSchema)]
pub struct InvoiceEvent {
    /// The event's number in this invoice's stream, from 1, without gaps.
    id: i64,
    /// `invoice.created` or `invoice.{status}`.
    #[schema(example = "invoice.paid")]
    r#type: String,
    invoice_id: String,
    #[schema(format = DateTime)]
    created_at: String,
    /// The payer's view of the invoice at that moment.
    invoice: StreamedInvoice,
}

/// An invoice as its live stream shows it to the payer.
#[derive(ToSchema)]
pub struct StreamedInvoice {
    id: String,
    #[schema(example = "checkout_invoice")]
    object: String,
    livemode: bool,
    status: InvoiceStatus,
    amount: FiatAmount,
    #[schema(required)]
    description: Option<String>,
    payment_options: Vec<PayerOptionView>,
    pending_options: Vec<PendingOptionView>,
    #[schema(required, format = DateTime)]
    select_by: Option<String>,
    amounts_received: Vec<TokenAmount>,
    /// Present while partially paid.
    #[schema(nullable = false)]
    amount_remaining: Option<TokenAmount>,
    /// Present when overpaid.
    #[schema(nullable = false)]
    amount_overpaid: Option<TokenAmount>,
    #[schema(format = DateTime)]
    expires_at: String,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(required, format = DateTime)]
    paid_at: Option<String>,
    #[schema(required, format = DateTime)]
    closed_at: Option<String>,
    #[schema(required)]
    payment_link: Option<String>,
    merchant: MerchantName,
    payments: Vec<PayerPaymentView>,
}

/// Every error has this shape.
#[derive(ToSchema)]
pub struct ErrorEnvelope {
    error: ErrorObject,
}

#[derive(ToSchema)]
#[schema(as = Error)]
pub struct ErrorObject {
    /// The class of the error.
    r#type: String,
    /// Stable; branch on it.
    code: String,
    /// For people; may change.
    message: String,
    /// The field concerned, when there is one.
    #[schema(required)]
    param: Option<String>,
    /// The code's documentation.
    doc_url: String,
    /// The same as the `x-request-id` header.
    request_id: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub struct IdempotencyKey {
    /// 1 to 255 visible ASCII characters. A retry with the same key and body returns the first result.
    #[param(rename = "Idempotency-Key", min_length = 1, max_length = 255)]
    idempotency_key: String,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageParams {
    #[param(minimum = 1, maximum = 100, default = 10)]
    limit: Option<i32>,
    /// The previous page's `next_cursor`.
    cursor: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct InvoiceFilter {
    #[param(inline)]
    status: Option<InvoiceStatus>,
    customer_ref: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PaymentFilter {
    invoice: Option<String>,
    #[param(inline)]
    status: Option<PaymentStatus>,
    asset: Option<String>,
    tx_hash: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeliveryFilter {
    #[param(inline)]
    status: Option<DeliveryStatus>,
    event_type: Option<String>,
    event: Option<String>,
    invoice: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StreamParams {
    /// Resume after this event number.
    #[param(minimum = 0)]
    last_event_id: Option<i64>,
    /// A publishable key, for browsers' EventSource.
    key: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LinkFilter {
    active: Option<bool>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct KeyParam {
    /// A publishable key, where a header cannot be sent.
    key: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LookupParams {
    /// `0x` and 64 hex digits, 64 hex digits (TRON, Bitcoin), or a Solana signature.
    tx_hash: String,
    /// A publishable key, where a header cannot be sent.
    key: Option<String>,
}

/// The error answers any endpoint can give, by status.
pub struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let statuses: BTreeSet<u16> = [400, 401, 403, 404, 405, 409, 413, 415, 429, 431, 500, 503]
            .into_iter()
            .collect();
        let describe = |status: u16| {
            let codes: Vec<&str> = Code::ALL
                .iter()
                .filter(|code| code.status() == status && !is_dashboard(**code))
                .map(|code| code.as_str())
                .collect();
            if codes.is_empty() {
                "Refused.".to_owned()
            } else {
                format!("One of: {}.", codes.join(", "))
            }
        };
        let answer = |status: u16| {
            let body = ContentBuilder::new()
                .schema(Some(Ref::from_schema_name("ErrorEnvelope")))
                .build();
            let response = ResponseBuilder::new()
                .description(describe(status))
                .content("application/json", body);
            (status.to_string(), RefOr::T(response.build()))
        };
        statuses.into_iter().map(answer).collect()
    }
}

fn is_dashboard(code: Code) -> bool {
    code.section() == till_core::error::Section::Dashboard
}

//! An invoice's events, as its live stream tells them to the payer.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use till_core::invoice::PayOption;
use till_core::time;
use till_store::StoreError;
use till_store::events::StreamedEvent;
use utoipa::ToSchema;

use super::derivation::AddressDerivation;
use super::event::event_object;
use super::invoice::{FiatAmount, PendingOptionView};
use super::payer::{MerchantName, PayerOptionView, PayerPaymentView, unread};
use super::tokens::TokenAmount;
use crate::addresses;
use crate::base::Merchant;

/// One event of an invoice's live stream.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InvoiceEvent)]
pub struct InvoiceEventView<'e> {
    /// The event's number in this invoice's stream, from 1, without gaps.
    pub id: i64,
    /// `invoice.created` or `invoice.{status}`.
    #[schema(example = "invoice.paid")]
    pub r#type: &'e str,
    pub invoice_id: &'e str,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// The payer's view of the invoice at that moment.
    pub invoice: StreamedInvoice,
}

/// An invoice as its live stream shows it to the payer.
///
/// It is read from the event that was recorded for the merchant: of that, exactly what is listed here is shown.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(description = "An invoice as its live stream shows it to the payer.")]
pub struct StreamedInvoice {
    pub id: String,
    #[serde(default, deserialize_with = "unread")]
    #[schema(required, example = "checkout_invoice")]
    pub object: Cow<'static, str>,
    pub livemode: bool,
    pub status: String,
    pub amount: FiatAmount,
    #[schema(required)]
    pub description: Option<String>,
    /// Those of them that are still offered: empty once the invoice is closed.
    pub payment_options: Vec<PayerOptionView>,
    /// Empty once the invoice is closed.
    pub pending_options: Vec<PendingOptionView>,
    #[schema(required, format = DateTime)]
    pub select_by: Option<String>,
    pub amounts_received: Vec<TokenAmount>,
    /// Present while partially paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub amount_remaining: Option<TokenAmount>,
    /// Present when overpaid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub amount_overpaid: Option<TokenAmount>,
    #[schema(format = DateTime)]
    pub expires_at: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(required, format = DateTime)]
    pub paid_at: Option<String>,
    #[schema(required, format = DateTime)]
    pub closed_at: Option<String>,
    #[serde(default)]
    #[schema(required)]
    pub return_url: Option<String>,
    #[schema(required)]
    pub payment_link: Option<String>,
    #[serde(default, deserialize_with = "unread")]
    #[schema(required)]
    pub merchant: MerchantName,
    #[serde(default, deserialize_with = "unread")]
    #[schema(required)]
    pub payments: Vec<PayerPaymentView>,
}

/// The stream's data. `options` are those that the invoice offers now: an address that an event recorded is told
/// again only while it is the invoice's, with what it was computed from.
pub fn stream_event(
    event: &StreamedEvent,
    account: &str,
    invoice: &str,
    options: &[&PayOption],
    merchant: &Merchant,
) -> Result<String, StoreError> {
    let corrupt = |error: serde_json::Error| StoreError::corrupt("events", "body", invoice, error);
    let object = event_object(&event.body).map_err(corrupt)?;
    let mut shown: StreamedInvoice = serde_json::from_str(object).map_err(corrupt)?;
    shown.object = "checkout_invoice".into();
    shown.payment_options.retain_mut(|option| {
        option.address_derivation = derivation(option, account, options);
        option.address_derivation.is_some()
    });
    let is_offered = |asset: &str| options.iter().any(|option| option.asset == asset);
    shown
        .pending_options
        .retain(|option| is_offered(&option.asset));
    shown.merchant = MerchantName::of(merchant);
    if let Some(payments) = &event.payments {
        shown.payments = serde_json::from_str(payments).map_err(corrupt)?;
    }
    let event = InvoiceEventView {
        id: event.stream_seq,
        r#type: &event.event_type,
        invoice_id: invoice,
        created_at: time::show(event.created_at),
        invoice: shown,
    };
    serde_json::to_string(&event).map_err(corrupt)
}

fn derivation(
    shown: &PayerOptionView,
    account: &str,
    options: &[&PayOption],
) -> Option<AddressDerivation> {
    let option = options.iter().find(|option| option.asset == shown.asset)?;
    let deposit = option.deposit.as_ref();
    let deposit = deposit.filter(|deposit| deposit.address == shown.address)?;
    addresses::derivation(account, &shown.network, deposit).map(AddressDerivation)
}

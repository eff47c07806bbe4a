//! What a payer may see: where to pay and what arrived, and nothing of the merchant's own notes.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use till_core::asset::Registry;
use till_core::money::show;
use till_core::payment::PaymentStatus;
use till_store::StoreError;
use till_store::invoices::InvoiceRow;
use till_store::payments::PaymentRow;
use utoipa::ToSchema;

use super::{AddressDerivation, FiatAmount, InvoiceView, PendingOptionView, TokenAmount};
use crate::addresses;

/// Who is being paid.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct MerchantName {
    #[schema(required)]
    pub display_name: Option<String>,
}

/// One way to pay, with what the address was computed from.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = CheckoutPaymentOption)]
pub struct PayerOptionView {
    pub asset: Cow<'static, str>,
    pub symbol: Cow<'static, str>,
    pub network: Cow<'static, str>,
    pub network_name: Cow<'static, str>,
    pub amount_due: String,
    pub address: String,
    /// Recompute the address from this and compare, before showing it to anyone.
    #[schema(required)]
    #[serde(default, deserialize_with = "unread")]
    pub address_derivation: Option<AddressDerivation>,
}

/// For what the payer is shown, but not from the merchant's object.
pub(super) fn unread<'de, D, T>(recorded: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default,
{
    IgnoredAny::deserialize(recorded).map(|_| T::default())
}

/// A payment as the payer sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CheckoutPayment)]
pub struct PayerPaymentView {
    pub asset: String,
    pub amount: String,
    pub tx_hash: String,
    pub finality: String,
    pub status: String,
}

pub fn payer_payments(rows: &[&PaymentRow]) -> Vec<PayerPaymentView> {
    let view = |row: &&PaymentRow| {
        let decimals = Registry::builtin()
            .asset(&row.asset)
            .map_or(0, |asset| asset.decimals);
        PayerPaymentView {
            asset: row.asset.clone(),
            amount: show(row.units, decimals),
            tx_hash: row.tx_hash.clone(),
            finality: row.level.as_str().to_owned(),
            // Why a payment is looked at is the merchant's affair, not the payer's.
            status: match row.status {
                PaymentStatus::Held => PaymentStatus::Confirming,
                status => status,
            }
            .as_str()
            .to_owned(),
        }
    };
    rows.iter().map(view).collect()
}

/// What the payer's page can offer for this invoice.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Capabilities {
    pub wallet_payments: bool,
    pub notify: bool,
    pub lookup: bool,
    pub exchanges: bool,
}

/// An invoice as its payer sees it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CheckoutInvoice)]
pub struct CheckoutInvoiceView {
    pub id: String,
    #[schema(example = "checkout_invoice", pattern = "^checkout_invoice$")]
    pub object: &'static str,
    pub livemode: bool,
    pub status: String,
    pub amount: FiatAmount,
    #[schema(required)]
    pub description: Option<String>,
    pub payment_options: Vec<PayerOptionView>,
    pub pending_options: Vec<PendingOptionView>,
    #[schema(required, format = DateTime)]
    pub select_by: Option<String>,
    pub amounts_received: Vec<TokenAmount>,
    /// Present while partially paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_remaining: Option<TokenAmount>,
    /// Present when overpaid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_overpaid: Option<TokenAmount>,
    #[schema(format = DateTime)]
    pub expires_at: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(required, format = DateTime)]
    pub paid_at: Option<String>,
    #[schema(required, format = DateTime)]
    pub closed_at: Option<String>,
    pub checkout_url: String,
    #[schema(required)]
    pub payment_link: Option<String>,
    pub merchant: MerchantName,
    pub payments: Vec<PayerPaymentView>,
    pub capabilities: Capabilities,
    /// Bound to this invoice and this visit; keep it to the page.
    pub session_token: String,
}

impl CheckoutInvoiceView {
    pub fn of(
        row: &InvoiceRow,
        checkout_url: &str,
        key: Option<&str>,
        payments: Vec<PayerPaymentView>,
        display_name: Option<String>,
        session_token: String,
        capabilities: Capabilities,
    ) -> Result<CheckoutInvoiceView, StoreError> {
        let view = InvoiceView::of(row, checkout_url, key)?;
        let options = &row.options;
        let payment_options = view.payment_options.into_iter().map(|option| {
            let deposit = options.iter().find(|known| known.asset == option.asset);
            let deposit = deposit.and_then(|known| known.deposit.as_ref());
            PayerOptionView {
                address_derivation: deposit.and_then(|deposit| {
                    addresses::derivation(&row.scope.account, option.network, deposit)
                        .map(AddressDerivation)
                }),
                asset: option.asset.into(),
                symbol: option.symbol.into(),
                network: option.network.into(),
                network_name: option.network_name.into(),
                amount_due: option.amount_due,
                address: option.address,
            }
        });
        Ok(CheckoutInvoiceView {
            id: row.id.clone(),
            object: "checkout_invoice",
            livemode: view.livemode,
            status: row.status.as_str().to_owned(),
            amount: view.amount,
            description: row.description.clone(),
            payment_options: payment_options.collect(),
            pending_options: view.pending_options,
            select_by: view.select_by,
            amounts_received: view.amounts_received,
            amount_remaining: view.amount_remaining,
            amount_overpaid: view.amount_overpaid,
            expires_at: view.expires_at,
            created_at: view.created_at,
            paid_at: view.paid_at,
            closed_at: view.closed_at,
            checkout_url: view.checkout_url,
            payment_link: row.payment_link.clone(),
            merchant: MerchantName { display_name },
            payments,
            capabilities,
            session_token,
        })
    }
}

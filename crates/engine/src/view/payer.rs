//! What a payer may see: where to pay and what arrived, and nothing of the merchant's own notes.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use till_core::asset::{Asset, Registry};
use till_core::invoice::{Deposit, PayOption};
use till_core::money::show;
use till_core::payment::PaymentStatus;
use till_core::time;
use till_store::StoreError;
use till_store::invoices::InvoiceRow;
use till_store::payments::PaymentRow;
use utoipa::ToSchema;

use super::derivation::AddressDerivation;
use super::invoice::{FiatAmount, PendingOptionView, RateView, asset_of, checkout_url, select_by};
use super::tokens::{TokenAmount, tokens};
use crate::addresses;
use crate::base::Merchant;

/// Who is being paid.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct MerchantName {
    /// The name that the merchant chose, or else the account's.
    pub display_name: String,
}

impl MerchantName {
    pub fn of(merchant: &Merchant) -> MerchantName {
        MerchantName {
            display_name: merchant.shown_name().to_owned(),
        }
    }
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
    /// Present for an asset whose price moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateView>,
    #[serde(deserialize_with = "empty_if_null")]
    pub address: String,
    /// Recompute the address from this and compare, before showing it to anyone.
    #[schema(required)]
    #[serde(default, deserialize_with = "unread")]
    pub address_derivation: Option<AddressDerivation>,
}

/// An event that was recorded after the address had cooled down has none.
fn empty_if_null<'de, D: Deserializer<'de>>(recorded: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(recorded)?.unwrap_or_default())
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
    /// Empty once the invoice is closed.
    pub payment_options: Vec<PayerOptionView>,
    /// Empty once the invoice is closed.
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
    /// Once closed: until when its addresses are still its own, so that money which comes late is found here. Null while it is
    /// open, and where it never had an address.
    #[schema(required, format = DateTime)]
    pub address_held_until: Option<String>,
    /// When this was so, by the clock that decides about this invoice: in test mode the one that the merchant moves.
    #[schema(format = DateTime)]
    pub as_of: String,
    pub checkout_url: String,
    /// Where to go afterwards.
    #[schema(required)]
    pub return_url: Option<String>,
    #[schema(required)]
    pub payment_link: Option<String>,
    pub merchant: MerchantName,
    pub payments: Vec<PayerPaymentView>,
    pub capabilities: Capabilities,
    /// Bound to this invoice and this visit; keep it to the page.
    pub session_token: String,
}

/// What the payer's view has beside the invoice.
pub struct PayerPage {
    pub payments: Vec<PayerPaymentView>,
    pub merchant: MerchantName,
    pub capabilities: Capabilities,
    pub session_token: String,
    /// The merchant's time.
    pub now: i64,
}

impl CheckoutInvoiceView {
    pub fn of(
        row: &InvoiceRow,
        url: &str,
        key: Option<&str>,
        now: i64,
        page: PayerPage,
    ) -> Result<CheckoutInvoiceView, StoreError> {
        let summary = &row.summary;
        let (mut payment_options, mut pending_options) = (Vec::new(), Vec::new());
        for option in offered(row, now) {
            let asset = asset_of(row, option)?;
            match &option.deposit {
                Some(deposit) => payment_options.push(payment_option(row, option, asset, deposit)),
                None => pending_options.push(PendingOptionView::of(row, option, asset)),
            }
        }
        Ok(CheckoutInvoiceView {
            id: row.id.clone(),
            object: "checkout_invoice",
            livemode: row.scope.mode.is_live(),
            status: row.status.as_str().to_owned(),
            amount: FiatAmount::price(row),
            description: row.description.clone(),
            payment_options,
            pending_options,
            select_by: select_by(row),
            amounts_received: summary.received.iter().map(tokens).collect(),
            amount_remaining: summary.remaining.as_ref().map(tokens),
            amount_overpaid: summary.overpaid.as_ref().map(tokens),
            expires_at: time::show(row.expires_at),
            created_at: time::show(row.created_at),
            paid_at: row.paid_at.map(time::show),
            closed_at: row.closed_at.map(time::show),
            address_held_until: held_until(row).map(time::show),
            as_of: time::show(page.now),
            checkout_url: checkout_url(url, row, key),
            return_url: row.return_url.clone(),
            payment_link: row.payment_link.clone(),
            merchant: page.merchant,
            payments: page.payments,
            capabilities: page.capabilities,
            session_token: page.session_token,
        })
    }
}

/// The ways to pay that a payer may be shown: none once nothing more is expected, for the address cools down then
/// and will be another's; and none in an asset that the invoice takes no more.
pub fn offered(row: &InvoiceRow, now: i64) -> Vec<&PayOption> {
    let terms = row.terms();
    let options = row.options.iter().filter(|_| row.closed_at.is_none());
    options
        .filter(|option| terms.is_asked(&option.asset, now))
        .collect()
}

/// When the last of its addresses has cooled down.
fn held_until(row: &InvoiceRow) -> Option<i64> {
    let deposits = row
        .options
        .iter()
        .filter_map(|option| option.deposit.as_ref());
    deposits.filter_map(|deposit| deposit.held_until).max()
}

fn payment_option(
    row: &InvoiceRow,
    option: &PayOption,
    asset: &'static Asset,
    deposit: &Deposit,
) -> PayerOptionView {
    let derivation = addresses::derivation(&row.scope.account, &asset.network, deposit);
    PayerOptionView {
        asset: Cow::Borrowed(&asset.code),
        symbol: Cow::Borrowed(&asset.symbol),
        network: Cow::Borrowed(&asset.network),
        network_name: Cow::Borrowed(&asset.network_name),
        amount_due: show(row.summary.asked_by(option), option.decimals),
        rate: option.rate.as_ref().map(RateView::of),
        address: deposit.address.clone(),
        address_derivation: derivation.map(AddressDerivation),
    }
}

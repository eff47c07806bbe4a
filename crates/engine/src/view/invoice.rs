//! The merchant's view of an invoice.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use till_core::asset::{Asset, Registry};
use till_core::invoice::PayOption;
use till_core::money::{Units, show};
use till_core::pricing::Rate;
use till_core::time;
use till_store::StoreError;
use till_store::invoices::InvoiceRow;
use utoipa::ToSchema;

use super::tokens::{TokenAmount, tokens};

/// A price in a fiat currency.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FiatAmount {
    /// Major units as a decimal string, never a JSON number.
    #[schema(example = "25.00")]
    pub amount: String,
    /// ISO 4217 code.
    #[schema(example = "USD")]
    pub currency: Cow<'static, str>,
}

impl FiatAmount {
    /// An invoice's price.
    pub(super) fn price(row: &InvoiceRow) -> FiatAmount {
        FiatAmount {
            amount: show(Units(row.amount_minor.into()), row.currency.decimals()),
            currency: row.currency.code().into(),
        }
    }
}

/// What one whole token counts as while the invoice's rate holds.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Rate)]
pub struct RateView {
    /// Of one whole token, in the invoice's currency.
    #[schema(example = "97123.10")]
    pub price: String,
    /// When the price was so: of several sources, the time of the oldest.
    #[schema(format = DateTime)]
    pub at: String,
    /// Who said so: hosts, or networks with a price contract. Empty where the operator has set the price.
    pub sources: Vec<String>,
}

impl RateView {
    pub(super) fn of(rate: &Rate) -> RateView {
        RateView {
            price: rate.price.to_string(),
            at: time::show(rate.at),
            sources: rate.sources.clone(),
        }
    }
}

/// One way to pay an invoice, with its address.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = PaymentOption)]
pub struct PaymentOptionView {
    #[schema(example = "USDC@eip155:84532")]
    pub asset: &'static str,
    #[schema(example = "USDC")]
    pub symbol: &'static str,
    /// CAIP-2 id of the network.
    #[schema(example = "eip155:84532")]
    pub network: &'static str,
    #[schema(example = "Base Sepolia")]
    pub network_name: &'static str,
    /// Whole tokens to send. Where a refund was sent of a payment that a reorganisation took away since, that is owed with the
    /// price and is part of it.
    #[schema(example = "25.00")]
    pub amount_due: String,
    /// Present for an asset whose price moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateView>,
    /// The deposit address: this invoice's alone, and the merchant's alone to empty. Null once the invoice is closed and the
    /// address has cooled down: it may be another invoice's then. Null as well while an open invoice takes this asset no
    /// more: its price moves and the invoice's rate is over, or the subscription that it is of has ended.
    #[schema(required)]
    pub address: Option<String>,
}

/// One way to pay that has no address until the payer picks it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = PendingOption)]
pub struct PendingOptionView {
    pub asset: Cow<'static, str>,
    pub symbol: Cow<'static, str>,
    pub network: Cow<'static, str>,
    pub network_name: Cow<'static, str>,
    pub amount_due: String,
    /// Present for an asset whose price moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateView>,
}

impl PendingOptionView {
    pub(super) fn of(
        row: &InvoiceRow,
        option: &PayOption,
        asset: &'static Asset,
    ) -> PendingOptionView {
        PendingOptionView {
            asset: Cow::Borrowed(&asset.code),
            symbol: Cow::Borrowed(&asset.symbol),
            network: Cow::Borrowed(&asset.network),
            network_name: Cow::Borrowed(&asset.network_name),
            amount_due: show(row.summary.asked_by(option), option.decimals),
            rate: option.rate.as_ref().map(RateView::of),
        }
    }
}

/// The asset of one of an invoice's options.
pub(super) fn asset_of(row: &InvoiceRow, option: &PayOption) -> Result<&'static Asset, StoreError> {
    let asset = Registry::builtin().asset(&option.asset);
    asset.ok_or_else(|| StoreError::corrupt("invoices", "options", &row.id, &option.asset))
}

/// When a network must be picked: never after the invoice ends, whatever an older server wrote.
pub(super) fn select_by(row: &InvoiceRow) -> Option<String> {
    row.select_by.map(|at| time::show(at.min(row.expires_at)))
}

/// Where the payer pays. `key` is the publishable one.
pub(super) fn checkout_url(checkout_url: &str, row: &InvoiceRow, key: Option<&str>) -> String {
    match key {
        Some(key) => format!("{checkout_url}/i/{}?key={key}", row.id),
        None => format!("{checkout_url}/i/{}", row.id),
    }
}

/// Why an invoice waits for a person's decision.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = Review)]
pub struct ReviewView {
    /// `manual_review`, `sanctions`, `blacklist` or `finality_violation`.
    #[schema(example = "manual_review")]
    pub hold: String,
    #[schema(format = DateTime)]
    pub opened_at: String,
}

/// An invoice as its merchant sees it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Invoice)]
pub struct InvoiceView<'a> {
    #[schema(example = "inv_01jcnx2v9k7q3w8s5d1f6h4m2t")]
    pub id: &'a str,
    #[schema(example = "invoice", pattern = "^invoice$")]
    pub object: &'static str,
    pub livemode: bool,
    /// See the states of an invoice.
    #[schema(example = "awaiting_payment")]
    pub status: Cow<'a, str>,
    pub amount: FiatAmount,
    #[schema(required)]
    pub description: Option<&'a str>,
    /// Your own reference; never shown to the payer.
    #[schema(required)]
    pub customer_ref: Option<&'a str>,
    /// Your own data; never shown to the payer.
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub metadata: &'a RawValue,
    pub payment_options: Vec<PaymentOptionView>,
    /// Options of a payment-link invoice whose payer has not picked a network yet.
    pub pending_options: Vec<PendingOptionView>,
    /// When a payment-link invoice expires unless a network was picked.
    #[schema(required, format = DateTime)]
    pub select_by: Option<String>,
    /// What was received, final and not reversed, per asset.
    pub amounts_received: Vec<TokenAmount>,
    /// Present while partially paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_remaining: Option<TokenAmount>,
    /// Present when overpaid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_overpaid: Option<TokenAmount>,
    /// Present while under review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewView>,
    #[schema(format = DateTime)]
    pub expires_at: String,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(required, format = DateTime)]
    pub paid_at: Option<String>,
    #[schema(required, format = DateTime)]
    pub closed_at: Option<String>,
    /// Where the payer pays.
    pub checkout_url: String,
    /// Where the payer goes afterwards.
    #[schema(required)]
    pub return_url: Option<&'a str>,
    #[schema(required)]
    pub payment_link: Option<&'a str>,
    #[schema(required)]
    pub customer: Option<&'a str>,
    #[schema(required)]
    pub subscription: Option<&'a str>,
}

impl<'a> InvoiceView<'a> {
    /// Its subscription has ended: once it is closed it asks for nothing, anywhere.
    pub fn of_ended(mut self) -> InvoiceView<'a> {
        if self.closed_at.is_some() {
            for option in &mut self.payment_options {
                option.address = None;
            }
        }
        self
    }

    /// As it is at a moment of the account's business time.
    pub fn of(
        row: &'a InvoiceRow,
        url: &str,
        key: Option<&str>,
        now: i64,
    ) -> Result<InvoiceView<'a>, StoreError> {
        let (summary, terms) = (&row.summary, row.terms());
        let (mut payment_options, mut pending_options) = (Vec::new(), Vec::new());
        for option in &row.options {
            let asset = asset_of(row, option)?;
            let is_asked = row.closed_at.is_some() || terms.is_asked(&option.asset, now);
            match &option.deposit {
                Some(deposit) => payment_options.push(PaymentOptionView {
                    asset: &asset.code,
                    symbol: &asset.symbol,
                    network: &asset.network,
                    network_name: &asset.network_name,
                    amount_due: show(row.summary.asked_by(option), option.decimals),
                    rate: option.rate.as_ref().map(RateView::of),
                    address: (is_asked && deposit.is_held(now)).then(|| deposit.address.clone()),
                }),
                None if !is_asked => {}
                None => pending_options.push(PendingOptionView::of(row, option, asset)),
            }
        }
        Ok(InvoiceView {
            id: &row.id,
            object: "invoice",
            livemode: row.scope.mode.is_live(),
            status: Cow::Borrowed(row.status.as_str()),
            amount: FiatAmount::price(row),
            description: row.description.as_deref(),
            customer_ref: row.customer_ref.as_deref(),
            metadata: row.metadata.raw()?,
            payment_options,
            pending_options,
            select_by: select_by(row),
            amounts_received: summary.received.iter().map(tokens).collect(),
            amount_remaining: summary.remaining.as_ref().map(tokens),
            amount_overpaid: summary.overpaid.as_ref().map(tokens),
            review: summary.review.map(|review| ReviewView {
                hold: review.hold.as_str().to_owned(),
                opened_at: time::show(review.opened_at),
            }),
            expires_at: time::show(row.expires_at),
            created_at: time::show(row.created_at),
            paid_at: row.paid_at.map(time::show),
            closed_at: row.closed_at.map(time::show),
            checkout_url: checkout_url(url, row, key),
            return_url: row.return_url.as_deref(),
            payment_link: row.payment_link.as_deref(),
            customer: row.customer.as_deref(),
            subscription: row.subscription.as_deref(),
        })
    }
}

//! Payment links, as their merchant and as payers see them.

use std::collections::BTreeMap;

use serde::Serialize;
use till_core::link::LinkStatus;
use till_core::page_link::way_back_from_nowhere;
use till_core::time;
use till_store::StoreError;
use till_store::links::LinkRow;
use utoipa::ToSchema;

use super::payer::MerchantName;
use crate::base::Merchant;

/// A reusable URL that makes one invoice per payer.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = PaymentLink)]
pub struct LinkView {
    pub id: String,
    #[schema(example = "payment_link", pattern = "^payment_link$")]
    pub object: &'static str,
    pub livemode: bool,
    #[schema(min_length = 22, max_length = 22)]
    pub slug: String,
    /// Share this one: it carries the publishable key.
    pub url: String,
    /// `fixed` or `payer_chosen`.
    pub amount_type: String,
    pub currency: String,
    /// The price of a fixed link.
    #[schema(required)]
    pub amount: Option<String>,
    #[schema(required)]
    pub min_amount: Option<String>,
    #[schema(required)]
    pub max_amount: Option<String>,
    #[schema(required)]
    pub description: Option<String>,
    /// Null: the merchant's defaults at the time each invoice is made.
    #[schema(required)]
    pub assets: Option<Vec<String>>,
    #[schema(required, minimum = 1, maximum = 1_000_000)]
    pub quantity_limit: Option<i64>,
    pub quantity_used: i64,
    #[schema(required, format = DateTime)]
    pub expires_at: Option<String>,
    /// Where payers go afterwards, with `{invoice}` for the id; null: where the settings say.
    #[schema(required)]
    pub return_url: Option<String>,
    /// Copied to every invoice made from the link.
    pub metadata: BTreeMap<String, String>,
    pub active: bool,
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl LinkView {
    pub fn of(
        row: &LinkRow,
        checkout_url: &str,
        key: Option<&str>,
    ) -> Result<LinkView, StoreError> {
        let url = match key {
            Some(key) => format!("{checkout_url}/l/{}?key={key}", row.slug),
            None => format!("{checkout_url}/l/{}", row.slug),
        };
        Ok(LinkView {
            id: row.id.clone(),
            object: "payment_link",
            livemode: row.scope.mode.is_live(),
            slug: row.slug.clone(),
            url,
            amount_type: row.amount_type.as_str().to_owned(),
            currency: row.currency.code().to_owned(),
            amount: row.amount.clone(),
            min_amount: row.min_amount.clone(),
            max_amount: row.max_amount.clone(),
            description: row.description.clone(),
            assets: row.assets.clone(),
            quantity_limit: row.quantity_limit,
            quantity_used: row.quantity_used,
            expires_at: row.expires_at.map(time::show),
            return_url: row.return_url.clone(),
            metadata: row.metadata.entries()?,
            active: row.active,
            created_at: time::show(row.created_at),
        })
    }
}

/// A payment link as its payers see it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CheckoutPaymentLink)]
pub struct PayerLinkView {
    #[schema(example = "checkout_payment_link", pattern = "^checkout_payment_link$")]
    pub object: &'static str,
    pub livemode: bool,
    pub slug: String,
    pub merchant: MerchantName,
    #[schema(required)]
    pub description: Option<String>,
    /// `fixed` or `payer_chosen`.
    pub amount_type: String,
    pub currency: String,
    #[schema(required)]
    pub amount: Option<String>,
    #[schema(required)]
    pub min_amount: Option<String>,
    #[schema(required)]
    pub max_amount: Option<String>,
    #[schema(required, format = DateTime)]
    pub expires_at: Option<String>,
    /// Where to go from the link itself; null where the way back leads from an invoice only.
    #[schema(required)]
    pub return_url: Option<String>,
    /// Whether it takes payments: `active`, or why not: `inactive`, `expired`, `sold_out`, `fully_reserved`.
    pub status: String,
}

impl PayerLinkView {
    pub fn of(row: &LinkRow, merchant: &Merchant, status: LinkStatus) -> PayerLinkView {
        let return_url = row.return_url.as_deref();
        let return_url = return_url.or(merchant.row.return_url.as_deref());
        PayerLinkView {
            object: "checkout_payment_link",
            livemode: row.scope.mode.is_live(),
            slug: row.slug.clone(),
            merchant: MerchantName::of(merchant),
            description: row.description.clone(),
            amount_type: row.amount_type.as_str().to_owned(),
            currency: row.currency.code().to_owned(),
            amount: row.amount.clone(),
            min_amount: row.min_amount.clone(),
            max_amount: row.max_amount.clone(),
            expires_at: row.expires_at.map(time::show),
            return_url: return_url
                .and_then(way_back_from_nowhere)
                .map(str::to_owned),
            status: status.as_str().to_owned(),
        }
    }
}

//! What a merchant set, per mode.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::base::Merchant;

/// A merchant's settings in one mode.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = MerchantSettings)]
pub struct SettingsView {
    #[schema(example = "merchant_settings", pattern = "^merchant_settings$")]
    pub object: &'static str,
    pub livemode: bool,
    #[schema(required)]
    pub display_name: Option<String>,
    #[schema(required)]
    pub webhook_url: Option<String>,
    /// Assets offered when an invoice names none.
    #[schema(required)]
    pub default_assets: Option<Vec<String>>,
    /// How much less than the price still pays a new invoice, in basis points.
    #[schema(required, minimum = 0, maximum = 10000)]
    pub underpay_tolerance_bps: Option<i32>,
    /// An invoice that receives this much or more, as an amount of its own currency, waits for a person.
    #[schema(required)]
    pub manual_review_amount: Option<String>,
    /// Where payers ask for help: an https: or mailto: address.
    #[schema(required)]
    pub support_url: Option<String>,
    /// Where payers go afterwards, unless the invoice or the payment link says otherwise; `{invoice}` stands for the id.
    #[schema(required)]
    pub return_url: Option<String>,
    /// The colour of payers' pages.
    #[schema(required, example = "#0a7d5a", pattern = "^#[0-9A-Fa-f]{6}$")]
    pub accent: Option<String>,
    /// Payout addresses by CAIP-2 namespace; an account key for `bip122`. Read-only here.
    pub registered_destinations: BTreeMap<String, String>,
}

impl SettingsView {
    pub fn of(merchant: &Merchant) -> SettingsView {
        SettingsView {
            object: "merchant_settings",
            livemode: merchant.row.scope.mode.is_live(),
            display_name: merchant.row.display_name.clone(),
            webhook_url: merchant.row.webhook_url.clone(),
            default_assets: merchant.row.default_assets.clone(),
            underpay_tolerance_bps: i32::try_from(merchant.row.underpay_tolerance_bps).ok(),
            manual_review_amount: merchant.row.manual_review_amount.clone(),
            support_url: merchant.row.support_url.clone(),
            return_url: merchant.row.return_url.clone(),
            accent: merchant.row.accent.clone(),
            registered_destinations: merchant.row.destinations.clone(),
        }
    }
}

/// A webhook secret, shown once.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebhookSecret)]
pub struct WebhookSecretView {
    #[schema(example = "webhook_secret", pattern = "^webhook_secret$")]
    pub object: &'static str,
    /// Signs deliveries from now on; readable only in this answer.
    #[schema(example = "whsec_…")]
    pub secret: String,
}

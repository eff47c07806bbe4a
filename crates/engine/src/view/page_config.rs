//! The configuration of a merchant's checkout page: what it pins, and whom it asks.

use std::collections::BTreeMap;

use serde::Serialize;
use till_core::page_link::way_back_from_nowhere;

use crate::base::Merchant;

/// The page's `config.json`. The destinations are its pins: it shows no address that does not follow from
/// them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PageConfig {
    v: u32,
    /// Where the API is, as seen from the page.
    api: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    support_url: Option<String>,
    /// Where to go where there is no invoice that says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    return_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accent: Option<String>,
    /// By CAIP-2 namespace.
    destinations: BTreeMap<String, String>,
    /// The server serves the page itself, for all its merchants.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hosted: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    demo: bool,
}

const VERSION: u32 = 1;

impl PageConfig {
    /// For a page on the merchant's own host, which serves this merchant alone. It has a name of its own, which
    /// no answer changes.
    pub fn own_host(merchant: &Merchant, api: &str) -> PageConfig {
        PageConfig {
            api: api.to_owned(),
            key: merchant.row.publishable_key.clone(),
            ..PageConfig::of(merchant)
        }
    }

    /// For the page that the server serves. It lies one level below the API; without a merchant it pins
    /// nothing, which is enough for refunds.
    pub fn hosted(merchant: Option<&Merchant>, demo: bool) -> PageConfig {
        PageConfig {
            v: VERSION,
            api: "..".to_owned(),
            hosted: true,
            demo,
            ..merchant.map(PageConfig::of).unwrap_or_default()
        }
    }

    fn of(merchant: &Merchant) -> PageConfig {
        let row = &merchant.row;
        let return_url = row.return_url.as_deref();
        let return_url = return_url.and_then(way_back_from_nowhere);
        PageConfig {
            v: VERSION,
            merchant: Some(merchant.shown_name().to_owned()),
            support_url: row.support_url.clone(),
            return_url: return_url.map(str::to_owned),
            accent: row.accent.clone(),
            destinations: row.destinations.clone(),
            ..PageConfig::default()
        }
    }
}

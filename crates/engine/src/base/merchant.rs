//! What a merchant set.

use std::collections::BTreeMap;

use till_core::asset::Family;
use till_store::StoreError;
use till_store::accounts::MerchantRow;

/// What the merchant set, read.
#[derive(Clone, Debug)]
pub struct Merchant {
    pub row: MerchantRow,
    pub default_assets: Option<Vec<String>>,
    /// By CAIP-2 namespace.
    pub destinations: BTreeMap<String, String>,
}

impl Merchant {
    pub fn read(row: MerchantRow) -> Result<Merchant, StoreError> {
        let corrupt = |column: &str, error: serde_json::Error| {
            StoreError::corrupt("merchants", column, &row.account, error)
        };
        let default_assets = match &row.default_assets {
            Some(text) => {
                Some(serde_json::from_str(text).map_err(|error| corrupt("default_assets", error))?)
            }
            None => None,
        };
        let destinations = serde_json::from_str(&row.destinations)
            .map_err(|error| corrupt("destinations", error))?;
        Ok(Merchant {
            row,
            default_assets,
            destinations,
        })
    }

    pub fn destination(&self, family: Family) -> Option<&str> {
        self.destinations
            .get(family.namespace())
            .map(String::as_str)
    }
}

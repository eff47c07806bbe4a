//! What a merchant set.

use till_core::asset::Family;
use till_store::accounts::MerchantRow;

#[derive(Clone, Debug)]
pub struct Merchant {
    pub row: MerchantRow,
}

impl Merchant {
    pub fn destination(&self, family: Family) -> Option<&str> {
        self.row
            .destinations
            .get(family.namespace())
            .map(String::as_str)
    }
}

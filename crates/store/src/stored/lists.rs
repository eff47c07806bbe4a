//! Lists of asset codes (`merchants.default_assets`, `payment_links.assets`), of senders (`payments.senders`,
//! `transfers.senders`) and `merchants.destinations`: plain JSON of texts, without a form of their own.

use std::collections::BTreeMap;

use sqlx::error::BoxDynError;

use crate::Val;
use crate::sql::{Cells, Field};

macro_rules! plain {
    ($ty:ty) => {
        impl Field for $ty {
            const NULL: Val = Val::NullText;

            fn read(cells: &impl Cells, at: usize) -> Result<$ty, BoxDynError> {
                Ok(serde_json::from_str(cells.text(at)?)?)
            }

            fn write(&self) -> Val {
                // Texts always have a JSON form.
                Val::from(serde_json::to_string(self).unwrap_or_default())
            }
        }
    };
}

plain!(Vec<String>);
plain!(BTreeMap<String, String>);

//! The merchant's view of a customer.

use std::collections::BTreeMap;

use serde::Serialize;
use till_core::time;
use till_store::StoreError;
use till_store::customers::CustomerRow;
use utoipa::ToSchema;

use super::tokens::TokenAmount;

/// Who subscribes.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Customer)]
pub struct CustomerView {
    pub id: String,
    #[schema(example = "customer", pattern = "^customer$")]
    pub object: &'static str,
    pub livemode: bool,
    #[schema(required)]
    pub name: Option<String>,
    /// Stored encrypted; used only for reminders of this customer's renewals.
    #[schema(required)]
    pub email: Option<String>,
    pub metadata: BTreeMap<String, String>,
    /// Prepaid credit in the tokens that arrived. Present when the customer is retrieved by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub credit: Option<Vec<TokenAmount>>,
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl CustomerView {
    /// `email` in the clear.
    pub fn of(row: &CustomerRow, email: Option<String>) -> Result<CustomerView, StoreError> {
        Ok(CustomerView {
            id: row.id.clone(),
            object: "customer",
            livemode: row.scope.mode.is_live(),
            name: row.name.clone(),
            email,
            metadata: row.metadata.entries()?,
            credit: None,
            created_at: time::show(row.created_at),
        })
    }
}

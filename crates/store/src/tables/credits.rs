//! Prepaid credit that attempts to charge a period have set aside, by the payment it comes from. Whoever writes here holds
//! the payment's invoice.

use till_core::money::Units;
use till_core::scope::Scope;

use crate::sql::{select, table};
use crate::{Queries, StoreError, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct CreditRow in "credit_entries" by id {
        id: String,
        payment: String,
        /// The invoice that the payment is of.
        top_up: String,
        subscription: String,
        /// The number of the attempt.
        charge: i64,
        asset: String,
        units: Units,
        created_at: i64,
        returned_at: Option<i64>,
    }
}

pub fn rows<'r>(entries: impl IntoIterator<Item = &'r CreditRow>) -> Write {
    Write::records(entries)
}

pub fn returns<'r>(entries: impl IntoIterator<Item = &'r CreditRow>) -> Result<Write, StoreError> {
    Write::update_records(&["account", "mode", "id"], &["returned_at"], entries)
}

/// What an attempt has set aside and not returned, the first first.
pub async fn of_charge(
    q: &mut impl Queries,
    scope: &Scope,
    subscription: &str,
    charge: i64,
) -> Result<Vec<CreditRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND subscription = $3 AND charge = $4 AND returned_at IS NULL ORDER BY id",
        select::<CreditRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), subscription, charge];
    q.all(&sql, &args).await
}

/// What was set aside of a payment and not returned, the first first.
pub async fn of_payment(
    q: &mut impl Queries,
    scope: &Scope,
    payment: &str,
) -> Result<Vec<CreditRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND payment = $3 AND returned_at IS NULL ORDER BY id",
        select::<CreditRow>()
    );
    q.all(&sql, &vals![&scope.account, scope.mode.as_str(), payment])
        .await
}

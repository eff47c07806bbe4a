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
        /// The attempt was made with it, or is as if it had been, because nobody had paid to its invoice when it was given this;
        /// what it is given in place of that later is not.
        is_first: bool,
        created_at: i64,
        returned_at: Option<i64>,
    }
}

pub fn rows<'r>(entries: impl IntoIterator<Item = &'r CreditRow>) -> Write {
    Write::records(entries)
}

pub fn returns<'r>(entries: impl IntoIterator<Item = &'r CreditRow>) -> Result<Write, StoreError> {
    let changed = ["is_first", "returned_at"];
    Write::update_records(&["account", "mode", "id"], &changed, entries)
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

/// What the customer's attempts have set aside, and what was returned of those that are paid or whose invoice is not closed; the
/// first first.
pub async fn of_customer(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
) -> Result<Vec<CreditRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND subscription IN (SELECT id FROM subscriptions WHERE customer = $3 \
         AND account = $1 AND mode = $2) AND (returned_at IS NULL OR EXISTS (SELECT 1 FROM subscription_charges c \
         LEFT JOIN invoices i ON i.account = c.account AND i.mode = c.mode AND i.id = c.invoice WHERE c.account = $1 \
         AND c.mode = $2 AND c.subscription = credit_entries.subscription AND c.number = credit_entries.charge \
         AND (c.state = 'paid' OR (i.id IS NOT NULL AND i.closed_at IS NULL)))) ORDER BY id",
        select::<CreditRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), customer];
    q.all(&sql, &args).await
}

/// What an attempt was made with, returned or not.
pub async fn first_of_charge(
    q: &mut impl Queries,
    scope: &Scope,
    subscription: &str,
    charge: i64,
) -> Result<Vec<CreditRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND subscription = $3 AND charge = $4 AND is_first = 1 ORDER BY id",
        select::<CreditRow>()
    );
    let args = vals![&scope.account, scope.mode.as_str(), subscription, charge];
    q.all(&sql, &args).await
}

//! Wallet bindings: what connected wallets were told to send.

use std::collections::HashSet;

use till_core::money::Units;
use till_core::scope::Scope;

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct BindingRow in "wallet_bindings" by invoice {
        invoice: String,
        asset: String,
        network: String,
        sender: String,
        destination: String,
        units: Units,
        /// The part of the units that only tells this payment from others of the same amount.
        suffix: Units,
        created_at: i64,
        expires_at: i64,
        open: bool,
    }
}

/// Fails as a taken key when another invoice was given the same amount for the same wallet meanwhile.
pub async fn insert(tx: &mut Tx, binding: &BindingRow) -> Result<(), StoreError> {
    tx.write(&Write::records([binding])).await.map(drop)
}

pub async fn of_invoice(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<BindingRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND invoice = $3 ORDER BY created_at, sender",
        select::<BindingRow>()
    );
    q.all(&sql, &vals![&*scope.account, scope.mode.as_str(), invoice])
        .await
}

/// Amounts this wallet owes this destination, whoever's invoices they are for: a transfer shows no invoice.
pub async fn open_amounts(
    q: &mut impl Queries,
    destination: &str,
    sender: &str,
    asset: &str,
) -> Result<HashSet<Units>, StoreError> {
    let sql = "SELECT units FROM wallet_bindings WHERE destination = $1 AND sender = $2 AND asset = $3 AND open = 1";
    let rows: Vec<(String,)> = q.all(sql, &vals![destination, sender, asset]).await?;
    let read = |(units,): (String,)| {
        let units = units.parse().map(Units);
        units.map_err(|error| StoreError::corrupt("wallet_bindings", "units", sender, error))
    };
    rows.into_iter().map(read).collect()
}

/// Bindings a transfer fits by sender, destination, asset and exact amount. Not scoped: a transfer knows no
/// account.
pub async fn fitting(
    q: &mut impl Queries,
    destination: &str,
    sender: &str,
    asset: &str,
    units: Units,
) -> Result<Vec<BindingRow>, StoreError> {
    let sql = format!(
        "{} WHERE destination = $1 AND sender = $2 AND asset = $3 AND units = $4 ORDER BY created_at, invoice",
        select::<BindingRow>()
    );
    q.all(
        &sql,
        &vals![destination, sender, asset, units.0.to_string()],
    )
    .await
}

/// The invoice may be paid for longer than it said when its wallets were bound.
pub async fn extend(
    tx: &mut Tx,
    scope: &Scope,
    invoice: &str,
    expires_at: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE wallet_bindings SET expires_at = $4 WHERE account = $1 AND mode = $2 AND invoice = $3";
    let args = vals![&*scope.account, scope.mode.as_str(), invoice, expires_at];
    tx.run(sql, &args).await.map(drop)
}

/// Frees the amounts of invoices that expect no payment any more.
pub fn closing(invoices: &[(&Scope, &str)]) -> Write {
    let rows = invoices
        .iter()
        .map(|(scope, invoice)| vals![&scope.account, scope.mode.as_str(), *invoice].into())
        .collect();
    Write::update(
        "wallet_bindings",
        &["account", "mode", "invoice"],
        &[],
        rows,
    )
    .also("open = 0")
    .only("wallet_bindings.open = 1")
}

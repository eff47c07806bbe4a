//! Wallet bindings: what connected wallets were told to send.

use std::collections::HashSet;

use till_core::money::Units;
use till_core::scope::Scope;

use crate::sql::{LookUp, PerKey, select, table};
use crate::{Queries, StoreError, Tx, Val, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct BindingRow in "wallet_bindings" by invoice {
        invoice: String,
        asset: String,
        network: String,
        sender: String,
        /// How often this wallet was told an amount for this invoice before.
        turn: i64,
        destination: String,
        units: Units,
        /// The part of the units that only tells this payment from others of the same amount.
        suffix: Units,
        created_at: i64,
        expires_at: i64,
        open: bool,
        /// When the amount became free for another.
        closed_at: Option<i64>,
        /// When the wallet was told another amount, or another destination, for the same invoice.
        replaced_at: Option<i64>,
    }
}

/// Fails as a taken key when another invoice was given the same amount for the same wallet meanwhile.
pub async fn insert(tx: &mut Tx, binding: &BindingRow) -> Result<(), StoreError> {
    tx.write(&Write::records([binding])).await.map(drop)
}

/// Ends what the wallet was told before for the same invoice, where this binding says more, or sends it elsewhere. Whoever sends
/// what was told before the invoice asked for less has paid it.
pub async fn replace(tx: &mut Tx, by: &BindingRow) -> Result<(), StoreError> {
    let sql = "UPDATE wallet_bindings SET replaced_at = $7, open = 0, closed_at = COALESCE(closed_at, $7) WHERE account = $1 AND mode = $2 AND invoice = $3 \
         AND asset = $4 AND sender = $5 AND turn < $6 AND replaced_at IS NULL AND NOT (destination = $9 AND (LENGTH(units), units) >= (LENGTH($8), $8))";
    let args = vals![
        &*by.scope.account,
        by.scope.mode.as_str(),
        &by.invoice,
        &by.asset,
        &by.sender,
        by.turn,
        by.created_at,
        by.units.0.to_string(),
        &by.destination
    ];
    tx.run(sql, &args).await.map(drop)
}

pub async fn of_invoice(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<BindingRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND invoice = $3 ORDER BY turn, created_at, sender",
        select::<BindingRow>()
    );
    q.all(&sql, &vals![&*scope.account, scope.mode.as_str(), invoice])
        .await
}

/// Those of these invoices that a wallet was ever bound to.
pub async fn bound_among(
    q: &mut impl Queries,
    scope: &Scope,
    invoices: &[&str],
) -> Result<HashSet<String>, StoreError> {
    let keys: Vec<Vec<Val>> = invoices
        .iter()
        .map(|invoice| vals![&*scope.account, scope.mode.as_str(), *invoice].into())
        .collect();
    let by_invoice = LookUp {
        table: "wallet_bindings",
        columns: &["invoice"],
        key: &["account", "mode", "invoice"],
        rows: PerKey::One,
    };
    let found: Vec<(String,)> = q.look_up(&by_invoice, &keys).await?;
    Ok(found.into_iter().map(|(invoice,)| invoice).collect())
}

/// A binding that is asked for, and at what moment.
#[derive(Clone, Copy, Debug)]
pub struct BindingQuery<'a> {
    pub scope: &'a Scope,
    pub invoice: &'a str,
    pub destination: &'a str,
    pub sender: &'a str,
    pub asset: &'a str,
    /// Real time: amounts that others gave up after it may still lead to their invoices. Each account's own clock is added.
    pub given_up_after: i64,
}

/// Amounts that a transfer of this wallet to this destination may lead to an invoice by, whoever's it is: a transfer shows
/// no invoice. What the asking invoice gave up itself is its own.
pub async fn taken_amounts(
    q: &mut impl Queries,
    asked: &BindingQuery<'_>,
) -> Result<HashSet<Units>, StoreError> {
    let sql = "SELECT b.units FROM wallet_bindings b JOIN merchants m ON m.account = b.account AND m.mode = b.mode \
         WHERE b.destination = $1 AND b.sender = $2 AND b.asset = $3 AND (b.open = 1 \
         OR (b.closed_at > $4 + m.clock_offset_ms AND NOT (b.account = $5 AND b.mode = $6 AND b.invoice = $7)))";
    let args = vals![
        asked.destination,
        asked.sender,
        asked.asset,
        asked.given_up_after,
        &*asked.scope.account,
        asked.scope.mode.as_str(),
        asked.invoice
    ];
    let rows: Vec<(String,)> = q.all(sql, &args).await?;
    let read = |(units,): (String,)| {
        let units = units.parse().map(Units);
        units.map_err(|error| StoreError::corrupt("wallet_bindings", "units", asked.sender, error))
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
        "{} WHERE destination = $1 AND sender = $2 AND asset = $3 AND units = $4 ORDER BY created_at, invoice, turn",
        select::<BindingRow>()
    );
    q.all(
        &sql,
        &vals![destination, sender, asset, units.0.to_string()],
    )
    .await
}

/// The same for many transfers, each by destination, sender, asset and units.
pub async fn fitting_many(
    q: &mut impl Queries,
    transfers: &[(String, String, String, Units)],
) -> Result<Vec<BindingRow>, StoreError> {
    let keys: Vec<Vec<Val>> = transfers
        .iter()
        .map(|(destination, sender, asset, units)| {
            vals![destination, sender, asset, units.0.to_string()].into()
        })
        .collect();
    let fitting =
        LookUp::records::<BindingRow>(&["destination", "sender", "asset", "units"], PerKey::Many);
    let mut found: Vec<BindingRow> = q.look_up(&fitting, &keys).await?;
    found.sort_by(|a, b| (a.created_at, &a.invoice).cmp(&(b.created_at, &b.invoice)));
    Ok(found)
}

/// The invoice may be paid for longer than it said when its wallets were bound.
pub async fn extend(
    tx: &mut Tx,
    scope: &Scope,
    invoice: &str,
    expires_at: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE wallet_bindings SET expires_at = $4 WHERE account = $1 AND mode = $2 AND invoice = $3 AND open = 1";
    let args = vals![&*scope.account, scope.mode.as_str(), invoice, expires_at];
    tx.run(sql, &args).await.map(drop)
}

/// Frees the amounts of invoices that expect no payment any more, and when they stopped.
pub fn closing(invoices: &[(&Scope, &str, i64)]) -> Write {
    let rows = invoices
        .iter()
        .map(|(scope, invoice, at)| {
            vals![&scope.account, scope.mode.as_str(), *invoice, *at].into()
        })
        .collect();
    let key = ["account", "mode", "invoice"];
    Write::update("wallet_bindings", &key, &["closed_at"], rows)
        .also("open = 0")
        .only("wallet_bindings.open = 1")
}

//! Wallet bindings: what connected wallets were told to send.

use till_core::money::Units;
use till_core::scope::Scope;

use crate::{Queries, StoreError, Tx, touched, vals};

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct BindingRow {
    pub account: String,
    pub mode: String,
    pub invoice: String,
    pub asset: String,
    pub network: String,
    pub sender: String,
    pub destination: String,
    pub units: String,
    pub suffix: String,
    pub created_at: i64,
    pub expires_at: i64,
    pub open: i64,
}

impl BindingRow {
    pub fn units(&self) -> Result<Units, StoreError> {
        let corrupt = |error| StoreError::corrupt("wallet_bindings", "units", &self.invoice, error);
        self.units.parse().map(Units).map_err(corrupt)
    }
}

const COLUMNS: &str = "account, mode, invoice, asset, network, sender, destination, units, suffix, created_at, expires_at, open";

/// Fails as a taken key when another invoice was given the same amount for the same wallet meanwhile.
pub async fn insert(tx: &mut Tx, binding: &BindingRow) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO wallet_bindings ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
    );
    let args = vals![
        &binding.account,
        &binding.mode,
        &binding.invoice,
        &binding.asset,
        &binding.network,
        &binding.sender,
        &binding.destination,
        &binding.units,
        &binding.suffix,
        binding.created_at,
        binding.expires_at,
        binding.open,
    ];
    touched(tx.run(&sql, &args).await?, 1, "wallet_bindings")
}

pub async fn of_invoice(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<BindingRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM wallet_bindings WHERE account = $1 AND mode = $2 AND invoice = $3 ORDER BY created_at, sender"
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
) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT units FROM wallet_bindings WHERE destination = $1 AND sender = $2 AND asset = $3 AND open = 1";
    let rows: Vec<(String,)> = q.all(sql, &vals![destination, sender, asset]).await?;
    Ok(rows.into_iter().map(|(units,)| units).collect())
}

/// Bindings a transfer fits by sender, destination, asset and exact amount. Not scoped: a transfer knows no
/// account.
pub async fn fitting(
    q: &mut impl Queries,
    destination: &str,
    sender: &str,
    asset: &str,
    units: &str,
) -> Result<Vec<BindingRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM wallet_bindings \
         WHERE destination = $1 AND sender = $2 AND asset = $3 AND units = $4 ORDER BY created_at, invoice"
    );
    q.all(&sql, &vals![destination, sender, asset, units]).await
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

/// Frees the amounts of an invoice that expects no payment any more.
pub async fn close(tx: &mut Tx, scope: &Scope, invoice: &str) -> Result<(), StoreError> {
    let sql = "UPDATE wallet_bindings SET open = 0 WHERE account = $1 AND mode = $2 AND invoice = $3 AND open = 1";
    tx.run(sql, &vals![&*scope.account, scope.mode.as_str(), invoice])
        .await
        .map(drop)
}

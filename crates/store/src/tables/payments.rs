//! Payments: the facts about transfers that belong to invoices.

use till_core::ledger::Position;
use till_core::money::Units;
use till_core::payment::{Level, Payment, PaymentStatus, Verdict};
use till_core::scope::Scope;

use crate::{Page, Queries, StoreError, Tx, Val, touched, vals};

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PaymentRow {
    pub account: String,
    pub mode: String,
    pub id: String,
    pub invoice: String,
    pub status: String,
    pub level: String,
    pub first_level: String,
    pub credit_at: String,
    pub verdict: Option<String>,
    pub asset: String,
    pub network: String,
    pub units: String,
    pub tx_hash: String,
    pub place: i64,
    pub block_number: Option<i64>,
    pub block_hash: Option<String>,
    pub block_time: Option<i64>,
    pub sender: Option<String>,
    pub recipient: String,
    pub attributed_by: String,
    pub simulated: i64,
    pub first_seen_at: i64,
    pub credited_at: Option<i64>,
    pub reversed: i64,
    pub position: String,
    pub entries: i64,
    pub suffix: String,
}

const COLUMNS: &str = "account, mode, id, invoice, status, level, first_level, credit_at, verdict, asset, network, units, \
     tx_hash, place, block_number, block_hash, block_time, sender, recipient, attributed_by, simulated, first_seen_at, \
     credited_at, reversed, position, entries, suffix";

impl PaymentRow {
    fn corrupt(&self, column: &str, detail: impl ToString) -> StoreError {
        StoreError::corrupt("payments", column, &self.id, detail)
    }

    pub fn scope(&self) -> Result<Scope, StoreError> {
        Ok(Scope::new(
            &self.account,
            crate::accounts::mode("payments", &self.id, &self.mode)?,
        ))
    }

    pub fn status(&self) -> Result<PaymentStatus, StoreError> {
        PaymentStatus::parse(&self.status).ok_or_else(|| self.corrupt("status", &self.status))
    }

    pub fn units(&self) -> Result<Units, StoreError> {
        self.units
            .parse()
            .map(Units)
            .map_err(|error| self.corrupt("units", error))
    }

    pub fn position(&self) -> Result<Position, StoreError> {
        serde_json::from_str(&self.position).map_err(|error| self.corrupt("position", error))
    }

    /// The facts, without what was worked out from them.
    pub fn fact(&self) -> Result<Payment, StoreError> {
        let level =
            |column, text: &str| Level::parse(text).ok_or_else(|| self.corrupt(column, text));
        let verdict = match &self.verdict {
            Some(text) => Some(Verdict::parse(text).ok_or_else(|| self.corrupt("verdict", text))?),
            None => None,
        };
        Ok(Payment {
            id: self.id.clone(),
            asset: self.asset.clone(),
            units: self.units()?,
            suffix: self
                .suffix
                .parse()
                .map(Units)
                .map_err(|error| self.corrupt("suffix", error))?,
            level: level("level", &self.level)?,
            first_level: level("first_level", &self.first_level)?,
            credit_at: level("credit_at", &self.credit_at)?,
            first_seen_at: self.first_seen_at,
            block_time: self.block_time,
            verdict,
            reversed: self.reversed != 0,
        })
    }

    fn values(&self) -> Vec<Val> {
        vals![
            &self.account,
            &self.mode,
            &self.id,
            &self.invoice,
            &self.status,
            &self.level,
            &self.first_level,
            &self.credit_at,
            self.verdict.as_ref(),
            &self.asset,
            &self.network,
            &self.units,
            &self.tx_hash,
            self.place,
            self.block_number,
            self.block_hash.as_ref(),
            self.block_time,
            self.sender.as_ref(),
            &self.recipient,
            &self.attributed_by,
            self.simulated,
            self.first_seen_at,
            self.credited_at,
            self.reversed,
            &self.position,
            self.entries,
            &self.suffix,
        ]
        .into()
    }
}

pub async fn insert(tx: &mut Tx, payments: &[PaymentRow]) -> Result<(), StoreError> {
    let rows: Vec<Vec<Val>> = payments.iter().map(PaymentRow::values).collect();
    let head = format!("INSERT INTO payments ({COLUMNS}) VALUES");
    touched(
        tx.run_rows(&head, "", &rows).await?,
        payments.len() as u64,
        "payments",
    )
}

/// Writes what can change about a payment: its facts on the chain, the verdict, and what follows from them.
pub async fn update(tx: &mut Tx, payment: &PaymentRow) -> Result<(), StoreError> {
    let sql = "UPDATE payments SET status = $4, level = $5, verdict = $6, units = $7, block_number = $8, block_hash = $9, \
         block_time = $10, credited_at = $11, reversed = $12, position = $13, entries = $14 \
         WHERE account = $1 AND mode = $2 AND id = $3";
    let args = vals![
        &payment.account,
        &payment.mode,
        &payment.id,
        &payment.status,
        &payment.level,
        payment.verdict.as_ref(),
        &payment.units,
        payment.block_number,
        payment.block_hash.as_ref(),
        payment.block_time,
        payment.credited_at,
        payment.reversed,
        &payment.position,
        payment.entries,
    ];
    touched(tx.run(sql, &args).await?, 1, "payments")
}

pub async fn of_invoice(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<PaymentRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM payments WHERE account = $1 AND mode = $2 AND invoice = $3 ORDER BY id"
    );
    q.all(&sql, &vals![&*scope.account, scope.mode.as_str(), invoice])
        .await
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<PaymentRow>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM payments WHERE account = $1 AND mode = $2 AND id = $3");
    q.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

/// The payment a transfer already is, whoever's it is: what attribution found first is not asked again.
pub async fn by_identity(
    q: &mut impl Queries,
    network: &str,
    tx_hash: &str,
    place: i64,
) -> Result<Option<PaymentRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM payments WHERE network = $1 AND tx_hash = $2 AND place = $3"
    );
    q.one(&sql, &vals![network, tx_hash, place]).await
}

#[derive(Clone, Debug, Default)]
pub struct Filter<'a> {
    pub invoice: Option<&'a str>,
    pub status: Option<&'a str>,
    pub asset: Option<&'a str>,
    pub tx_hash: Option<&'a str>,
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    filter: &Filter<'_>,
    page: &Page,
) -> Result<Vec<PaymentRow>, StoreError> {
    let select = format!("SELECT {COLUMNS} FROM payments");
    let filters = [
        ("invoice", filter.invoice),
        ("status", filter.status),
        ("asset", filter.asset),
        ("tx_hash", filter.tx_hash),
    ];
    crate::sql::listing::newest_first(q, &select, scope, &filters, page).await
}

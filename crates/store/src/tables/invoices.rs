//! Invoices: rows in, domain terms out.

use till_core::invoice::{PayOption, Status, Terms};
use till_core::scope::Scope;

use crate::{Insert, Page, Queries, Reader, StoreError, Tx, Val, touched, vals};

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct InvoiceRow {
    pub account: String,
    pub mode: String,
    pub id: String,
    pub status: String,
    pub amount_minor: i64,
    pub currency: String,
    pub description: Option<String>,
    pub customer_ref: Option<String>,
    pub metadata: String,
    pub options: String,
    pub tolerance_bps: i64,
    pub created_at: i64,
    pub expires_at: i64,
    pub select_by: Option<i64>,
    pub paid_at: Option<i64>,
    pub closed_at: Option<i64>,
    pub cancelled_at: Option<i64>,
    pub payment_link: Option<String>,
    pub customer: Option<String>,
    pub subscription: Option<String>,
    pub summary: Option<String>,
    pub stream_seq: i64,
    pub link_unit: Option<String>,
}

const COLUMNS: &str = "account, mode, id, status, amount_minor, currency, description, customer_ref, metadata, options, \
     tolerance_bps, created_at, expires_at, select_by, paid_at, closed_at, cancelled_at, payment_link, customer, \
     subscription, summary, stream_seq, link_unit";

impl InvoiceRow {
    pub fn corrupt(&self, column: &str, detail: impl ToString) -> StoreError {
        StoreError::corrupt("invoices", column, &self.id, detail)
    }

    pub fn status(&self) -> Result<Status, StoreError> {
        Status::parse(&self.status).ok_or_else(|| self.corrupt("status", &self.status))
    }

    pub fn scope(&self) -> Result<Scope, StoreError> {
        Ok(Scope::new(
            &self.account,
            crate::accounts::mode("invoices", &self.id, &self.mode)?,
        ))
    }

    pub fn options(&self) -> Result<Vec<PayOption>, StoreError> {
        serde_json::from_str(&self.options).map_err(|error| self.corrupt("options", error))
    }

    pub fn terms(&self) -> Result<Terms, StoreError> {
        Ok(Terms {
            amount_minor: self
                .amount_minor
                .try_into()
                .map_err(|error| self.corrupt("amount_minor", error))?,
            options: self.options()?,
            tolerance_bps: self
                .tolerance_bps
                .try_into()
                .map_err(|error| self.corrupt("tolerance_bps", error))?,
            expires_at: self.expires_at,
            select_by: self.select_by,
        })
    }

    fn values(&self) -> Vec<Val> {
        vals![
            &self.account,
            &self.mode,
            &self.id,
            &self.status,
            self.amount_minor,
            &self.currency,
            self.description.as_ref(),
            self.customer_ref.as_ref(),
            &self.metadata,
            &self.options,
            self.tolerance_bps,
            self.created_at,
            self.expires_at,
            self.select_by,
            self.paid_at,
            self.closed_at,
            self.cancelled_at,
            self.payment_link.as_ref(),
            self.customer.as_ref(),
            self.subscription.as_ref(),
            self.summary.as_ref(),
            self.stream_seq,
            self.link_unit.as_ref(),
        ]
        .into()
    }
}

pub async fn insert(tx: &mut Tx, invoices: &[InvoiceRow]) -> Result<(), StoreError> {
    tx.insert_all(&[rows(invoices)]).await
}

pub fn rows(invoices: &[InvoiceRow]) -> Insert {
    Insert {
        head: format!("INSERT INTO invoices ({COLUMNS}) VALUES").into(),
        tail: "",
        rows: invoices.iter().map(InvoiceRow::values).collect(),
    }
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<InvoiceRow>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM invoices WHERE account = $1 AND mode = $2 AND id = $3");
    q.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

/// Those of these invoices that exist, in any order.
pub async fn find_many(
    reader: &mut Reader,
    ids: &[(&Scope, &str)],
) -> Result<Vec<InvoiceRow>, StoreError> {
    let keys: Vec<Vec<Val>> = ids
        .iter()
        .map(|(scope, id)| vals![&*scope.account, scope.mode.as_str(), *id].into())
        .collect();
    let select =
        format!("SELECT {COLUMNS} FROM invoices WHERE account = $1 AND mode = $2 AND id = $3");
    reader.look_up(&select, &keys).await
}

/// The invoice, locked until the unit of work ends: whoever changes an invoice or its payments holds it.
pub async fn lock(tx: &mut Tx, scope: &Scope, id: &str) -> Result<Option<InvoiceRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM invoices WHERE account = $1 AND mode = $2 AND id = $3{}",
        tx.for_update()
    );
    tx.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

/// Writes what can change about an invoice.
pub async fn update(tx: &mut Tx, invoice: &InvoiceRow) -> Result<(), StoreError> {
    let sql = "UPDATE invoices SET status = $4, options = $5, paid_at = $6, closed_at = $7, cancelled_at = $8, \
         summary = $9, stream_seq = $10, link_unit = $11 WHERE account = $1 AND mode = $2 AND id = $3";
    let args = vals![
        &invoice.account,
        &invoice.mode,
        &invoice.id,
        &invoice.status,
        &invoice.options,
        invoice.paid_at,
        invoice.closed_at,
        invoice.cancelled_at,
        invoice.summary.as_ref(),
        invoice.stream_seq,
        invoice.link_unit.as_ref(),
    ];
    touched(tx.run(sql, &args).await?, 1, "invoices")
}

#[derive(Clone, Debug, Default)]
pub struct Filter<'a> {
    pub status: Option<&'a str>,
    pub customer_ref: Option<&'a str>,
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    filter: &Filter<'_>,
    page: &Page,
) -> Result<Vec<InvoiceRow>, StoreError> {
    let select = format!("SELECT {COLUMNS} FROM invoices");
    let filters = [
        ("status", filter.status),
        ("customer_ref", filter.customer_ref),
    ];
    crate::sql::listing::newest_first(q, &select, scope, &filters, page).await
}

/// How far each of these invoices' streams has come.
pub async fn stream_heads(
    q: &mut impl Queries,
    ids: &[(Scope, String)],
) -> Result<Vec<(String, i64)>, StoreError> {
    let mut heads = Vec::with_capacity(ids.len());
    let sql = "SELECT id, stream_seq FROM invoices WHERE account = $1 AND mode = $2 AND id = $3";
    for (scope, id) in ids {
        heads.extend(
            q.one(sql, &vals![&*scope.account, scope.mode.as_str(), id])
                .await?,
        );
    }
    Ok(heads)
}

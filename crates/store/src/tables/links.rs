//! Payment links. Units are reserved by updates that carry the limit in their own WHERE.

use till_core::link::{AmountType, LinkState};
use till_core::scope::Scope;

use crate::{Page, Queries, StoreError, Tx, touched, vals};

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct LinkRow {
    pub account: String,
    pub mode: String,
    pub id: String,
    pub slug: String,
    pub amount_type: String,
    pub currency: String,
    pub amount: Option<String>,
    pub min_amount: Option<String>,
    pub max_amount: Option<String>,
    pub description: Option<String>,
    pub assets: Option<String>,
    pub quantity_limit: Option<i64>,
    pub quantity_used: i64,
    pub quantity_reserved: i64,
    pub expires_at: Option<i64>,
    pub metadata: String,
    pub active: i64,
    pub created_at: i64,
}

const COLUMNS: &str = "account, mode, id, slug, amount_type, currency, amount, min_amount, max_amount, description, assets, \
     quantity_limit, quantity_used, quantity_reserved, expires_at, metadata, active, created_at";

impl LinkRow {
    pub fn corrupt(&self, column: &str, detail: impl ToString) -> StoreError {
        StoreError::corrupt("payment_links", column, &self.id, detail)
    }

    pub fn amount_type(&self) -> Result<AmountType, StoreError> {
        AmountType::parse(&self.amount_type)
            .ok_or_else(|| self.corrupt("amount_type", &self.amount_type))
    }

    pub fn assets(&self) -> Result<Option<Vec<String>>, StoreError> {
        let read = |text: &String| {
            serde_json::from_str(text).map_err(|error| self.corrupt("assets", error))
        };
        self.assets.as_ref().map(read).transpose()
    }

    pub fn state(&self) -> LinkState {
        LinkState {
            active: self.active != 0,
            expires_at: self.expires_at,
            limit: self.quantity_limit,
            used: self.quantity_used,
            reserved: self.quantity_reserved,
        }
    }
}

pub async fn insert(tx: &mut Tx, link: &LinkRow) -> Result<(), StoreError> {
    let sql = format!(
        "INSERT INTO payment_links ({COLUMNS}) VALUES \
         ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"
    );
    let args = vals![
        &link.account,
        &link.mode,
        &link.id,
        &link.slug,
        &link.amount_type,
        &link.currency,
        link.amount.as_ref(),
        link.min_amount.as_ref(),
        link.max_amount.as_ref(),
        link.description.as_ref(),
        link.assets.as_ref(),
        link.quantity_limit,
        link.quantity_used,
        link.quantity_reserved,
        link.expires_at,
        &link.metadata,
        link.active,
        link.created_at,
    ];
    touched(tx.run(&sql, &args).await?, 1, "payment_links")
}

/// Writes what the merchant may change; the counts are moved by their own updates.
pub async fn update(tx: &mut Tx, link: &LinkRow) -> Result<(), StoreError> {
    let sql = "UPDATE payment_links SET amount_type = $4, currency = $5, amount = $6, min_amount = $7, max_amount = $8, \
         description = $9, assets = $10, quantity_limit = $11, expires_at = $12, metadata = $13, active = $14 \
         WHERE account = $1 AND mode = $2 AND id = $3";
    let args = vals![
        &link.account,
        &link.mode,
        &link.id,
        &link.amount_type,
        &link.currency,
        link.amount.as_ref(),
        link.min_amount.as_ref(),
        link.max_amount.as_ref(),
        link.description.as_ref(),
        link.assets.as_ref(),
        link.quantity_limit,
        link.expires_at,
        &link.metadata,
        link.active,
    ];
    touched(tx.run(sql, &args).await?, 1, "payment_links")
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<LinkRow>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM payment_links WHERE account = $1 AND mode = $2 AND id = $3");
    q.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

pub async fn lock(tx: &mut Tx, scope: &Scope, id: &str) -> Result<Option<LinkRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM payment_links WHERE account = $1 AND mode = $2 AND id = $3{}",
        tx.for_update()
    );
    tx.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

pub async fn by_slug(
    q: &mut impl Queries,
    scope: &Scope,
    slug: &str,
) -> Result<Option<LinkRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM payment_links WHERE slug = $3 AND account = $1 AND mode = $2"
    );
    q.one(&sql, &vals![&*scope.account, scope.mode.as_str(), slug])
        .await
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    active: Option<bool>,
    page: &Page,
) -> Result<Vec<LinkRow>, StoreError> {
    // The flag is ours, not input: a number in the text keeps the list's one shape.
    let select = match active {
        None => format!("SELECT {COLUMNS} FROM payment_links"),
        Some(active) => {
            let flag = i64::from(active);
            format!(
                "SELECT * FROM (SELECT {COLUMNS} FROM payment_links WHERE active = {flag}) AS chosen"
            )
        }
    };
    crate::sql::listing::newest_first(q, &select, scope, &[], page).await
}

/// Takes one unit for a new invoice. False when the link has none left or too many are held already.
pub async fn reserve(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
    reserved_max: i64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE payment_links SET quantity_reserved = quantity_reserved + 1 \
         WHERE account = $1 AND mode = $2 AND id = $3 AND quantity_reserved < $4 \
         AND (quantity_limit IS NULL OR quantity_used + quantity_reserved < quantity_limit)";
    Ok(tx
        .run(
            sql,
            &vals![&*scope.account, scope.mode.as_str(), id, reserved_max],
        )
        .await?
        == 1)
}

/// Counts one more open invoice across the account's links. False when there are too many.
pub async fn open_one(tx: &mut Tx, scope: &Scope, open_max: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE merchants SET open_link_invoices = open_link_invoices + 1 \
         WHERE account = $1 AND mode = $2 AND open_link_invoices < $3";
    Ok(tx
        .run(sql, &vals![&*scope.account, scope.mode.as_str(), open_max])
        .await?
        == 1)
}

/// Moves a unit between used, reserved and neither, as an invoice's status moves.
pub async fn move_unit(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
    used: i64,
    reserved: i64,
) -> Result<(), StoreError> {
    let (account, mode) = (&*scope.account, scope.mode.as_str());
    let sql = "UPDATE payment_links SET quantity_used = quantity_used + $4, quantity_reserved = quantity_reserved + $5 \
         WHERE account = $1 AND mode = $2 AND id = $3";
    touched(
        tx.run(sql, &vals![account, mode, id, used, reserved])
            .await?,
        1,
        "payment_links",
    )?;
    if reserved == 0 {
        return Ok(());
    }
    let sql = "UPDATE merchants SET open_link_invoices = open_link_invoices + $3 WHERE account = $1 AND mode = $2";
    touched(
        tx.run(sql, &vals![account, mode, reserved]).await?,
        1,
        "merchants",
    )
}

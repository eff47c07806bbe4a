//! API keys. Only their hashes are here.

use till_core::scope::Scope;

use crate::{Queries, StoreError, Tx, touched, vals};

/// All that deciding about a request needs to know of the key it came with.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct KeyRow {
    pub id: String,
    pub account: String,
    pub mode: String,
    pub kind: String,
    pub creator_permitted: i64,
    pub rolled_at: Option<i64>,
    pub disabled_at: Option<i64>,
    /// Of the account's application for live mode.
    pub application_status: Option<String>,
    /// None when the account was never set up in the key's mode.
    pub destinations: Option<String>,
    pub publishable_key: Option<String>,
}

pub async fn key_by_hash(q: &mut impl Queries, hash: &[u8]) -> Result<Option<KeyRow>, StoreError> {
    let sql = "SELECT k.id, k.account, k.mode, k.kind, k.creator_permitted, k.rolled_at, a.disabled_at, \
         l.status AS application_status, m.destinations, \
         (SELECT p.public_key FROM api_keys p WHERE p.account = k.account AND p.mode = k.mode AND p.kind = 'publishable' \
         AND p.rolled_at IS NULL ORDER BY p.id DESC LIMIT 1) AS publishable_key FROM api_keys k JOIN accounts a ON a.id = k.account \
         LEFT JOIN merchants m ON m.account = k.account AND m.mode = k.mode \
         LEFT JOIN applications l ON l.account = k.account WHERE k.hash = $1";
    q.one(sql, &vals![hash]).await
}

pub struct NewKey<'a> {
    pub id: &'a str,
    pub kind: &'a str,
    pub hash: &'a [u8],
    pub hint: &'a str,
    /// A publishable key is no secret: links carry it, so it is kept as it is.
    pub public_key: Option<&'a str>,
}

pub async fn insert_key(
    tx: &mut Tx,
    scope: &Scope,
    key: &NewKey<'_>,
    now: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO api_keys (id, account, mode, kind, hash, hint, public_key, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let args = vals![
        key.id,
        &*scope.account,
        scope.mode.as_str(),
        key.kind,
        key.hash,
        key.hint,
        key.public_key,
        now
    ];
    touched(tx.run(sql, &args).await?, 1, "api_keys")
}

/// Ends every key of that kind at once.
pub async fn roll_keys(
    tx: &mut Tx,
    scope: &Scope,
    kind: &str,
    now: i64,
) -> Result<u64, StoreError> {
    let sql = "UPDATE api_keys SET rolled_at = $4 WHERE account = $1 AND mode = $2 AND kind = $3 AND rolled_at IS NULL";
    tx.run(sql, &vals![&*scope.account, scope.mode.as_str(), kind, now])
        .await
}

/// Since when a key counts as exposed, if it does; nothing where no key has this hash.
pub async fn exposure(
    q: &mut impl Queries,
    hash: &[u8],
) -> Result<Option<Option<i64>>, StoreError> {
    let sql = "SELECT exposed_at FROM api_keys WHERE hash = $1";
    let found: Option<(Option<i64>,)> = q.one(sql, &vals![hash]).await?;
    Ok(found.map(|(exposed_at,)| exposed_at))
}

/// The key was seen in a URL: it must be rolled. Kept as a fact; the first time counts.
pub async fn mark_exposed(tx: &mut Tx, hash: &[u8], now: i64) -> Result<u64, StoreError> {
    let sql = "UPDATE api_keys SET exposed_at = $2 WHERE hash = $1 AND exposed_at IS NULL";
    tx.run(sql, &vals![hash, now]).await
}

/// Whether the team member who made the key still has the right to.
pub async fn set_creator_permitted(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
    permitted: bool,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE api_keys SET creator_permitted = $4 WHERE account = $1 AND mode = $2 AND id = $3";
    let args = vals![&*scope.account, scope.mode.as_str(), id, permitted];
    touched(tx.run(sql, &args).await?, 1, "api_keys")
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct ListedKey {
    pub id: String,
    pub mode: String,
    pub kind: String,
    pub hint: String,
    pub created_at: i64,
    pub rolled_at: Option<i64>,
    pub exposed_at: Option<i64>,
}

pub async fn keys_of(q: &mut impl Queries, account: &str) -> Result<Vec<ListedKey>, StoreError> {
    let sql = "SELECT id, mode, kind, hint, created_at, rolled_at, exposed_at FROM api_keys WHERE account = $1 ORDER BY id DESC";
    q.all(sql, &vals![account]).await
}

/// Changes whenever a key stops working: it was rolled, whoever made it lost the right to, its account was disabled, or
/// live mode was taken from it.
pub async fn ended(q: &mut impl Queries) -> Result<(i64, i64, i64), StoreError> {
    let sql = "SELECT (SELECT COUNT(*) FROM api_keys WHERE rolled_at IS NOT NULL OR creator_permitted = 0), \
         (SELECT COUNT(*) FROM accounts WHERE disabled_at IS NOT NULL), \
         (SELECT COUNT(*) FROM applications WHERE status = 'rejected')";
    let counted: Option<(i64, i64, i64)> = q.one(sql, &[]).await?;
    Ok(counted.unwrap_or_default())
}

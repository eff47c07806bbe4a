//! API keys. Only their hashes are here.

use std::collections::{BTreeSet, HashSet};

use till_core::scope::Scope;

use crate::sql::listing::newest_first;
use crate::sql::{LookUp, PerKey, select, table};
use crate::{Page, Queries, StoreError, Tx, Val, touched, vals};

table! {
    /// A key, as the dashboard shows it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct ApiKeyRow in "api_keys" by id {
        id: String,
        kind: String,
        hint: String,
        public_key: Option<String>,
        name: Option<String>,
        created_by: Option<String>,
        created_at: i64,
        last_used_at: Option<i64>,
        rolled_at: Option<i64>,
        exposed_at: Option<i64>,
    }
}

/// All that deciding about a request needs to know of the key it came with.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct KeyRow {
    pub id: String,
    pub account: String,
    pub mode: String,
    pub kind: String,
    /// The member who made it; none for one from the command line.
    pub created_by: Option<String>,
    /// What they are now; none once they are no member any more.
    pub creator_role: Option<String>,
    pub rolled_at: Option<i64>,
    pub disabled_at: Option<i64>,
    /// Of the account's application for live mode.
    pub application_status: Option<String>,
    /// 0 when the account never had a destination in the key's mode.
    pub is_set_up: i64,
    pub publishable_key: Option<String>,
    /// When the first of the changes that wait takes effect, in business time, and how far that is from real time.
    pub change_at: Option<i64>,
    pub clock_offset_ms: i64,
}

pub async fn key_by_hash(q: &mut impl Queries, hash: &[u8]) -> Result<Option<KeyRow>, StoreError> {
    let sql = "SELECT k.id, k.account, k.mode, k.kind, k.created_by, t.role AS creator_role, k.rolled_at, a.disabled_at, \
         l.status AS application_status, \
         CAST(CASE WHEN m.destinations <> '{}' THEN 1 WHEN EXISTS (SELECT 1 FROM destinations d WHERE d.account = k.account \
         AND d.mode = k.mode) THEN 1 ELSE 0 END AS BIGINT) AS is_set_up, \
         (SELECT p.public_key FROM api_keys p WHERE p.account = k.account AND p.mode = k.mode AND p.kind = 'publishable' \
         AND p.rolled_at IS NULL ORDER BY p.id DESC LIMIT 1) AS publishable_key, \
         (SELECT MIN(c.effective_at) FROM changes c WHERE c.account = k.account AND c.mode = k.mode AND c.status = 'pending') \
         AS change_at, COALESCE(m.clock_offset_ms, 0) AS clock_offset_ms FROM api_keys k JOIN accounts a ON a.id = k.account \
         LEFT JOIN merchants m ON m.account = k.account AND m.mode = k.mode \
         LEFT JOIN applications l ON l.account = k.account \
         LEFT JOIN members t ON t.account = k.account AND t.user_id = k.created_by WHERE k.hash = $1";
    q.one(sql, &vals![hash]).await
}

/// How an account is set up in a mode, as far as a request by session needs to know.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct SetUpRow {
    /// 0 when it never had a destination.
    pub is_set_up: i64,
    pub publishable_key: Option<String>,
}

pub async fn set_up(q: &mut impl Queries, scope: &Scope) -> Result<Option<SetUpRow>, StoreError> {
    let sql = "SELECT CAST(CASE WHEN m.destinations <> '{}' THEN 1 WHEN EXISTS (SELECT 1 FROM destinations d \
         WHERE d.account = m.account AND d.mode = m.mode) THEN 1 ELSE 0 END AS BIGINT) AS is_set_up, \
         (SELECT p.public_key FROM api_keys p WHERE p.account = m.account AND p.mode = m.mode AND p.kind = 'publishable' \
         AND p.rolled_at IS NULL ORDER BY p.id DESC LIMIT 1) AS publishable_key FROM merchants m \
         WHERE m.account = $1 AND m.mode = $2";
    q.one(sql, &vals![&*scope.account, scope.mode.as_str()])
        .await
}

pub struct NewKey<'a> {
    pub id: &'a str,
    pub kind: &'a str,
    pub hash: &'a [u8],
    pub hint: &'a str,
    /// A publishable key is no secret: links carry it, so it is kept as it is.
    pub public_key: Option<&'a str>,
    pub name: Option<&'a str>,
    /// The member who makes it; none for the command line.
    pub created_by: Option<&'a str>,
}

pub async fn insert_key(
    tx: &mut Tx,
    scope: &Scope,
    key: &NewKey<'_>,
    now: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO api_keys (id, account, mode, kind, hash, hint, public_key, name, created_by, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let args = vals![
        key.id,
        &*scope.account,
        scope.mode.as_str(),
        key.kind,
        key.hash,
        key.hint,
        key.public_key,
        key.name,
        key.created_by,
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

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    page: &Page,
) -> Result<Vec<ApiKeyRow>, StoreError> {
    newest_first(q, scope, [], page).await
}

/// A key, held until the unit of work ends.
pub async fn find_for_update(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
) -> Result<Option<ApiKeyRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3{}",
        select::<ApiKeyRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![&*scope.account, scope.mode.as_str(), id])
        .await
}

/// Whether a key works: it is there, was neither revoked nor rolled, and its account is not disabled. Nobody ends it before
/// this unit of work does; others may ask meanwhile.
pub async fn is_good_for_share(tx: &mut Tx, scope: &Scope, id: &str) -> Result<bool, StoreError> {
    let sql = format!(
        "SELECT k.rolled_at, (SELECT a.disabled_at FROM accounts a WHERE a.id = k.account) FROM api_keys k \
         WHERE k.account = $1 AND k.mode = $2 AND k.id = $3{}",
        tx.for_share()
    );
    let args = vals![&*scope.account, scope.mode.as_str(), id];
    let found: Option<(Option<i64>, Option<i64>)> = tx.one(&sql, &args).await?;
    Ok(found == Some((None, None)))
}

/// Those of these keys that work.
pub async fn good_among(
    q: &mut impl Queries,
    ids: &BTreeSet<&str>,
) -> Result<HashSet<String>, StoreError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let by_id = LookUp {
        table: "api_keys",
        columns: &["id", "rolled_at"],
        key: &["id"],
        rows: PerKey::One,
    };
    let keys: Vec<Vec<Val>> = ids.iter().map(|id| vals![*id].into()).collect();
    let found: Vec<(String, Option<i64>)> = q.look_up(&by_id, &keys).await?;
    let good = found.into_iter().filter(|(_, ended)| ended.is_none());
    Ok(good.map(|(id, _)| id).collect())
}

/// What a key is called: its name, or how it begins and ends. Not scoped: it is asked of the actors of one account's log.
pub async fn label(q: &mut impl Queries, id: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT COALESCE(name, hint) FROM api_keys WHERE id = $1";
    let found: Option<(String,)> = q.one(sql, &vals![id]).await?;
    Ok(found.map(|(label,)| label))
}

/// How many keys of an account and mode work.
pub async fn count_active(q: &mut impl Queries, scope: &Scope) -> Result<i64, StoreError> {
    let sql =
        "SELECT COUNT(*) FROM api_keys WHERE account = $1 AND mode = $2 AND rolled_at IS NULL";
    let found: Option<(i64,)> = q
        .one(sql, &vals![&*scope.account, scope.mode.as_str()])
        .await?;
    Ok(found.map_or(0, |(count,)| count))
}

/// Ends one key at once; the first time counts.
pub async fn revoke(tx: &mut Tx, scope: &Scope, id: &str, now: i64) -> Result<u64, StoreError> {
    let sql = "UPDATE api_keys SET rolled_at = $4 WHERE account = $1 AND mode = $2 AND id = $3 AND rolled_at IS NULL";
    let args = vals![&*scope.account, scope.mode.as_str(), id, now];
    tx.run(sql, &args).await
}

/// Makes a member the one whose role decides what a key may do.
pub async fn set_creator(
    tx: &mut Tx,
    scope: &Scope,
    id: &str,
    user: &str,
) -> Result<(), StoreError> {
    let sql = "UPDATE api_keys SET created_by = $4 WHERE account = $1 AND mode = $2 AND id = $3";
    let args = vals![&*scope.account, scope.mode.as_str(), id, user];
    touched(tx.run(sql, &args).await?, 1, "api_keys")
}

/// Writes down when a key was last used, unless a later use is known.
pub async fn set_used(tx: &mut Tx, id: &str, at: i64) -> Result<(), StoreError> {
    let sql = "UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";
    tx.run(sql, &vals![id, at]).await.map(drop)
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

/// Changes whenever a key stops working: it was rolled, whoever made it left, its account was disabled, or live mode was
/// taken from it.
pub async fn ended(q: &mut impl Queries) -> Result<(i64, i64, i64), StoreError> {
    let sql = "SELECT (SELECT COUNT(*) FROM api_keys k WHERE rolled_at IS NOT NULL OR (created_by IS NOT NULL \
         AND NOT EXISTS (SELECT 1 FROM members m WHERE m.account = k.account AND m.user_id = k.created_by))), \
         (SELECT COUNT(*) FROM accounts WHERE disabled_at IS NOT NULL), \
         (SELECT COUNT(*) FROM applications WHERE status = 'rejected')";
    let counted: Option<(i64, i64, i64)> = q.one(sql, &[]).await?;
    Ok(counted.unwrap_or_default())
}

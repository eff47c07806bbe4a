//! Lists that addresses are held against: which edition of each holds, and its addresses. Not scoped: they are the
//! operator's.

use crate::sql::{Conflict, select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct ListRow in "screening_lists" by name {
        name: String,
        /// Of where it is read from and how: a list from elsewhere is not this one.
        digest: Vec<u8>,
        /// Names what it held when it was last read; none before that.
        edition: Option<String>,
        /// What its publisher calls that edition.
        version: Option<String>,
        addresses: i64,
        bytes: i64,
        /// When it was last read to its end, and when that was last tried, in real time.
        fetched_at: Option<i64>,
        tried_at: Option<i64>,
        /// Why the last try failed.
        error: Option<String>,
        busy_until: i64,
    }
}

/// What a list was found to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEdition<'a> {
    pub edition: &'a str,
    pub version: &'a str,
    pub addresses: i64,
    pub bytes: i64,
}

pub async fn all(q: &mut impl Queries) -> Result<Vec<ListRow>, StoreError> {
    let sql = format!("{} ORDER BY name", select::<ListRow>());
    q.all(&sql, &[]).await
}

/// Takes a list for reading until `until`. False while somebody else has it. What was read from elsewhere under the
/// same name is forgotten.
pub async fn claim(
    tx: &mut Tx,
    (name, digest): (&str, &[u8]),
    now: i64,
    until: i64,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO screening_lists (name, digest, addresses, bytes, busy_until) VALUES ($1, $2, 0, 0, 0) \
         ON CONFLICT DO NOTHING";
    tx.run(sql, &vals![name, digest]).await?;
    let sql = "UPDATE screening_lists SET busy_until = $3, tried_at = $2 WHERE name = $1 AND busy_until <= $2";
    if tx.run(sql, &vals![name, now, until]).await? != 1 {
        return Ok(false);
    }
    let sql = "UPDATE screening_lists SET digest = $2, edition = NULL, version = NULL, addresses = 0, bytes = 0, \
         fetched_at = NULL WHERE name = $1 AND digest <> $2";
    tx.run(sql, &vals![name, digest]).await?;
    Ok(true)
}

/// Some addresses of an edition that does not hold yet.
pub async fn add(tx: &mut Tx, edition: &str, addresses: &[&str]) -> Result<(), StoreError> {
    let rows = addresses
        .iter()
        .map(|address| vals![edition, *address].into())
        .collect();
    let write = Write::insert("screening_addresses", &["edition", "address"], rows);
    tx.write(&write.on_conflict(Conflict::Ignore))
        .await
        .map(drop)
}

/// The edition takes the place of the one before. False when the claim was lost meanwhile: nothing changed.
pub async fn replace(
    tx: &mut Tx,
    name: &str,
    claimed_until: i64,
    new: &NewEdition<'_>,
    now: i64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE screening_lists SET edition = $3, version = $4, addresses = $5, bytes = $6, fetched_at = $7, \
         error = NULL, busy_until = 0 WHERE name = $1 AND busy_until = $2";
    let args = vals![
        name,
        claimed_until,
        new.edition,
        new.version,
        new.addresses,
        new.bytes,
        now
    ];
    if tx.run(sql, &args).await? != 1 {
        return Ok(false);
    }
    forget_others(tx, now).await.map(|()| true)
}

/// Addresses of editions that hold no more, or never did because whoever wrote them died. Nothing while somebody
/// writes one.
async fn forget_others(tx: &mut Tx, now: i64) -> Result<(), StoreError> {
    let sql = "DELETE FROM screening_addresses WHERE edition NOT IN \
         (SELECT edition FROM screening_lists WHERE edition IS NOT NULL) \
         AND NOT EXISTS (SELECT 1 FROM screening_lists WHERE busy_until > $1)";
    tx.run(sql, &vals![now]).await.map(drop)
}

/// It could not be read; what was known of it stays.
pub async fn record_failure(
    tx: &mut Tx,
    name: &str,
    claimed_until: i64,
    error: &str,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE screening_lists SET error = $3, busy_until = 0 WHERE name = $1 AND busy_until = $2";
    tx.run(sql, &vals![name, claimed_until, error])
        .await
        .map(drop)
}

/// Addresses of an edition, in their order, after the one that was read last.
pub async fn addresses(
    q: &mut impl Queries,
    edition: &str,
    after: &str,
    at_most: i64,
) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT address FROM screening_addresses WHERE edition = $1 AND address > $2 ORDER BY address LIMIT $3";
    let found: Vec<(String,)> = q.all(sql, &vals![edition, after, at_most]).await?;
    Ok(found.into_iter().map(|(address,)| address).collect())
}

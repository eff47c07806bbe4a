//! Failed and repeated attempts, counted over a sliding time.

use crate::sql::table;
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct AttemptRow in "attempts" by id {
        /// What is counted, and the hash of by whom.
        subject: Vec<u8>,
        at: i64,
        id: String,
    }
}

pub async fn insert(tx: &mut Tx, attempt: &AttemptRow) -> Result<(), StoreError> {
    tx.write(&Write::records([attempt])).await.map(drop)
}

/// Makes whoever else counts the same subject wait until the unit of work ends.
pub async fn hold(tx: &mut Tx, subject: &[u8]) -> Result<(), StoreError> {
    // SQLite has one writer anyway.
    if !tx.for_update().is_empty() {
        let sql = "SELECT pg_advisory_xact_lock(hashtextextended(encode($1, 'hex'), 0))";
        tx.run(sql, &vals![subject]).await?;
    }
    Ok(())
}

/// The latest attempts after `since`, the newest first.
pub async fn latest(
    q: &mut impl Queries,
    subject: &[u8],
    since: i64,
    at_most: i64,
) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT at FROM attempts WHERE subject = $1 AND at > $2 ORDER BY at DESC LIMIT $3";
    let found: Vec<(i64,)> = q.all(sql, &vals![subject, since, at_most]).await?;
    Ok(found.into_iter().map(|(at,)| at).collect())
}

/// Takes back an attempt that turned out to be a good one.
pub async fn remove(tx: &mut Tx, id: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM attempts WHERE id = $1";
    tx.run(sql, &vals![id]).await.map(drop)
}

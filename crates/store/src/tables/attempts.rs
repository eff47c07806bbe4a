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

/// Locks the subject's row until the unit of work ends, so that attempts of the same subject are counted one after the
/// other. The upsert makes the row if there is none, and waits for whoever holds it otherwise.
pub async fn lock_subject(tx: &mut Tx, subject: &[u8], now: i64) -> Result<(), StoreError> {
    let sql = "INSERT INTO attempt_subjects (subject, locked_at) VALUES ($1, $2) \
         ON CONFLICT (subject) DO UPDATE SET locked_at = excluded.locked_at";
    tx.run(sql, &vals![subject, now]).await.map(drop)
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

//! Links that wait to be mailed.

use crate::sql::{columns, table};
use crate::{Queries as _, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct LinkMailRow in "link_mails" by id {
        id: String,
        kind: String,
        locale: Option<String>,
        /// Address and link, encrypted together.
        content: Vec<u8>,
        expires_at: i64,
        due_at: i64,
        fence: i64,
        attempts: i64,
    }
}

pub async fn insert(tx: &mut Tx, mail: &LinkMailRow) -> Result<(), StoreError> {
    tx.write(&Write::records([mail])).await.map(drop)
}

/// Claims what is due until `claim_until`; a worker that dies lets the claim run out.
pub async fn claim(
    tx: &mut Tx,
    now: i64,
    claim_until: i64,
    at_most: i64,
) -> Result<Vec<LinkMailRow>, StoreError> {
    let sql = format!(
        "UPDATE link_mails SET due_at = $2, fence = fence + 1 WHERE id IN \
         (SELECT id FROM link_mails WHERE due_at <= $1 ORDER BY due_at LIMIT $3{}) RETURNING {}",
        tx.skip_locked(),
        columns::<LinkMailRow>()
    );
    tx.all(&sql, &vals![now, claim_until, at_most]).await
}

/// It was sent, or is of no use any more. False when the claim was lost meanwhile.
pub async fn remove(tx: &mut Tx, id: &str, fence: i64) -> Result<bool, StoreError> {
    let sql = "DELETE FROM link_mails WHERE id = $1 AND fence = $2";
    Ok(tx.run(sql, &vals![id, fence]).await? == 1)
}

/// It was not sent, and is tried again then.
pub async fn put_off(tx: &mut Tx, id: &str, fence: i64, due_at: i64) -> Result<bool, StoreError> {
    let sql =
        "UPDATE link_mails SET attempts = attempts + 1, due_at = $3 WHERE id = $1 AND fence = $2";
    Ok(tx.run(sql, &vals![id, fence, due_at]).await? == 1)
}

//! What a passkey was asked, to be answered once.

use crate::sql::{select, table};
use crate::{Queries as _, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct CeremonyRow in "ceremonies" by id {
        id: String,
        /// `sign_in`, `second_factor` or `register`.
        kind: String,
        session_id: Option<String>,
        user_id: Option<String>,
        /// The challenge and what the answer is held against, as JSON.
        state: String,
        expires_at: i64,
        used_at: Option<i64>,
    }
}

pub async fn insert(tx: &mut Tx, ceremony: &CeremonyRow) -> Result<(), StoreError> {
    tx.write(&Write::records([ceremony])).await.map(drop)
}

/// Uses a ceremony up and gives it back. None when it was answered, is too old or of another kind.
pub async fn take(
    tx: &mut Tx,
    id: &str,
    kind: &str,
    now: i64,
) -> Result<Option<CeremonyRow>, StoreError> {
    let sql = "UPDATE ceremonies SET used_at = $3 WHERE id = $1 AND kind = $2 AND used_at IS NULL AND expires_at > $3";
    if tx.run(sql, &vals![id, kind, now]).await? == 0 {
        return Ok(None);
    }
    let sql = format!("{} WHERE id = $1", select::<CeremonyRow>());
    tx.one(&sql, &vals![id]).await
}

/// Whatever of a kind a user was asked cannot be answered any more.
pub async fn close_all_of(tx: &mut Tx, user: &str, kind: &str, now: i64) -> Result<(), StoreError> {
    let sql =
        "UPDATE ceremonies SET used_at = $3 WHERE user_id = $1 AND kind = $2 AND used_at IS NULL";
    tx.run(sql, &vals![user, kind, now]).await.map(drop)
}

//! Sessions of the dashboard. Only the hashes of their tokens are here.

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct SessionRow in "sessions" by id {
        id: String,
        user_id: String,
        token_hash: Vec<u8>,
        csrf: Vec<u8>,
        state: String,
        method: String,
        created_at: i64,
        last_used_at: i64,
        expires_at: i64,
        ended_at: Option<i64>,
        ip: Option<String>,
        user_agent: Option<String>,
    }
}

pub async fn insert(tx: &mut Tx, session: &SessionRow) -> Result<(), StoreError> {
    tx.write(&Write::records([session])).await.map(drop)
}

pub async fn by_token(q: &mut impl Queries, hash: &[u8]) -> Result<Option<SessionRow>, StoreError> {
    let sql = format!("{} WHERE token_hash = $1", select::<SessionRow>());
    q.one(&sql, &vals![hash]).await
}

pub async fn find(q: &mut impl Queries, id: &str) -> Result<Option<SessionRow>, StoreError> {
    let sql = format!("{} WHERE id = $1", select::<SessionRow>());
    q.one(&sql, &vals![id]).await
}

/// The same; nobody changes it before this unit of work ends.
pub async fn find_for_share(tx: &mut Tx, id: &str) -> Result<Option<SessionRow>, StoreError> {
    let sql = format!("{} WHERE id = $1{}", select::<SessionRow>(), tx.for_share());
    tx.one(&sql, &vals![id]).await
}

/// The same, for changing it.
pub async fn find_for_update(tx: &mut Tx, id: &str) -> Result<Option<SessionRow>, StoreError> {
    let sql = format!(
        "{} WHERE id = $1{}",
        select::<SessionRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![id]).await
}

/// Those of a user that were not ended, the newest first; some of them may be too old to be used.
pub async fn open_of(q: &mut impl Queries, user: &str) -> Result<Vec<SessionRow>, StoreError> {
    let sql = format!(
        "{} WHERE user_id = $1 AND ended_at IS NULL ORDER BY id DESC",
        select::<SessionRow>()
    );
    q.all(&sql, &vals![user]).await
}

/// Ends a session; one that is over stays as it is.
pub async fn end(tx: &mut Tx, id: &str, now: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE sessions SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL";
    Ok(tx.run(sql, &vals![id, now]).await? == 1)
}

/// Ends all of a user's sessions but one.
pub async fn end_all_but(tx: &mut Tx, user: &str, kept: &str, now: i64) -> Result<u64, StoreError> {
    let sql =
        "UPDATE sessions SET ended_at = $3 WHERE user_id = $1 AND id <> $2 AND ended_at IS NULL";
    tx.run(sql, &vals![user, kept, now]).await
}

/// Gives a session another token, and says by which means its user signed in.
pub async fn renew(
    tx: &mut Tx,
    id: &str,
    token_hash: &[u8],
    state: &str,
    method: &str,
    expires_at: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE sessions SET token_hash = $2, state = $3, method = $4, expires_at = $5 \
         WHERE id = $1 AND ended_at IS NULL";
    let args = vals![id, token_hash, state, method, expires_at];
    touched(tx.run(sql, &args).await?, 1, "sessions")
}

pub async fn set_used(tx: &mut Tx, id: &str, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE sessions SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2";
    tx.run(sql, &vals![id, now]).await.map(drop)
}

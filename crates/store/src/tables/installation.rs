//! The one row that all servers on a database share.

use crate::{Queries, StoreError, Tx, touched, vals};

/// Writes something, to see that it can be done.
pub async fn pulse(tx: &mut Tx, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE installation SET pulse_at = $1 WHERE id = 1";
    touched(tx.run(sql, &vals![now]).await?, 1, "installation")
}

/// The name of the key that encrypts here, once there is one.
pub async fn key_name(q: &mut impl Queries) -> Result<Option<String>, StoreError> {
    let sql = "SELECT key_name FROM installation WHERE id = 1";
    let found: Option<(Option<String>,)> = q.one(sql, &[]).await?;
    Ok(found.and_then(|(name,)| name))
}

/// Names the key, unless somebody has: then theirs is the answer.
pub async fn claim_key_name(tx: &mut Tx, name: &str) -> Result<String, StoreError> {
    let sql = "UPDATE installation SET key_name = $1 WHERE id = 1 AND key_name IS NULL";
    tx.run(sql, &vals![name]).await?;
    let claimed = key_name(tx).await?;
    Ok(claimed.unwrap_or_else(|| name.to_owned()))
}

/// From now on this one encrypts.
pub async fn set_key_name(tx: &mut Tx, name: &str) -> Result<(), StoreError> {
    let sql = "UPDATE installation SET key_name = $1 WHERE id = 1";
    touched(tx.run(sql, &vals![name]).await?, 1, "installation")
}

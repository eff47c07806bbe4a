//! The one row that all servers on a database share.

use scoped_futures::ScopedFutureExt as _;

use crate::{Db, Queries, StoreError, Tx, Val, touched, vals};

/// About as much as creating an invoice writes.
const REQUEST_BYTES: usize = 128 * 1024;
/// As much as a few of them: one that fits may be the last.
const REQUESTS_BYTES: usize = 4 * REQUEST_BYTES;

/// How much is written to see that it can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    Little,
    Request,
    /// After it could not be done.
    Requests,
}

/// Writes this much and notes what came of it. A little may fit where a request does not: into what a log has left, or a
/// page that is half empty.
pub async fn try_writing(db: &Db, now: i64, amount: Amount) -> Result<(), StoreError> {
    let written = db.write(move |tx: &mut Tx| pulse(tx, now, amount).scope_boxed());
    match db.unless_silent(written).await {
        Ok(()) => {
            if amount != Amount::Little {
                db.is_writable();
            }
            Ok(())
        }
        Err(error) => Err(db.explained(error).await),
    }
}

/// Whether anything could be written; nothing is.
pub async fn check_writing(db: &Db, now: i64) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    let written = pulse(&mut tx, now, Amount::Little).await;
    tx.roll_back().await;
    match written {
        Ok(()) => Ok(()),
        Err(error) => Err(db.explained(error).await),
    }
}

async fn pulse(tx: &mut Tx, now: i64, amount: Amount) -> Result<(), StoreError> {
    let filler = match amount {
        Amount::Little => None,
        Amount::Request => Some(REQUEST_BYTES),
        Amount::Requests => Some(REQUESTS_BYTES),
    };
    let done = match filler {
        None => {
            let sql = "UPDATE installation SET pulse_at = $1 WHERE id = 1";
            tx.run(sql, &vals![now]).await?
        }
        Some(bytes) => {
            let sql = "UPDATE installation SET pulse_at = $1, filler = $2 WHERE id = 1";
            tx.run(sql, &[Val::Int(now), Val::Blob(vec![0; bytes])])
                .await?
        }
    };
    touched(done, 1, "installation")
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

/// When a copy of the database was last made; nothing where Till was never told of one.
pub async fn backed_up_at(q: &mut impl Queries) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT backed_up_at FROM installation WHERE id = 1";
    let found: Option<(Option<i64>,)> = q.one(sql, &[]).await?;
    Ok(found.and_then(|(at,)| at))
}

/// A copy of the database was made just now.
pub async fn note_backup(tx: &mut Tx, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE installation SET backed_up_at = $1 WHERE id = 1";
    touched(tx.run(sql, &vals![now]).await?, 1, "installation")
}

/// The host that the passkeys here belong to; nothing where there is none, or no server has said.
pub async fn passkey_host(q: &mut impl Queries) -> Result<Option<String>, StoreError> {
    let sql =
        "SELECT passkey_host FROM installation WHERE id = 1 AND EXISTS (SELECT 1 FROM passkeys)";
    let found: Option<(Option<String>,)> = q.one(sql, &[]).await?;
    Ok(found.and_then(|(host,)| host))
}

/// A server says under which host passkeys are registered from now on. The first that has some stays: they work nowhere
/// else.
pub async fn note_passkey_host(tx: &mut Tx, host: &str) -> Result<(), StoreError> {
    let sql = "UPDATE installation SET passkey_host = $1 \
         WHERE id = 1 AND (passkey_host IS NULL OR NOT EXISTS (SELECT 1 FROM passkeys))";
    tx.run(sql, &vals![host]).await.map(drop)
}

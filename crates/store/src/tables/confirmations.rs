//! A passkey's yes to one request: its path and the hash of its body, by one session.

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct ConfirmationRow in "confirmations" by id {
        id: String,
        session_id: String,
        user_id: String,
        /// Empty where no organisation or mode is involved.
        account: String,
        mode: String,
        path: String,
        body_hash: Vec<u8>,
        /// What the thing was that the passkey was asked about; empty where the request says it all.
        about: String,
        state: String,
        created_at: i64,
        expires_at: i64,
        answered_at: Option<i64>,
        confirmed_at: Option<i64>,
        /// The passkey that said yes.
        passkey: Option<String>,
        used_at: Option<i64>,
    }
}

pub async fn insert(tx: &mut Tx, confirmation: &ConfirmationRow) -> Result<(), StoreError> {
    tx.write(&Write::records([confirmation])).await.map(drop)
}

pub async fn find(q: &mut impl Queries, id: &str) -> Result<Option<ConfirmationRow>, StoreError> {
    let sql = format!("{} WHERE id = $1", select::<ConfirmationRow>());
    q.one(&sql, &vals![id]).await
}

/// Takes the one answer that a confirmation has. False when it was answered or is too old.
pub async fn answer(tx: &mut Tx, id: &str, now: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE confirmations SET answered_at = $2 WHERE id = $1 AND answered_at IS NULL AND expires_at > $2";
    Ok(tx.run(sql, &vals![id, now]).await? == 1)
}

/// A passkey says yes.
pub async fn confirm(
    tx: &mut Tx,
    id: &str,
    passkey: &str,
    now: i64,
    until: i64,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE confirmations SET confirmed_at = $2, expires_at = $3, passkey = $4 WHERE id = $1";
    let done = tx.run(sql, &vals![id, now, until, passkey]).await?;
    touched(done, 1, "confirmations")
}

/// The request that carries a confirmation.
#[derive(Clone, Copy, Debug)]
pub struct Spent<'s> {
    pub id: &'s str,
    pub session: &'s str,
    pub account: &'s str,
    pub mode: &'s str,
    pub path: &'s str,
    pub body_hash: &'s [u8],
    pub about: &'s str,
}

/// Uses a confirmation up. False unless it was given for exactly this request, is neither used nor too old, and was given
/// with a passkey that the user still has.
pub async fn spend(tx: &mut Tx, by: &Spent<'_>, now: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE confirmations SET used_at = $7 WHERE id = $1 AND session_id = $2 AND account = $3 AND mode = $4 \
         AND path = $5 AND body_hash = $6 AND about = $8 AND confirmed_at IS NOT NULL AND used_at IS NULL AND expires_at > $7 \
         AND EXISTS (SELECT 1 FROM passkeys p WHERE p.id = confirmations.passkey AND p.user_id = confirmations.user_id)";
    let args = vals![
        by.id,
        by.session,
        by.account,
        by.mode,
        by.path,
        by.body_hash,
        now,
        by.about
    ];
    Ok(tx.run(sql, &args).await? == 1)
}

//! Links to sign in or up with. Only the hashes of their tokens are here.

use crate::sql::{select, table};
use crate::{Queries as _, StoreError, Tx, Val, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct SignInLinkRow in "sign_in_links" by kind {
        token_hash: Vec<u8>,
        /// `sign_in`, `sign_up`, or `cli` for one that was made at the command line.
        kind: String,
        /// Whose it is; none for the sign-up of an address that nobody has.
        user_id: Option<String>,
        /// Encrypted, for a sign-up.
        email: Option<Vec<u8>>,
        email_tag: Vec<u8>,
        /// Of the browser that asked; none where any browser will do.
        browser_hash: Option<Vec<u8>>,
        created_at: i64,
        expires_at: i64,
        ended_at: Option<i64>,
    }
}

impl SignInLinkRow {
    pub fn is_open(&self, now: i64) -> bool {
        self.ended_at.is_none() && now < self.expires_at
    }
}

pub async fn insert(tx: &mut Tx, link: &SignInLinkRow) -> Result<(), StoreError> {
    tx.write(&Write::records([link])).await.map(drop)
}

/// Held until the unit of work ends: it is used by one alone.
pub async fn by_token_for_update(
    tx: &mut Tx,
    hash: &[u8],
) -> Result<Option<SignInLinkRow>, StoreError> {
    let sql = format!(
        "{} WHERE token_hash = $1{}",
        select::<SignInLinkRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![hash]).await
}

pub async fn end(tx: &mut Tx, hash: &[u8], now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE sign_in_links SET ended_at = $2 WHERE token_hash = $1 AND ended_at IS NULL";
    touched(tx.run(sql, &vals![hash, now]).await?, 1, "sign_in_links")
}

/// A newer link to the same address ends the older ones of its kind.
pub async fn end_older(
    tx: &mut Tx,
    kind: &str,
    tags: &[[u8; 32]],
    now: i64,
) -> Result<(), StoreError> {
    let places: Vec<String> = (0..tags.len()).map(|at| format!("${}", at + 3)).collect();
    let sql = format!(
        "UPDATE sign_in_links SET ended_at = $2 WHERE kind = $1 AND ended_at IS NULL AND email_tag IN ({})",
        places.join(", ")
    );
    let mut args: Vec<Val> = vals![kind, now].into();
    args.extend(tags.iter().map(|tag| Val::from(&tag[..])));
    tx.run(&sql, &args).await.map(drop)
}

//! People who sign in to the dashboard.

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Val, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct UserRow in "users" by id {
        id: String,
        /// Encrypted.
        email: Vec<u8>,
        email_tag: Vec<u8>,
        email_verified: bool,
        /// The command line vouched for whoever has the address.
        shell_verified: bool,
        name: Option<String>,
        locale: Option<String>,
        is_operator: bool,
        totp_seed: Option<Vec<u8>>,
        totp_offer: Option<Vec<u8>>,
        totp_offer_until: Option<i64>,
        totp_step: i64,
        created_at: i64,
    }
}

impl UserRow {
    /// Whether it was shown that the address is this user's own: by a mail, or by the server's command line.
    pub fn is_proven(&self) -> bool {
        self.email_verified || self.shell_verified
    }
}

pub async fn insert(tx: &mut Tx, user: &UserRow) -> Result<(), StoreError> {
    tx.write(&Write::records([user])).await.map(drop)
}

pub async fn find(q: &mut impl Queries, id: &str) -> Result<Option<UserRow>, StoreError> {
    let sql = format!("{} WHERE id = $1", select::<UserRow>());
    q.one(&sql, &vals![id]).await
}

/// The same; nobody changes it before this unit of work ends.
pub async fn find_for_share(tx: &mut Tx, id: &str) -> Result<Option<UserRow>, StoreError> {
    let sql = format!("{} WHERE id = $1{}", select::<UserRow>(), tx.for_share());
    tx.one(&sql, &vals![id]).await
}

/// The same, held until the unit of work ends.
pub async fn find_for_update(tx: &mut Tx, id: &str) -> Result<Option<UserRow>, StoreError> {
    let sql = format!("{} WHERE id = $1{}", select::<UserRow>(), tx.for_update());
    tx.one(&sql, &vals![id]).await
}

/// Whoever has an address with one of these tags: the same address has another by each key that encrypts.
pub async fn by_email(
    q: &mut impl Queries,
    tags: &[[u8; 32]],
) -> Result<Option<UserRow>, StoreError> {
    let places: Vec<String> = (1..=tags.len()).map(|at| format!("${at}")).collect();
    let sql = format!(
        "{} WHERE email_tag IN ({}) ORDER BY id LIMIT 1",
        select::<UserRow>(),
        places.join(", ")
    );
    let args: Vec<Val> = tags.iter().map(|tag| Val::from(&tag[..])).collect();
    q.one(&sql, &args).await
}

pub async fn set_profile(
    tx: &mut Tx,
    id: &str,
    name: Option<&str>,
    locale: Option<&str>,
) -> Result<(), StoreError> {
    let sql = "UPDATE users SET name = $2, locale = $3 WHERE id = $1";
    touched(tx.run(sql, &vals![id, name, locale]).await?, 1, "users")
}

pub async fn set_verified(tx: &mut Tx, id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE users SET email_verified = 1 WHERE id = $1";
    touched(tx.run(sql, &vals![id]).await?, 1, "users")
}

pub async fn set_shell_verified(tx: &mut Tx, id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE users SET shell_verified = 1 WHERE id = $1";
    touched(tx.run(sql, &vals![id]).await?, 1, "users")
}

pub async fn set_operator(tx: &mut Tx, id: &str, is_operator: bool) -> Result<(), StoreError> {
    let sql = "UPDATE users SET is_operator = $2 WHERE id = $1";
    touched(tx.run(sql, &vals![id, is_operator]).await?, 1, "users")
}

/// The ids of all operators.
pub async fn operators(q: &mut impl Queries) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT id FROM users WHERE is_operator = 1 ORDER BY id";
    let found: Vec<(String,)> = q.all(sql, &[]).await?;
    Ok(found.into_iter().map(|(id,)| id).collect())
}

/// Keeps a seed of authenticator codes until it is confirmed.
pub async fn offer_totp(
    tx: &mut Tx,
    id: &str,
    seed: Vec<u8>,
    until: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE users SET totp_offer = $2, totp_offer_until = $3 WHERE id = $1";
    touched(tx.run(sql, &vals![id, seed, until]).await?, 1, "users")
}

/// Takes the offer of authenticator codes back.
pub async fn withdraw_totp_offer(tx: &mut Tx, id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE users SET totp_offer = NULL, totp_offer_until = NULL WHERE id = $1";
    touched(tx.run(sql, &vals![id]).await?, 1, "users")
}

/// Switches authenticator codes on; the step whose code did it is used.
pub async fn enable_totp(
    tx: &mut Tx,
    id: &str,
    seed: Vec<u8>,
    step: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE users SET totp_seed = $2, totp_step = $3, totp_offer = NULL, totp_offer_until = NULL WHERE id = $1";
    touched(tx.run(sql, &vals![id, seed, step]).await?, 1, "users")
}

/// Takes the code of a step. False when a code of it or of a later one was taken before.
pub async fn use_totp_step(tx: &mut Tx, id: &str, step: i64) -> Result<bool, StoreError> {
    let sql = "UPDATE users SET totp_step = $2 WHERE id = $1 AND totp_step < $2";
    Ok(tx.run(sql, &vals![id, step]).await? == 1)
}

/// Switches authenticator codes off. Which steps were used is kept.
pub async fn disable_totp(tx: &mut Tx, id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE users SET totp_seed = NULL, totp_offer = NULL, totp_offer_until = NULL WHERE id = $1";
    touched(tx.run(sql, &vals![id]).await?, 1, "users")
}

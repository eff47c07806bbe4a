//! Passkeys of users.

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, touched, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct PasskeyRow in "passkeys" by id {
        id: String,
        user_id: String,
        credential_id: Vec<u8>,
        name: String,
        /// The public key and the counter, as JSON.
        credential: String,
        created_at: i64,
        last_used_at: Option<i64>,
        backed_up: bool,
    }
}

/// Fails as a taken key when the credential is registered already, by whomever.
pub async fn insert(tx: &mut Tx, passkey: &PasskeyRow) -> Result<(), StoreError> {
    tx.write(&Write::records([passkey])).await.map(drop)
}

pub async fn of_user(q: &mut impl Queries, user: &str) -> Result<Vec<PasskeyRow>, StoreError> {
    let sql = format!(
        "{} WHERE user_id = $1 ORDER BY id DESC",
        select::<PasskeyRow>()
    );
    q.all(&sql, &vals![user]).await
}

pub async fn count_of(q: &mut impl Queries, user: &str) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM passkeys WHERE user_id = $1";
    let counted: Option<(i64,)> = q.one(sql, &vals![user]).await?;
    Ok(counted.map_or(0, |(count,)| count))
}

pub async fn find(
    q: &mut impl Queries,
    user: &str,
    id: &str,
) -> Result<Option<PasskeyRow>, StoreError> {
    let sql = format!("{} WHERE user_id = $1 AND id = $2", select::<PasskeyRow>());
    q.one(&sql, &vals![user, id]).await
}

/// Whosever it is, held until the unit of work ends: its counter is compared and raised by one at a time.
pub async fn by_credential_for_update(
    tx: &mut Tx,
    credential: &[u8],
) -> Result<Option<PasskeyRow>, StoreError> {
    let sql = format!(
        "{} WHERE credential_id = $1{}",
        select::<PasskeyRow>(),
        tx.for_update()
    );
    tx.one(&sql, &vals![credential]).await
}

pub async fn set_name(tx: &mut Tx, id: &str, name: &str) -> Result<(), StoreError> {
    let sql = "UPDATE passkeys SET name = $2 WHERE id = $1";
    touched(tx.run(sql, &vals![id, name]).await?, 1, "passkeys")
}

/// Writes down what a passkey said of itself when it was used.
pub async fn set_used(
    tx: &mut Tx,
    id: &str,
    credential: &str,
    backed_up: bool,
    now: i64,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE passkeys SET credential = $2, backed_up = $3, last_used_at = $4 WHERE id = $1";
    let args = vals![id, credential, backed_up, now];
    touched(tx.run(sql, &args).await?, 1, "passkeys")
}

pub async fn remove(tx: &mut Tx, id: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM passkeys WHERE id = $1";
    touched(tx.run(sql, &vals![id]).await?, 1, "passkeys")
}

/// Removes all of a user's; how many there were.
pub async fn remove_all(tx: &mut Tx, user: &str) -> Result<u64, StoreError> {
    let sql = "DELETE FROM passkeys WHERE user_id = $1";
    tx.run(sql, &vals![user]).await
}

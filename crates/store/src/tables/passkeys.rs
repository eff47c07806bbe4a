//! Passkeys of users.

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

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

/// Removes all of a user's; how many there were.
pub async fn remove_all(tx: &mut Tx, user: &str) -> Result<u64, StoreError> {
    let sql = "DELETE FROM passkeys WHERE user_id = $1";
    tx.run(sql, &vals![user]).await
}

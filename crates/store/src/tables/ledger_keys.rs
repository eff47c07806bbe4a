//! Keys that sign digests of the journal. Not scoped: they are the installation's.

use crate::sql::{select, table};
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct LedgerKeyRow in "ledger_keys" by id {
        /// The beginning of the public key's hash.
        id: String,
        /// In hexadecimal digits.
        public_key: String,
        /// The seed, encrypted; empty once no key file opens it any more.
        secret: Vec<u8>,
        created_at: i64,
    }
}

/// All there ever were, the newest last.
pub async fn all(q: &mut impl Queries) -> Result<Vec<LedgerKeyRow>, StoreError> {
    let sql = format!("{} ORDER BY created_at, id", select::<LedgerKeyRow>());
    q.all(&sql, &[]).await
}

/// The one that signs.
pub async fn newest(q: &mut impl Queries) -> Result<Option<LedgerKeyRow>, StoreError> {
    let sql = format!(
        "{} ORDER BY created_at DESC, id DESC LIMIT 1",
        select::<LedgerKeyRow>()
    );
    q.one(&sql, &[]).await
}

/// Adds the first key, unless somebody else was faster.
pub async fn insert_first(tx: &mut Tx, key: &LedgerKeyRow) -> Result<(), StoreError> {
    // One at a time: two servers that start at once must not make one each.
    let sql = format!("SELECT id FROM installation{}", tx.for_update());
    let _: Vec<(i64,)> = tx.all(&sql, &[]).await?;
    match newest(tx).await? {
        Some(_) => Ok(()),
        None => tx.write(&Write::records([key])).await.map(drop),
    }
}

/// Puts another key in the place of one that no key file opens. Its public half stays. False where that has happened.
pub async fn replace(tx: &mut Tx, lost: &str, key: &LedgerKeyRow) -> Result<bool, StoreError> {
    let sql = "UPDATE ledger_keys SET secret = $2 WHERE id = $1 AND length(secret) > 0";
    if tx.run(sql, &vals![lost, Vec::<u8>::new()]).await? != 1 {
        return Ok(false);
    }
    tx.write(&Write::records([key])).await.map(|_| true)
}

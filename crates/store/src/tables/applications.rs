//! Applications for live mode: one per organisation.

use crate::{Queries as _, StoreError, Tx, touched, vals};

pub async fn insert(tx: &mut Tx, id: &str, account: &str, status: &str) -> Result<(), StoreError> {
    let sql = "INSERT INTO applications (id, account, status) VALUES ($1, $2, $3)";
    touched(
        tx.run(sql, &vals![id, account, status]).await?,
        1,
        "applications",
    )
}

//! Customers.

use till_core::scope::Scope;

use crate::sql::listing::newest_first;
use crate::sql::{select, table};
use crate::{Metadata, Page, Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct CustomerRow in "customers" by id {
        id: String,
        name: Option<String>,
        /// Encrypted.
        email: Option<Vec<u8>>,
        metadata: Metadata,
        created_at: i64,
        /// How often payments of the customer had left the chain or come back when all credit was last shared out.
        moves_shared: i64,
        /// How many there were when the sharing that is under way began; none when it has come to its end.
        moves_pending: Option<i64>,
    }
}

pub async fn insert(tx: &mut Tx, customer: &CustomerRow) -> Result<(), StoreError> {
    tx.write(&Write::records([customer])).await.map(drop)
}

pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<CustomerRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3",
        select::<CustomerRow>()
    );
    q.one(&sql, &vals![&scope.account, scope.mode.as_str(), id])
        .await
}

/// Records of how many moves the credit is shared out, or is about to be.
pub async fn set_moves(tx: &mut Tx, customer: &CustomerRow) -> Result<(), StoreError> {
    let key = ["account", "mode", "id"];
    let set = Write::update_records(&key, &["moves_shared", "moves_pending"], [customer])?;
    tx.write(&set).await.map(drop)
}

pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    page: &Page,
) -> Result<Vec<CustomerRow>, StoreError> {
    newest_first(q, scope, [], page).await
}

//! Every destination that merchants registered, now or before.

use till_core::asset::Family;

use crate::sql::table;
use crate::{Queries, StoreError, Tx, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct DestinationRow in "destinations" by destination {
        family: Family,
        destination: String,
        /// What the addresses of a Bitcoin account key depend on: one account's and mode's alone.
        account_key: Option<String>,
    }
}

/// Fails as a taken key when an account key is registered already, by whomever.
pub async fn insert(tx: &mut Tx, destinations: &[DestinationRow]) -> Result<(), StoreError> {
    tx.write_all(&[Write::records(destinations)]).await
}

/// Whether anybody ever registered this address. Not scoped: it is asked about somebody else's wallet.
pub async fn is_registered(
    q: &mut impl Queries,
    family: Family,
    address: &str,
) -> Result<bool, StoreError> {
    let sql = "SELECT destination FROM destinations WHERE destination = $1 AND family = $2 LIMIT 1";
    let found: Option<(String,)> = q.one(sql, &vals![address, family.namespace()]).await?;
    Ok(found.is_some())
}

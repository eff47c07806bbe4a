//! Every destination that merchants registered, now or before.

use std::collections::{HashMap, HashSet};

use till_core::asset::{Family, Mode};

use crate::sql::{LookUp, PerKey, table};
use crate::{Queries, StoreError, Tx, Val, Write, vals};

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

/// Forgets a destination that no change ever put in effect or replaced.
pub async fn forget_unused(
    tx: &mut Tx,
    scope: &till_core::scope::Scope,
    family: Family,
    destination: &str,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM destinations WHERE account = $1 AND mode = $2 AND family = $3 AND destination = $4 \
         AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.account = $1 AND c.mode = $2 AND c.family = $3 \
         AND c.status = 'effective' AND (c.to_value = $4 OR c.from_value = $4))";
    let args = vals![
        &*scope.account,
        scope.mode.as_str(),
        family.namespace(),
        destination
    ];
    tx.run(sql, &args).await.map(drop)
}

/// Whether this account and mode ever registered the destination.
pub async fn is_own(
    q: &mut impl Queries,
    scope: &till_core::scope::Scope,
    family: Family,
    destination: &str,
) -> Result<bool, StoreError> {
    let sql = "SELECT destination FROM destinations WHERE account = $1 AND mode = $2 AND family = $3 AND destination = $4";
    let args = vals![
        &*scope.account,
        scope.mode.as_str(),
        family.namespace(),
        destination
    ];
    let found: Option<(String,)> = q.one(sql, &args).await?;
    Ok(found.is_some())
}

/// Whether anybody ever registered this address in this mode. Not scoped by account: it is asked about somebody else's wallet.
pub async fn is_registered(
    q: &mut impl Queries,
    mode: Mode,
    family: Family,
    address: &str,
) -> Result<bool, StoreError> {
    let sql = "SELECT destination FROM destinations WHERE destination = $1 AND family = $2 AND mode = $3 LIMIT 1";
    let args = vals![address, family.namespace(), mode.as_str()];
    let found: Option<(String,)> = q.one(sql, &args).await?;
    Ok(found.is_some())
}

/// Those of these addresses that anybody ever registered. Not scoped: a transfer's recipient knows no account.
pub async fn registered(
    q: &mut impl Queries,
    addresses: &[&str],
) -> Result<HashSet<String>, StoreError> {
    let keys: Vec<Vec<Val>> = addresses
        .iter()
        .map(|address| vals![*address].into())
        .collect();
    let by_address = LookUp {
        table: "destinations",
        columns: &["destination"],
        key: &["destination"],
        rows: PerKey::One,
    };
    let found: Vec<(String,)> = q.look_up(&by_address, &keys).await?;
    Ok(found.into_iter().map(|(address,)| address).collect())
}

/// Every destination of a family that these accounts ever had in a mode, by account.
pub async fn of_accounts(
    q: &mut impl Queries,
    accounts: &[&str],
    (family, mode): (Family, Mode),
) -> Result<HashMap<String, Vec<String>>, StoreError> {
    let key = |account: &&str| vals![*account, mode.as_str(), family.namespace()].into();
    let keys: Vec<Vec<Val>> = accounts.iter().map(key).collect();
    let by_account = LookUp {
        table: "destinations",
        columns: &["account", "destination"],
        key: &["account", "mode", "family"],
        rows: PerKey::Many,
    };
    let found: Vec<(String, String)> = q.look_up(&by_account, &keys).await?;
    let mut of_accounts: HashMap<String, Vec<String>> = HashMap::new();
    for (account, destination) in found {
        of_accounts.entry(account).or_default().push(destination);
    }
    Ok(of_accounts)
}

/// A destination, and how many numbers of deposit addresses its account may have used with it.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Numbered {
    pub account: String,
    pub destination: String,
    pub next_number: i64,
}

/// An account's destinations of a family, and how many numbers it may have used.
pub async fn numbered_of(
    q: &mut impl Queries,
    scope: &till_core::scope::Scope,
    family: Family,
) -> Result<Vec<Numbered>, StoreError> {
    let all = numbered(q, family, scope.mode).await?;
    let of_account = |row: &Numbered| *row.account == *scope.account;
    Ok(all.into_iter().filter(of_account).collect())
}

/// Every destination of a family in a mode. Not scoped: whoever watches a chain watches for all.
pub async fn numbered(
    q: &mut impl Queries,
    family: Family,
    mode: Mode,
) -> Result<Vec<Numbered>, StoreError> {
    let sql = "SELECT d.account, d.destination, COALESCE(p.next_number, 0) AS next_number FROM destinations d \
         LEFT JOIN address_pools p ON p.account = d.account AND p.mode = d.mode AND p.family = d.family \
         WHERE d.family = $1 AND d.mode = $2 ORDER BY d.account, d.destination";
    q.all(sql, &vals![family.namespace(), mode.as_str()]).await
}

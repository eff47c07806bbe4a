//! Deposit addresses: pools that grow, leases that exclude one another, and cooling down.
//!
//! Whoever allocates holds the pool's row until the unit of work ends, so two allocations of one pool never
//! overlap; the partial unique index holds even if somebody forgets.

use std::collections::HashSet;

use till_core::asset::Family;
use till_core::scope::Scope;

use crate::sql::{LookUp, PerKey, select, table};
use crate::{Queries, StoreError, Tx, Val, Write, touched, vals};

/// Addresses that are somebody's. Only these are found by their numbers: an address has had any number of leases.
const HELD: &str = "leases.freed = 0";

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PoolRow {
    pub next_number: i64,
    pub last_paid_number: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct FreeAddress {
    pub number: i64,
    pub address: String,
    pub(super) free_at: i64,
}

/// Makes the pool if it is new, and locks it.
pub async fn lock_pool(tx: &mut Tx, scope: &Scope, family: Family) -> Result<PoolRow, StoreError> {
    let args = vals![&*scope.account, scope.mode.as_str(), family.namespace()];
    // An update that changes nothing takes the row's lock and reads it in one statement.
    let lock = "UPDATE address_pools SET next_number = next_number WHERE account = $1 AND mode = $2 AND family = $3 \
         RETURNING next_number, last_paid_number";
    if let Some(pool) = tx.one(lock, &args).await? {
        return Ok(pool);
    }
    let make = "INSERT INTO address_pools (account, mode, family, next_number, last_paid_number) \
         VALUES ($1, $2, $3, 0, -1) ON CONFLICT DO NOTHING";
    tx.run(make, &args).await?;
    tx.one(lock, &args)
        .await?
        .ok_or_else(|| StoreError::Other("an address pool vanished while being made".into()))
}

/// Ends the leases of up to `at_most` cooled addresses and hands the addresses back, the longest free first. With
/// numbers up to `highest` only.
pub async fn take_cooled(
    tx: &mut Tx,
    scope: &Scope,
    family: Family,
    now: i64,
    at_most: i64,
    highest: i64,
) -> Result<Vec<FreeAddress>, StoreError> {
    let (account, mode) = (&*scope.account, scope.mode.as_str());
    // Found first and ended by key then: as one statement, PostgreSQL goes on looking at every lease there is
    // when it was planned while there were few.
    let cooled = "SELECT number, address, free_at FROM leases WHERE account = $1 AND mode = $2 AND family = $3 \
         AND freed = 0 AND free_at IS NOT NULL AND free_at <= $4 AND number <= $5 ORDER BY free_at, number LIMIT $6";
    let args = vals![account, mode, family.namespace(), now, highest, at_most];
    let mut free: Vec<FreeAddress> = tx.all(cooled, &args).await?;
    free.sort_by_key(|address| address.number);
    match tx.write(&ends(scope, family, &free)).await? == free.len() as u64 {
        true => Ok(free),
        false => Err(StoreError::Serialization),
    }
}

/// Ends leases. What was looked at must still be so: an invoice that was reopened meanwhile has taken its address back.
pub(super) fn ends(scope: &Scope, family: Family, free: &[FreeAddress]) -> Write {
    let (account, mode) = (&*scope.account, scope.mode.as_str());
    let rows = free
        .iter()
        .map(|free| vals![account, mode, family.namespace(), free.number, free.free_at].into())
        .collect();
    let key = ["account", "mode", "family", "number", "free_at"];
    Write::update("leases", &key, &[], rows)
        .also("freed = 1")
        .in_part(HELD)
}

/// How many addresses beyond number `beyond` payers' picks hold, those that cool down included.
pub async fn count_picked(
    q: &mut impl Queries,
    scope: &Scope,
    family: Family,
    beyond: i64,
    now: i64,
) -> Result<i64, StoreError> {
    let sql = "SELECT number FROM leases WHERE account = $1 AND mode = $2 AND family = $3 AND number > $4 \
         AND freed = 0 AND picked = 1 AND (free_at IS NULL OR free_at > $5)";
    let (account, mode) = (&*scope.account, scope.mode.as_str());
    let args = vals![account, mode, family.namespace(), beyond, now];
    let held: Vec<(i64,)> = q.all(sql, &args).await?;
    Ok(i64::try_from(held.len()).unwrap_or(i64::MAX))
}

/// Ends the cooldown of an address that is still leased to this invoice. False when it has been leased to another since.
/// The caller holds the pool.
pub async fn take_back(
    tx: &mut Tx,
    scope: &Scope,
    family: Family,
    number: i64,
    invoice: &str,
) -> Result<bool, StoreError> {
    let sql = "UPDATE leases SET free_at = NULL WHERE account = $1 AND mode = $2 AND family = $3 AND number = $4 \
         AND invoice = $5 AND freed = 0";
    let (account, mode) = (&*scope.account, scope.mode.as_str());
    let args = vals![account, mode, family.namespace(), number, invoice];
    Ok(tx.run(sql, &args).await? == 1)
}

/// Those of these addresses that are or ever were deposit addresses, whoever's. Not scoped: a transfer's sender
/// knows no account.
pub async fn ours(q: &mut impl Queries, addresses: &[&str]) -> Result<HashSet<String>, StoreError> {
    let keys: Vec<Vec<Val>> = addresses
        .iter()
        .map(|address| vals![*address].into())
        .collect();
    let leased = LookUp {
        table: "leases",
        columns: &["address"],
        key: &["address"],
        rows: PerKey::One,
    };
    let found: Vec<(String,)> = q.look_up(&leased, &keys).await?;
    Ok(found.into_iter().map(|(address,)| address).collect())
}

/// Moves the pool's end; the caller holds the pool.
pub async fn grow_pool(
    tx: &mut Tx,
    scope: &Scope,
    family: Family,
    next_number: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE address_pools SET next_number = $4 WHERE account = $1 AND mode = $2 AND family = $3 AND next_number < $4";
    let args = vals![
        &*scope.account,
        scope.mode.as_str(),
        family.namespace(),
        next_number
    ];
    touched(tx.run(sql, &args).await?, 1, "address_pools")
}

table! {
    /// A pool, and whose it is.
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct NumberedPool in "address_pools" by family {
        family: Family,
        next_number: i64,
        last_paid_number: i64,
    }
}

/// A pool for every destination that has none yet.
pub async fn make_pools(tx: &mut Tx) -> Result<(), StoreError> {
    let sql = "INSERT INTO address_pools (account, mode, family, next_number, last_paid_number) \
         SELECT DISTINCT account, mode, family, 0, -1 FROM destinations WHERE family <> '' ON CONFLICT DO NOTHING";
    tx.run(sql, &[]).await.map(drop)
}

/// Every pool there is. Not scoped: a copy is restored for all.
pub async fn all_pools(q: &mut impl Queries) -> Result<Vec<NumberedPool>, StoreError> {
    let sql = format!(
        "{} ORDER BY account, mode, family",
        select::<NumberedPool>()
    );
    q.all(&sql, &[]).await
}

/// Addresses that cool down, or have, do so from now on. Not scoped: a copy is restored for all.
pub async fn rest_again(tx: &mut Tx, now: i64, cooldown_ms: i64) -> Result<(), StoreError> {
    let sql = "UPDATE leases SET free_at = CASE WHEN free_at < $1 THEN $1 ELSE free_at END + $2 \
         WHERE freed = 0 AND free_at IS NOT NULL";
    tx.run(sql, &vals![now, cooldown_ms]).await.map(drop)
}

/// The highest number that something was paid to.
#[derive(Clone, Debug)]
pub struct PaidNumber {
    pub scope: Scope,
    pub family: Family,
    pub number: i64,
}

/// One for each pool.
pub fn paid_numbers(paid: &[PaidNumber]) -> Write {
    let rows = paid
        .iter()
        .map(|paid| {
            vals![
                &paid.scope.account,
                paid.scope.mode.as_str(),
                paid.family.namespace(),
                paid.number
            ]
            .into()
        })
        .collect();
    let key = ["account", "mode", "family"];
    Write::update("address_pools", &key, &["last_paid_number"], rows)
        .only("address_pools.last_paid_number < v.column4")
}

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct LeaseRow in "leases" by address {
        family: Family,
        number: i64,
        address: String,
        invoice: String,
        leased_at: i64,
        /// When the address may be leased again; none while the invoice is open.
        free_at: Option<i64>,
        freed: bool,
        /// By a payer, not by the merchant.
        picked: bool,
    }
}

/// What a new lease has; the others have defaults.
const NEW: &[&str] = &[
    "account",
    "mode",
    "family",
    "number",
    "address",
    "invoice",
    "leased_at",
];
const NEW_PICKED: &[&str] = &[
    "account",
    "mode",
    "family",
    "number",
    "address",
    "invoice",
    "leased_at",
    "picked",
];

impl LeaseRow {
    pub fn new(
        scope: &Scope,
        family: Family,
        number: i64,
        address: &str,
        invoice: &str,
        leased_at: i64,
    ) -> LeaseRow {
        LeaseRow {
            scope: scope.clone(),
            family,
            number,
            address: address.to_owned(),
            invoice: invoice.to_owned(),
            leased_at,
            free_at: None,
            freed: false,
            picked: false,
        }
    }
}

pub async fn insert(tx: &mut Tx, leases: &[LeaseRow]) -> Result<(), StoreError> {
    tx.write_all(&[Write::some_columns(NEW_PICKED, leases)?])
        .await
}

pub fn rows(leases: &[LeaseRow]) -> Result<Write, StoreError> {
    Write::some_columns(NEW, leases)
}

/// An invoice's lease, and when its address may be leased again; never while there is no time.
#[derive(Clone, Debug)]
pub struct Cooling {
    pub scope: Scope,
    pub family: Family,
    pub number: i64,
    pub invoice: String,
    pub free_at: Option<i64>,
}

/// An address that was leased on meanwhile is left alone: it is another's now.
pub fn coolings(coolings: &[Cooling]) -> Write {
    let rows = coolings
        .iter()
        .map(|cooling| {
            vals![
                &cooling.scope.account,
                cooling.scope.mode.as_str(),
                cooling.family.namespace(),
                cooling.number,
                &cooling.invoice,
                cooling.free_at
            ]
            .into()
        })
        .collect();
    let key = ["account", "mode", "family", "number", "invoice"];
    Write::update("leases", &key, &["free_at"], rows).in_part(HELD)
}

/// Every lease of these addresses, whoever's they are. Not scoped: a transfer knows an address and nothing else.
pub async fn of_addresses(
    q: &mut impl Queries,
    addresses: &[&str],
) -> Result<Vec<LeaseRow>, StoreError> {
    let keys: Vec<Vec<Val>> = addresses
        .iter()
        .map(|address| vals![*address].into())
        .collect();
    let by_address = LookUp::records::<LeaseRow>(&["address"], PerKey::Many);
    let mut found: Vec<LeaseRow> = q.look_up(&by_address, &keys).await?;
    found.sort_by(|a, b| (a.leased_at, &a.invoice).cmp(&(b.leased_at, &b.invoice)));
    Ok(found)
}

/// Who held an address, latest first. Not scoped: an observation knows an address and nothing else.
pub async fn holders(
    q: &mut impl Queries,
    family: Family,
    address: &str,
) -> Result<Vec<LeaseRow>, StoreError> {
    let sql = format!(
        "{} WHERE address = $1 AND family = $2 ORDER BY leased_at DESC",
        select::<LeaseRow>()
    );
    q.all(&sql, &vals![address, family.namespace()]).await
}

/// When the oldest lease that still holds its address was made. Not scoped: whoever watches a chain watches for all.
pub async fn oldest_open(
    q: &mut impl Queries,
    family: Family,
    mode: till_core::asset::Mode,
) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT MIN(leased_at) FROM leases WHERE family = $1 AND mode = $2 AND freed = 0 AND free_at IS NULL";
    let found: Option<(Option<i64>,)> = q
        .one(sql, &vals![family.namespace(), mode.as_str()])
        .await?;
    Ok(found.and_then(|(oldest,)| oldest))
}

/// The addresses of open invoices, the latest first. Not scoped: whoever watches a chain watches for all.
pub async fn open_addresses(
    q: &mut impl Queries,
    (family, mode): (Family, till_core::asset::Mode),
    at_most: i64,
) -> Result<Vec<String>, StoreError> {
    // By pool, each of which has an index of its held addresses.
    let sql = "SELECT leases.address FROM address_pools JOIN leases ON leases.account = address_pools.account \
         AND leases.mode = address_pools.mode AND leases.family = address_pools.family AND leases.freed = 0 \
         WHERE address_pools.family = $1 AND address_pools.mode = $2 AND leases.free_at IS NULL \
         ORDER BY leases.leased_at DESC, leases.address LIMIT $3";
    let args = vals![family.namespace(), mode.as_str(), at_most];
    let found: Vec<(String,)> = q.all(sql, &args).await?;
    Ok(found.into_iter().map(|(address,)| address).collect())
}

//! The numbers of a pool, and the addresses that they stand for.

use std::ops::Range;

use till_chains::{AddressError, DepositAddresses};
use till_core::asset::{Family, Network};
use till_core::invoice::Deposit;
use till_store::Tx;
use till_store::leases::PoolRow;

use crate::base::Context;
use crate::base::fail::Fail;

/// Up to `wanted` numbers that were never used; the caller holds the pool.
pub(super) async fn grow(
    tx: &mut Tx,
    context: &Context<'_>,
    family: Family,
    pool: &PoolRow,
    wanted: i64,
) -> Result<Range<i64>, Fail> {
    let end = pool.next_number + wanted.min(left(context, family, pool));
    if end > pool.next_number {
        till_store::leases::grow_pool(tx, &context.scope, family, end).await?;
    }
    Ok(pool.next_number..end)
}

/// How many numbers the pool may still grow by.
pub(super) fn left(context: &Context<'_>, family: Family, pool: &PoolRow) -> i64 {
    let config = &context.engine.config;
    let mut end = config.pool_max;
    if family == Family::Bitcoin {
        // Wallets restore by looking only so far beyond the last address that was paid.
        end = end.min(pool.last_paid_number + 1 + config.bitcoin_gap_limit);
    }
    (end - pool.next_number).max(0)
}

/// The addresses with these numbers.
pub(super) fn derive(
    context: &Context<'_>,
    network: &Network,
    numbers: &[i64],
) -> Result<Vec<Deposit>, Fail> {
    let destination = context
        .merchant
        .destination(network.family)
        .ok_or_else(|| {
            Fail::broken("an address was asked for on a chain without a payout address")
        })?;
    let account = &context.scope.account;
    let addresses = DepositAddresses::new(network, account, destination).map_err(broken)?;
    let deposit = |number: &i64| {
        let number = u64::try_from(*number).map_err(Fail::broken)?;
        Ok(Deposit {
            address: addresses.address(number).map_err(broken)?,
            number,
            destination: destination.to_owned(),
            held_until: None,
        })
    };
    numbers.iter().map(deposit).collect()
}

fn broken(error: AddressError) -> Fail {
    Fail::broken(format!("a deposit address could not be derived: {error}"))
}

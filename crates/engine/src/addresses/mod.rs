//! Handing out deposit addresses, within the limits of the pool. On Bitcoin, where a wallet looks only so far ahead, cooled ones come
//! first; elsewhere numbers that were never used, so that an address is another's only when the whole pool has been used.

pub mod ahead;
pub mod restored;

use std::ops::Range;
use std::sync::PoisonError;

use till_chains::{AddressError, DepositAddresses, Derivation};
use till_core::asset::{Family, Network, Registry};
use till_core::error::{Code, Refusal};
use till_core::invoice::Deposit;
use till_store::Tx;
use till_store::leases::PoolRow;

use crate::base::Context;
use crate::base::fail::Fail;

/// Whether the network's addresses can be derived for this merchant at all. Many invoices of one unit of work
/// ask the same, and finding out means parsing keys and hashing: the context remembers.
pub fn can_receive(context: &Context<'_>, network: &Network) -> bool {
    let Some(destination) = context.merchant.destination(network.family) else {
        return false;
    };
    let mut known = context
        .receives
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    match known.get(&network.id) {
        Some(receives) => *receives,
        None => {
            let account = &context.scope.account;
            let receives = DepositAddresses::new(network, account, destination).is_ok();
            known.insert(network.id.clone(), receives);
            receives
        }
    }
}

/// Up to `wanted` addresses of one family; fewer when the pool is exhausted. The caller leases them in the
/// same unit of work.
pub async fn allocate(
    tx: &mut Tx,
    context: &Context<'_>,
    network: &Network,
    wanted: usize,
) -> Result<Vec<Deposit>, Fail> {
    let (scope, family) = (&context.scope, network.family);
    let wanted = i64::try_from(wanted).map_err(Fail::broken)?;
    let pool = till_store::leases::lock_pool(tx, scope, family).await?;
    let fresh_first = match family {
        Family::Bitcoin => 0,
        _ => wanted.min(left(context, family, &pool)),
    };
    let (now, any, rest) = (context.now, i64::MAX, wanted - fresh_first);
    let mut numbers: Vec<i64> = Vec::new();
    if rest > 0 {
        let cooled = till_store::leases::take_cooled(tx, scope, family, now, rest, any).await?;
        numbers.extend(cooled.iter().map(|free| free.number));
    }
    let fresh = wanted - i64::try_from(numbers.len()).unwrap_or(0);
    numbers.extend(grow(tx, context, family, &pool, fresh).await?);
    derive(context, network, &numbers)
}

/// An address for a payer who picked a network, if there is one for payers. Of the numbers that a Bitcoin wallet
/// looks ahead, picks get at most half: anybody may pick, and the merchant's own invoices must not run dry of it.
pub async fn allocate_picked(
    tx: &mut Tx,
    context: &Context<'_>,
    network: &Network,
) -> Result<Option<Deposit>, Fail> {
    let (scope, family, now) = (&context.scope, network.family, context.now);
    if family == Family::Bitcoin {
        let pool = till_store::leases::lock_pool(tx, scope, family).await?;
        let paid = pool.last_paid_number;
        let picked = till_store::leases::count_picked(tx, scope, family, paid, now).await?;
        if picked >= (context.engine.config.bitcoin_gap_limit / 2).max(1) {
            let cooled = till_store::leases::take_cooled(tx, scope, family, now, 1, paid).await?;
            let numbers: Vec<i64> = cooled.iter().map(|free| free.number).collect();
            return Ok(derive(context, network, &numbers)?.pop());
        }
    }
    Ok(allocate(tx, context, network, 1).await?.pop())
}

/// Up to `wanted` numbers that were never used; the caller holds the pool.
pub async fn grow(
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
pub fn left(context: &Context<'_>, family: Family, pool: &PoolRow) -> i64 {
    let config = &context.engine.config;
    let mut end = config.pool_max;
    if family == Family::Bitcoin {
        // Wallets restore by looking only so far beyond the last address that was paid.
        end = end.min(pool.last_paid_number + 1 + config.bitcoin_gap_limit);
    }
    (end - pool.next_number).max(0)
}

/// The addresses with these numbers.
pub fn derive(
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

/// How anyone can compute the address again, for the payer's page.
pub fn derivation(account: &str, network: &str, deposit: &Deposit) -> Option<Derivation> {
    let network = Registry::builtin().network(network)?;
    till_chains::derive(network, account, &deposit.destination, deposit.number).ok()
}

pub fn exhausted(network: &str) -> Refusal {
    let message =
        format!("No deposit address is free on {network}: all are leased or cooling down");
    Refusal::new(Code::DepositAddressesExhausted, message)
}

fn broken(error: AddressError) -> Fail {
    Fail::broken(format!("a deposit address could not be derived: {error}"))
}

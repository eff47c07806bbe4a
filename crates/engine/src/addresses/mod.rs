//! Handing out deposit addresses, within the limits of the pool. On Bitcoin, where a wallet looks only so far ahead, cooled ones come
//! first; elsewhere numbers that were never used, so that an address is another's only when the whole pool has been used.

pub mod ahead;
mod pool;
pub mod restored;

use std::sync::PoisonError;

use till_chains::{DepositAddresses, Derivation};
use till_core::asset::{Family, Network, Registry};
use till_core::error::{Code, Refusal};
use till_core::invoice::Deposit;
use till_store::Tx;

use crate::base::Context;
use crate::base::fail::Fail;
use pool::{derive, grow, left};

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

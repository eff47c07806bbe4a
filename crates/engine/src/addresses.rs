//! Handing out deposit addresses: cooled ones first, then new numbers, within the limits of the pool.

use till_chains::{AddressError, Derivation};
use till_core::asset::{Family, Network, Registry};
use till_core::invoice::Deposit;
use till_store::Tx;

use crate::context::Context;
use crate::fail::Fail;

/// Whether the network's addresses can be derived for this merchant at all.
pub fn can_receive(context: &Context<'_>, network: &Network) -> bool {
    let Some(destination) = context.merchant.destination(network.family) else {
        return false;
    };
    till_chains::derive(network, &context.scope.account, destination, 0).is_ok()
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
    let destination = context.merchant.destination(family).ok_or_else(|| {
        Fail::broken("an address was asked for on a chain without a payout address")
    })?;
    let wanted = i64::try_from(wanted).map_err(Fail::broken)?;
    let pool = till_store::leases::lock_pool(tx, scope, family).await?;
    let cooled = till_store::leases::take_cooled(tx, scope, family, context.now, wanted).await?;
    let mut numbers: Vec<i64> = cooled.iter().map(|free| free.number).collect();

    let config = &context.engine.config;
    let mut end = config.pool_max;
    if family == Family::Bitcoin {
        // Wallets restore by looking only so far beyond the last address that was paid.
        end = end.min(pool.last_paid_number + 1 + config.bitcoin_gap_limit);
    }
    let fresh = (wanted - i64::try_from(numbers.len()).unwrap_or(0))
        .min(end - pool.next_number)
        .max(0);
    if fresh > 0 {
        till_store::leases::grow_pool(tx, scope, family, pool.next_number + fresh).await?;
        numbers.extend(pool.next_number..pool.next_number + fresh);
    }
    let mut deposits = Vec::with_capacity(numbers.len());
    for number in numbers {
        let number = u64::try_from(number).map_err(Fail::broken)?;
        let derivation = till_chains::derive(network, &scope.account, destination, number);
        let address = derivation
            .and_then(|derivation| derivation.address())
            .map_err(broken)?;
        deposits.push(Deposit {
            address,
            number,
            destination: destination.to_owned(),
        });
    }
    Ok(deposits)
}

/// How anyone can compute the address again, for the payer's page.
pub fn derivation(account: &str, network: &str, deposit: &Deposit) -> Option<Derivation> {
    let network = Registry::builtin().network(network)?;
    till_chains::derive(network, account, &deposit.destination, deposit.number).ok()
}

fn broken(error: AddressError) -> Fail {
    Fail::broken(format!("a deposit address could not be derived: {error}"))
}

//! An invoice that waits again after a reversal: what it had may be another's by now.
//!
//! Its address, once cooled down, may have gone to another invoice; then it gets a fresh one. The amounts that its
//! wallets were told may be another's too; they are told again. All in the unit of work that reopens it, before
//! anything is told of it: no payer is ever shown what leads to somebody else's invoice.

use till_core::asset::{Family, Network, Registry};
use till_core::invoice::{Deposit, PayOption};
use till_store::Tx;
use till_store::leases::LeaseRow;

use super::facts::LockedInvoice;
use super::{judge, wallets};
use crate::addresses;
use crate::base::Context;
use crate::base::fail::Fail;

/// Gives an invoice that is about to wait again what it needs for that.
pub async fn renew(
    tx: &mut Tx,
    context: &Context<'_>,
    held: &mut LockedInvoice,
) -> Result<(), Fail> {
    for (network, number) in leased(&held.invoice.is.options) {
        if !take_back(tx, context, network.family, number, held.id()).await? {
            let fresh = lease_fresh(tx, context, network, held.id()).await?;
            replace(&mut held.invoice.is.options, network.family, fresh.as_ref());
        }
    }
    wallets::rebind(tx, context, held).await
}

/// Whether the facts as they are now make a closed invoice wait again.
pub(super) fn is_due(context: &Context<'_>, held: &LockedInvoice) -> bool {
    if held.invoice.is.closed_at.is_none() {
        return false;
    }
    let mut held = held.clone();
    judge::pass_verdicts(context, &held.terms(), &mut held);
    !held.assess(held.moment(context)).is_over
}

/// One network and the address's number for each family that the invoice has an address of.
fn leased(options: &[PayOption]) -> Vec<(&'static Network, u64)> {
    let registry = Registry::builtin();
    let mut leased: Vec<(&Network, u64)> = Vec::new();
    for option in options {
        let network = registry
            .asset(&option.asset)
            .and_then(|asset| registry.network(&asset.network));
        if let (Some(network), Some(deposit)) = (network, &option.deposit)
            && !leased
                .iter()
                .any(|(known, _)| known.family == network.family)
        {
            leased.push((network, deposit.number));
        }
    }
    // Pools are always locked in one order.
    leased.sort_by_key(|(network, _)| network.family);
    leased
}

/// Whether the address is still this invoice's. Its cooldown ends here, not with the invoice's other rows: another invoice
/// that reopens later in the same unit of work may look for a cooled address, and must not be given this one.
async fn take_back(
    tx: &mut Tx,
    context: &Context<'_>,
    family: Family,
    number: u64,
    invoice: &str,
) -> Result<bool, Fail> {
    let scope = &context.scope;
    let number = i64::try_from(number).map_err(Fail::broken)?;
    till_store::leases::lock_pool(tx, scope, family).await?;
    Ok(till_store::leases::take_back(tx, scope, family, number, invoice).await?)
}

/// None when the pool is exhausted: the payer may pick the option later, as on a payment link.
async fn lease_fresh(
    tx: &mut Tx,
    context: &Context<'_>,
    network: &Network,
    invoice: &str,
) -> Result<Option<Deposit>, Fail> {
    let Some(deposit) = addresses::allocate(tx, context, network, 1).await?.pop() else {
        return Ok(None);
    };
    let number = i64::try_from(deposit.number).map_err(Fail::broken)?;
    let (scope, now) = (&context.scope, context.now);
    let lease = LeaseRow::new(
        scope,
        network.family,
        number,
        &deposit.address,
        invoice,
        now,
    );
    till_store::leases::insert(tx, &[lease]).await?;
    Ok(Some(deposit))
}

fn replace(options: &mut [PayOption], family: Family, deposit: Option<&Deposit>) {
    for option in options {
        let known = Registry::builtin().asset(&option.asset);
        if known.is_some_and(|asset| asset.family == family) {
            option.deposit = deposit.cloned();
        }
    }
}

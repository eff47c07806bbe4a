//! Leases follow the invoice: closed, its addresses begin to cool down; reopened, it takes them back. A Bitcoin
//! address that was credited lets its pool grow: a sighting does not, for it costs nobody anything.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use till_core::asset::{Family, Registry};
use till_core::invoice::Deposit;
use till_core::scope::Scope;
use till_store::leases::{Cooling, PaidNumber};
use till_store::payments::PaymentRow;
use till_store::{Tx, Write};

use super::follower::Follower;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::facts::LockedInvoice;

pub(super) fn writes(settled: &[Follower<'_>]) -> Result<Write, Fail> {
    let mut cooling = Vec::new();
    for done in settled {
        let scope = &done.context.scope;
        for (family, deposit) in addresses(done) {
            let number = i64::try_from(deposit.number).map_err(Fail::broken)?;
            if done.has_closed() || done.has_reopened() {
                cooling.push(Cooling {
                    scope: scope.clone(),
                    family,
                    number,
                    invoice: done.held.id().to_owned(),
                    free_at: deposit.held_until,
                });
            }
        }
    }
    Ok(till_store::leases::coolings(&cooling))
}

/// Lets Bitcoin pools grow beyond the addresses that were paid. An invoice that was given another address may still be paid to
/// the one before, whose number only the leases know; that is rare, and only then they are asked.
pub(in crate::settlement) async fn paid_numbers(
    tx: &mut Tx,
    settled: &[Follower<'_>],
) -> Result<Write, Fail> {
    let mut paid: Vec<PaidNumber> = Vec::new();
    let mut former: Vec<(&Scope, &str)> = Vec::new();
    for done in settled {
        let scope = &done.context.scope;
        let shown = addresses(done);
        let shown = shown.iter().find(|(family, _)| *family == Family::Bitcoin);
        for address in newly_paid(done) {
            match shown.filter(|(_, deposit)| deposit.address == address) {
                Some((family, deposit)) => paid.push(PaidNumber {
                    scope: scope.clone(),
                    family: *family,
                    number: i64::try_from(deposit.number).map_err(Fail::broken)?,
                }),
                None => former.push((scope, address)),
            }
        }
    }
    if !former.is_empty() {
        let addresses: Vec<&str> = former.iter().map(|(_, address)| *address).collect();
        let leases = till_store::leases::of_addresses(tx, &addresses).await?;
        paid.extend(leases.into_iter().map(|lease| PaidNumber {
            scope: lease.scope,
            family: lease.family,
            number: lease.number,
        }));
    }
    let mut highest: BTreeMap<(Arc<str>, &'static str), PaidNumber> = BTreeMap::new();
    for paid in paid {
        let key = (paid.scope.account.clone(), paid.scope.mode.as_str());
        let known = highest.entry(key).or_insert_with(|| paid.clone());
        known.number = known.number.max(paid.number);
    }
    let highest: Vec<PaidNumber> = highest.into_values().collect();
    Ok(till_store::leases::paid_numbers(&highest))
}

/// The Bitcoin addresses to which a payment has just reached the level at which the policy credits.
fn newly_paid<'s>(done: &Follower<'s>) -> Vec<&'s str> {
    let has_reached = |row: &PaymentRow| row.gone_at.is_none() && row.level >= row.credit_at;
    let family = |row: &PaymentRow| {
        let network = Registry::builtin().network(&row.network);
        network.map(|network| network.family)
    };
    let payments = done.held.payments.iter();
    let newly = payments.filter(|it| has_reached(&it.is) && !it.stored().is_some_and(has_reached));
    let on_bitcoin = newly.filter(|it| family(&it.is) == Some(Family::Bitcoin));
    on_bitcoin.map(|it| &*it.is.recipient).collect()
}

/// The invoice's address of each family.
fn addresses<'s>(done: &Follower<'s>) -> Vec<(Family, &'s Deposit)> {
    let mut families: Vec<(Family, &Deposit)> = Vec::new();
    for option in &done.held.invoice.is.options {
        let family = Registry::builtin()
            .asset(&option.asset)
            .map(|asset| asset.family);
        if let (Some(family), Some(deposit)) = (family, &option.deposit)
            && !families.iter().any(|(known, _)| *known == family)
        {
            families.push((family, deposit));
        }
    }
    families
}

/// The addresses of a closed invoice cool down from now on; those of one that waits again are its own.
pub(in crate::settlement) fn apply(
    context: &Context<'_>,
    at: i64,
    held: &mut LockedInvoice,
    was_closed: bool,
) {
    let is_closed = held.invoice.is.closed_at.is_some();
    let paid: HashSet<&str> = held
        .payments
        .iter()
        .map(|payment| &*payment.is.recipient)
        .collect();
    for option in &mut held.invoice.is.options {
        let family = Registry::builtin().asset(&option.asset).map(|it| it.family);
        if let Some(deposit) = &mut option.deposit {
            let cooldown_ms = match family {
                // A wallet looks only so far ahead: what nothing was sent to is needed again sooner.
                Some(Family::Bitcoin) if !paid.contains(&*deposit.address) => {
                    context.engine.config.unpaid_cooldown_ms
                }
                _ => context.engine.config.cooldown_ms,
            };
            match is_closed {
                false => deposit.held_until = None,
                true if !was_closed => deposit.held_until = Some(at + cooldown_ms),
                true => {}
            }
        }
    }
}

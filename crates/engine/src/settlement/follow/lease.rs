//! Leases follow the invoice: closed, its addresses begin to cool down; reopened, it takes them back. A Bitcoin
//! address that was credited lets its pool grow: a sighting does not, for it costs nobody anything.

use std::collections::BTreeMap;

use till_core::asset::{Family, Registry};
use till_core::invoice::Deposit;
use till_store::Write;
use till_store::leases::{Cooling, PaidNumber};

use super::Follower;
use crate::base::fail::Fail;

pub(super) fn writes(settled: &[Follower<'_>]) -> Result<Vec<Write>, Fail> {
    let mut cooling = Vec::new();
    let mut paid: BTreeMap<(&str, &'static str), PaidNumber> = BTreeMap::new();
    for done in settled {
        let scope = &done.context.scope;
        for (family, deposit) in addresses(done) {
            let number = i64::try_from(deposit.number).map_err(Fail::broken)?;
            if done.has_closed() || done.has_reopened() {
                let free_at = done.at + cooldown_ms(done, deposit);
                cooling.push(Cooling {
                    scope: scope.clone(),
                    family,
                    number,
                    invoice: done.held.id().to_owned(),
                    free_at: done.has_closed().then_some(free_at),
                });
            }
            if family == Family::Bitcoin && is_credited(done, deposit) {
                let key = (&*scope.account, scope.mode.as_str());
                let highest = paid.entry(key).or_insert_with(|| PaidNumber {
                    scope: scope.clone(),
                    family,
                    number,
                });
                highest.number = highest.number.max(number);
            }
        }
    }
    let paid: Vec<PaidNumber> = paid.into_values().collect();
    Ok(vec![
        till_store::leases::coolings(&cooling),
        till_store::leases::paid_numbers(&paid),
    ])
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

/// An address that nothing was sent to rests for a shorter time.
fn cooldown_ms(done: &Follower<'_>, deposit: &Deposit) -> i64 {
    let config = &done.context.engine.config;
    let mut payments = done.held.payments.iter();
    let is_unpaid = !payments.any(|payment| payment.is.recipient == deposit.address);
    match is_unpaid {
        true => config.unpaid_cooldown_ms,
        false => config.cooldown_ms,
    }
}

/// Whether a payment to the address has reached the level at which the policy credits.
fn is_credited(done: &Follower<'_>, deposit: &Deposit) -> bool {
    done.held.payments.iter().any(|payment| {
        let payment = &payment.is;
        payment.recipient == deposit.address
            && payment.gone_at.is_none()
            && payment.level >= payment.credit_at
    })
}

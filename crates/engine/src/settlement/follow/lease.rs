//! Leases follow the invoice: closed, its addresses begin to cool down; reopened, it takes them back. A Bitcoin
//! address that was paid lets its pool grow.

use std::collections::BTreeMap;

use till_core::asset::{Family, Registry};
use till_store::Write;
use till_store::leases::{Cooling, PaidNumber};

use super::Follower;
use crate::base::fail::Fail;

pub(super) fn writes(settled: &[Follower<'_>]) -> Result<Vec<Write>, Fail> {
    let mut cooling = Vec::new();
    let mut paid: BTreeMap<(&str, &'static str), PaidNumber> = BTreeMap::new();
    for done in settled {
        let scope = &done.context.scope;
        for (family, number) in addresses(done)? {
            if done.has_closed() || done.has_reopened() {
                let free_at = done.at + done.context.engine.config.cooldown_ms;
                cooling.push(Cooling {
                    scope: scope.clone(),
                    family,
                    number,
                    invoice: done.held.id().to_owned(),
                    free_at: done.has_closed().then_some(free_at),
                });
            }
            if family == Family::Bitcoin && is_first_seen(done, family) {
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
fn addresses(done: &Follower<'_>) -> Result<Vec<(Family, i64)>, Fail> {
    let mut families: Vec<(Family, i64)> = Vec::new();
    for option in &done.held.invoice.is.options {
        let family = Registry::builtin()
            .asset(&option.asset)
            .map(|asset| asset.family);
        if let (Some(family), Some(deposit)) = (family, &option.deposit)
            && !families.iter().any(|(known, _)| *known == family)
        {
            let number = i64::try_from(deposit.number).map_err(Fail::broken)?;
            families.push((family, number));
        }
    }
    Ok(families)
}

fn is_first_seen(done: &Follower<'_>, family: Family) -> bool {
    done.held.payments.iter().any(|payment| {
        let network = Registry::builtin().network(&payment.is.network);
        payment.was.is_none() && network.is_some_and(|network| network.family == family)
    })
}

//! What each payment weighs: whether it counts, for how much of the price, and whether anybody should care.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, ToPrimitive as _, Zero as _};

use super::model::{Facts, Standing, Terms};
use crate::asset::Registry;
use crate::money::Units;
use crate::payment::Payment;

pub(super) struct Weighed<'a> {
    pub payment: &'a Payment,
    /// Its place among the facts.
    pub index: usize,
    pub standing: Standing,
    /// Its part of the price; nothing for an asset that was not asked for.
    pub share: BigRational,
    /// What of that part refunds took away again, and what of it was sent.
    pub withdrawn: BigRational,
    pub withdrawn_sent: BigRational,
    /// Its part of the price without what refunds took while the price was not paid: nobody pays too much by that.
    pub kept: BigRational,
    pub dust: bool,
    /// Counts towards the price, unless somebody decides otherwise.
    pub creditable: bool,
}

/// The payments in the order in which they arrived. One that counts, and is no dust, keeps the invoice open for those that arrive
/// while it is there, though its time is over: what it asks for then is what it takes.
pub(super) fn weigh<'a>(facts: &Facts<'a>) -> Vec<Weighed<'a>> {
    let mut arrived: Vec<(usize, &Payment)> = facts.payments.iter().enumerate().collect();
    arrived.sort_by_key(|(_, payment)| (payment.arrived_at(), payment.id.as_str()));
    let mut open_until: Option<i64> = None;
    let weigh = |(index, payment): (usize, &'a Payment)| {
        let standing = standing(facts, payment, open_until);
        let dust = is_dust(facts.terms, payment);
        if standing == Standing::Counted && !dust {
            open_until = open_until.max(Some(payment.gone_at.unwrap_or(i64::MAX)));
        }
        Weighed {
            payment,
            index,
            standing,
            share: share(facts.terms, payment),
            withdrawn: part_of_price(facts.terms, payment, payment.taken.withdrawn),
            withdrawn_sent: part_of_price(facts.terms, payment, payment.taken.withdrawn_sent),
            kept: part_of_price(facts.terms, payment, kept(payment)),
            dust,
            creditable: standing == Standing::Counted && facts.cancelled_at.is_none(),
        }
    };
    arrived.into_iter().map(weigh).collect()
}

/// A payment counts when it arrived in time, or while another that counts was there. What becomes of that other one does not
/// change it, and what was credited goes on counting.
fn standing(facts: &Facts<'_>, payment: &Payment, open_until: Option<i64>) -> Standing {
    if facts.terms.due(&payment.asset).is_none() {
        return Standing::WrongAsset;
    }
    let arrived = payment.arrived_at();
    let after_the_end = facts.cancelled_at.is_some_and(|at| arrived >= at)
        || facts
            .terms
            .takes(&payment.asset)
            .is_some_and(|at| arrived > at);
    let in_time = arrived < facts.terms.deadline() || payment.credited.is_some();
    // What replaces a transfer arrives at the very moment at which the other goes: then that was still there.
    if !after_the_end && (in_time || open_until.is_some_and(|until| arrived <= until)) {
        Standing::Counted
    } else {
        Standing::Late
    }
}

fn kept(payment: &Payment) -> Units {
    let counted = payment.counted_units();
    Units(counted.0.saturating_sub(payment.withdrawn_unpaid().0))
}

fn share(terms: &Terms, payment: &Payment) -> BigRational {
    part_of_price(terms, payment, payment.counted_units())
}

/// Which part of the price so much of a payment's asset is.
pub(super) fn part_of_price(terms: &Terms, payment: &Payment, units: Units) -> BigRational {
    match terms.due(&payment.asset) {
        Some(due) if !due.is_zero() => BigRational::new(BigInt::from(units.0), BigInt::from(due.0)),
        _ => BigRational::zero(),
    }
}

/// Worth less than the smallest unit of the invoice's currency. What was not asked for has no price here: a
/// stablecoin is measured by the cent of its own currency, and nothing else is ever too little.
fn is_dust(terms: &Terms, payment: &Payment) -> bool {
    if terms.due(&payment.asset).is_some() {
        return share(terms, payment) * BigInt::from(terms.amount_minor) < BigRational::one();
    }
    let stablecoin = Registry::builtin()
        .asset(&payment.asset)
        .filter(|asset| asset.currency.is_some());
    stablecoin.is_some_and(|asset| {
        let cent = Units(10u128.pow(asset.decimals.saturating_sub(2)));
        payment.units < cent
    })
}

pub(super) fn floor(number: &BigRational) -> Units {
    Units(number.floor().to_integer().to_u128().unwrap_or(0))
}

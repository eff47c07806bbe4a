//! What an invoice shows as its excess: what was beyond the price when it came, whether or not it was given back since.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, Zero as _};

use super::model::Terms;
use super::weigh::{Weighed, floor, part_of_price};
use crate::money::Units;
use crate::payment::Payment;

/// The excess in the asset that holds most of it, measured by what the invoice asks for; none where nothing was ever beyond the
/// price. `credited` are in the order in which they were credited, which says in which of them it lies.
pub(super) fn overpaid(
    terms: &Terms,
    credited: &[&Weighed<'_>],
    owed: &BigRational,
) -> Option<(String, Units)> {
    // Which payment was credited when may change with a reorganisation, which of them came first does not.
    let mut known = credited.to_vec();
    known.sort_by_key(|it| it.payment.id.as_str());
    // Dust makes no excess: it may come before, between or after what was really paid.
    let real: Vec<&Weighed<'_>> = known.iter().copied().filter(|it| !it.dust).collect();
    if excess(terms, &real, owed).is_zero() {
        return None;
    }
    let each = levels(terms, credited, owed).into_iter().zip(credited);
    let over = each.map(|((before, after), it)| {
        let payment = it.payment;
        let units = Units(payment.units.0.saturating_sub(payment.withdrawn_unpaid().0));
        let units = beyond(terms, payment, units, (&before, &after));
        (payment.asset.as_str(), units)
    });
    let sums = sum_by_asset(over.filter(|(_, units)| !units.is_zero()));
    // By name where two are alike: which came first is no answer when both were there at once.
    let weight = |(asset, units): &(String, Units)| {
        let due = terms.due(asset).unwrap_or(Units(1));
        let share = BigRational::new(BigInt::from(units.0), BigInt::from(due.0.max(1)));
        (share, asset.clone())
    };
    let (asset, units) = sums.into_iter().max_by_key(weight)?;
    let is_taken = |it: &&Weighed<'_>| !it.payment.excess_taken.is_empty();
    if !known.iter().any(is_taken) {
        return Some((asset, units));
    }
    // What left the chain and came back is credited last, as if more had been there than ever was.
    let due = terms.due(&asset).unwrap_or(Units::ZERO);
    let most = floor(&(excess(terms, &known, owed) * BigInt::from(due.0)));
    Some((asset, units.min(most))).filter(|(_, units)| !units.is_zero())
}

/// What of these payments was beyond the price as they came, in parts of the price.
fn excess(terms: &Terms, known: &[&Weighed<'_>], owed: &BigRational) -> BigRational {
    let each = levels(terms, known, owed).into_iter().zip(known);
    let beyond = each.map(|((_, after), it)| {
        let beyond = (after - BigRational::one()).max(BigRational::zero());
        beyond.min(it.kept.clone())
    });
    beyond.sum()
}

/// What was paid of the price before and after each of these payments, in their order. What was refunded of an excess before a
/// payment came is not there any more; what was refunded since was.
fn levels<'a>(
    terms: &Terms,
    payments: &[&Weighed<'a>],
    owed: &BigRational,
) -> Vec<(BigRational, BigRational)> {
    let mut whole = -owed;
    let mut taken: Vec<(&str, BigRational)> = Vec::new();
    let level = |it: &&Weighed<'a>| {
        let id = it.payment.id.as_str();
        let earlier = taken.iter().filter(|(last, _)| *last < id);
        let before = &whole - earlier.map(|(_, share)| share).sum::<BigRational>();
        let after = &before + &it.kept;
        whole += &it.kept;
        for excess in &it.payment.excess_taken {
            let share = part_of_price(terms, it.payment, excess.units);
            taken.push((excess.last_payment.as_str(), share));
        }
        (before, after)
    };
    payments.iter().map(level).collect()
}

/// What of a payment's units is beyond the price, rounded in the merchant's favour to the asset's grid.
pub(super) fn beyond(
    terms: &Terms,
    payment: &Payment,
    units: Units,
    (before, after): (&BigRational, &BigRational),
) -> Units {
    let one = BigRational::one();
    if *before >= one {
        return units;
    }
    let beyond = (after - one).max(BigRational::zero());
    let due = terms.due(&payment.asset).unwrap_or(Units::ZERO);
    floor(&(beyond * BigInt::from(due.0)))
}

pub(super) fn sum_by_asset<'a>(
    amounts: impl Iterator<Item = (&'a str, Units)>,
) -> Vec<(String, Units)> {
    let mut sums: Vec<(String, Units)> = Vec::new();
    for (asset, units) in amounts {
        match sums.iter_mut().find(|(known, _)| known == asset) {
            Some((_, sum)) => *sum = sum.plus(units),
            None => sums.push((asset.to_owned(), units)),
        }
    }
    sums
}

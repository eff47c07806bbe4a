//! What of a refund counts towards the price no more (`TakenFromPayment::withdrawn`).

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero as _;

use super::model::{Assessment, Facts};
use super::weigh::{floor, part_of_price};
use crate::money::Units;
use crate::payment::{Payment, PaymentStatus};

/// Of each part of a refund, by payment: everything while the price is not paid, and what is beyond it once it is, whichever
/// payment that lies in. Who paid twice in two assets gets one back, and the price is paid with the other.
pub fn withdraw(
    facts: &Facts<'_>,
    before: &Assessment,
    drawn: &[(String, Units)],
) -> Vec<(String, Units)> {
    let credited = |payment: &&Payment| {
        let part = before.part(&payment.id);
        part.is_some_and(|part| part.status == PaymentStatus::Credited)
    };
    let value = |payment: &Payment, units| part_of_price(facts.terms, payment, units);
    let credited: Vec<&Payment> = facts.payments.iter().filter(credited).collect();
    let mut beyond = BigRational::zero();
    for payment in &credited {
        beyond += value(payment, left(before, payment));
    }
    let mut withdrawn = Vec::new();
    let found = |id: &String| credited.iter().find(|payment| payment.id == *id).copied();
    let drawn = drawn
        .iter()
        .filter_map(|(id, units)| Some((found(id)?, *units)));
    for (payment, units) in drawn.clone() {
        let own = left(before, payment).min(units);
        beyond -= value(payment, own);
        withdrawn.push((payment.id.clone(), own));
    }
    if !before.is_covered {
        return withdrawn;
    }
    for ((payment, units), (_, own)) in drawn.zip(&mut withdrawn) {
        let due = facts.terms.due(&payment.asset).unwrap_or(Units::ZERO);
        let counts = payment
            .counted_units()
            .0
            .saturating_sub(payment.taken.withdrawn.0);
        let rest = units.min(Units(counts)).0.saturating_sub(own.0);
        let more = floor(&(&beyond * BigInt::from(due.0))).min(Units(rest));
        beyond -= value(payment, more);
        *own = own.plus(more);
    }
    withdrawn
}

/// What may be taken out of a credited payment that then counts no more.
fn left(before: &Assessment, payment: &Payment) -> Units {
    match before.is_covered {
        true => before.excess_left(payment),
        false => Units(
            payment
                .counted_units()
                .0
                .saturating_sub(payment.taken.withdrawn.0),
        ),
    }
}

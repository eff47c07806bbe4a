//! From the facts to the status, to where each payment stands, and to what is still owed.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, Zero as _};

use super::excess::{beyond, overpaid, sum_by_asset};
use super::model::{Assessment, Facts, Part, Purpose, Status, Terms};
use super::weigh::{Weighed, floor, weigh};
use crate::ledger::{self, Drawn, Position};
use crate::money::Units;
use crate::payment::{Hold, Level, Payment, PaymentStatus, Verdict};

pub fn assess(facts: &Facts<'_>, now: i64) -> Assessment {
    let terms = facts.terms;
    let weighed = weigh(facts);
    let sums = add_up(terms, &weighed);
    let credited = credited(&weighed);
    let credits = credits(terms, &weighed, &credited, &sums.owed);
    let overpaid = overpaid(terms, &credited, &sums.owed);
    let unheld = unheld_status(facts, &sums, overpaid.is_some(), now);
    let without_held = match unheld {
        Status::Detected if !sums.seen => waiting_status(terms, now),
        status => status,
    };
    let status = match sums.hold {
        Some(_) => Status::UnderReview,
        None => unheld,
    };
    // Nothing came of it: what little there is goes back.
    let given_up = unheld == Status::Expired;
    let mut in_order: Vec<&Weighed<'_>> = weighed.iter().collect();
    in_order.sort_by_key(|it| it.index);
    let turns: HashMap<&str, &Credit<'_>> = credits
        .iter()
        .map(|credit| (credit.payment.id.as_str(), credit))
        .collect();
    let part = |it: &Weighed<'_>| {
        let credit = turns.get(it.payment.id.as_str()).copied();
        part(terms, it, credit.filter(|_| !given_up))
    };
    let mut parts: Vec<Part> = in_order.into_iter().map(part).collect();
    take_out(facts, &mut parts);
    Assessment {
        status,
        parts,
        received: received(&weighed),
        remaining: (status == Status::PartiallyPaid)
            .then(|| remaining(terms, &weighed, &sums, now))
            .flatten(),
        overpaid: overpaid.filter(|_| status == Status::Overpaid),
        asked: asked(terms, &sums.owed_of_gone),
        hold: sums.hold,
        is_covered: is_enough(terms, &sums.credited),
        is_covered_with_disputed: is_enough(terms, &(&sums.credited + &sums.disputed)),
        is_covered_with_promised: is_enough(terms, &(&sums.credited + &sums.promised)),
        is_over: is_over(terms, status, &sums, now),
        status_without_held: without_held,
        is_over_without_held: is_over(terms, without_held, &sums, now),
        held_may_count: sums.held,
    }
}

/// What refunds took out of the payments is taken out of where they stand.
fn take_out(facts: &Facts<'_>, parts: &mut [Part]) {
    let pairs = facts.payments.iter().zip(parts);
    let drawn = pairs.map(|(payment, part)| Drawn {
        asset: &payment.asset,
        taken: payment.taken,
        position: &mut part.position,
    });
    ledger::take_out(&mut drawn.collect::<Vec<_>>());
}

#[derive(Default)]
struct Sums {
    /// Shares of the price, less what was withdrawn: credited in all, and of it in time; what is on its way; and what was
    /// sent back of payments that are not credited any more.
    credited: BigRational,
    in_time: BigRational,
    coming: BigRational,
    owed: BigRational,
    /// What of it was sent back of payments that are gone.
    owed_of_gone: BigRational,
    /// What would count if blocks that were final had not been taken back.
    disputed: BigRational,
    /// What would count if refunds that are not sent were cancelled.
    promised: BigRational,
    /// Something that is no dust was credited, is on its way, has risen since it was first seen, or is held.
    paid_in: bool,
    seen: bool,
    risen: bool,
    held: bool,
    hold: Option<Hold>,
}

fn add_up(terms: &Terms, weighed: &[Weighed<'_>]) -> Sums {
    let mut sums = Sums::default();
    for it in weighed {
        let payment = it.payment;
        match outcome(it) {
            PaymentStatus::Credited => {
                let counts = &it.share - &it.withdrawn;
                sums.paid_in |= !it.dust;
                if payment.arrived_at() < terms.deadline() {
                    sums.in_time += &counts;
                }
                sums.credited += counts;
                sums.promised += &it.withdrawn - &it.withdrawn_sent;
                continue;
            }
            PaymentStatus::Pending | PaymentStatus::Confirming if it.creditable => {
                // What is promised of it will not count when it is credited.
                sums.coming += &it.share - &it.withdrawn + &it.withdrawn_sent;
                sums.seen |= !it.dust;
                sums.risen |= !it.dust && payment.level > payment.first_level;
            }
            PaymentStatus::Held if !it.dust => {
                sums.held |= it.creditable;
                sums.hold = stricter(sums.hold, payment.verdict);
                let disputed = Some(Verdict::Held(Hold::FinalityViolation));
                if it.creditable && payment.verdict == disputed {
                    sums.disputed += &it.share;
                }
            }
            _ => {}
        }
        sums.owed += &it.withdrawn_sent;
        if payment.is_gone() {
            sums.owed_of_gone += &it.withdrawn_sent;
        }
    }
    // What was sent back of a payment that went away since is owed with the price. What was merely promised is not.
    sums.credited -= &sums.owed;
    sums.in_time -= &sums.owed;
    sums
}

/// A risk outranks a mere amount: accepting must be judged by the stricter of them.
fn stricter(known: Option<Hold>, verdict: Option<Verdict>) -> Option<Hold> {
    match (known, verdict) {
        (Some(known), _) if known.is_risk() => Some(known),
        (_, Some(Verdict::Held(hold))) => Some(hold),
        (known, _) => known,
    }
}

/// What one payment is, as far as it is for itself to say.
fn outcome(it: &Weighed<'_>) -> PaymentStatus {
    let payment = it.payment;
    if payment.is_gone() {
        return PaymentStatus::Reversed;
    }
    if !payment.reached_policy() {
        return match payment.level {
            Level::Pending => PaymentStatus::Pending,
            _ => PaymentStatus::Confirming,
        };
    }
    match payment.verdict {
        // Worth less than a cent: nobody is asked about it, so it stays credited until its block is really gone.
        Some(Verdict::Held(Hold::FinalityViolation)) if it.dust && it.creditable => {
            PaymentStatus::Credited
        }
        Some(Verdict::Held(_)) => PaymentStatus::Held,
        // Nothing of it is left to be given back: it stays what it was when it paid for something.
        Some(Verdict::Passed | Verdict::Accepted | Verdict::Rejected) if is_spent(payment) => {
            PaymentStatus::Credited
        }
        Some(Verdict::Rejected) => PaymentStatus::Refundable,
        _ if !it.creditable => PaymentStatus::Refundable,
        Some(Verdict::Passed | Verdict::Accepted) => PaymentStatus::Credited,
        // Reached the level but not judged: not credited before somebody looked.
        Some(Verdict::Screened) | None => PaymentStatus::Confirming,
    }
}

/// Whether all of a payment was used as credit, or refunded besides.
fn is_spent(payment: &Payment) -> bool {
    let taken = payment.taken;
    let refunded = taken.refunds_due.plus(taken.refunds_sent);
    !taken.credit_used.is_zero() && taken.credit_used.plus(refunded) >= payment.units
}

/// The status as it would be if nothing were held.
fn unheld_status(facts: &Facts<'_>, sums: &Sums, overpaid: bool, now: i64) -> Status {
    let terms = facts.terms;
    if facts.cancelled_at.is_some() {
        Status::Cancelled
    } else if is_enough(terms, &sums.credited) {
        if overpaid {
            Status::Overpaid
        } else if is_enough(terms, &sums.in_time) {
            Status::Paid
        } else {
            Status::PaidLate
        }
    } else if sums.paid_in {
        Status::PartiallyPaid
    } else if sums.risen {
        Status::Confirming
    } else if sums.seen || sums.held {
        Status::Detected
    } else {
        waiting_status(terms, now)
    }
}

/// The status of an invoice to which nothing was paid.
fn waiting_status(terms: &Terms, now: i64) -> Status {
    match now >= terms.waits_until() {
        true => Status::Expired,
        false => Status::AwaitingPayment,
    }
}

/// One cent must not keep an address, or the last unit of a link, for ever. What takes nothing more after that waits for
/// what was on its way before.
fn is_over(terms: &Terms, status: Status, sums: &Sums, now: i64) -> bool {
    let waits = terms.takes_until.is_some() && sums.seen;
    status.is_closed() || (status == Status::PartiallyPaid && now >= terms.closes_at() && !waits)
}

/// Whether this part of what is asked for pays it. Less than a cent never does, however much the merchant tolerates.
fn is_enough(terms: &Terms, share: &BigRational) -> bool {
    let asked = BigInt::from(terms.amount_minor);
    let is_dust = share * &asked < BigRational::one();
    let missing = (BigRational::one() - share) * asked * BigInt::from(10_000);
    let tolerated = BigInt::from(terms.tolerance_bps.min(10_000)) * BigInt::from(terms.price_minor);
    !is_dust && missing <= BigRational::from_integer(tolerated)
}

/// The credited payments in the order in which they were credited. Those credited now come last, as they arrived.
fn credited<'w, 'a>(weighed: &'w [Weighed<'a>]) -> Vec<&'w Weighed<'a>> {
    let credited = weighed
        .iter()
        .filter(|it| outcome(it) == PaymentStatus::Credited);
    let mut credited: Vec<&Weighed<'_>> = credited.collect();
    credited.sort_by_key(|it| it.payment.credited.unwrap_or(u32::MAX));
    credited
}

/// A credited payment: its turn, and what of it settles the invoice or is beyond it.
struct Credit<'a> {
    payment: &'a Payment,
    turn: u32,
    settled: Units,
    overpaid: Units,
}

/// In the order in which they were credited, so that a later one never pushes an earlier one out of what it
/// settled. What of one was refunded out of its excess remains excess; those after it count from what was left.
fn credits<'a>(
    terms: &Terms,
    weighed: &[Weighed<'a>],
    credited: &[&Weighed<'a>],
    owed: &BigRational,
) -> Vec<Credit<'a>> {
    let taken = weighed.iter().filter_map(|it| it.payment.credited).max();
    let mut next = taken.map_or(1, |last| last + 1);
    let mut before = -owed;
    let credit = |it: &&Weighed<'a>| {
        let units = it.payment.units;
        let overpaid = beyond(terms, it.payment, units, (&before, &(&before + &it.share)));
        before += &it.share - &it.withdrawn;
        let turn = it.payment.credited.unwrap_or(next);
        next += u32::from(it.payment.credited.is_none());
        Credit {
            payment: it.payment,
            turn,
            settled: Units(units.0 - overpaid.0),
            overpaid,
        }
    };
    credited.iter().map(credit).collect()
}

/// `credit` is what it was credited as; a payment that would be and was not goes back to the payer.
fn part(terms: &Terms, it: &Weighed<'_>, credit: Option<&Credit<'_>>) -> Part {
    let payment = it.payment;
    let (mut position, mut beyond) = (Position::default(), Units::ZERO);
    let (status, credited) = match (outcome(it), credit) {
        (PaymentStatus::Credited, Some(credit)) => {
            beyond = credit.overpaid;
            if terms.purpose == Purpose::TopUp && payment.level == Level::Final {
                position.prepaid_credit = payment.units;
            } else {
                (position.settled, position.overpaid) = (credit.settled, credit.overpaid);
            }
            (PaymentStatus::Credited, Some(credit.turn))
        }
        (PaymentStatus::Credited | PaymentStatus::Refundable, _) => {
            position.refundable = payment.units;
            (PaymentStatus::Refundable, None)
        }
        (PaymentStatus::Held, _) => {
            position.held = payment.units;
            // Held after it was credited: should it be accepted, it takes its old place.
            (PaymentStatus::Held, payment.credited)
        }
        (status, _) => (status, None),
    };
    Part {
        payment: payment.id.clone(),
        status,
        position,
        standing: it.standing,
        dust: it.dust,
        rejected: payment.verdict == Some(Verdict::Rejected),
        credited,
        beyond,
    }
}

fn received(weighed: &[Weighed<'_>]) -> Vec<(String, Units)> {
    let reached = weighed.iter().filter(|it| it.payment.reached_policy());
    sum_by_asset(reached.map(|it| (it.payment.asset.as_str(), it.payment.units)))
}

/// What is still to be sent: nothing while what is on its way would be enough. In the asset last paid in, or in the first that is
/// still asked for where that one is not.
fn remaining(
    terms: &Terms,
    weighed: &[Weighed<'_>],
    sums: &Sums,
    now: i64,
) -> Option<(String, Units)> {
    let counts = |it: &&Weighed<'_>| it.creditable && !it.dust && !it.payment.is_gone();
    let last = &weighed.iter().rev().find(counts)?.payment.asset;
    let mut asked = terms.options.iter().map(|option| &option.asset);
    let asset = match terms.has_rate(last, now) {
        true => last,
        false => asked
            .find(|asset| terms.has_rate(asset, now))
            .unwrap_or(last),
    };
    let expected = &sums.credited + &sums.coming;
    if is_enough(terms, &expected) {
        return Some((asset.clone(), Units::ZERO));
    }
    let due = BigInt::from(terms.due(asset)?.0);
    let missing = ((BigRational::one() - expected) * due).ceil();
    Some((asset.clone(), floor(&missing)))
}

/// What each option asks for when it pays what is owed, too; nothing where that is the price alone.
fn asked(terms: &Terms, owed: &BigRational) -> Vec<(String, Units)> {
    if owed.is_zero() {
        return Vec::new();
    }
    let whole = BigRational::one() + owed;
    let options = terms.options.iter();
    options
        .map(|option| {
            let asked = (&whole * BigInt::from(option.due.0)).ceil();
            (option.asset.clone(), floor(&asked))
        })
        .collect()
}

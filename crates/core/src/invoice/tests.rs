//! Rows of facts and the status they give.

mod deadline;
mod dust;
mod judging;
mod properties;
mod refunds;
mod reviews;
mod sums;

use super::*;
use crate::ledger::Position;
use crate::ledger::TakenFromPayment;
use crate::money::Units;
use crate::payment::{Hold, Payment, PaymentStatus};
use crate::payment::{Level, Verdict};

const A: &str = "USDC@eip155:84532";
const B: &str = "USDT@tron:3448148188";
const EURC: &str = "EURC@eip155:84532";

/// 25.00 in two assets of six decimals, until 1000.
fn terms() -> Terms {
    let option = |asset: &str, due: u128| PayOption {
        asset: asset.to_owned(),
        due: Units(due),
        decimals: 6,
        rate: None,
        deposit: Some(Deposit {
            address: "x".into(),
            number: 0,
            destination: "d".into(),
            held_until: None,
        }),
    };
    Terms {
        amount_minor: 2500,
        price_minor: 2500,
        options: vec![option(A, 25_000_000), option(B, 25_000_000)],
        tolerance_bps: 0,
        expires_at: 1_000,
        select_by: None,
        takes_until: None,
        volatile_until: None,
        purpose: Purpose::Sale,
    }
}

/// Passed, first seen in a block at most.
fn pay(id: &str, asset: &str, units: u128, level: Level, at: i64) -> Payment {
    Payment {
        id: id.to_owned(),
        asset: asset.to_owned(),
        units: Units(units),
        suffix: Units::ZERO,
        level,
        first_level: Level::Included.min(level),
        credit_at: Level::Final,
        first_seen_at: at,
        block_time: None,
        verdict: Some(Verdict::Passed),
        gone_at: None,
        credited: None,
        taken: TakenFromPayment::default(),
        excess_taken: Vec::new(),
    }
}

/// A final payment in the first asset, in cents.
fn cents(id: &str, cents: u128, at: i64) -> Payment {
    pay(id, A, cents * 10_000, Level::Final, at)
}

fn gone(payment: &Payment, at: i64) -> Payment {
    Payment {
        gone_at: Some(at),
        verdict: None,
        ..payment.clone()
    }
}

fn with(payment: &Payment, verdict: Verdict) -> Payment {
    Payment {
        verdict: Some(verdict),
        ..payment.clone()
    }
}

fn unjudged(payment: &Payment) -> Payment {
    Payment {
        verdict: None,
        ..payment.clone()
    }
}

/// What the facts say at that moment about an invoice on the usual terms.
fn seen(payments: &[Payment], now: i64) -> Assessment {
    assessed(&terms(), payments, None, now)
}

fn assessed(
    terms: &Terms,
    payments: &[Payment],
    cancelled_at: Option<i64>,
    now: i64,
) -> Assessment {
    let facts = Facts {
        terms,
        payments,
        cancelled_at,
    };
    assess(&facts, now)
}

/// What is kept of an assessment goes back into the facts.
fn keep(payments: &mut [Payment], assessment: &Assessment) {
    for payment in payments {
        payment.credited = assessment.part(&payment.id).unwrap().credited;
    }
}

#[track_caller]
fn check(payments: &[Payment], now: i64, expected: Status) {
    assert_eq!(seen(payments, now).status, expected);
}

fn statuses(assessment: &Assessment) -> Vec<PaymentStatus> {
    assessment.parts.iter().map(|part| part.status).collect()
}

#[test]
fn the_names_are_those_of_the_contract() {
    let names = Status::ALL.map(Status::as_str);
    assert_eq!(
        names,
        [
            "awaiting_payment",
            "detected",
            "confirming",
            "paid",
            "partially_paid",
            "overpaid",
            "paid_late",
            "expired",
            "under_review",
            "cancelled"
        ]
    );
    for status in Status::ALL {
        assert_eq!(Status::parse(status.as_str()), Some(status));
    }
    assert_eq!(Status::parse("open"), None);
}

#[test]
fn paid_in_any_way_expired_and_cancelled_are_closed() {
    let paid: Vec<_> = Status::ALL.into_iter().filter(|it| it.is_paid()).collect();
    assert_eq!(paid, [Status::Paid, Status::Overpaid, Status::PaidLate]);
    let open: Vec<_> = Status::ALL
        .into_iter()
        .filter(|it| !it.is_closed())
        .collect();
    assert_eq!(
        open,
        [
            Status::AwaitingPayment,
            Status::Detected,
            Status::Confirming,
            Status::PartiallyPaid,
            Status::UnderReview
        ]
    );
}

#[test]
fn nothing_seen_waits_and_then_expires() {
    check(&[], 999, Status::AwaitingPayment);
    check(&[], 1_000, Status::Expired);
}

#[test]
fn an_unpicked_link_invoice_ends_at_select_by_or_at_its_time_if_that_is_earlier() {
    let mut terms = terms();
    terms.select_by = Some(500);
    assert_eq!(terms.deadline(), 1_000);
    terms.options[0].deposit = None;
    assert_eq!(terms.deadline(), 1_000, "one was picked");
    terms.options[1].deposit = None;
    assert_eq!(terms.deadline(), 500);
    let status = |now| assessed(&terms, &[], None, now).status;
    assert_eq!(status(499), Status::AwaitingPayment);
    assert_eq!(status(500), Status::Expired);
    terms.select_by = Some(2_000);
    assert_eq!(terms.deadline(), 1_000);
    terms.select_by = None;
    assert_eq!(terms.deadline(), 1_000);
}

#[test]
fn a_sighting_detects_and_a_rising_level_confirms() {
    let mut payment = pay("p", A, 25_000_000, Level::Included, 10);
    check(std::slice::from_ref(&payment), 20, Status::Detected);
    check(std::slice::from_ref(&payment), 2_000, Status::Detected);
    payment.level = Level::Safe;
    check(std::slice::from_ref(&payment), 20, Status::Confirming);
    payment.level = Level::Final;
    check(std::slice::from_ref(&payment), 20, Status::Paid);
}

#[test]
fn two_sightings_are_no_less_than_one() {
    let both = |level| {
        let first = pay("p", A, 5_000_000, level, 10);
        [first, pay("q", B, 5_000_000, level, 11)]
    };
    check(&both(Level::Included), 20, Status::Detected);
    check(&both(Level::Included), 2_000, Status::Detected);
    check(&both(Level::Safe), 20, Status::Confirming);
}

#[test]
fn each_payment_says_how_far_it_is() {
    let of = |payment: Payment| {
        let parts = seen(&[payment], 20).parts;
        (parts[0].status, parts[0].position.total())
    };
    let at = |level| pay("p", A, 25_000_000, level, 10);
    assert_eq!(of(at(Level::Pending)), (PaymentStatus::Pending, Units(0)));
    assert_eq!(
        of(at(Level::Included)),
        (PaymentStatus::Confirming, Units(0))
    );
    assert_eq!(of(at(Level::Safe)), (PaymentStatus::Confirming, Units(0)));
    assert_eq!(
        of(at(Level::Final)),
        (PaymentStatus::Credited, Units(25_000_000))
    );
    assert_eq!(
        of(unjudged(&at(Level::Final))),
        (PaymentStatus::Confirming, Units(0)),
        "not credited before somebody looked"
    );
    assert_eq!(
        of(gone(&at(Level::Final), 15)),
        (PaymentStatus::Reversed, Units(0))
    );
}

#[test]
fn a_part_is_found_by_its_payment() {
    let payments = [cents("q", 500, 20), cents("p", 500, 10)];
    let assessment = seen(&payments, 30);
    let ids: Vec<_> = assessment.parts.iter().map(|part| &part.payment).collect();
    assert_eq!(ids, ["q", "p"], "in the order of the facts");
    assert_eq!(
        assessment.part("p").and_then(|part| part.credited),
        Some(1),
        "credited as they arrived"
    );
    assert_eq!(assessment.part("x"), None);
}

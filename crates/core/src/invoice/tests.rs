//! Rows of facts and the status they give.

use proptest::prelude::*;

use super::*;
use crate::payment::Level;

const A: &str = "USDC@eip155:84532";
const B: &str = "USDT@tron:3448148188";

fn terms() -> Terms {
    let option = |asset: &str, due: u128| PayOption {
        asset: asset.to_owned(),
        due: Units(due),
        decimals: 6,
        deposit: Some(Deposit {
            address: "x".into(),
            number: 0,
            destination: "d".into(),
        }),
    };
    Terms {
        amount_minor: 2500,
        options: vec![option(A, 25_000_000), option(B, 25_000_000)],
        tolerance_bps: 0,
        expires_at: 1_000,
        select_by: None,
    }
}

/// `id asset units level@time`, judged as passed.
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
        reversed: false,
    }
}

fn status_of(terms: &Terms, payments: &[Payment], cancelled_at: Option<i64>, now: i64) -> Status {
    assess(
        &Facts {
            terms,
            payments,
            cancelled_at,
        },
        now,
    )
    .status
}

#[track_caller]
fn check(payments: &[Payment], now: i64, expected: Status) {
    assert_eq!(status_of(&terms(), payments, None, now), expected);
}

#[test]
fn nothing_seen_waits_and_then_expires() {
    check(&[], 999, Status::AwaitingPayment);
    check(&[], 1_000, Status::Expired);
}

#[test]
fn a_sighting_detects_and_a_rising_level_confirms() {
    let mut seen = pay("p", A, 25_000_000, Level::Included, 10);
    check(std::slice::from_ref(&seen), 20, Status::Detected);
    check(std::slice::from_ref(&seen), 2_000, Status::Detected);
    seen.level = Level::Safe;
    check(std::slice::from_ref(&seen), 20, Status::Confirming);
    seen.level = Level::Final;
    check(std::slice::from_ref(&seen), 20, Status::Paid);
}

#[test]
fn sums_decide_between_short_exact_and_over() {
    let check_one = |units, expected| check(&[pay("p", A, units, Level::Final, 10)], 20, expected);
    check_one(24_999_999, Status::PartiallyPaid);
    check_one(25_000_000, Status::Paid);
    check_one(25_000_001, Status::Overpaid);
}

#[test]
fn the_tolerance_boundary_is_exact() {
    let mut terms = terms();
    terms.tolerance_bps = 50;
    for (units, expected) in [
        (24_874_999, Status::PartiallyPaid),
        (24_875_000, Status::Paid),
    ] {
        let payments = [pay("p", A, units, Level::Final, 10)];
        assert_eq!(status_of(&terms, &payments, None, 20), expected);
    }
}

#[test]
fn two_assets_add_up_by_their_shares() {
    let payments = [
        pay("p", A, 10_000_000, Level::Final, 10),
        pay("q", B, 15_000_000, Level::Final, 11),
    ];
    check(&payments, 20, Status::Paid);
    let short = [
        pay("p", A, 10_000_000, Level::Final, 10),
        pay("q", B, 5_000_000, Level::Final, 11),
    ];
    let terms = terms();
    let seen = assess(
        &Facts {
            terms: &terms,
            payments: &short,
            cancelled_at: None,
        },
        20,
    );
    assert_eq!(seen.remaining, Some((B.to_owned(), Units(10_000_000))));
}

#[test]
fn a_remainder_after_the_deadline_is_paid_late() {
    let payments = [
        pay("p", A, 10_000_000, Level::Final, 10),
        pay("q", A, 15_000_000, Level::Final, 1_500),
    ];
    check(&payments[..1], 1_400, Status::PartiallyPaid);
    check(&payments, 1_600, Status::PaidLate);
    let over = [
        payments[0].clone(),
        pay("q", A, 16_000_000, Level::Final, 1_500),
    ];
    check(&over, 1_600, Status::Overpaid);
}

#[test]
fn a_payment_after_expiry_changes_nothing_and_is_refundable() {
    let payments = [pay("p", A, 25_000_000, Level::Final, 1_500)];
    let terms = terms();
    let seen = assess(
        &Facts {
            terms: &terms,
            payments: &payments,
            cancelled_at: None,
        },
        1_600,
    );
    assert_eq!(seen.status, Status::Expired);
    assert_eq!(seen.parts[0].status, PaymentStatus::Refundable);
    assert_eq!(seen.parts[0].standing, Standing::Late);
    assert_eq!(seen.received, vec![(A.to_owned(), Units(25_000_000))]);
}

#[test]
fn a_block_before_the_deadline_makes_a_late_sighting_timely() {
    let mut payment = pay("p", A, 25_000_000, Level::Final, 1_500);
    payment.block_time = Some(990);
    check(&[payment], 1_600, Status::Paid);
}

#[test]
fn a_reversed_payment_is_as_if_it_had_never_been() {
    let mut first = pay("p", A, 10_000_000, Level::Final, 10);
    let second = pay("q", A, 15_000_000, Level::Final, 20);
    first.reversed = true;
    check(&[first.clone(), second.clone()], 30, Status::PartiallyPaid);
    check(std::slice::from_ref(&first), 30, Status::AwaitingPayment);
    check(&[first], 1_000, Status::Expired);
}

#[test]
fn dust_alone_neither_detects_nor_keeps_open() {
    let dust = pay("p", A, 9_999, Level::Final, 10);
    check(std::slice::from_ref(&dust), 20, Status::AwaitingPayment);
    check(std::slice::from_ref(&dust), 1_000, Status::Expired);
    check(
        &[dust, pay("q", A, 24_990_001, Level::Final, 11)],
        20,
        Status::Paid,
    );
}

#[test]
fn a_hold_wins_over_what_was_paid_and_a_risk_over_an_amount() {
    let mut first = pay("p", A, 25_000_000, Level::Final, 10);
    first.verdict = Some(Verdict::Held(Hold::Sanctions));
    let mut second = pay("q", A, 25_000_000, Level::Final, 11);
    second.verdict = Some(Verdict::Held(Hold::ManualReview));
    let terms = terms();
    let payments = [first, second];
    let seen = assess(
        &Facts {
            terms: &terms,
            payments: &payments,
            cancelled_at: None,
        },
        20,
    );
    assert_eq!(
        (seen.status, seen.hold),
        (Status::UnderReview, Some(Hold::Sanctions))
    );
    assert_eq!(seen.received, vec![(A.to_owned(), Units(50_000_000))]);
    let rejected = assess(
        &Facts {
            terms: &terms,
            payments: &payments,
            cancelled_at: Some(30),
        },
        40,
    );
    assert_eq!(rejected.status, Status::Cancelled);
    assert!(
        rejected
            .parts
            .iter()
            .all(|part| part.status == PaymentStatus::Refundable)
    );
}

#[test]
fn judging_adds_up_all_that_was_received() {
    let terms = terms();
    let mut payments = vec![
        pay("p", A, 10_000_000, Level::Final, 10),
        pay("q", A, 15_000_000, Level::Final, 11),
    ];
    payments[1].verdict = None;
    let facts = Facts {
        terms: &terms,
        payments: &payments,
        cancelled_at: None,
    };
    assert_eq!(
        judge(&facts, Some(2500), |_| None),
        vec![(1, Verdict::Held(Hold::ManualReview))]
    );
    assert_eq!(
        judge(&facts, Some(2501), |_| None),
        vec![(1, Verdict::Passed)]
    );
    assert_eq!(
        judge(&facts, None, |_| Some(Hold::Blacklist)),
        vec![(1, Verdict::Held(Hold::Blacklist))]
    );
}

#[test]
fn a_suffix_pays_nothing_and_is_no_excess() {
    let mut payment = pay("p", A, 25_000_007, Level::Final, 10);
    payment.suffix = Units(7);
    let terms = terms();
    let payments = [payment];
    let seen = assess(
        &Facts {
            terms: &terms,
            payments: &payments,
            cancelled_at: None,
        },
        20,
    );
    assert_eq!(seen.status, Status::Paid);
    assert_eq!(seen.parts[0].position.settled, Units(25_000_007));
}

#[test]
fn a_wrong_asset_is_refundable_and_never_counts() {
    let payments = [pay("p", "DAI@eip155:84532", 25, Level::Final, 10)];
    let terms = terms();
    let seen = assess(
        &Facts {
            terms: &terms,
            payments: &payments,
            cancelled_at: None,
        },
        20,
    );
    assert_eq!(seen.status, Status::AwaitingPayment);
    assert_eq!(seen.parts[0].standing, Standing::WrongAsset);
    assert_eq!(seen.parts[0].status, PaymentStatus::Refundable);
}

#[test]
fn an_unpicked_link_invoice_ends_at_select_by() {
    let mut terms = terms();
    terms.select_by = Some(500);
    assert_eq!(status_of(&terms, &[], None, 600), Status::AwaitingPayment);
    for option in &mut terms.options {
        option.deposit = None;
    }
    assert_eq!(status_of(&terms, &[], None, 600), Status::Expired);
}

fn any_payment() -> impl Strategy<Value = Payment> {
    (
        0u8..2,
        0u128..60_000_000,
        0usize..4,
        0i64..2_000,
        0u8..4,
        any::<bool>(),
    )
        .prop_map(|(asset, units, level, at, verdict, reversed)| {
            let mut payment = pay(
                &format!("p{at}{units}"),
                if asset == 0 { A } else { B },
                units,
                Level::ALL[level],
                at,
            );
            payment.verdict = match verdict {
                0 => None,
                1 => Some(Verdict::Held(Hold::ManualReview)),
                2 => Some(Verdict::Accepted),
                _ => Some(Verdict::Passed),
            };
            payment.reversed = reversed;
            payment
        })
}

proptest! {
    #[test]
    fn positions_account_for_every_unit_that_reached_the_policy(
        payments in prop::collection::vec(any_payment(), 0..6),
        cancelled in prop::option::of(0i64..2_000),
        now in 0i64..3_000,
    ) {
        let terms = terms();
        let seen = assess(&Facts { terms: &terms, payments: &payments, cancelled_at: cancelled }, now);
        for (payment, part) in payments.iter().zip(&seen.parts) {
            let held = part.position.total();
            if part.status.is_posted() {
                prop_assert_eq!(held, payment.units);
            } else {
                prop_assert_eq!(held, Units::ZERO);
            }
        }
        if seen.status.is_paid() {
            let settled: u128 = seen.parts.iter().map(|part| part.position.settled.0).sum();
            prop_assert!(settled >= 25_000_000);
        }
        prop_assert_eq!(seen.status == Status::Overpaid, seen.overpaid.is_some() && seen.hold.is_none() && cancelled.is_none());
    }

    #[test]
    fn paying_what_remains_pays_the_invoice(first in 10_000u128..25_000_000, asset in 0u8..2) {
        let terms = terms();
        let asset = if asset == 0 { A } else { B };
        let mut payments = vec![pay("p", asset, first, Level::Final, 10)];
        let seen = assess(&Facts { terms: &terms, payments: &payments, cancelled_at: None }, 20);
        let (asset, left) = seen.remaining.unwrap();
        payments.push(pay("q", &asset, left.0, Level::Final, 30));
        prop_assert_eq!(status_of(&terms, &payments, None, 40), Status::Paid);
    }
}

//! In time, late, kept open, cancelled: what counts.

use super::*;

#[track_caller]
fn standing(payments: &[Payment], id: &str, expected: Standing) {
    let assessment = seen(payments, 5_000);
    assert_eq!(assessment.part(id).unwrap().standing, expected);
}

#[test]
fn a_payment_counts_until_the_deadline_and_not_at_it() {
    standing(&[cents("p", 2_500, 999)], "p", Standing::Counted);
    standing(&[cents("p", 2_500, 1_000)], "p", Standing::Late);
    check(&[cents("p", 2_500, 999)], 1_500, Status::Paid);
    check(&[cents("p", 2_500, 1_000)], 1_500, Status::Expired);
}

#[test]
fn a_payment_after_expiry_changes_nothing_and_is_refundable() {
    let assessment = seen(&[cents("p", 2_500, 1_500)], 1_600);
    assert_eq!(assessment.status, Status::Expired);
    let part = &assessment.parts[0];
    assert_eq!(part.status, PaymentStatus::Refundable);
    assert_eq!(part.position.refundable, Units(25_000_000));
    assert_eq!(part.credited, None);
    assert_eq!(assessment.received, vec![(A.to_owned(), Units(25_000_000))]);
    // Not yet settled on the chain, it is no more than that.
    let coming = pay("p", A, 25_000_000, Level::Included, 1_500);
    let assessment = seen(&[coming], 1_600);
    assert_eq!(assessment.status, Status::Expired);
    assert_eq!(statuses(&assessment), [PaymentStatus::Confirming]);
}

#[test]
fn a_block_before_the_deadline_makes_a_late_sighting_timely() {
    let mut payment = cents("p", 2_500, 1_500);
    payment.block_time = Some(990);
    check(&[payment], 1_600, Status::Paid);
}

#[test]
fn a_remainder_after_the_deadline_is_paid_late() {
    let first = cents("p", 1_000, 10);
    check(std::slice::from_ref(&first), 1_400, Status::PartiallyPaid);
    let rest = |cents_| [first.clone(), cents("q", cents_, 1_500)];
    check(&rest(1_499), 1_600, Status::PartiallyPaid);
    check(&rest(1_500), 1_600, Status::PaidLate);
    check(&rest(1_600), 1_600, Status::Overpaid);
    // In time at the last moment, and late at the next.
    check(
        &[first.clone(), cents("q", 1_500, 999)],
        1_600,
        Status::Paid,
    );
    check(
        &[first.clone(), cents("q", 1_500, 1_000)],
        1_600,
        Status::PaidLate,
    );
}

#[test]
fn an_invoice_is_late_when_what_came_in_time_is_not_enough_whatever_was_credited_first() {
    let mut payments = vec![
        pay("p", A, 15_000_000, Level::Included, 10),
        cents("q", 1_000, 1_500),
    ];
    let assessment = seen(&payments, 1_600);
    assert_eq!(assessment.status, Status::PartiallyPaid);
    keep(&mut payments, &assessment);
    payments[0].level = Level::Final;
    check(&payments, 1_700, Status::PaidLate);
}

#[test]
fn within_the_tolerance_in_time_is_not_late() {
    let mut terms = terms();
    terms.tolerance_bps = 100;
    let payments = [cents("p", 2_480, 10)];
    assert_eq!(
        assessed(&terms, &payments, None, 1_500).status,
        Status::Paid
    );
}

#[test]
fn what_was_credited_stays_when_the_payment_that_kept_the_invoice_open_goes() {
    let first = pay("p", A, 10_000_000, Level::Included, 10);
    let mut payments = vec![first, cents("q", 2_500, 1_500)];
    let before = seen(&payments, 1_600);
    assert_eq!(before.status, Status::PaidLate);
    keep(&mut payments, &before);
    payments[0] = gone(&payments[0], 1_700);
    let after = seen(&payments, 1_800);
    assert_eq!(after.status, Status::PaidLate);
    assert_eq!(
        after.part("q").unwrap().position,
        before.part("q").unwrap().position
    );
}

#[test]
fn a_payment_counts_while_one_in_time_is_there_and_not_afterwards() {
    let first = gone(&pay("p", A, 10_000_000, Level::Included, 10), 1_700);
    let then = |at| [first.clone(), pay("q", A, 25_000_000, Level::Included, at)];
    standing(&then(1_699), "q", Standing::Counted);
    // What replaces a transfer arrives at the moment at which the other goes.
    standing(&then(1_700), "q", Standing::Counted);
    standing(&then(1_701), "q", Standing::Late);
    // Seen and not settled, it keeps the invoice open as the other one did.
    check(&then(1_699), 5_000, Status::Detected);
    check(&then(1_701), 5_000, Status::Expired);
    // The one that stayed longest decides.
    let longer = [
        first.clone(),
        gone(&pay("r", A, 10_000_000, Level::Included, 20), 1_900),
        gone(&pay("s", A, 10_000_000, Level::Included, 30), 1_200),
        cents("q", 2_500, 1_900),
    ];
    standing(&longer, "q", Standing::Counted);
}

#[test]
fn a_payment_that_counts_keeps_the_invoice_open_though_it_came_late_itself() {
    let late = pay("q", A, 10_000_000, Level::Included, 1_100);
    let payments = |late: &Payment| {
        [
            gone(&pay("p", A, 10_000_000, Level::Included, 10), 1_200),
            late.clone(),
            cents("r", 2_500, 1_300),
        ]
    };
    standing(&payments(&late), "q", Standing::Counted);
    standing(&payments(&late), "r", Standing::Counted);
    // Gone before the next one came, it keeps nothing open any more.
    standing(&payments(&gone(&late, 1_250)), "r", Standing::Late);
    // Neither does one that came too late to count, nor dust.
    let late = pay("q", A, 10_000_000, Level::Included, 1_201);
    standing(&payments(&late), "q", Standing::Late);
    standing(&payments(&late), "r", Standing::Late);
    let dust = pay("q", A, 1, Level::Included, 1_100);
    standing(&payments(&dust), "q", Standing::Counted);
    standing(&payments(&dust), "r", Standing::Late);
}

#[test]
fn what_an_invoice_asks_for_after_a_reversal_is_what_it_takes() {
    let mut payments = vec![cents("p", 1_000, 10), cents("q", 1_500, 1_500)];
    let before = seen(&payments, 1_600);
    assert_eq!(before.status, Status::PaidLate);
    keep(&mut payments, &before);
    payments[0] = gone(&payments[0], 1_700);
    let asks = seen(&payments, 1_800);
    assert_eq!(asks.status, Status::PartiallyPaid);
    assert_eq!(asks.remaining, Some((A.to_owned(), Units(10_000_000))));
    payments.push(cents("r", 1_000, 1_900));
    check(&payments, 2_000, Status::PaidLate);
}

#[test]
fn what_was_credited_counts_even_when_another_block_moves_the_first_payment_behind_the_deadline() {
    let mut first = cents("p", 1_000, 1_100);
    first.block_time = Some(990);
    let mut payments = vec![first, cents("q", 1_500, 1_200)];
    let assessment = seen(&payments, 1_300);
    assert_eq!(assessment.status, Status::PaidLate);
    keep(&mut payments, &assessment);
    payments[0].block_time = Some(1_150);
    check(&payments, 1_400, Status::PaidLate);
    payments[1].credited = None;
    standing(&payments, "q", Standing::Counted);
    payments[0].credited = None;
    standing(&payments, "q", Standing::Late);
}

#[test]
fn a_payment_that_is_gone_is_as_if_it_had_never_been() {
    let first = gone(&cents("p", 1_000, 10), 25);
    let second = cents("q", 1_500, 20);
    check(&[first.clone(), second], 30, Status::PartiallyPaid);
    check(std::slice::from_ref(&first), 999, Status::AwaitingPayment);
    check(&[first], 1_000, Status::Expired);
}

#[test]
fn what_arrives_at_or_after_the_cancellation_is_late_and_nothing_is_credited() {
    let terms = terms();
    let payments = [
        cents("p", 1_000, 499),
        cents("q", 1_000, 500),
        pay("r", A, 5_000_000, Level::Included, 400),
    ];
    let assessment = assessed(&terms, &payments, Some(500), 600);
    assert_eq!(assessment.status, Status::Cancelled);
    let standings: Vec<_> = assessment.parts.iter().map(|part| part.standing).collect();
    assert_eq!(
        standings,
        [Standing::Counted, Standing::Late, Standing::Counted]
    );
    assert_eq!(
        statuses(&assessment),
        [
            PaymentStatus::Refundable,
            PaymentStatus::Refundable,
            PaymentStatus::Confirming
        ]
    );
    assert_eq!(assessment.remaining, None);
}

//! Adding up: shares, tolerance, what is beyond the price, and what remains.

use super::*;

fn position(settled: u128, overpaid: u128) -> Position {
    Position {
        settled: Units(settled),
        overpaid: Units(overpaid),
        ..Position::default()
    }
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
    let status = |terms: &Terms, units| {
        let payments = [pay("p", A, units, Level::Final, 10)];
        assessed(terms, &payments, None, 20).status
    };
    terms.tolerance_bps = 50;
    assert_eq!(status(&terms, 24_874_999), Status::PartiallyPaid);
    assert_eq!(status(&terms, 24_875_000), Status::Paid);
    terms.tolerance_bps = 10_000;
    assert_eq!(status(&terms, 10_000), Status::Paid);
    terms.tolerance_bps = 10_001;
    assert_eq!(status(&terms, 10_000), Status::Paid, "no less than nothing");
    assert_eq!(status(&terms, 0), Status::AwaitingPayment);
    let coming = [pay("p", A, 5_000_000, Level::Included, 10)];
    assert_eq!(assessed(&terms, &coming, None, 20).status, Status::Detected);
    // Whatever is tolerated, what came late is late.
    let late = [coming[0].clone(), cents("q", 100, 1_500)];
    assert_eq!(
        assessed(&terms, &late, None, 2_000).status,
        Status::PaidLate
    );
}

#[test]
fn two_assets_add_up_by_their_shares() {
    let mut terms = terms();
    terms.options[1].due = Units(50_000);
    let status = |of_b| {
        let payments = [
            pay("p", A, 10_000_000, Level::Final, 10),
            pay("q", B, of_b, Level::Final, 11),
        ];
        assessed(&terms, &payments, None, 20).status
    };
    assert_eq!(status(29_999), Status::PartiallyPaid);
    assert_eq!(status(30_000), Status::Paid);
    assert_eq!(status(30_001), Status::Overpaid);
}

#[test]
fn what_costs_nothing_pays_nothing() {
    let mut terms = terms();
    terms.options[1].due = Units(0);
    let payments = [pay("p", B, 5_000_000, Level::Final, 10)];
    let assessment = assessed(&terms, &payments, None, 20);
    assert_eq!(assessment.status, Status::AwaitingPayment);
    assert_eq!(assessment.parts[0].position, position(5_000_000, 0));
}

#[test]
fn less_than_one_unit_too_much_is_no_excess() {
    let mut terms = terms();
    terms.options[1].due = Units(50_000);
    // One unit of the second is worth 500 of the first, of which one was missing.
    let payments = [
        pay("p", A, 24_500_001, Level::Final, 10),
        pay("q", B, 1_000, Level::Final, 11),
    ];
    let assessment = assessed(&terms, &payments, None, 20);
    assert_eq!(
        (assessment.status, assessment.overpaid),
        (Status::Paid, None)
    );
    assert_eq!(assessment.parts[1].position, position(1_000, 0));
}

#[test]
fn what_is_beyond_the_price_is_excess() {
    let payments = [
        cents("p", 2_000, 10),
        cents("q", 700, 20),
        cents("r", 300, 30),
    ];
    let assessment = seen(&payments, 40);
    assert_eq!(assessment.status, Status::Overpaid);
    assert_eq!(assessment.overpaid, Some((A.to_owned(), Units(5_000_000))));
    let positions: Vec<_> = assessment.parts.iter().map(|part| part.position).collect();
    assert_eq!(
        positions,
        [
            position(20_000_000, 0),
            position(5_000_000, 2_000_000),
            position(0, 3_000_000)
        ]
    );
    assert_eq!(assessment.received, vec![(A.to_owned(), Units(30_000_000))]);
}

#[test]
fn the_excess_is_shown_in_the_asset_that_holds_most_of_it() {
    let mut terms = terms();
    terms.options[1].due = Units(50_000);
    let over = |of_a: u128, of_b| {
        let payments = [
            pay("p", A, 25_000_000 + of_a, Level::Final, 10),
            pay("q", B, of_b, Level::Final, 11),
        ];
        assessed(&terms, &payments, None, 20).overpaid
    };
    assert_eq!(over(500_000, 999), Some((A.to_owned(), Units(500_000))));
    assert_eq!(over(500_000, 1_001), Some((B.to_owned(), Units(1_001))));
    assert_eq!(over(0, 1_001), Some((B.to_owned(), Units(1_001))));
}

#[test]
fn what_was_received_is_told_per_asset_as_it_arrived() {
    let payments = [
        pay("r", B, 2, Level::Final, 30),
        pay("q", A, 3, Level::Final, 20),
        pay("p", B, 5, Level::Final, 10),
        pay("s", A, 7, Level::Safe, 40),
        gone(&pay("t", A, 9, Level::Final, 50), 55),
        with(
            &pay("u", A, 11, Level::Final, 60),
            Verdict::Held(Hold::Sanctions),
        ),
        pay("w", EURC, 13, Level::Final, 70),
    ];
    assert_eq!(
        seen(&payments, 80).received,
        vec![
            (B.to_owned(), Units(7)),
            (A.to_owned(), Units(14)),
            (EURC.to_owned(), Units(13))
        ]
    );
}

#[test]
fn a_suffix_pays_nothing_and_is_no_excess() {
    let mut payment = pay("p", A, 25_000_007, Level::Final, 10);
    payment.suffix = Units(7);
    let assessment = seen(&[payment], 20);
    assert_eq!(assessment.status, Status::Paid);
    assert_eq!(assessment.parts[0].position, position(25_000_007, 0));
}

#[test]
fn a_wrong_asset_is_refundable_and_never_counts() {
    let assessment = seen(&[pay("p", EURC, 25_000_000, Level::Final, 10)], 20);
    assert_eq!(assessment.status, Status::AwaitingPayment);
    let part = &assessment.parts[0];
    assert_eq!(
        (part.standing, part.status, part.position.refundable),
        (
            Standing::WrongAsset,
            PaymentStatus::Refundable,
            Units(25_000_000)
        )
    );
    // Nor does it keep anything open.
    let payments = [
        pay("p", EURC, 25_000_000, Level::Included, 10),
        cents("q", 2_500, 1_500),
    ];
    check(&payments, 1_600, Status::Expired);
}

#[test]
fn what_remains_is_what_is_still_to_be_sent() {
    let remaining = |payments: &[Payment]| seen(payments, 40).remaining;
    let first = cents("p", 1_000, 10);
    let coming = |asset, units| pay("q", asset, units, Level::Included, 20);
    let left = |asset: &str, units| Some((asset.to_owned(), Units(units)));
    assert_eq!(remaining(std::slice::from_ref(&first)), left(A, 15_000_000));
    assert_eq!(
        remaining(&[first.clone(), coming(A, 4_000_000)]),
        left(A, 11_000_000),
        "seen, and on its way"
    );
    assert_eq!(
        remaining(&[first.clone(), coming(B, 4_000_000)]),
        left(B, 11_000_000),
        "in the asset last paid in"
    );
    assert_eq!(
        remaining(&[first.clone(), coming(A, 15_000_000)]),
        left(A, 0),
        "the rest confirms"
    );
    assert_eq!(
        remaining(&[first.clone(), coming(A, 99_000_000)]),
        left(A, 0),
        "never less than nothing"
    );
    assert_eq!(
        remaining(&[first.clone(), gone(&coming(B, 15_000_000), 30)]),
        left(A, 15_000_000),
        "it went away, and is not the last paid in"
    );
    assert_eq!(
        remaining(&[first.clone(), pay("w", EURC, 4_000_000, Level::Final, 30)]),
        left(A, 15_000_000),
        "what was not asked for is not what the payer pays in"
    );
    assert_eq!(
        remaining(&[coming(A, 4_000_000)]),
        None,
        "only once partially paid"
    );
}

#[test]
fn nothing_remains_when_what_comes_is_within_the_tolerance() {
    let mut terms = terms();
    terms.tolerance_bps = 50;
    let remaining = |coming| {
        let payments = [
            cents("p", 1_000, 10),
            pay("q", A, coming, Level::Included, 20),
        ];
        assessed(&terms, &payments, None, 40).remaining
    };
    assert_eq!(remaining(14_874_999), Some((A.to_owned(), Units(125_001))));
    assert_eq!(remaining(14_875_000), Some((A.to_owned(), Units(0))));
}

#[test]
fn what_remains_is_rounded_up_to_the_grid() {
    let mut terms = terms();
    terms.options[1].due = Units(50_000);
    // One unit of the second is worth 500 of the first: 24,969 and a bit of it are missing.
    let payments = [
        pay("p", A, 12_499_999, Level::Final, 10),
        pay("q", B, 1, Level::Final, 20),
        pay("r", B, 30, Level::Final, 30),
    ];
    assert_eq!(
        assessed(&terms, &payments, None, 40).remaining,
        Some((B.to_owned(), Units(24_970)))
    );
}

#[test]
fn a_payment_credited_first_keeps_what_it_settled() {
    let slow = pay("p", A, 25_000_000, Level::Included, 10);
    let mut payments = vec![slow, cents("q", 2_500, 20)];
    let first = seen(&payments, 30);
    assert_eq!(first.part("q").unwrap().position, position(25_000_000, 0));
    keep(&mut payments, &first);
    // The one that arrived earlier is credited later: it is the excess.
    payments[0].level = Level::Final;
    let both = seen(&payments, 40);
    assert_eq!(both.status, Status::Overpaid);
    assert_eq!(both.part("q").unwrap().position, position(25_000_000, 0));
    assert_eq!(both.part("p").unwrap().position, position(0, 25_000_000));
    assert_eq!(
        (
            both.part("q").unwrap().credited,
            both.part("p").unwrap().credited
        ),
        (Some(1), Some(2))
    );
    keep(&mut payments, &both);
    // The first goes: the second takes its place, and comes last should the first return.
    payments[1] = gone(&payments[1], 50);
    let one = seen(&payments, 60);
    assert_eq!(one.status, Status::Paid);
    assert_eq!(one.part("p").unwrap().position, position(25_000_000, 0));
    assert_eq!(one.part("q").unwrap().credited, None);
    keep(&mut payments, &one);
    (payments[1].gone_at, payments[1].verdict) = (None, Some(Verdict::Passed));
    let again = seen(&payments, 70);
    assert_eq!(again.part("p").unwrap().position, position(25_000_000, 0));
    assert_eq!(again.part("q").unwrap().position, position(0, 25_000_000));
    assert_eq!(again.part("q").unwrap().credited, Some(3));
}

#[test]
fn payments_credited_at_once_take_their_turns_as_they_arrived() {
    let payments = [
        cents("r", 1_000, 30),
        cents("q", 1_000, 10),
        cents("p", 1_000, 10),
    ];
    let assessment = seen(&payments, 40);
    let turns: Vec<_> = assessment.parts.iter().map(|part| part.credited).collect();
    assert_eq!(turns, [Some(3), Some(2), Some(1)]);
    assert_eq!(
        assessment.part("r").unwrap().position,
        position(5_000_000, 5_000_000)
    );
}

#[test]
fn refunds_move_what_they_took_and_change_no_status() {
    let mut payment = cents("p", 3_000, 10);
    payment.taken.refunds_due = Units(7_000_000);
    let assessment = seen(&[payment.clone()], 20);
    assert_eq!(assessment.status, Status::Overpaid);
    assert_eq!(assessment.overpaid, Some((A.to_owned(), Units(5_000_000))));
    assert_eq!(
        assessment.parts[0].position,
        Position {
            settled: Units(23_000_000),
            refunds_due: Units(7_000_000),
            ..Position::default()
        }
    );
    let undone = seen(&[gone(&payment, 30)], 40);
    assert_eq!(undone.parts[0].position.total(), Units(7_000_000));
}

#[test]
fn a_top_up_becomes_credit_once_it_is_final() {
    let mut terms = terms();
    terms.purpose = Purpose::TopUp;
    let mut payment = pay("p", A, 30_000_000, Level::Safe, 10);
    payment.credit_at = Level::Safe;
    let position_of = |payment: &Payment| {
        let assessment = assessed(&terms, std::slice::from_ref(payment), None, 20);
        assert_eq!(assessment.status, Status::Overpaid);
        assessment.parts[0].position
    };
    assert_eq!(position_of(&payment), position(25_000_000, 5_000_000));
    payment.level = Level::Final;
    assert_eq!(
        position_of(&payment),
        Position {
            prepaid_credit: Units(30_000_000),
            ..Position::default()
        }
    );
    payment.taken.credit_used = Units(10_000_000);
    assert_eq!(
        position_of(&payment),
        Position {
            prepaid_credit: Units(20_000_000),
            settled: Units(10_000_000),
            ..Position::default()
        }
    );
    let sale = seen(std::slice::from_ref(&payment), 20);
    assert_eq!(sale.parts[0].position.prepaid_credit, Units::ZERO);
}

#[test]
fn what_is_paid_in_part_keeps_its_address_for_a_day_after_the_deadline() {
    let first = cents("p", 1_000, 10);
    let end = terms().expires_at + 24 * 3_600_000;
    for (now, is_over) in [(end - 1, false), (end, true)] {
        assert_eq!(seen(std::slice::from_ref(&first), now).is_over, is_over);
    }
}

#[test]
fn what_takes_nothing_more_keeps_what_it_has_and_gives_back_what_comes() {
    let mut terms = terms();
    terms.takes_until = Some(terms.expires_at + 50);
    let (end, expires_at) = (terms.expires_at + 50, terms.expires_at);
    let first = cents("p", 1_000, 10);
    let rest = |at| cents("r", 1_500, at);
    let with = |payments: &[Payment], now| assessed(&terms, payments, None, now);
    let waits = with(std::slice::from_ref(&first), end - 1);
    assert_eq!(
        (waits.status, waits.is_over),
        (Status::PartiallyPaid, false)
    );
    let over = with(std::slice::from_ref(&first), end);
    assert_eq!((over.status, over.is_over), (Status::PartiallyPaid, true));
    let paid = with(&[first.clone(), rest(expires_at + 1)], end + 9);
    assert_eq!(paid.status, Status::PaidLate);
    let last = with(&[first.clone(), rest(end)], end + 9);
    assert_eq!(last.status, Status::PaidLate, "at the very end");
    let late = with(&[first.clone(), rest(end + 1)], end + 9);
    assert_eq!(late.status, Status::PartiallyPaid);
    assert_eq!(late.parts[1].position.refundable, Units(15_000_000));
    assert_eq!(late.parts[0].position.settled, Units(10_000_000));
    // What is on its way when the end comes is waited for.
    let mut coming = rest(end - 1);
    coming.level = Level::Pending;
    assert!(!with(&[first, coming], end).is_over);
    terms.takes_until = Some(40);
    let nothing = assessed(&terms, &[], None, 40);
    assert_eq!(nothing.status, Status::Expired);
}

#[test]
fn what_moves_in_price_takes_the_rest_for_a_while_only() {
    const COIN: &str = "BTC@bip122:00000000da84f2bafbbc53dee25a72ae";
    let mut terms = terms();
    terms.options[1].asset = COIN.to_owned();
    terms.volatile_until = Some(terms.expires_at + 50);
    let end = terms.expires_at + 50;
    let first = cents("p", 1_000, 10);
    let rest = |asset: &str, at| pay("r", asset, 15_000_000, Level::Final, at);
    let with = |terms: &Terms, payments: &[Payment], now| assessed(terms, payments, None, now);
    let paid = with(&terms, &[first.clone(), rest(COIN, end)], end + 9);
    assert_eq!(paid.status, Status::PaidLate);
    let late = with(&terms, &[first.clone(), rest(COIN, end + 1)], end + 9);
    assert_eq!(late.status, Status::PartiallyPaid);
    assert_eq!(late.parts[1].standing, Standing::Late);
    let steady = with(&terms, &[first.clone(), rest(A, end + 1)], end + 9);
    assert_eq!(steady.status, Status::PaidLate);
    assert!(!with(&terms, std::slice::from_ref(&first), end).is_over);
    // With nothing but such coins on offer there is nothing left to wait for.
    terms.options.remove(0);
    let part = pay("p", COIN, 10_000_000, Level::Final, 10);
    for (now, is_over) in [(end - 1, false), (end, true)] {
        assert_eq!(
            with(&terms, std::slice::from_ref(&part), now).is_over,
            is_over
        );
    }
}

//! Who is looked at, and by what.

use super::*;

const MANUAL: Verdict = Verdict::Held(Hold::ManualReview);

fn judged(payments: &[Payment], cancelled_at: Option<i64>, limit: Option<u64>) -> Vec<String> {
    judged_with(payments, cancelled_at, limit, |_| None)
}

fn judged_with(
    payments: &[Payment],
    cancelled_at: Option<i64>,
    limit: Option<u64>,
    risk: impl Fn(&Payment) -> Option<Hold>,
) -> Vec<String> {
    let terms = terms();
    let facts = Facts {
        terms: &terms,
        payments,
        cancelled_at,
    };
    judge(&facts, limit, risk)
        .into_iter()
        .map(|(id, verdict)| format!("{id} {}", verdict.show()))
        .collect()
}

#[test]
fn an_amount_at_the_limit_is_held_and_one_below_it_passes() {
    let payment = [unjudged(&cents("p", 2_000, 10))];
    assert_eq!(
        judged(&payment, None, Some(2_000)),
        ["p held:manual_review"]
    );
    assert_eq!(judged(&payment, None, Some(2_001)), ["p passed"]);
    assert_eq!(judged(&payment, None, None), ["p passed"]);
}

#[test]
fn everything_that_reached_its_level_is_added_up_in_whatever_order_it_came() {
    let slow = |level| Payment {
        level,
        ..unjudged(&cents("p", 1_200, 10))
    };
    let fast = unjudged(&cents("q", 1_300, 20));
    // 12 on a slow network first, 13 on a fast one after it: alone the second passes,
    assert_eq!(
        judged(&[slow(Level::Included), fast.clone()], None, Some(2_000)),
        ["q passed"]
    );
    // and when the first gets there it is held, though it came earlier; the other stays credited.
    let credited = with(&fast, Verdict::Passed);
    assert_eq!(
        judged(&[slow(Level::Final), credited], None, Some(2_000)),
        ["p held:manual_review"]
    );
    // Both at the same moment: both are what makes it too much.
    assert_eq!(
        judged(&[slow(Level::Final), fast], None, Some(2_000)),
        ["p held:manual_review", "q held:manual_review"]
    );
}

#[test]
fn held_and_accepted_payments_were_received_too_and_those_that_went_were_not() {
    let second = unjudged(&cents("q", 500, 20));
    for verdict in [MANUAL, Verdict::Accepted, Verdict::Passed] {
        let first = with(&cents("p", 2_000, 10), verdict);
        assert_eq!(
            judged(&[first, second.clone()], None, Some(2_500)),
            ["q held:manual_review"]
        );
    }
    let first = gone(&cents("p", 2_000, 10), 15);
    assert_eq!(judged(&[first, second], None, Some(2_500)), ["q passed"]);
}

#[test]
fn what_was_judged_is_not_judged_again() {
    for verdict in [
        MANUAL,
        Verdict::Accepted,
        Verdict::Passed,
        Verdict::Rejected,
    ] {
        let payment = with(&cents("p", 2_500, 10), verdict);
        let risky = |_: &Payment| Some(Hold::Sanctions);
        assert!(judged_with(&[payment], None, Some(1), risky).is_empty());
    }
}

#[test]
fn nothing_is_judged_before_it_reached_its_level() {
    let payment = unjudged(&pay("p", A, 25_000_000, Level::Safe, 10));
    let risky = |_: &Payment| Some(Hold::Sanctions);
    assert!(judged_with(&[payment], None, Some(1), risky).is_empty());
}

#[test]
fn a_risk_outranks_an_amount() {
    let payment = [unjudged(&cents("p", 2_500, 10))];
    assert_eq!(
        judged_with(&payment, None, Some(1), |_| Some(Hold::Blacklist)),
        ["p held:blacklist"]
    );
}

#[test]
fn every_sender_is_screened_late_after_cancel_and_of_a_wrong_asset_too() {
    let late = [unjudged(&cents("p", 2_500, 1_500))];
    let wrong = [unjudged(&pay("p", EURC, 25_000_000, Level::Final, 10))];
    let timely = [unjudged(&cents("p", 2_500, 10))];
    for (payments, cancelled_at) in [(&late, None), (&wrong, None), (&timely, Some(500))] {
        assert_eq!(
            judged_with(payments, cancelled_at, None, |_| Some(Hold::Sanctions)),
            ["p held:sanctions"]
        );
        // Its amount is nobody's concern: it is not going to be credited.
        assert_eq!(judged(payments, cancelled_at, Some(1)), ["p screened"]);
        let screened = [with(&payments[0], Verdict::Screened)];
        assert!(judged(&screened, cancelled_at, Some(1)).is_empty());
    }
}

#[test]
fn what_was_screened_while_it_did_not_count_is_judged_once_it_does() {
    let late = with(&cents("p", 2_500, 1_500), Verdict::Screened);
    assert!(judged(std::slice::from_ref(&late), None, Some(2_000)).is_empty());
    // A payment in time is seen afterwards: the invoice had been open all along.
    let timely = pay("q", A, 1_000_000, Level::Included, 10);
    assert_eq!(
        judged(&[late.clone(), timely.clone()], None, Some(2_000)),
        ["p held:manual_review"]
    );
    assert_eq!(
        statuses(&seen(&[late, timely], 2_000)),
        [PaymentStatus::Confirming; 2],
        "and it is not credited before that"
    );
}

#[test]
fn dust_is_never_held_for_its_amount_but_it_is_screened_and_adds_up() {
    let speck = unjudged(&pay("q", A, 5_000, Level::Final, 20));
    let first = cents("p", 2_000, 10);
    assert_eq!(
        judged(&[first.clone(), speck.clone()], None, Some(2_000)),
        ["q passed"]
    );
    assert_eq!(
        judged_with(&[first, speck.clone()], None, None, |_| Some(
            Hold::Sanctions
        )),
        ["q held:sanctions"]
    );
    let nearly = unjudged(&pay("p", A, 19_995_000, Level::Final, 10));
    assert_eq!(
        judged(&[with(&speck, Verdict::Passed), nearly], None, Some(2_000)),
        ["p held:manual_review"]
    );
}

#[test]
fn what_does_not_count_is_no_part_of_the_amount() {
    let payments = [
        with(
            &pay("w", EURC, 25_000_000, Level::Final, 5),
            Verdict::Screened,
        ),
        unjudged(&cents("p", 1_000, 10)),
    ];
    assert_eq!(judged(&payments, None, Some(1_001)), ["p passed"]);
}

#[test]
fn a_payment_held_after_it_was_credited_takes_its_old_place_when_it_is_accepted() {
    let mut payments = vec![cents("p", 2_500, 10), cents("q", 2_500, 20)];
    let paid = seen(&payments, 30);
    keep(&mut payments, &paid);
    payments[0].verdict = Some(Verdict::Held(Hold::FinalityViolation));
    let held = seen(&payments, 40);
    assert_eq!(
        (held.status, held.hold),
        (Status::UnderReview, Some(Hold::FinalityViolation))
    );
    assert_eq!(held.part("p").unwrap().position.held, Units(25_000_000));
    assert_eq!(held.part("q").unwrap().position.settled, Units(25_000_000));
    keep(&mut payments, &held);
    payments[0].verdict = Some(Verdict::Accepted);
    let accepted = seen(&payments, 50);
    assert_eq!(accepted.parts, paid.parts);
}

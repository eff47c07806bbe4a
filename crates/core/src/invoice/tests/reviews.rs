//! Holds and what deciding does.

use super::*;

fn held(id: &str, hold: Hold, at: i64) -> Payment {
    with(&cents(id, 2_500, at), Verdict::Held(hold))
}

fn decided(
    payments: &[Payment],
    cancelled_at: Option<i64>,
    decision: Decision,
    asked: &[&str],
    may_accept_risk: bool,
) -> Result<Vec<(String, Verdict)>, Undecidable> {
    let terms = terms();
    let facts = Facts {
        terms: &terms,
        payments,
        cancelled_at,
    };
    let asked: Vec<String> = asked.iter().map(|id| (*id).to_owned()).collect();
    let question = Question {
        decision,
        payments: &asked,
        may_accept_risk,
    };
    decide(&facts, 50, &question)
}

fn apply(payments: &mut [Payment], verdicts: Vec<(String, Verdict)>) {
    for (id, verdict) in verdicts {
        let payment = payments.iter_mut().find(|it| it.id == id).unwrap();
        payment.verdict = Some(verdict);
    }
}

#[test]
fn the_names_are_those_of_the_contract() {
    assert_eq!(Decision::parse("accept"), Some(Decision::Accept));
    assert_eq!(Decision::parse("reject"), Some(Decision::Reject));
    assert_eq!(Decision::parse("approve"), None);
    assert_eq!(Decision::Accept.as_str(), "accept");
    assert_eq!(Decision::Reject.as_str(), "reject");
    assert_eq!(Via::parse("api"), Some(Via::Api));
    assert_eq!(Via::parse("dashboard"), Some(Via::Dashboard));
    assert_eq!(Via::parse("mail"), None);
}

#[test]
fn a_hold_wins_over_what_was_paid_and_a_risk_over_an_amount() {
    for (first, second, hold) in [
        (Hold::Sanctions, Hold::ManualReview, Hold::Sanctions),
        (Hold::ManualReview, Hold::Blacklist, Hold::Blacklist),
        (Hold::Sanctions, Hold::Blacklist, Hold::Sanctions),
        (Hold::ManualReview, Hold::ManualReview, Hold::ManualReview),
    ] {
        let payments = [
            held("p", first, 10),
            held("q", second, 11),
            cents("r", 2_500, 12),
        ];
        let assessment = seen(&payments, 20);
        assert_eq!(
            (assessment.status, assessment.hold),
            (Status::UnderReview, Some(hold))
        );
        assert_eq!(
            assessment.received,
            vec![(A.to_owned(), Units(75_000_000))],
            "held payments were received"
        );
        assert_eq!(
            assessment.part("p").unwrap().position.held,
            Units(25_000_000)
        );
        assert_eq!((assessment.remaining, assessment.overpaid), (None, None));
    }
}

#[test]
fn accepting_credits_what_was_held() {
    let mut payments = vec![held("p", Hold::ManualReview, 10)];
    let verdicts = decided(&payments, None, Decision::Accept, &["p"], false).unwrap();
    apply(&mut payments, verdicts);
    let assessment = seen(&payments, 60);
    assert_eq!(assessment.status, Status::Paid);
    assert_eq!(statuses(&assessment), [PaymentStatus::Credited]);
    assert!(!assessment.parts[0].rejected);
}

#[test]
fn rejecting_cancels_and_leaves_everything_refundable() {
    let mut payments = vec![cents("q", 500, 5), held("p", Hold::ManualReview, 10)];
    let verdicts = decided(&payments, None, Decision::Reject, &["p"], false).unwrap();
    apply(&mut payments, verdicts);
    let assessment = assessed(&terms(), &payments, Some(50), 60);
    assert_eq!(
        (assessment.status, assessment.hold),
        (Status::Cancelled, None)
    );
    assert_eq!(statuses(&assessment), [PaymentStatus::Refundable; 2]);
    let rejected: Vec<_> = assessment.parts.iter().map(|part| part.rejected).collect();
    assert_eq!(rejected, [false, true]);
}

#[test]
fn what_came_after_the_question_stays_held() {
    let both = [
        held("p", Hold::ManualReview, 10),
        held("q", Hold::ManualReview, 20),
    ];
    for (decision, cancelled_at) in [(Decision::Accept, None), (Decision::Reject, Some(50))] {
        let mut payments = both.to_vec();
        let verdicts = decided(&payments, None, decision, &["p"], false).unwrap();
        assert_eq!(verdicts.len(), 1);
        apply(&mut payments, verdicts);
        let assessment = assessed(&terms(), &payments, cancelled_at, 60);
        assert_eq!(assessment.status, Status::UnderReview);
        assert_eq!(assessment.parts[1].status, PaymentStatus::Held);
        assert_ne!(assessment.parts[0].status, PaymentStatus::Held);
        // The next decision is about that one, and about that one only.
        assert_eq!(
            decided(&payments, cancelled_at, Decision::Accept, &["p"], false),
            Err(Undecidable::NotOpen)
        );
        let verdicts = decided(&payments, cancelled_at, Decision::Accept, &["q"], false).unwrap();
        apply(&mut payments, verdicts);
        let assessment = assessed(&terms(), &payments, cancelled_at, 70);
        let (status, payment) = match decision {
            Decision::Accept => (Status::Overpaid, PaymentStatus::Credited),
            Decision::Reject => (Status::Cancelled, PaymentStatus::Refundable),
        };
        assert_eq!(assessment.status, status);
        assert_eq!(assessment.parts[1].status, payment);
    }
}

#[test]
fn there_is_nothing_to_decide_where_nothing_is_held() {
    for payments in [
        vec![],
        vec![cents("p", 2_500, 10)],
        vec![gone(&held("p", Hold::Sanctions, 10), 20)],
        vec![with(
            &pay("p", A, 5_000, Level::Final, 10),
            Verdict::Held(Hold::Sanctions),
        )],
    ] {
        for decision in [Decision::Accept, Decision::Reject] {
            assert_eq!(
                decided(&payments, None, decision, &["p"], true),
                Err(Undecidable::NotOpen)
            );
        }
    }
    assert_eq!(
        decided(
            &[held("p", Hold::Sanctions, 10)],
            None,
            Decision::Accept,
            &[],
            true
        ),
        Err(Undecidable::NotOpen)
    );
}

#[test]
fn a_risk_is_accepted_by_who_may_and_rejected_by_anybody() {
    let payments = [
        held("p", Hold::Sanctions, 10),
        held("q", Hold::ManualReview, 20),
    ];
    let decide = |decision, asked: &[&str], may| decided(&payments, None, decision, asked, may);
    assert_eq!(
        decide(Decision::Accept, &["p", "q"], false),
        Err(Undecidable::RiskNeedsPerson)
    );
    let count = |decided: Result<Vec<_>, _>| decided.map(|verdicts| verdicts.len());
    assert_eq!(count(decide(Decision::Accept, &["p", "q"], true)), Ok(2));
    assert_eq!(count(decide(Decision::Reject, &["p", "q"], false)), Ok(2));
    assert_eq!(count(decide(Decision::Accept, &["q"], false)), Ok(1));
}

#[test]
fn dust_is_decided_with_the_rest_but_keeps_nobody_from_deciding() {
    let dust = with(
        &pay("d", A, 5_000, Level::Final, 5),
        Verdict::Held(Hold::Sanctions),
    );
    let payments = [dust, held("p", Hold::ManualReview, 10)];
    let ids = |decision, may| {
        let verdicts = decided(&payments, None, decision, &["d", "p"], may).unwrap();
        verdicts.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids(Decision::Accept, true), ["d", "p"]);
    assert_eq!(ids(Decision::Reject, false), ["d", "p"]);
    // A key may not wave a risk through, and a speck does not take a customer's money hostage.
    assert_eq!(ids(Decision::Accept, false), ["p"]);
}

#[test]
fn accepting_what_does_not_count_leaves_it_refundable_and_the_status_as_it_was() {
    let late = held("p", Hold::Sanctions, 1_500);
    let wrong = Payment {
        asset: EURC.to_owned(),
        ..held("p", Hold::Sanctions, 10)
    };
    let after_cancel = held("p", Hold::Sanctions, 600);
    for (payment, cancelled_at, standing, status) in [
        (late, None, Standing::Late, Status::Expired),
        (wrong, None, Standing::WrongAsset, Status::Expired),
        (after_cancel, Some(500), Standing::Late, Status::Cancelled),
    ] {
        let held = assessed(
            &terms(),
            std::slice::from_ref(&payment),
            cancelled_at,
            2_000,
        );
        assert_eq!(
            (held.status, held.hold, held.parts[0].standing),
            (Status::UnderReview, Some(Hold::Sanctions), standing)
        );
        let accepted = with(&payment, Verdict::Accepted);
        let after = assessed(&terms(), &[accepted], cancelled_at, 2_000);
        assert_eq!(after.status, status);
        assert_eq!(statuses(&after), [PaymentStatus::Refundable]);
        let rejected = with(&payment, Verdict::Rejected);
        let cancelled_at = cancelled_at.or(Some(1_900));
        let after = assessed(&terms(), &[rejected], cancelled_at, 2_000);
        assert_eq!(after.status, Status::Cancelled);
        assert_eq!(statuses(&after), [PaymentStatus::Refundable]);
    }
}

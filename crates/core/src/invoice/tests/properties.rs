//! What holds for any facts, and for any history of them.

use proptest::prelude::*;

use super::*;

fn any_verdict() -> impl Strategy<Value = Option<Verdict>> {
    let rare = prop::sample::select(vec![
        None,
        Some(Verdict::Screened),
        Some(Verdict::Held(Hold::ManualReview)),
        Some(Verdict::Held(Hold::Sanctions)),
        Some(Verdict::Accepted),
        Some(Verdict::Rejected),
    ]);
    prop_oneof![Just(Some(Verdict::Passed)), rare]
}

fn any_payment() -> impl Strategy<Value = Payment> {
    (
        0usize..3,
        prop_oneof![1u128..20_000, 1u128..60_000_000],
        0usize..4,
        0i64..2_000,
        any_verdict(),
        prop::option::weighted(0.2, 0i64..2_500),
    )
        .prop_map(|(asset, units, level, at, verdict, gone_at)| {
            let asset = [A, B, EURC][asset];
            let mut payment = pay("", asset, units, Level::ALL[level], at);
            (payment.verdict, payment.gone_at) = (verdict, gone_at);
            payment
        })
}

fn any_payments() -> impl Strategy<Value = Vec<Payment>> {
    prop::collection::vec(any_payment(), 0..6).prop_map(|mut payments| {
        for (n, payment) in payments.iter_mut().enumerate() {
            payment.id = format!("p{n}");
        }
        payments
    })
}

/// What can happen to an invoice's payments.
#[derive(Clone, Debug)]
enum Step {
    New(Box<Payment>),
    Level(usize, usize),
    Gone(usize),
    Back(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => any_payment().prop_map(|payment| Step::New(Box::new(payment))),
        3 => (0usize..8, 0usize..4).prop_map(|(at, level)| Step::Level(at, level)),
        2 => (0usize..8).prop_map(Step::Gone),
        1 => (0usize..8).prop_map(Step::Back),
    ]
}

fn take(payments: &mut Vec<Payment>, step: Step, now: i64) {
    match step {
        Step::New(mut payment) => {
            payment.id = format!("p{}", payments.len());
            (payment.first_seen_at, payment.gone_at, payment.verdict) = (now, None, None);
            payments.push(*payment);
        }
        Step::Level(at, level) => {
            if let Some(payment) = payments.get_mut(at).filter(|it| !it.is_gone()) {
                payment.level = payment.level.max(Level::ALL[level]);
            }
        }
        Step::Gone(at) => {
            if let Some(payment) = payments.get_mut(at).filter(|it| !it.is_gone()) {
                (payment.gone_at, payment.verdict) = (Some(now), None);
            }
        }
        Step::Back(at) => {
            if let Some(payment) = payments.get_mut(at).filter(|it| it.is_gone()) {
                (payment.gone_at, payment.level) = (None, Level::Included);
            }
        }
    }
}

proptest! {
    #[test]
    fn positions_account_for_every_unit_that_reached_the_policy(
        payments in any_payments(),
        cancelled in prop::option::of(0i64..2_000),
        now in 0i64..3_000,
    ) {
        let terms = terms();
        let after = assessed(&terms, &payments, cancelled, now);
        for (payment, part) in payments.iter().zip(&after.parts) {
            prop_assert_eq!(&payment.id, &part.payment);
            let units = if part.status.is_posted() { payment.units } else { Units::ZERO };
            prop_assert_eq!(part.position.total(), units);
            prop_assert_eq!(part.status == PaymentStatus::Credited, part.credited.is_some());
        }
        if after.status.is_paid() {
            let settled: u128 = after.parts.iter().map(|part| part.position.settled.0).sum();
            prop_assert!(settled >= 25_000_000);
        }
        let real_hold = after.parts.iter().any(|part| part.status == PaymentStatus::Held && !part.dust);
        prop_assert_eq!(after.status == Status::UnderReview, real_hold);
        prop_assert_eq!(after.hold.is_some(), real_hold);
        prop_assert_eq!(after.status == Status::Overpaid, after.overpaid.is_some());
        prop_assert_eq!(after.status == Status::PartiallyPaid, after.remaining.is_some());
        if cancelled.is_some() {
            prop_assert!(matches!(after.status, Status::Cancelled | Status::UnderReview));
            prop_assert!(!statuses(&after).contains(&PaymentStatus::Credited));
        }
        if after.status == Status::Expired {
            prop_assert!(now >= 1_000 && !statuses(&after).contains(&PaymentStatus::Credited));
        }
    }

    #[test]
    fn paying_what_remains_pays_the_invoice(
        first in 10_000u128..25_000_000,
        coming in prop::option::of(1u128..25_000_000),
        asset in 0usize..2,
    ) {
        let asset = [A, B][asset];
        let mut payments = vec![pay("p", asset, first, Level::Final, 10)];
        payments.extend(coming.map(|units| pay("q", A, units, Level::Included, 11)));
        let (asset, left) = seen(&payments, 20).remaining.unwrap();
        payments.push(pay("r", &asset, left.0, Level::Final, 30));
        for payment in &mut payments {
            payment.level = Level::Final;
        }
        let after = seen(&payments, 40);
        prop_assert!(after.status.is_paid());
        if !left.is_zero() {
            prop_assert_eq!(after.status, Status::Paid);
        }
    }

    #[test]
    fn credited_money_leaves_settled_only_by_its_own_reversal_or_when_dust_is_given_up(
        steps in prop::collection::vec((any_step(), 1i64..400), 1..16),
        limit in prop::option::of(1u64..5_000),
    ) {
        let terms = terms();
        let (mut payments, mut now) = (Vec::new(), 0);
        let mut before: Option<Assessment> = None;
        for (step, passed) in steps {
            now += passed;
            take(&mut payments, step, now);
            let verdicts = judge(&Facts { terms: &terms, payments: &payments, cancelled_at: None }, limit, |_| None);
            for (id, verdict) in verdicts {
                payments.iter_mut().find(|it| it.id == id).unwrap().verdict = Some(verdict);
            }
            let after = assessed(&terms, &payments, None, now);
            keep(&mut payments, &after);
            for was in before.iter().flat_map(|before| &before.parts) {
                let is = after.part(&was.payment).unwrap();
                let excused = is.status == PaymentStatus::Reversed || (is.dust && after.status == Status::Expired);
                prop_assert!(
                    excused || is.position.settled >= was.position.settled,
                    "{was:?} became {is:?}"
                );
            }
            before = Some(after);
        }
    }

    #[test]
    fn a_total_at_the_limit_means_that_somebody_looks_or_has_been_credited_before(
        steps in prop::collection::vec((any_step(), 1i64..400), 1..16),
        limit in 1u64..5_000,
    ) {
        let terms = terms();
        let (mut payments, mut now) = (Vec::new(), 0);
        for (step, passed) in steps {
            now += passed;
            take(&mut payments, step, now);
            let facts = Facts { terms: &terms, payments: &payments, cancelled_at: None };
            let total: u128 = payments
                .iter()
                .filter(|it| it.reached_policy() && it.asset != EURC)
                .map(|it| it.units.0)
                .sum();
            let verdicts = judge(&facts, Some(limit), |_| None);
            let assessment = assess(&facts, now);
            for (id, verdict) in verdicts {
                let part = assessment.part(&id).unwrap();
                // Everything in this asset is worth its face: a cent is ten thousand units.
                if total < u128::from(limit) * 10_000 || part.dust {
                    prop_assert_ne!(verdict, Verdict::Held(Hold::ManualReview));
                } else if assessment.parts.iter().all(|part| part.standing != Standing::Late) {
                    let expected = match part.standing {
                        Standing::Counted => Verdict::Held(Hold::ManualReview),
                        _ => Verdict::Screened,
                    };
                    prop_assert_eq!(verdict, expected);
                }
                payments.iter_mut().find(|it| it.id == id).unwrap().verdict = Some(verdict);
            }
            let after = assessed(&terms, &payments, None, now);
            keep(&mut payments, &after);
        }
    }
}

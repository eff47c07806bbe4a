//! What refunds do to what an invoice has been paid.

use proptest::prelude::*;

use super::*;
use crate::ledger::refund_from;
use crate::payment::TakenExcess;

/// A refund that counts, and what of it was taken out of the price while that was paid.
#[derive(Clone, Debug)]
struct Refund {
    sources: Vec<(String, Units)>,
    withdrawn: Vec<(String, Units)>,
    /// The last payment that was known, where the price was paid.
    excess_until: Option<String>,
    units: u128,
    is_sent: bool,
}

fn of<'p>(payments: &'p mut [Payment], id: &str) -> &'p mut Payment {
    payments.iter_mut().find(|it| it.id == id).unwrap()
}

/// Refunds so much, as the engine does; none when there is not so much.
fn refund(payments: &mut [Payment], units: u128, now: i64) -> Option<Refund> {
    let before = seen(payments, now);
    let positions: Vec<(&str, _)> = before
        .parts
        .iter()
        .map(|part| (part.payment.as_str(), part.position))
        .collect();
    let sources = refund_from(&positions, Units(units))?;
    Some(promise(payments, sources, now))
}

/// A refund out of these payments, so much of each.
fn promise(payments: &mut [Payment], sources: Vec<(String, Units)>, now: i64) -> Refund {
    let terms = terms();
    let facts = Facts {
        terms: &terms,
        payments,
        cancelled_at: None,
    };
    let before = seen(payments, now);
    let withdrawn = withdraw(&facts, &before, &sources);
    let last = payments.iter().map(|payment| payment.id.clone()).max();
    let excess_until = last.filter(|_| before.is_covered);
    for (id, units) in &sources {
        let due = &mut of(payments, id).taken.refunds_due;
        *due = due.plus(*units);
    }
    for (id, units) in &withdrawn {
        let taken = &mut of(payments, id).taken.withdrawn;
        *taken = taken.plus(*units);
        let excess = excess_until.iter().map(|last| TakenExcess {
            units: *units,
            last_payment: last.clone(),
        });
        of(payments, id).excess_taken.extend(excess);
    }
    Refund {
        units: sources.iter().map(|(_, units)| units.0).sum(),
        sources,
        withdrawn,
        excess_until,
        is_sent: false,
    }
}

#[test]
fn who_paid_twice_in_two_assets_gets_one_back_and_the_price_is_paid_with_the_other() {
    for (given_back, stays) in [("p", "q"), ("q", "p")] {
        let mut payments = vec![
            cents("p", 2_500, 10),
            pay("q", B, 25_000_000, Level::Final, 11),
        ];
        let before = seen(&payments, 20);
        assert_eq!(before.overpaid, Some((B.to_owned(), Units(25_000_000))));
        keep(&mut payments, &before);
        let some = promise(
            &mut payments,
            vec![(given_back.into(), Units(10_000_000))],
            20,
        );
        assert_eq!(
            seen(&payments, 20).overpaid,
            before.overpaid,
            "what was too much at first"
        );
        let rest = promise(
            &mut payments,
            vec![(given_back.into(), Units(15_000_000))],
            20,
        );
        let after = seen(&payments, 20);
        assert_eq!(after.overpaid, before.overpaid);
        assert_eq!(
            after.part(stays).unwrap().position.settled,
            Units(25_000_000)
        );
        assert_eq!(
            after.part(given_back).unwrap().position.refunds_due,
            Units(25_000_000)
        );
        // What is given back of the other is a kindness: the price stays paid.
        promise(&mut payments, vec![(stays.into(), Units(1_000_000))], 20);
        assert_eq!(of(&mut payments, stays).taken.withdrawn, Units::ZERO);
        assert!(seen(&payments, 20).status.is_paid());
        for refund in [some, rest] {
            give_back(&mut payments, &refund);
        }
        assert_eq!(seen(&payments, 20).overpaid, before.overpaid);
    }
}

#[test]
fn what_is_beyond_the_price_is_taken_back_once_whichever_payments_it_is_taken_out_of() {
    let mut payments = vec![
        cents("p", 1_500, 10),
        cents("q", 1_000, 11),
        pay("r", B, 10_000_000, Level::Final, 12),
    ];
    let before = seen(&payments, 20);
    keep(&mut payments, &before);
    let sources = vec![
        ("p".into(), Units(8_000_000)),
        ("q".into(), Units(5_000_000)),
    ];
    promise(&mut payments, sources, 20);
    let taken = ["p", "q", "r"].map(|id| of(&mut payments, id).taken.withdrawn.0);
    assert_eq!(
        taken,
        [8_000_000, 2_000_000, 0],
        "ten were beyond, three are a kindness"
    );
    assert_eq!(seen(&payments, 20).overpaid, before.overpaid);
}

fn give_back(payments: &mut [Payment], refund: &Refund) {
    for (id, units) in &refund.sources {
        let due = &mut of(payments, id).taken.refunds_due;
        *due = due.minus(*units).unwrap();
    }
    for (id, units) in &refund.withdrawn {
        let withdrawn = &mut of(payments, id).taken.withdrawn;
        *withdrawn = withdrawn.minus(*units).unwrap();
        let taken = &mut of(payments, id).excess_taken;
        let is_its_own = |it: &TakenExcess| {
            it.units == *units && refund.excess_until.as_ref() == Some(&it.last_payment)
        };
        if let Some(at) = taken.iter().position(is_its_own) {
            taken.remove(at);
        }
    }
}

fn send(payments: &mut [Payment], refund: &mut Refund) {
    refund.is_sent = true;
    for (id, units) in &refund.sources {
        let taken = &mut of(payments, id).taken;
        taken.refunds_due = taken.refunds_due.minus(*units).unwrap();
        taken.refunds_sent = taken.refunds_sent.plus(*units);
    }
    for (id, units) in &refund.withdrawn {
        let taken = &mut of(payments, id).taken;
        taken.withdrawn_sent = taken.withdrawn_sent.plus(*units);
    }
}

fn settled(assessment: &Assessment) -> u128 {
    let parts = assessment.parts.iter();
    parts.map(|part| part.position.settled.0).sum()
}

fn remaining(assessment: &Assessment) -> Option<u128> {
    assessment.remaining.as_ref().map(|(_, units)| units.0)
}

/// What was beyond the price was given back; then the one, or the other, is away for a while.
#[test]
fn an_excess_that_was_given_back_is_one_again_when_what_left_the_chain_returns() {
    for (given_back, left) in [("p", "p"), ("p", "q"), ("q", "p"), ("q", "q")] {
        let mut payments = vec![
            cents("p", 2_500, 10),
            pay("q", B, 25_000_000, Level::Final, 11),
        ];
        let before = seen(&payments, 20);
        keep(&mut payments, &before);
        let whole = vec![(given_back.into(), Units(25_000_000))];
        let mut made = promise(&mut payments, whole, 20);
        send(&mut payments, &mut made);
        of(&mut payments, left).gone_at = Some(30);
        let without = seen(&payments, 30);
        assert_eq!(without.status, Status::PartiallyPaid);
        keep(&mut payments, &without);
        of(&mut payments, left).gone_at = None;
        let after = seen(&payments, 40);
        let (_, units) = after.overpaid.unwrap();
        assert_eq!((after.status, units), (Status::Overpaid, Units(25_000_000)));
    }
}

#[test]
fn what_replaces_the_other_of_two_is_no_excess_in_whatever_order_they_are_credited() {
    let mut payments = vec![cents("p", 2_500, 10), cents("q", 2_500, 11)];
    let before = seen(&payments, 20);
    keep(&mut payments, &before);
    let mut made = refund(&mut payments, 25_000_000, 20).unwrap();
    send(&mut payments, &mut made);
    of(&mut payments, "p").gone_at = Some(30);
    let without = seen(&payments, 30);
    keep(&mut payments, &without);
    payments.push(cents("r", 3_000, 40));
    for turns in [[2, 3], [3, 2]] {
        for (id, turn) in ["q", "r"].into_iter().zip(turns) {
            of(&mut payments, id).credited = Some(turn);
        }
        let after = seen(&payments, 50);
        assert_eq!(after.status, Status::Overpaid);
        assert_eq!(after.overpaid, Some((A.to_owned(), Units(5_000_000))));
        of(&mut payments, "r").units = Units(25_000_000);
        check(&payments, 50, Status::Paid);
        of(&mut payments, "r").units = Units(30_000_000);
    }
    of(&mut payments, "p").gone_at = None;
    check(&payments, 60, Status::Overpaid);
}

#[test]
fn what_was_given_back_of_an_unpaid_price_is_no_excess_when_less_is_asked_for() {
    // Paid and given back in cents; what is due after credit; paid then, and what of it is too much.
    for (paid, back, due, rest, too_much) in [
        (600, 300, 300, 0, None),
        (2_000, 2_000, 1_500, 1_500, None),
        (600, 300, 200, 0, Some(100)),
        (600, 300, 300, 50, Some(50)),
        (2_000, 1_000, 1_500, 500, None),
    ] {
        let mut payments = vec![cents("p", paid, 10)];
        let mut made = refund(&mut payments, back * 10_000, 20).unwrap();
        send(&mut payments, &mut made);
        let mut lowered = terms();
        lowered.amount_minor = u64::try_from(due).unwrap();
        for option in &mut lowered.options {
            option.due = Units(due * 10_000);
        }
        if rest > 0 {
            payments.push(cents("q", rest, 30));
        }
        let after = assessed(&lowered, &payments, None, 40);
        let shown = after.overpaid.as_ref().map(|(_, units)| units.0 / 10_000);
        assert_eq!((after.status.is_paid(), shown), (true, too_much), "{paid}");
        assert_eq!(settled(&after), due * 10_000);
    }
}

#[test]
fn what_was_refunded_before_the_price_was_paid_pays_nothing() {
    let mut payments = vec![cents("p", 2_499, 10)];
    let promised = refund(&mut payments, 24_990_000, 20).unwrap();
    assert_eq!(remaining(&seen(&payments, 20)), Some(25_000_000));
    payments.push(cents("q", 1, 30));
    let after = seen(&payments, 40);
    assert_eq!(
        (after.status, settled(&after)),
        (Status::PartiallyPaid, 10_000)
    );
    assert_eq!(remaining(&after), Some(24_990_000));
    // Taken back, it counts again.
    give_back(&mut payments, &promised);
    let after = seen(&payments, 50);
    assert_eq!((after.status, settled(&after)), (Status::Paid, 25_000_000));
}

#[test]
fn what_was_taken_back_after_the_price_was_paid_otherwise_is_too_much() {
    let mut payments = vec![cents("p", 2_499, 10)];
    let promised = refund(&mut payments, 24_990_000, 20).unwrap();
    payments.push(cents("q", 2_500, 30));
    let after = seen(&payments, 40);
    assert_eq!((after.status, settled(&after)), (Status::Paid, 25_000_000));
    keep(&mut payments, &after);
    give_back(&mut payments, &promised);
    let after = seen(&payments, 50);
    assert_eq!(
        (after.status, settled(&after)),
        (Status::Overpaid, 25_000_000)
    );
    assert_eq!(after.overpaid, Some((A.to_owned(), Units(24_990_000))));
}

#[test]
fn a_price_that_was_paid_stays_paid_when_it_is_given_back() {
    let mut payments = vec![cents("p", 2_800, 10)];
    let before = seen(&payments, 20);
    keep(&mut payments, &before);
    refund(&mut payments, 5_000_000, 20).unwrap();
    let after = seen(&payments, 20);
    assert_eq!(
        (after.status, settled(&after)),
        (Status::Overpaid, 23_000_000)
    );
    assert_eq!(
        after.overpaid, before.overpaid,
        "what was too much at first"
    );
    payments.push(cents("q", 100, 30));
    assert_eq!(
        seen(&payments, 40).parts[1].position.overpaid,
        Units(1_000_000)
    );
}

#[test]
fn what_is_owed_for_a_payment_that_is_gone_was_not_paid_in_time() {
    let mut payments = vec![cents("p", 2_800, 10)];
    let before = seen(&payments, 20);
    keep(&mut payments, &before);
    let mut promised = refund(&mut payments, 3_000_000, 20).unwrap();
    payments[0] = gone(&payments[0], 30);
    payments.push(cents("q", 2_500, 40));
    // A promise of money that is gone raises nobody's price.
    check(&payments, 50, Status::Paid);
    send(&mut payments, &mut promised);
    check(&payments, 50, Status::PartiallyPaid);
    payments.push(cents("r", 300, 1_500));
    check(&payments, 1_600, Status::PaidLate);
}

#[test]
fn dust_makes_no_excess_after_a_refund_either() {
    let mut payments = vec![cents("p", 2_400, 10)];
    refund(&mut payments, 24_000_000, 20).unwrap();
    payments.push(cents("q", 2_500, 30));
    payments.push(pay("r", A, 9_999, Level::Final, 40));
    check(&payments, 50, Status::Paid);
}

/// The excess was refunded out of the one; then the other, or the one itself, leaves the chain.
#[test]
fn a_reversal_after_the_excess_was_refunded_leaves_nothing_paid_that_is_not_kept() {
    for (left, stays) in [("p", "q"), ("q", "p")] {
        let mut payments = vec![cents("p", 2_500, 10), cents("q", 2_500, 11)];
        let before = seen(&payments, 20);
        keep(&mut payments, &before);
        let mut promised = refund(&mut payments, 25_000_000, 20).unwrap();
        send(&mut payments, &mut promised);
        check(&payments, 20, Status::Overpaid);
        *of(&mut payments, left) = gone(of(&mut payments, left), 30);
        let after = seen(&payments, 40);
        assert_eq!(
            (after.status, settled(&after)),
            (Status::PartiallyPaid, 0),
            "without {left}"
        );
        assert_eq!(remaining(&after), Some(25_000_000));
        let bears = after.part(stays).unwrap().position;
        assert_eq!(
            (
                bears.refunds_sent,
                after.part(left).unwrap().position.total()
            ),
            (Units(25_000_000), Units(0))
        );
        payments.push(cents("r", 2_500, 50));
        let after = seen(&payments, 60);
        assert_eq!((after.status, settled(&after)), (Status::Paid, 25_000_000));
    }
}

#[test]
fn what_is_paid_beyond_the_price_and_a_refund_of_a_payment_that_is_gone_is_excess() {
    let mut payments = vec![cents("p", 2_800, 10)];
    let before = seen(&payments, 20);
    keep(&mut payments, &before);
    let mut promised = refund(&mut payments, 1_000_000, 20).unwrap();
    payments[0] = gone(&payments[0], 30);
    payments.push(cents("q", 2_800, 40));
    let after = seen(&payments, 50);
    assert_eq!(after.overpaid, Some((A.to_owned(), Units(3_000_000))));
    // The excess stands for the promise, sent or not: nobody is offered it a second time.
    let stands = after.part("q").unwrap().position;
    assert_eq!(
        (stands.settled, stands.overpaid, stands.refunds_due),
        (Units(25_000_000), Units(2_000_000), Units(1_000_000))
    );
    send(&mut payments, &mut promised);
    let after = seen(&payments, 60);
    assert_eq!(after.overpaid, Some((A.to_owned(), Units(2_000_000))));
    let stands = after.part("q").unwrap().position;
    assert_eq!(
        (stands.settled, stands.overpaid, stands.refunds_sent),
        (Units(25_000_000), Units(2_000_000), Units(1_000_000))
    );
}

#[test]
fn what_is_beyond_a_price_that_was_given_back_reversed_and_paid_again_stays_the_payers() {
    let mut payments = vec![cents("p", 2_500, 10)];
    let before = seen(&payments, 20);
    keep(&mut payments, &before);
    refund(&mut payments, 25_000_000, 20).unwrap();
    payments[0] = gone(&payments[0], 30);
    payments.push(cents("q", 2_800, 40));
    let after = seen(&payments, 50);
    assert_eq!(after.overpaid, Some((A.to_owned(), Units(3_000_000))));
    let stands = after.part("q").unwrap().position;
    assert_eq!(
        (stands.settled, stands.overpaid, stands.refunds_due),
        (Units(0), Units(3_000_000), Units(25_000_000))
    );
}

#[test]
fn a_refunded_payment_that_is_replaced_stands_in_the_books_once() {
    let mut payments = vec![cents("p", 2_500, 10)];
    let before = seen(&payments, 20);
    keep(&mut payments, &before);
    refund(&mut payments, 25_000_000, 20).unwrap();
    payments[0] = gone(&payments[0], 30);
    payments.push(cents("q", 2_500, 30));
    let after = seen(&payments, 40);
    let totals: Vec<_> = after
        .parts
        .iter()
        .map(|part| part.position.total().0)
        .collect();
    assert_eq!((totals, settled(&after)), (vec![0, 25_000_000], 0));
    assert_eq!(
        after.status,
        Status::Paid,
        "it was a kindness before, and is one now"
    );
    let mut back = payments.clone();
    back[0] = cents("p", 2_500, 10);
    back[0].taken = payments[0].taken;
    let after = seen(&back, 50);
    assert_eq!(after.part("q").unwrap().position.total(), Units(25_000_000));
    assert_eq!(
        after.part("p").unwrap().position.refunds_due,
        Units(25_000_000)
    );
}

#[test]
fn what_was_sent_back_of_a_payment_that_is_gone_is_asked_for_with_the_price() {
    let mut payments = vec![cents("p", 4_500, 10)];
    let before = seen(&payments, 20);
    keep(&mut payments, &before);
    let mut excess = refund(&mut payments, 20_000_000, 20).unwrap();
    let promised = vec![gone(&payments[0], 30)];
    assert!(seen(&promised, 30).asked.is_empty(), "nothing was sent yet");
    send(&mut payments, &mut excess);
    assert!(seen(&payments, 25).asked.is_empty(), "the payment is there");
    payments[0] = gone(&payments[0], 30);
    let after = seen(&payments, 30);
    assert_eq!(after.status, Status::AwaitingPayment);
    let asked = |asset: &str| (asset.to_owned(), Units(45_000_000));
    assert_eq!(after.asked, [asked(A), asked(B)]);
    payments.push(cents("q", 2_500, 40));
    let part = seen(&payments, 40);
    assert_eq!(
        (part.status, remaining(&part)),
        (Status::PartiallyPaid, Some(20_000_000))
    );
    payments[1] = cents("q", 4_500, 40);
    let paid = seen(&payments, 40);
    assert_eq!((paid.status, paid.overpaid), (Status::Paid, None));
}

#[derive(Clone, Debug)]
enum Step {
    Pay(u128),
    Gone(usize),
    Back(usize),
    Refund(u128),
    Cancel(usize),
    Send(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    let units = || prop_oneof![1u128..20_000, 1u128..40_000_000];
    prop_oneof![
        3 => units().prop_map(Step::Pay),
        2 => (0usize..6).prop_map(Step::Gone),
        1 => (0usize..6).prop_map(Step::Back),
        4 => units().prop_map(Step::Refund),
        1 => (0usize..4).prop_map(Step::Cancel),
        1 => (0usize..4).prop_map(Step::Send),
    ]
}

fn take(payments: &mut Vec<Payment>, refunds: &mut Vec<Refund>, step: &Step, now: i64) {
    match *step {
        Step::Pay(units) => {
            let id = format!("p{:02}", payments.len());
            payments.push(pay(&id, A, units, Level::Final, now));
        }
        Step::Gone(at) => {
            if let Some(payment) = payments.get_mut(at).filter(|it| !it.is_gone()) {
                payment.gone_at = Some(now);
            }
        }
        Step::Back(at) => {
            if let Some(payment) = payments.get_mut(at) {
                payment.gone_at = None;
            }
        }
        Step::Refund(units) => refunds.extend(refund(payments, units, now)),
        Step::Cancel(at) => {
            if refunds.get(at).is_some_and(|refund| !refund.is_sent) {
                give_back(payments, &refunds.remove(at));
            }
        }
        Step::Send(at) => {
            if let Some(refund) = refunds.get_mut(at).filter(|refund| !refund.is_sent) {
                send(payments, refund);
            }
        }
    }
}

proptest! {
    #[test]
    fn a_paid_invoice_keeps_its_price_but_for_what_was_given_back_of_a_paid_one(
        steps in prop::collection::vec(any_step(), 1..24),
    ) {
        let (mut payments, mut refunds) = (Vec::new(), Vec::new());
        for (now, step) in (10i64..).step_by(10).zip(&steps) {
            let was_paid = seen(&payments, now).status.is_paid();
            take(&mut payments, &mut refunds, step, now);
            let after = seen(&payments, now);
            keep(&mut payments, &after);
            let sum = |of: fn(&Payment) -> u128| payments.iter().map(of).sum::<u128>();
            let there = sum(|it| if it.is_gone() { 0 } else { it.units.0 });
            let refunded: u128 = refunds.iter().map(|refund| refund.units).sum();
            let posted: u128 = after.parts.iter().map(|part| part.position.total().0).sum();
            prop_assert_eq!(posted, there.max(refunded), "the books have what arrived, or what was refunded");
            let withdrawn = sum(|it| it.taken.withdrawn.0);
            // What was promised of a payment that is gone, and not sent, is no part of any price.
            let promised_of_gone = sum(|it| match it.is_gone() {
                true => it.taken.withdrawn.0 - it.taken.withdrawn_sent.0,
                false => 0,
            });
            if after.status.is_paid() {
                let given = refunded - withdrawn + promised_of_gone;
                prop_assert!(settled(&after) + given >= 25_000_000, "{:?} keeps {}", after.status, settled(&after));
            } else if was_paid {
                prop_assert!(matches!(step, Step::Gone(_) | Step::Send(_)), "{step:?} made a paid invoice {:?}", after.status);
            }
            let asked = match after.status {
                Status::AwaitingPayment => after.asked_in(&terms(), A),
                _ => remaining(&after).map(Units),
            };
            if let Some(asked) = asked {
                let mut more = payments.clone();
                more.push(pay("more", A, asked.0, Level::Final, now));
                prop_assert!(seen(&more, now).status.is_paid(), "{asked:?} was asked for, and does not pay");
            }
            // Who is credited first may change with a reorganisation, and is no reason to be overpaid or not.
            let mut anew = payments.clone();
            for payment in &mut anew {
                payment.credited = None;
            }
            prop_assert_eq!(seen(&anew, now).status, after.status);
            let beyond: u128 = after.parts.iter().map(|part| part.position.overpaid.0).sum();
            let shown = after.overpaid.as_ref().map_or(0, |(_, units)| units.0);
            prop_assert!(after.status != Status::Overpaid || shown >= beyond, "{shown} shown of {beyond}");
            let promised = |part: &Part| part.position.refunds_due.plus(part.position.refunds_sent).0;
            prop_assert_eq!(after.parts.iter().map(promised).sum::<u128>(), refunded);
        }
    }
}

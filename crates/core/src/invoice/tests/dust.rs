//! Less than a cent: it adds up, and is otherwise nothing to anybody.

use super::*;

/// 0.005.
fn speck(id: &str, at: i64) -> Payment {
    pay(id, A, 5_000, Level::Final, at)
}

#[test]
fn a_cent_is_no_dust_and_a_unit_less_is() {
    let dust = |asset, units| seen(&[pay("p", asset, units, Level::Final, 10)], 20).parts[0].dust;
    assert!(dust(A, 9_999));
    assert!(!dust(A, 10_000));
    // Of what was not asked for, the cent of its own currency counts; what has no fixed price is never dust.
    assert!(dust(EURC, 9_999));
    assert!(!dust(EURC, 10_000));
    assert!(!dust("BTC@bip122:00000000da84f2bafbbc53dee25a72ae", 1));
    assert!(!dust("DAI@eip155:84532", 1));
}

#[test]
fn dust_alone_neither_detects_nor_keeps_open() {
    let one = [pay("p", A, 9_999, Level::Included, 10)];
    check(&one, 20, Status::AwaitingPayment);
    check(&one, 1_000, Status::Expired);
    let mut risen = one.clone();
    risen[0].level = Level::Safe;
    check(&risen, 20, Status::AwaitingPayment);
    let credited = [pay("p", A, 9_999, Level::Final, 10)];
    check(&credited, 20, Status::AwaitingPayment);
    let late = [speck("p", 10), cents("q", 2_500, 1_500)];
    check(&late, 1_600, Status::Expired);
    // Nor does any amount of it.
    let many: Vec<Payment> = (0..9).map(|n| speck(&format!("p{n}"), 10)).collect();
    check(&many, 20, Status::AwaitingPayment);
    check(&many, 1_000, Status::Expired);
}

#[test]
fn dust_adds_up_with_what_was_really_paid() {
    let nearly = pay("q", A, 24_995_000, Level::Final, 11);
    check(std::slice::from_ref(&nearly), 20, Status::PartiallyPaid);
    check(&[speck("p", 10), nearly.clone()], 20, Status::Paid);
    check(&[nearly, speck("p", 12)], 20, Status::Paid);
}

#[test]
fn dust_makes_no_excess_before_between_or_after() {
    for payments in [
        vec![speck("p", 10), cents("q", 2_500, 20)],
        vec![cents("p", 1_000, 10), speck("q", 15), cents("r", 1_500, 20)],
        vec![
            cents("p", 2_500, 10),
            speck("q", 20),
            speck("r", 30),
            speck("s", 40),
        ],
    ] {
        let assessment = seen(&payments, 50);
        assert_eq!(assessment.status, Status::Paid);
        assert_eq!(assessment.overpaid, None);
        let posted: u128 = assessment
            .parts
            .iter()
            .map(|part| part.position.total().0)
            .sum();
        assert_eq!(posted, payments.iter().map(|it| it.units.0).sum::<u128>());
    }
    // With a real excess it is part of it.
    let over = [cents("p", 2_600, 10), speck("q", 20)];
    let assessment = seen(&over, 50);
    assert_eq!(assessment.overpaid, Some((A.to_owned(), Units(1_005_000))));
}

#[test]
fn dust_does_not_say_what_the_payer_pays_in() {
    let mut other = speck("q", 20);
    other.asset = B.to_owned();
    let assessment = seen(&[cents("p", 1_000, 10), other], 50);
    assert_eq!(
        assessment.remaining,
        Some((A.to_owned(), Units(14_995_000)))
    );
}

#[test]
fn dust_on_an_invoice_that_expires_is_refundable() {
    let payments = [speck("p", 10), pay("q", A, 5_000, Level::Included, 20)];
    let open = seen(&payments, 999);
    assert_eq!(
        statuses(&open),
        [PaymentStatus::Credited, PaymentStatus::Confirming]
    );
    let expired = seen(&payments, 1_000);
    assert_eq!(
        statuses(&expired),
        [PaymentStatus::Refundable, PaymentStatus::Confirming]
    );
    assert_eq!(expired.parts[0].position.refundable, Units(5_000));
    assert_eq!(expired.parts[0].credited, None);
    // It is not credited again while a late payment is looked at.
    let late = with(&cents("r", 2_500, 1_500), Verdict::Held(Hold::Sanctions));
    let held = seen(&[speck("p", 10), late.clone()], 1_600);
    assert_eq!(held.status, Status::UnderReview);
    assert_eq!(
        statuses(&held),
        [PaymentStatus::Refundable, PaymentStatus::Held]
    );
    // But one in time that is looked at may still pay with it.
    let timely = Payment {
        first_seen_at: 500,
        ..late
    };
    let held = seen(&[speck("p", 10), timely.clone()], 1_600);
    assert_eq!(
        statuses(&held),
        [PaymentStatus::Credited, PaymentStatus::Held]
    );
    let other = Payment {
        id: "s".to_owned(),
        ..timely.clone()
    };
    let held = seen(&[speck("p", 10), timely, other], 1_600);
    assert_eq!(held.parts[0].status, PaymentStatus::Credited, "nor two");
}

#[test]
fn dust_from_a_listed_sender_is_held_without_touching_the_invoice() {
    let listed = with(&speck("p", 10), Verdict::Held(Hold::Sanctions));
    let alone = |now| seen(std::slice::from_ref(&listed), now);
    assert_eq!(alone(20).status, Status::AwaitingPayment);
    assert_eq!(alone(20).hold, None);
    assert_eq!(alone(1_000).status, Status::Expired);
    assert_eq!(statuses(&alone(1_000)), [PaymentStatus::Held]);
    assert_eq!(alone(1_000).parts[0].position.held, Units(5_000));
    let paid = seen(&[cents("q", 2_500, 5), listed.clone()], 20);
    assert_eq!((paid.status, paid.hold), (Status::Paid, None));
    let cancelled = assessed(&terms(), &[listed], Some(15), 20);
    assert_eq!(cancelled.status, Status::Cancelled);
    assert_eq!(statuses(&cancelled), [PaymentStatus::Held]);
}

#[test]
fn dust_in_a_final_block_that_was_replaced_stays_credited_until_it_is_gone() {
    let mut payments = vec![pay("q", A, 24_995_000, Level::Final, 11), speck("p", 12)];
    let paid = seen(&payments, 20);
    assert_eq!(paid.status, Status::Paid);
    keep(&mut payments, &paid);
    payments[1].verdict = Some(Verdict::Held(Hold::FinalityViolation));
    let disputed = seen(&payments, 30);
    assert_eq!((disputed.status, disputed.hold), (Status::Paid, None));
    assert_eq!(disputed.part("p").unwrap().position.settled, Units(5_000));
    payments[1].gone_at = Some(40);
    check(&payments, 50, Status::PartiallyPaid);
}

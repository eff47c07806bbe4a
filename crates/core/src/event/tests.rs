//! What each difference says, and what says nothing.

use super::*;
use crate::ledger::Position;
use crate::money::Units;

use PaymentStatus as P;
use Standing as S;

fn part(status: P, standing: S) -> Part {
    Part {
        payment: String::new(),
        status,
        position: Position::default(),
        standing,
        dust: false,
        rejected: false,
        credited: None,
        beyond: Units::ZERO,
    }
}

fn dust(status: P) -> Part {
    Part {
        dust: true,
        ..part(status, S::Counted)
    }
}

fn rejected(status: P, standing: S) -> Part {
    Part {
        rejected: true,
        ..part(status, standing)
    }
}

/// Compares what is announced, as `type` or `type payment`; payments are counted from 0. Whatever was credited
/// before is marked so.
#[track_caller]
fn check(before: (Status, &[Option<P>]), after: (Status, &[Part]), expected: &[&str]) {
    let credited: Vec<bool> = before
        .1
        .iter()
        .map(|was| *was == Some(P::Credited))
        .collect();
    check_with(before, &credited, after, expected);
}

#[track_caller]
fn check_with(
    before: (Status, &[Option<P>]),
    credited: &[bool],
    after: (Status, &[Part]),
    expected: &[&str],
) {
    check_left(before, credited, &[], after, expected);
}

/// The same, where some payments left the chain with the change that brought them back.
#[track_caller]
fn check_left(
    (status_before, was): (Status, &[Option<P>]),
    credited: &[bool],
    left: &[&str],
    (status, parts): (Status, &[Part]),
    expected: &[&str],
) {
    let ids: Vec<String> = (0..parts.len()).map(|n| n.to_string()).collect();
    let stood: Vec<Stood<'_>> = ids
        .iter()
        .zip(was)
        .zip(credited)
        .filter_map(|((id, was), credited)| {
            Some(Stood {
                payment: id,
                status: (*was)?,
                credited: *credited,
                left: left.contains(&id.as_str()),
            })
        })
        .collect();
    let parts = ids.iter().zip(parts).map(|(id, part)| Part {
        payment: id.clone(),
        ..part.clone()
    });
    let after = Assessment {
        status,
        parts: parts.collect(),
        received: vec![],
        remaining: None,
        overpaid: None,
        asked: vec![],
        hold: None,
        is_covered: false,
        is_covered_with_disputed: false,
        is_covered_with_promised: false,
        is_over: false,
        status_without_held: status,
        is_over_without_held: false,
        held_may_count: false,
    };
    let said: Vec<String> = announce(status_before, &stood, &after)
        .iter()
        .map(|told| match &told.payment {
            Some(payment) => format!("{} {payment}", told.event.as_str()),
            None => told.event.as_str().to_owned(),
        })
        .collect();
    assert_eq!(said, expected);
}

#[test]
fn the_names_are_those_of_the_contract() {
    let names: Vec<_> = EventType::WEBHOOKS.iter().map(|it| it.as_str()).collect();
    assert_eq!(
        names,
        [
            "invoice.created",
            "invoice.awaiting_payment",
            "invoice.detected",
            "invoice.paid",
            "invoice.partially_paid",
            "invoice.overpaid",
            "invoice.paid_late",
            "invoice.expired",
            "invoice.under_review",
            "invoice.cancelled",
            "invoice.payment_reversed",
            "invoice.wrong_asset",
            "invoice.late_payment",
            "invoice.review_resolved",
            "refund.claimed",
            "payment_link.created",
            "payment_link.updated",
            "payment_link.deactivated",
            "subscription.created",
            "subscription.invoice_created",
            "subscription.renewed",
            "subscription.past_due",
            "subscription.paused",
            "subscription.resumed",
            "subscription.updated",
            "subscription.cancelled"
        ]
    );
    for event in [&EventType::WEBHOOKS[..], &[EventType::CONFIRMING]].concat() {
        assert_eq!(EventType::parse(event.as_str()), Some(event));
    }
    assert_eq!(EventType::parse("invoice.opened"), None);
}

#[test]
fn confirmations_are_no_webhooks_and_only_statuses_are_streamed() {
    assert!(EventType::WEBHOOKS.into_iter().all(EventType::is_webhook));
    assert_eq!(EventType::CONFIRMING.as_str(), "invoice.confirming");
    assert!(!EventType::CONFIRMING.is_webhook());
    let statuses = Status::ALL.into_iter().map(EventType::InvoiceStatus);
    for event in statuses.chain([EventType::InvoiceCreated]) {
        assert!(event.is_streamed());
        assert_eq!(event.is_webhook(), EventType::WEBHOOKS.contains(&event));
    }
    let streamed = EventType::WEBHOOKS
        .into_iter()
        .filter(|it| it.is_streamed());
    assert_eq!(streamed.count(), Status::ALL.len());
}

#[test]
fn a_payment_first_seen_settled_is_detected_before() {
    for status in [
        Status::Paid,
        Status::Overpaid,
        Status::PaidLate,
        Status::PartiallyPaid,
    ] {
        let credited = [part(P::Credited, S::Counted)];
        let name = format!("invoice.{}", status.as_str());
        for unseen in [Status::AwaitingPayment, Status::Expired] {
            check(
                (unseen, &[None]),
                (status, &credited),
                &["invoice.detected", &name],
            );
        }
        check(
            (Status::Detected, &[Some(P::Confirming)]),
            (status, &credited),
            &[&name],
        );
    }
    check(
        (Status::AwaitingPayment, &[None]),
        (Status::Detected, &[part(P::Confirming, S::Counted)]),
        &["invoice.detected"],
    );
    check(
        (Status::AwaitingPayment, &[]),
        (Status::Cancelled, &[]),
        &["invoice.cancelled"],
    );
}

#[test]
fn what_is_first_seen_too_late_and_then_found_in_a_block_in_time_is_detected_before_it_is_confirming()
 {
    for unseen in [Status::AwaitingPayment, Status::Expired] {
        check(
            (unseen, &[Some(P::Pending)]),
            (Status::Confirming, &[part(P::Confirming, S::Counted)]),
            &["invoice.detected", "invoice.confirming"],
        );
    }
}

#[test]
fn what_is_held_without_counting_was_never_detected() {
    let of = |standing| [part(P::Held, standing)];
    check(
        (Status::AwaitingPayment, &[None]),
        (Status::UnderReview, &of(S::Counted)),
        &["invoice.detected", "invoice.under_review"],
    );
    for (status, standing) in [
        (Status::AwaitingPayment, S::WrongAsset),
        (Status::Expired, S::Late),
    ] {
        check(
            (status, &[None]),
            (Status::UnderReview, &of(standing)),
            &["invoice.under_review"],
        );
        // Dust that counts, and what is only on its way, was not detected either.
        let [held] = of(standing);
        check(
            (status, &[None, None, None]),
            (
                Status::UnderReview,
                &[held, dust(P::Credited), part(P::Reversed, S::Counted)],
            ),
            &["invoice.under_review"],
        );
    }
}

#[test]
fn a_reversal_is_told_before_the_status_it_leaves() {
    let gone = [part(P::Reversed, S::Counted)];
    check(
        (Status::Paid, &[Some(P::Credited)]),
        (Status::AwaitingPayment, &gone),
        &["invoice.payment_reversed 0", "invoice.awaiting_payment"],
    );
    check(
        (Status::AwaitingPayment, &[Some(P::Reversed)]),
        (Status::AwaitingPayment, &gone),
        &[],
    );
}

#[test]
fn what_left_the_chain_before_it_was_credited_is_no_reversal_and_is_detected_again() {
    let gone = [part(P::Reversed, S::Counted)];
    for was in [P::Pending, P::Confirming] {
        check(
            (Status::Detected, &[Some(was)]),
            (Status::AwaitingPayment, &gone),
            &["invoice.awaiting_payment"],
        );
    }
    check(
        (Status::UnderReview, &[Some(P::Held)]),
        (Status::AwaitingPayment, &gone),
        &["invoice.awaiting_payment"],
    );
    check(
        (Status::AwaitingPayment, &[Some(P::Reversed)]),
        (Status::Detected, &[part(P::Pending, S::Counted)]),
        &["invoice.detected"],
    );
}

#[test]
fn what_was_credited_and_held_again_is_still_told_when_it_goes() {
    let gone = [part(P::Reversed, S::Counted)];
    check_with(
        (Status::UnderReview, &[Some(P::Held)]),
        &[true],
        (Status::Expired, &gone),
        &["invoice.payment_reversed 0", "invoice.expired"],
    );
}

#[test]
fn a_payment_to_be_returned_that_goes_is_told_too() {
    check(
        (Status::Expired, &[Some(P::Refundable)]),
        (Status::Expired, &[part(P::Reversed, S::Late)]),
        &["invoice.payment_reversed 0"],
    );
}

#[test]
fn a_late_payment_and_a_wrong_asset_are_told_once_and_the_status_stays() {
    for (standing, name) in [
        (S::Late, "invoice.late_payment 1"),
        // Made before the cancellation and settled after it: nobody else would tell of it.
        (S::Counted, "invoice.late_payment 1"),
        (S::WrongAsset, "invoice.wrong_asset 1"),
    ] {
        let parts = [part(P::Refundable, S::Late), part(P::Refundable, standing)];
        for was in [None, Some(P::Confirming), Some(P::Reversed)] {
            check(
                (Status::Cancelled, &[Some(P::Refundable), was]),
                (Status::Cancelled, &parts),
                &[name],
            );
        }
        check(
            (
                Status::Cancelled,
                &[Some(P::Refundable), Some(P::Refundable)],
            ),
            (Status::Cancelled, &parts),
            &[],
        );
    }
}

#[test]
fn an_accepted_payment_that_does_not_count_is_told_as_what_it_is() {
    check(
        (Status::UnderReview, &[Some(P::Held)]),
        (Status::Expired, &[part(P::Refundable, S::Late)]),
        &["invoice.late_payment 0", "invoice.expired"],
    );
    check(
        (Status::UnderReview, &[Some(P::Held)]),
        (
            Status::AwaitingPayment,
            &[part(P::Refundable, S::WrongAsset)],
        ),
        &["invoice.wrong_asset 0", "invoice.awaiting_payment"],
    );
}

#[test]
fn a_rejection_is_told_by_the_cancellation_alone() {
    check(
        (Status::UnderReview, &[Some(P::Held), Some(P::Credited)]),
        (
            Status::Cancelled,
            &[
                rejected(P::Refundable, S::Late),
                part(P::Refundable, S::Counted),
            ],
        ),
        &["invoice.cancelled"],
    );
}

#[test]
fn a_further_short_payment_or_excess_is_told_though_the_status_stays() {
    for status in [Status::PartiallyPaid, Status::Overpaid] {
        let name = format!("invoice.{}", status.as_str());
        let both = [part(P::Credited, S::Counted), part(P::Credited, S::Counted)];
        check(
            (status, &[Some(P::Credited), None]),
            (status, &both),
            &[&name],
        );
        check(
            (status, &[Some(P::Credited), Some(P::Credited)]),
            (status, &both),
            &[],
        );
        let one_less = [part(P::Credited, S::Counted), part(P::Reversed, S::Counted)];
        check(
            (status, &[Some(P::Credited), Some(P::Credited)]),
            (status, &one_less),
            &["invoice.payment_reversed 1", &name],
        );
        let coming = [part(P::Credited, S::Counted), part(P::Pending, S::Counted)];
        check((status, &[Some(P::Credited), None]), (status, &coming), &[]);
    }
    let both = [part(P::Credited, S::Counted), part(P::Credited, S::Counted)];
    check(
        (Status::Paid, &[Some(P::Credited), None]),
        (Status::Paid, &both),
        &[],
    );
}

#[test]
fn dust_is_announced_to_nobody() {
    let credited = part(P::Credited, S::Counted);
    for status in [Status::PartiallyPaid, Status::Overpaid, Status::Paid] {
        check(
            (status, &[Some(P::Credited), None]),
            (status, &[credited.clone(), dust(P::Credited)]),
            &[],
        );
        check(
            (status, &[Some(P::Credited), Some(P::Credited)]),
            (status, &[credited.clone(), dust(P::Reversed)]),
            &[],
        );
    }
    check(
        (Status::Expired, &[None]),
        (Status::Expired, &[dust(P::Refundable)]),
        &[],
    );
    check(
        (Status::AwaitingPayment, &[Some(P::Credited)]),
        (Status::Expired, &[dust(P::Refundable)]),
        &["invoice.expired"],
    );
    // Unless the invoice is not what it was without it.
    check(
        (Status::Paid, &[Some(P::Credited), Some(P::Credited)]),
        (Status::PartiallyPaid, &[credited, dust(P::Reversed)]),
        &["invoice.payment_reversed 1", "invoice.partially_paid"],
    );
}

#[test]
fn what_left_and_came_back_with_one_change_is_told_as_both() {
    let counted = |status| part(status, S::Counted);
    let credited = Some(P::Credited);
    // Another block has it, not deep enough yet.
    check_left(
        (Status::Paid, &[credited]),
        &[true],
        &["0"],
        (Status::Detected, &[counted(P::Confirming)]),
        &["invoice.payment_reversed 0", "invoice.detected"],
    );
    // Replaced by something as good: nobody is told that it was ever short.
    check_left(
        (Status::Paid, &[credited, None]),
        &[true, false],
        &[],
        (Status::Paid, &[counted(P::Reversed), counted(P::Credited)]),
        &["invoice.payment_reversed 0"],
    );
    check_left(
        (Status::PartiallyPaid, &[credited, credited]),
        &[true, true],
        &["0"],
        (
            Status::PartiallyPaid,
            &[counted(P::Credited), counted(P::Credited)],
        ),
        &["invoice.payment_reversed 0", "invoice.partially_paid"],
    );
    // It has to be returned as it was before, and is new to whoever was told that it is gone.
    check_left(
        (Status::Expired, &[Some(P::Refundable)]),
        &[false],
        &["0"],
        (Status::Expired, &[part(P::Refundable, S::Late)]),
        &["invoice.payment_reversed 0", "invoice.late_payment 0"],
    );
}

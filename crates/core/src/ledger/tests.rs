//! Positions, the entries between them, and what refunds and prepaid credit take.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

fn position(held: u128, settled: u128, overpaid: u128, refundable: u128) -> Position {
    Position {
        held: Units(held),
        settled: Units(settled),
        overpaid: Units(overpaid),
        refundable: Units(refundable),
        ..Position::default()
    }
}

fn refunded(due: u128, sent: u128) -> TakenFromPayment {
    TakenFromPayment {
        refunds_due: Units(due),
        refunds_sent: Units(sent),
        ..TakenFromPayment::default()
    }
}

fn credit(units: u128) -> Position {
    Position {
        prepaid_credit: Units(units),
        ..Position::default()
    }
}

#[track_caller]
fn check(before: Position, after: Position, kind: EntryKind, lines: &[(Group, Group, u128)]) {
    let (found, found_lines) = entry(before, after).unwrap();
    let found_lines: Vec<_> = found_lines
        .iter()
        .map(|line| (line.debit, line.credit, line.amount.0))
        .collect();
    assert_eq!((found, found_lines.as_slice()), (kind, lines));
}

#[test]
fn the_names_are_those_that_were_ever_kept() {
    assert_eq!(
        Group::ALL.map(Group::as_str),
        [
            "received",
            "held",
            "settled",
            "overpaid",
            "refundable",
            "prepaid_credit",
            "refunds_due",
            "refunds_sent"
        ]
    );
    assert_eq!(
        EntryKind::ALL.map(EntryKind::as_str),
        [
            "receipt",
            "reclassification",
            "reversal",
            "refund_due",
            "refund_sent",
            "refund_returned",
            "prepaid_credit",
            "credit_used"
        ]
    );
    for group in Group::ALL {
        assert_eq!(Group::parse(group.as_str()), Some(group));
    }
    for kind in EntryKind::ALL {
        assert_eq!(EntryKind::parse(kind.as_str()), Some(kind));
    }
    assert_eq!(Group::parse("paid"), None);
    assert_eq!(EntryKind::parse("paid"), None);
}

#[test]
fn a_receipt_debits_received_and_credits_where_it_stands() {
    check(
        Position::default(),
        position(0, 25, 3, 0),
        EntryKind::Receipt,
        &[
            (Group::Received, Group::Overpaid, 3),
            (Group::Received, Group::Settled, 25),
        ],
    );
}

#[test]
fn accepting_a_hold_moves_it_without_touching_received() {
    check(
        position(28, 0, 0, 0),
        position(0, 25, 3, 0),
        EntryKind::Reclassification,
        &[
            (Group::Held, Group::Overpaid, 3),
            (Group::Held, Group::Settled, 25),
        ],
    );
}

#[test]
fn a_reversal_gives_back_to_received_what_stood() {
    check(
        position(0, 25, 3, 0),
        Position::default(),
        EntryKind::Reversal,
        &[
            (Group::Overpaid, Group::Received, 3),
            (Group::Settled, Group::Received, 25),
        ],
    );
}

#[test]
fn only_the_difference_moves() {
    check(
        position(4, 0, 7, 0),
        position(0, 9, 2, 0),
        EntryKind::Reclassification,
        &[
            (Group::Overpaid, Group::Settled, 5),
            (Group::Held, Group::Settled, 4),
        ],
    );
    check(
        position(9, 0, 2, 0),
        position(0, 4, 7, 0),
        EntryKind::Reclassification,
        &[
            (Group::Held, Group::Overpaid, 5),
            (Group::Held, Group::Settled, 4),
        ],
    );
    check(
        position(5, 0, 0, 0),
        position(0, 25, 0, 0),
        EntryKind::Receipt,
        &[
            (Group::Received, Group::Settled, 20),
            (Group::Held, Group::Settled, 5),
        ],
    );
    check(
        position(25, 0, 0, 0),
        position(0, 5, 0, 0),
        EntryKind::Reversal,
        &[
            (Group::Held, Group::Received, 20),
            (Group::Held, Group::Settled, 5),
        ],
    );
}

#[test]
fn nothing_moved_means_no_entry() {
    assert_eq!(entry(position(1, 2, 3, 4), position(1, 2, 3, 4)), None);
}

#[test]
fn a_refund_goes_from_the_excess_to_due_to_sent() {
    let paid = position(0, 25, 5, 0);
    let due = paid.less(refunded(5, 0));
    check(
        paid,
        due,
        EntryKind::RefundDue,
        &[(Group::Overpaid, Group::RefundsDue, 5)],
    );
    let sent = paid.less(refunded(0, 5));
    check(
        due,
        sent,
        EntryKind::RefundSent,
        &[(Group::RefundsDue, Group::RefundsSent, 5)],
    );
    check(
        due,
        paid,
        EntryKind::RefundReturned,
        &[(Group::RefundsDue, Group::Overpaid, 5)],
    );
}

#[test]
fn a_refund_takes_the_excess_then_what_never_counted_then_what_settled() {
    let mixed = Position {
        prepaid_credit: Units(3),
        ..position(9, 25, 5, 4)
    };
    for (units, overpaid, refundable, prepaid_credit, settled, held) in [
        (5, 0, 4, 3, 25, 9),
        (6, 0, 3, 3, 25, 9),
        (9, 0, 0, 3, 25, 9),
        (12, 0, 0, 0, 25, 9),
        (13, 0, 0, 0, 24, 9),
        (37, 0, 0, 0, 0, 9),
        (38, 0, 0, 0, 0, 8),
    ] {
        let expected = Position {
            prepaid_credit: Units(prepaid_credit),
            refunds_due: Units(units),
            ..position(held, settled, overpaid, refundable)
        };
        assert_eq!(mixed.less(refunded(units, 0)), expected, "{units}");
    }
    assert_eq!(mixed.may_be_refunded(), Units(37));
}

#[test]
fn what_was_refunded_of_a_payment_that_is_gone_stays_refunded() {
    let stood = position(0, 25, 0, 0).less(refunded(4, 6));
    assert_eq!(stood.settled, Units(15));
    let gone = Position::default().less(refunded(4, 6));
    check(
        stood,
        gone,
        EntryKind::Reversal,
        &[(Group::Settled, Group::Received, 15)],
    );
    assert_eq!(gone.may_be_refunded(), Units::ZERO);
    // It returns, and only what had left the books comes back.
    check(
        gone,
        stood,
        EntryKind::Receipt,
        &[(Group::Received, Group::Settled, 15)],
    );
    // Cancelled while it is gone: nobody bears it any more.
    check(
        gone,
        Position::default().less(refunded(0, 6)),
        EntryKind::Reversal,
        &[(Group::RefundsDue, Group::Received, 4)],
    );
}

#[test]
fn what_was_refunded_of_a_payment_that_is_gone_is_borne_by_its_asset_alone() {
    let taken = [
        refunded(6, 4),
        TakenFromPayment::default(),
        TakenFromPayment::default(),
    ];
    let mut positions = [
        Position::default(),
        position(0, 25, 0, 0),
        position(0, 25, 0, 0),
    ];
    let assets = ["A", "B", "A"];
    let drawn = assets.iter().zip(taken).zip(&mut positions);
    let mut drawn: Vec<Drawn<'_>> = drawn
        .map(|((asset, taken), position)| Drawn {
            asset,
            taken,
            position,
        })
        .collect();
    take_out(&mut drawn);
    let bears = Position {
        refunds_due: Units(6),
        refunds_sent: Units(4),
        ..position(0, 15, 0, 0)
    };
    assert_eq!(
        positions,
        [Position::default(), position(0, 25, 0, 0), bears]
    );
}

#[test]
fn who_bears_the_refund_of_another_was_not_refunded() {
    use EntryKind::*;
    for kind in EntryKind::ALL {
        let is_refund = matches!(kind, RefundDue | RefundSent | RefundReturned);
        let of_another = if is_refund { Reclassification } else { kind };
        assert_eq!(kind.of_refunds(false), of_another);
        assert_eq!(kind.of_refunds(true), kind);
    }
}

#[test]
fn what_was_refunded_is_not_held_again() {
    let held = position(25, 0, 0, 0).less(refunded(0, 10));
    assert_eq!(held.held, Units(15));
    assert_eq!(held.total(), Units(25));
}

#[test]
fn prepaid_credit_comes_from_a_final_top_up_and_pays() {
    check(
        position(0, 25, 5, 0),
        credit(30),
        EntryKind::PrepaidCredit,
        &[
            (Group::Overpaid, Group::PrepaidCredit, 5),
            (Group::Settled, Group::PrepaidCredit, 25),
        ],
    );
    let used = credit(30).less(TakenFromPayment {
        credit_used: Units(12),
        ..TakenFromPayment::default()
    });
    check(
        credit(30),
        used,
        EntryKind::CreditUsed,
        &[(Group::PrepaidCredit, Group::Settled, 12)],
    );
    check(
        used,
        credit(30),
        EntryKind::PrepaidCredit,
        &[(Group::Settled, Group::PrepaidCredit, 12)],
    );
    // Its payment left the chain: nothing of it is anybody's credit, used or not.
    let gone = Position::default().less(TakenFromPayment {
        credit_used: Units(12),
        ..TakenFromPayment::default()
    });
    assert_eq!(gone, Position::default());
    // Rejected, or given up: what paid for a period is not the payer's as well, and what was held is what is left.
    let taken = TakenFromPayment {
        credit_used: Units(12),
        refunds_sent: Units(5),
        ..TakenFromPayment::default()
    };
    let rejected = position(0, 0, 0, 30).less(taken);
    assert_eq!(
        rejected.without_used(Units(12)).may_be_refunded(),
        Units(13)
    );
    assert_eq!((rejected.settled, rejected.total()), (Units(12), Units(30)));
    let held = position(30, 0, 0, 0).less(taken);
    assert_eq!((held.held, held.settled), (Units(13), Units(12)));
    // Held instead: credit left the group, but nothing was paid with it.
    let (kind, _) = entry(credit(30), position(30, 0, 0, 0)).unwrap();
    assert_eq!(kind, EntryKind::Reclassification);
}

#[test]
fn a_refund_comes_from_several_payments_and_never_from_what_is_not_there() {
    let payments = [
        ("held", position(40, 0, 0, 0)),
        ("first", position(0, 25, 0, 0)),
        ("late", position(0, 0, 0, 10)),
        ("second", position(0, 0, 5, 0)),
    ];
    let drawn = |units| {
        let drawn = refund_from(&payments, Units(units))?;
        Some(
            drawn
                .into_iter()
                .map(|(id, units)| format!("{id} {}", units.0))
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(drawn(5), Some(vec!["second 5".to_owned()]));
    assert_eq!(
        drawn(17),
        Some(vec![
            "first 2".to_owned(),
            "late 10".to_owned(),
            "second 5".to_owned()
        ])
    );
    assert_eq!(drawn(40).map(|parts| parts.len()), Some(3));
    assert_eq!(drawn(41), None);
    assert_eq!(drawn(0), Some(vec![]));
}

fn any_position() -> impl Strategy<Value = Position> {
    prop::array::uniform7(0u128..100).prop_map(|units| Position {
        held: Units(units[0]),
        settled: Units(units[1]),
        overpaid: Units(units[2]),
        refundable: Units(units[3]),
        prepaid_credit: Units(units[4]),
        refunds_due: Units(units[5]),
        refunds_sent: Units(units[6]),
    })
}

proptest! {
    #[test]
    fn applying_the_lines_gives_the_new_position(before in any_position(), after in any_position()) {
        let mut credits = HashMap::<Group, i128>::new();
        for (group, units) in before.groups() {
            credits.insert(group, units.0.cast_signed());
        }
        for line in entry(before, after).map(|(_, lines)| lines).unwrap_or_default() {
            prop_assert!(line.amount.0 > 0 && line.debit != line.credit);
            *credits.entry(line.debit).or_default() -= line.amount.0.cast_signed();
            *credits.entry(line.credit).or_default() += line.amount.0.cast_signed();
        }
        for (group, units) in after.groups() {
            prop_assert_eq!(credits[&group], units.0.cast_signed());
        }
    }

    #[test]
    fn refunding_moves_units_and_makes_none(
        parts in (0u128..100, 0u128..100, 0u128..100, 0u128..100),
        due in 0u128..500,
        sent in 0u128..500,
    ) {
        let whole = position(parts.0, parts.1, parts.2, parts.3);
        let left = whole.less(refunded(due, sent));
        prop_assert_eq!((left.refunds_due, left.refunds_sent), (Units(due), Units(sent)));
        prop_assert_eq!(left.total().0, whole.total().0.max(due + sent));
    }

    #[test]
    fn what_is_drawn_is_what_was_asked_for(stands in prop::collection::vec(any_position(), 0..5), units in 0u128..1_500) {
        let payments: Vec<(&str, Position)> = stands.iter().map(|position| ("p", *position)).collect();
        let available: u128 = stands.iter().map(|position| position.may_be_refunded().0).sum();
        match refund_from(&payments, Units(units)) {
            Some(drawn) => prop_assert_eq!(drawn.iter().map(|(_, units)| units.0).sum::<u128>(), units),
            None => prop_assert!(units > available),
        }
    }
}

#[test]
fn what_was_promised_of_an_excess_that_is_gone_is_not_offered_of_the_next_one() {
    let taken = |sent| TakenFromPayment {
        withdrawn: Units(6),
        withdrawn_sent: Units(sent),
        ..refunded(6 - sent, sent)
    };
    // Ten were asked for and sixteen came; six of them were promised, and all left the chain. Sixteen came again.
    let (mut gone, mut again) = (Position::default(), position(0, 10, 6, 0));
    take_out(&mut [
        Drawn {
            asset: "A",
            taken: taken(0),
            position: &mut gone,
        },
        Drawn {
            asset: "A",
            taken: TakenFromPayment::default(),
            position: &mut again,
        },
    ]);
    let bears = Position {
        refunds_due: Units(6),
        ..position(0, 10, 0, 0)
    };
    assert_eq!((gone, again), (Position::default(), bears));
    // Once they are sent they are owed with the price, and what came again pays for both.
    let (mut gone, mut again) = (Position::default(), position(0, 16, 0, 0));
    take_out(&mut [
        Drawn {
            asset: "A",
            taken: taken(6),
            position: &mut gone,
        },
        Drawn {
            asset: "A",
            taken: TakenFromPayment::default(),
            position: &mut again,
        },
    ]);
    let bears = Position {
        refunds_sent: Units(6),
        ..position(0, 10, 0, 0)
    };
    assert_eq!((gone, again), (Position::default(), bears));
}

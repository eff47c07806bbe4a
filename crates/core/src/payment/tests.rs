//! Names that are kept, and what a payment's facts say by themselves.

use super::*;

fn payment() -> Payment {
    Payment {
        id: "p".to_owned(),
        asset: "USDC@eip155:84532".to_owned(),
        units: Units(25),
        suffix: Units(7),
        level: Level::Safe,
        first_level: Level::Pending,
        credit_at: Level::Safe,
        first_seen_at: 100,
        block_time: None,
        verdict: None,
        gone_at: None,
        credited: None,
        taken: TakenFromPayment::default(),
        excess_taken: Vec::new(),
    }
}

#[test]
fn the_names_are_those_that_were_ever_kept() {
    let levels = Level::ALL.map(Level::as_str);
    assert_eq!(levels, ["pending", "included", "safe", "final"]);
    let holds = Hold::ALL.map(Hold::as_str);
    assert_eq!(
        holds,
        [
            "manual_review",
            "sanctions",
            "blacklist",
            "finality_violation"
        ]
    );
    let statuses = PaymentStatus::ALL.map(PaymentStatus::as_str);
    assert_eq!(
        statuses,
        [
            "pending",
            "confirming",
            "credited",
            "held",
            "refundable",
            "reversed"
        ]
    );
    for (verdict, name) in [
        (Verdict::Screened, "screened"),
        (Verdict::Passed, "passed"),
        (Verdict::Held(Hold::Sanctions), "held:sanctions"),
        (Verdict::Accepted, "accepted"),
        (Verdict::Rejected, "rejected"),
    ] {
        assert_eq!(verdict.show(), name);
        assert_eq!(Verdict::parse(name), Some(verdict));
    }
    for (by, name) in [
        (AttributedBy::DepositAddress, "deposit_address"),
        (AttributedBy::WalletBinding, "wallet_binding"),
    ] {
        assert_eq!(by.as_str(), name);
        assert_eq!(AttributedBy::parse(name), Some(by));
    }
    assert_eq!(AttributedBy::parse("memo"), None);
}

#[test]
fn every_name_reads_back_and_no_other_does() {
    assert!(
        Level::ALL
            .iter()
            .all(|it| Level::parse(it.as_str()) == Some(*it))
    );
    assert!(
        Hold::ALL
            .iter()
            .all(|it| Hold::parse(it.as_str()) == Some(*it))
    );
    assert!(
        PaymentStatus::ALL
            .iter()
            .all(|it| PaymentStatus::parse(it.as_str()) == Some(*it))
    );
    for other in ["", "Passed", "held:", "held:late", "sanctions", "paid"] {
        assert_eq!(Verdict::parse(other), None, "{other}");
        assert_eq!(Level::parse(other), None, "{other}");
        assert_eq!(PaymentStatus::parse(other), None, "{other}");
    }
    assert_eq!(Hold::parse("late"), None);
}

#[test]
fn only_an_amount_is_no_risk() {
    let risks: Vec<Hold> = Hold::ALL
        .into_iter()
        .filter(|hold| hold.is_risk())
        .collect();
    assert_eq!(
        risks,
        [Hold::Sanctions, Hold::Blacklist, Hold::FinalityViolation]
    );
}

#[test]
fn credited_held_and_refundable_payments_stand_in_the_books() {
    let posted: Vec<PaymentStatus> = PaymentStatus::ALL
        .into_iter()
        .filter(|status| status.is_posted())
        .collect();
    assert_eq!(
        posted,
        [
            PaymentStatus::Credited,
            PaymentStatus::Held,
            PaymentStatus::Refundable
        ]
    );
}

#[test]
fn a_payment_arrived_when_it_was_seen_or_in_an_older_block() {
    let mut payment = payment();
    assert_eq!(payment.arrived_at(), 100);
    payment.block_time = Some(90);
    assert_eq!(payment.arrived_at(), 90);
    payment.block_time = Some(110);
    assert_eq!(payment.arrived_at(), 100);
}

#[test]
fn the_policy_is_reached_at_its_level_and_never_by_what_is_gone() {
    let mut payment = payment();
    assert!(payment.reached_policy());
    payment.credit_at = Level::Final;
    assert!(!payment.reached_policy());
    payment.level = Level::Final;
    assert!(payment.reached_policy());
    payment.gone_at = Some(200);
    assert!(!payment.reached_policy());
}

#[test]
fn the_suffix_pays_nothing() {
    assert_eq!(payment().counted_units(), Units(18));
    let tiny = Payment {
        units: Units(3),
        ..payment()
    };
    assert_eq!(tiny.counted_units(), Units(0));
}

//! Blocks that are taken back.

use crate::watched::{SATS, Watched};

#[test]
fn a_payment_whose_block_is_taken_back_waits_again_and_is_paid_once() {
    let Some(it) = Watched::open() else { return };
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.node.mine(2);
    it.until_payments(&[(&hash, "confirming", "safe")]);
    it.node.take_back(2);
    // A chain that is shorter replaces nothing: only the longer one does.
    it.node.mine_only(&[]);
    it.node.mine_only(&[]);
    it.node.mine_only(&[]);
    it.until_payments(&[(&hash, "pending", "pending")]);
    it.node.mine(6);
    it.until("paid");
    it.until_payments(&[(&hash, "credited", "final")]);
    // It was gone for a moment, which whoever has hurried wants to know.
    it.until_told(&[
        "invoice.created",
        "invoice.detected",
        "invoice.awaiting_payment",
        "invoice.detected",
        "invoice.paid",
    ]);
    it.server.stop();
}

/// The last depth at which a payment with the usual six confirmations is not counted yet.
#[test]
fn five_blocks_are_taken_back_at_once_and_the_payment_is_paid_once() {
    let Some(it) = Watched::open() else { return };
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.node.mine(5);
    it.until_payments(&[(&hash, "confirming", "safe")]);
    it.node.take_back(5);
    for _ in 0..6 {
        it.node.mine_only(&[]);
    }
    it.until_payments(&[(&hash, "pending", "pending")]);
    it.node.mine(6);
    it.until("paid");
    it.until_payments(&[(&hash, "credited", "final")]);
    it.server.stop();
}

#[test]
fn final_blocks_that_are_taken_back_freeze_the_network_and_hold_what_they_paid() {
    let Some(it) = Watched::open() else { return };
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.node.mine(8);
    it.until("paid");
    it.until_payments(&[(&hash, "credited", "final")]);
    it.node.take_back(8);
    for _ in 0..9 {
        it.node.mine_only(&[]);
    }
    let held = it.until("under_review");
    assert_eq!(held["review"]["hold"], "finality_violation", "{held}");
    let said = it.readyz();
    assert!(said.contains("frozen"), "{said}");
    it.server.stop();
}

#[test]
fn what_was_credited_early_is_taken_back_with_its_block_and_credited_again() {
    let Some(it) = Watched::open_with("credit_at = \"included\"\n", "") else {
        return;
    };
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.node.mine(1);
    it.until("paid");
    it.node.take_back(1);
    it.node.mine_only(&[]);
    it.node.mine_only(&[]);
    it.until_payments(&[(&hash, "pending", "pending")]);
    assert_ne!(it.shop.read(&it.server, &it.id)["status"], "paid");
    it.node.mine(1);
    it.until("paid");
    it.node.mine(6);
    it.until_payments(&[(&hash, "credited", "final")]);
    it.server.stop();
}

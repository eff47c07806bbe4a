//! Transactions that wait for a block and are replaced: by one with a higher fee, or by one that pays somebody else.

use serde_json::json;

use crate::common::until;
use crate::watched::{BTC, SATS, Watched};

/// Moves the account's clock on.
fn pass(it: &Watched, seconds: u64) {
    let merchant = it.shop.merchant(&it.server);
    let body = json!({ "advance_seconds": seconds });
    let moved = merchant.post("/v1/test_helpers/clock", "pass", &body);
    moved.unwrap().expect(200);
}

#[test]
fn the_payment_that_replaces_another_by_its_fee_is_the_only_one() {
    let Some(it) = Watched::open() else { return };
    let first = it.node.signed(&[1], &[(&it.deposit, SATS)], 1_000);
    it.node.send(&first);
    it.until_payments(&[(&first.hash, "pending", "pending")]);
    let second = it.node.signed(&[1], &[(&it.deposit, SATS)], 5_000);
    it.node.send(&second);
    it.until_payments(&[
        (&first.hash, "reversed", "pending"),
        (&second.hash, "pending", "pending"),
    ]);
    assert_eq!(it.shop.read(&it.server, &it.id)["status"], "detected");
    it.node.mine(6);
    it.until("paid");
    it.until_payments(&[
        (&first.hash, "reversed", "pending"),
        (&second.hash, "credited", "final"),
    ]);
    it.until_told(&["invoice.created", "invoice.detected", "invoice.paid"]);
    it.server.stop();
}

#[test]
fn a_payment_that_came_in_time_may_be_replaced_after_the_deadline() {
    let Some(it) = Watched::open() else { return };
    let first = it.node.signed(&[1], &[(&it.deposit, SATS)], 1_000);
    it.node.send(&first);
    it.until("detected");
    pass(&it, 1_200);
    let second = it.node.signed(&[1], &[(&it.deposit, SATS)], 5_000);
    it.node.send(&second);
    it.until_payments(&[
        (&first.hash, "reversed", "pending"),
        (&second.hash, "pending", "pending"),
    ]);
    it.node.mine(6);
    let paid = it.until("paid_late");
    assert!(paid.get("amount_overpaid").is_none(), "{paid}");
    it.until_payments(&[
        (&first.hash, "reversed", "pending"),
        (&second.hash, "credited", "final"),
    ]);
    it.server.stop();
}

#[test]
fn a_payment_that_is_spent_elsewhere_is_gone_from_the_mempool_on() {
    let Some(it) = Watched::open() else { return };
    let (_, other) = it.shop.invoice(&it.server, "25.00", BTC);
    let first = it.node.signed(&[1], &[(&it.deposit, SATS)], 1_000);
    it.node.send(&first);
    it.until("detected");
    // To nobody who is watched: what is left goes back to the wallet.
    it.node.send(&it.node.signed(&[1], &[], 5_000));
    it.until("awaiting_payment");
    it.node.mine(6);
    it.node.pay(2, &other, SATS);
    until("the other one is seen", || {
        it.shop.told_of(&it.id).len() >= 2
    });
    assert_eq!(it.payments()[0].1, "reversed");
    assert_eq!(
        it.shop.read(&it.server, &it.id)["status"],
        "awaiting_payment"
    );
    let told = it.shop.told_of(&it.id);
    assert!(!told.contains(&"invoice.paid".to_owned()), "{told:?}");
    it.server.stop();
}

#[test]
fn a_payment_that_a_block_has_spent_elsewhere_is_gone() {
    let Some(it) = Watched::open() else { return };
    let first = it.node.signed(&[1], &[(&it.deposit, SATS)], 1_000);
    it.node.send(&first);
    it.until("detected");
    it.node.mine_only(&[&it.node.signed(&[1], &[], 500)]);
    it.until("awaiting_payment");
    let again = it.node.pay(2, &it.deposit, SATS);
    it.until("detected");
    it.node.mine(6);
    it.until("paid");
    let payments = it.payments();
    assert_eq!(payments.len(), 2, "{payments:?}");
    assert_eq!((&*payments[0].1, &*payments[1].0), ("reversed", &*again));
    it.server.stop();
}

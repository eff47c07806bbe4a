//! Providers with the pages of Esplora: without a node, in twos of which one may lie, and beside a node.

use crate::common::until;
use crate::watched::{SATS, Watched};

const PAYER: &str = "mvSvTtvD9H9fkgi8MGDyLALgRaR2LhnWFM";
const ALONE: &str = "a single provider is believed";

#[test]
fn a_single_provider_shows_and_credits_a_payment_and_is_said_to_be_alone() {
    let Some(it) = Watched::open_at_provider() else {
        return;
    };
    assert!(it.readyz().contains(ALONE), "{}", it.readyz());
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.until_payments(&[(&hash, "pending", "pending")]);
    it.node.mine(6);
    it.until("paid");
    it.until_payments(&[(&hash, "credited", "final")]);
    let payments = it.shop.payments(&it.server, &it.id);
    assert_eq!(payments[0]["from"], PAYER);
    it.until_told(&["invoice.created", "invoice.detected", "invoice.paid"]);
    it.server.stop();
}

#[test]
fn what_waits_at_a_provider_may_be_replaced_by_fee_and_by_what_pays_somebody_else() {
    let Some(it) = Watched::open_at_provider() else {
        return;
    };
    let first = it.node.signed(&[1], &[(&it.deposit, SATS)], 1_000);
    it.node.send(&first);
    it.until_payments(&[(&first.hash, "pending", "pending")]);
    let second = it.node.signed(&[1], &[(&it.deposit, SATS)], 5_000);
    it.node.send(&second);
    it.until_payments(&[
        (&first.hash, "reversed", "pending"),
        (&second.hash, "pending", "pending"),
    ]);
    let third = it.node.signed(&[1], &[], 9_000);
    it.node.send(&third);
    it.until("awaiting_payment");
    it.node.mine(6);
    it.until_payments(&[
        (&first.hash, "reversed", "pending"),
        (&second.hash, "reversed", "pending"),
    ]);
    it.server.stop();
}

#[test]
fn a_payment_whose_block_a_provider_takes_back_waits_again() {
    let Some(it) = Watched::open_at_provider() else {
        return;
    };
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.node.mine(2);
    it.until_payments(&[(&hash, "confirming", "safe")]);
    it.node.take_back(2);
    it.node.mine_only(&[]);
    it.node.mine_only(&[]);
    it.node.mine_only(&[]);
    it.until_payments(&[(&hash, "pending", "pending")]);
    it.node.mine(6);
    it.until("paid");
    assert_eq!(it.payments().len(), 1);
    it.server.stop();
}

#[test]
fn of_two_providers_one_that_leaves_out_hides_or_invents_changes_nothing() {
    let Some(it) = Watched::open_at_providers() else {
        return;
    };
    assert!(!it.readyz().contains(ALONE), "{}", it.readyz());
    it.node.lie(Some("hides"));
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.until_payments(&[(&hash, "pending", "pending")]);
    it.node.lie(Some("leaves_out"));
    it.node.mine(6);
    until("the block is named", || {
        it.readyz()
            .contains("its transactions are not those that its header names")
    });
    it.node.lie(Some("pays_more"));
    until("the transaction is named", || {
        it.readyz().contains("it is another transaction")
    });
    assert_ne!(it.shop.read(&it.server, &it.id)["status"], "paid");
    it.node.lie(None);
    it.until("paid");
    it.until_payments(&[(&hash, "credited", "final")]);
    it.server.stop();
}

#[test]
fn a_sender_about_whom_a_provider_contradicts_a_node_is_not_believed() {
    let Some(it) = Watched::open_beside_provider() else {
        return;
    };
    it.node.lie(Some("names_others"));
    it.node.pay(1, &it.deposit, SATS);
    it.node.mine(6);
    until("they are said to disagree", || {
        it.readyz()
            .contains("the endpoints disagree about a transfer")
    });
    it.node.lie(None);
    it.until("paid");
    let payments = it.shop.payments(&it.server, &it.id);
    assert_eq!(payments.len(), 1, "{payments:?}");
    assert_eq!(payments[0]["from"], PAYER);
    it.server.stop();
}

#[test]
fn a_provider_that_wants_to_be_asked_less_is_left_alone_and_nothing_is_lost() {
    let Some(it) = Watched::open_beside_provider() else {
        return;
    };
    it.node.lie(Some("busy"));
    it.node.pay(1, &it.deposit, SATS);
    it.node.mine(6);
    until("it is left alone", || {
        it.readyz().contains("\"endpoints_usable\":1")
    });
    assert_ne!(it.shop.read(&it.server, &it.id)["status"], "paid");
    it.node.lie(None);
    it.until("paid");
    assert_eq!(it.payments().len(), 1);
    it.server.stop();
}

//! Two endpoints of one chain that must agree, of which one may lie.

use crate::common::until;
use crate::watched::{SATS, Watched};

#[test]
fn two_endpoints_that_agree_credit_a_payment() {
    let Some(it) = Watched::open_twice() else {
        return;
    };
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.until_payments(&[(&hash, "pending", "pending")]);
    it.node.mine(6);
    it.until("paid");
    it.until_payments(&[(&hash, "credited", "final")]);
    it.server.stop();
}

#[test]
fn a_block_with_a_payment_left_out_is_no_block_and_nothing_is_missed() {
    let Some(it) = Watched::open_twice() else {
        return;
    };
    it.node.lie(Some("leaves_out"));
    it.node.pay(1, &it.deposit, SATS);
    it.node.mine(6);
    until("it is named", || {
        it.readyz()
            .contains("its transactions are not those that its header names")
    });
    it.node.lie(None);
    it.until("paid");
    assert_eq!(it.payments().len(), 1);
    it.server.stop();
}

#[test]
fn a_sender_about_whom_endpoints_contradict_each_other_is_not_believed() {
    let Some(it) = Watched::open_twice() else {
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
    assert_eq!(payments[0]["from"], "mvSvTtvD9H9fkgi8MGDyLALgRaR2LhnWFM");
    it.server.stop();
}

#[test]
fn what_one_mempool_has_is_seen_and_what_is_silent_decides_nothing() {
    let Some(it) = Watched::open_twice() else {
        return;
    };
    it.node.lie(Some("hides"));
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.until_payments(&[(&hash, "pending", "pending")]);
    it.node.lie(Some("silent"));
    it.node.mine(6);
    until("one is away", || {
        it.readyz().contains("\"endpoints_usable\":1")
    });
    assert_ne!(it.shop.read(&it.server, &it.id)["status"], "paid");
    it.node.lie(None);
    it.until("paid");
    assert_eq!(it.payments().len(), 1);
    it.server.stop();
}

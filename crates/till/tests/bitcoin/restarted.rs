//! A server that is killed while something happens on the chain.

use crate::watched::{BTC, SATS, Watched};

#[test]
fn what_happens_while_the_server_is_away_is_found_and_counted_once() {
    let Some(it) = Watched::open() else { return };
    let (later, to_later) = it.shop.invoice(&it.server, "25.00", BTC);
    let (gone, to_gone) = it.shop.invoice(&it.server, "25.00", BTC);
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.node.pay(2, &to_gone, SATS);
    it.until("detected");
    it.shop.until_status(&it.server, &gone, "detected");
    it.server.signal("KILL");
    // One is mined, one is replaced by what pays nobody here, and one comes and is mined.
    it.node.send(&it.node.signed(&[2], &[], 9_000));
    it.node.pay(3, &to_later, SATS);
    it.node.mine(3);
    let server = it.shop.open();
    it.shop.until_status(&server, &gone, "awaiting_payment");
    it.node.mine(3);
    for id in [&it.id, &later] {
        it.shop.until_status(&server, id, "paid");
        let payments = it.shop.payments(&server, id);
        assert_eq!(payments.len(), 1, "{payments:?}");
    }
    let payments = it.shop.payments(&server, &it.id);
    assert_eq!(payments[0]["tx_hash"], hash);
    let told = ["invoice.created", "invoice.detected", "invoice.paid"];
    it.until_told(&told);
    server.stop();
}

#[test]
fn what_waits_is_not_told_again_after_a_restart() {
    let Some(it) = Watched::open() else { return };
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.until("detected");
    it.server.signal("KILL");
    let server = it.shop.open();
    it.node.mine(6);
    it.shop.until_status(&server, &it.id, "paid");
    let payments = it.shop.payments(&server, &it.id);
    assert_eq!(payments.len(), 1, "{payments:?}");
    assert_eq!(payments[0]["tx_hash"], hash);
    let told = ["invoice.created", "invoice.detected", "invoice.paid"];
    it.until_told(&told);
    server.stop();
}

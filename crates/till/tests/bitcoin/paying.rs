//! A payer's transaction, from the mempool to the merchant's webhook.

use serde_json::json;

use crate::common::{text, until};
use crate::shop::until_reading;
use crate::watched::{BTC, SATS, Watched};

#[test]
fn an_invoice_is_detected_in_the_mempool_and_paid_with_six_confirmations() {
    let Some(it) = Watched::open() else { return };
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.until("detected");
    it.until_payments(&[(&hash, "pending", "pending")]);
    let height = it.node.mine(1);
    it.until_payments(&[(&hash, "confirming", "included")]);
    it.node.mine(1);
    it.until_payments(&[(&hash, "confirming", "safe")]);
    it.node.mine(3);
    until_read_up_to(&it, height + 4);
    it.until_payments(&[(&hash, "confirming", "safe")]);
    it.node.mine(1);
    it.until("paid");
    it.until_payments(&[(&hash, "credited", "final")]);
    let [payment] = &*it.shop.payments(&it.server, &it.id) else {
        panic!("one payment")
    };
    assert_eq!(payment["amount"], "0.0005", "{payment}");
    assert_eq!(payment["to"], it.deposit);
    assert_eq!(payment["from"], "mvSvTtvD9H9fkgi8MGDyLALgRaR2LhnWFM");
    assert_eq!(payment["block_number"], height);
    let block = it.node.ask("getblockhash", json!([height]));
    assert_eq!(payment["block_hash"], block);
    it.until_told(&["invoice.created", "invoice.detected", "invoice.paid"]);
    it.server.stop();
}

fn until_read_up_to(it: &Watched, height: i64) {
    until("the blocks are read", || {
        let ready = it.server.client("").get("/readyz").unwrap().json();
        ready["networks"][0]["height"] == height
    });
}

#[test]
fn what_is_paid_twice_counts_once_and_the_rest_can_be_given_back() {
    let Some(it) = Watched::open() else { return };
    let first = it.node.pay(1, &it.deposit, SATS);
    it.until("detected");
    it.node.mine(6);
    it.until("paid");
    let second = it.node.pay(2, &it.deposit, SATS);
    it.until_payments(&[
        (&first, "credited", "final"),
        (&second, "pending", "pending"),
    ]);
    it.node.mine(6);
    until("both are final", || {
        let payments = it.payments();
        payments.iter().all(|(_, _, finality)| finality == "final")
    });
    assert_eq!(it.payments().len(), 2);
    let invoice = it.until("overpaid");
    assert_eq!(invoice["amount_overpaid"]["amount"], "0.0005", "{invoice}");
    let paid = |kind: &String| kind == "invoice.paid";
    let told = it.shop.told_of(&it.id);
    assert_eq!(told.iter().filter(|kind| paid(kind)).count(), 1, "{told:?}");
    it.server.stop();
}

#[test]
fn one_transaction_pays_several_invoices_and_one_of_them_in_parts() {
    let Some(it) = Watched::open() else { return };
    let (other, to_other) = it.shop.invoice(&it.server, "10.00", BTC);
    let outputs = [
        (&*it.deposit, 20_000),
        (&*to_other, 20_000),
        (&*it.deposit, 30_000),
    ];
    it.node.send(&it.node.signed(&[1, 2], &outputs, 1_000));
    it.until("detected");
    it.node.mine(6);
    it.shop.until_paid(2);
    assert_eq!(it.payments().len(), 2);
    assert_eq!(it.shop.payments(&it.server, &other).len(), 1);
    it.server.stop();
}

#[test]
fn two_hundred_outputs_of_one_block_pay_two_hundred_invoices() {
    let more = "[addresses]\nbitcoin_gap_limit = 250\n";
    let Some(it) = Watched::open_with("", more) else {
        return;
    };
    let invoices: Vec<(String, String)> = (0..200)
        .map(|_| it.shop.invoice(&it.server, "25.00", BTC))
        .collect();
    for (coin, some) in (1u64..).zip(invoices.chunks(10)) {
        let outputs: Vec<(&str, u64)> = some.iter().map(|(_, to)| (&**to, SATS)).collect();
        it.node.send(&it.node.signed(&[coin], &outputs, 10_000));
    }
    it.node.mine(6);
    it.shop.until_paid(200);
    for (id, _) in &invoices {
        let invoice = it.shop.read(&it.server, id);
        assert_eq!(text(&invoice, "/status"), "paid");
        assert_eq!(it.shop.payments(&it.server, id).len(), 1);
    }
    it.server.stop();
}

#[test]
fn what_is_newly_mined_counts_only_when_it_can_be_spent() {
    let Some(it) = Watched::open() else { return };
    it.node.mine_to(&it.deposit);
    let height = it.node.mine(98);
    until_read_up_to(&it, height);
    assert_eq!(it.payments(), []);
    it.node.mine(1);
    until("it is there", || it.payments().len() == 1);
    it.node.mine(5);
    let paid = it.until("overpaid");
    assert_eq!(paid["amounts_received"][0]["amount"], "50.00", "{paid}");
    it.server.stop();
}

#[test]
fn a_large_invoice_waits_for_more_confirmations_and_a_small_one_does_not() {
    let tiers = "final_depth = { \"100\" = 8 }\n";
    let Some(it) = Watched::open_with(tiers, "") else {
        return;
    };
    let (large, to_large) = it.shop.invoice(&it.server, "100.00", BTC);
    let outputs = [(&*it.deposit, SATS), (&*to_large, 4 * SATS)];
    it.node.send(&it.node.signed(&[1], &outputs, 1_000));
    it.node.mine(6);
    it.until("paid");
    let height = it.node.mine(1);
    until_read_up_to(&it, height);
    let payments = it.shop.payments(&it.server, &large);
    assert_eq!(payments[0]["finality"], "safe", "{payments:?}");
    it.node.mine(1);
    it.shop.until_status(&it.server, &large, "paid");
    it.server.stop();
}

#[test]
fn a_node_that_has_pruned_what_is_to_be_read_is_named_with_the_gap() {
    let Some(it) = Watched::open() else { return };
    let height = it.node.mine(1);
    until_read_up_to(&it, height);
    it.server.stop();
    it.node.pay(1, &it.deposit, SATS);
    it.node.mine(30);
    it.node.ask("prune", json!([height + 20]));
    let server = it.shop.open();
    let gap = format!("its blocks below height {} were pruned", height + 20);
    until("the gap is named", || {
        let ready = server.client("").get("/readyz").unwrap().json();
        ready["networks"][0].to_string().contains(&gap)
    });
    it.node.ask("prune", json!([0]));
    until_reading(&server);
    it.shop.until_status(&server, &it.id, "paid");
    server.stop();
}

//! A payer's transfer, from its block to the merchant's webhook.

use serde_json::{Value, json};

use crate::common::until;
use crate::node::Node;
use crate::proxy::{Manner, Proxy};
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";
const USDT: &str = "USDT@tron:3448148188";

fn watched(node: &Node) -> String {
    format!("[networks.{:?}]\nrpc = [{:?}]\n", node.network.id, node.url)
}

#[test]
fn an_invoice_is_paid_by_a_transfer_to_its_address() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    let hash = node.pay(USDC, &[(&deposit, 25_000_000)]);
    shop.until_status(&server, &id, "detected");
    let [payment] = &*shop.payments(&server, &id) else {
        panic!("one payment")
    };
    assert_eq!(payment["tx_hash"], hash);
    assert_eq!(payment["status"], "confirming");
    assert_eq!(payment["finality"], "included");
    assert_eq!(payment["block_number"], node.height());
    assert_eq!(payment["attributed_by"], "deposit_address");
    node.mine(1);
    shop.until_status(&server, &id, "confirming");
    node.mine(1);
    shop.until_status(&server, &id, "paid");
    let [payment] = &*shop.payments(&server, &id) else {
        panic!("one payment")
    };
    assert_eq!(
        (&payment["status"], &payment["finality"]),
        (&json!("credited"), &json!("final"))
    );
    let told = ["invoice.created", "invoice.detected", "invoice.paid"];
    shop.until_told(&id, &told);
    server.stop();
}

#[test]
fn one_transaction_pays_several_and_what_is_not_money_counts_for_nobody() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let server = shop.open();
    let (one, to_one) = shop.invoice(&server, "10.00", USDC);
    let (two, to_two) = shop.invoice(&server, "7.00", USDC);
    let (three, to_three) = shop.invoice(&server, "5.00", USDC);
    node.pay("EURC@eip155:84532", &[(&to_three, 5_000_000)]);
    node.pay(
        USDC,
        &[
            (&to_one, 4_000_000),
            (&to_two, 7_000_000),
            (&to_two, 0),
            (&to_one, 6_000_000),
        ],
    );
    node.mine(2);
    shop.until_paid(2);
    assert_eq!(shop.read(&server, &one)["status"], "paid");
    assert_eq!(shop.read(&server, &two)["status"], "paid");
    assert_eq!(shop.payments(&server, &one).len(), 2);
    assert_eq!(shop.payments(&server, &two).len(), 1);
    // Euros for a price in dollars: received, refundable, and no payment of this invoice.
    until("the other asset is told of", || {
        shop.told_of(&three)
            .contains(&"invoice.wrong_asset".to_owned())
    });
    assert_eq!(shop.read(&server, &three)["status"], "awaiting_payment");
    server.stop();
}

#[test]
fn a_tron_invoice_is_paid_through_the_node_that_tron_has() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let proxy = Proxy::before(&node);
    proxy.becomes(Manner::Tron);
    let shop = Shop::new(&format!(
        "[networks.\"tron:0xcd8690dc\"]\nrpc = [{:?}]\n",
        proxy.url
    ));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    assert!(deposit.starts_with('T'), "{deposit}");
    let hash = node.pay(USDT, &[(&deposit, 25_000_000)]);
    shop.until_status(&server, &id, "detected");
    let [payment] = &*shop.payments(&server, &id) else {
        panic!("one payment")
    };
    assert_eq!(payment["tx_hash"], hash.trim_start_matches("0x"));
    assert_eq!(payment["to"], deposit);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

#[test]
fn a_large_invoice_waits_for_final_where_others_are_paid_at_once() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let policy = "credit_at = \"included\"\nfinal_above = \"100\"\n";
    let shop = Shop::new(&format!("{}{policy}", watched(&node)));
    let server = shop.open();
    let (small, to_small) = shop.invoice(&server, "99.99", USDC);
    let (large, to_large) = shop.invoice(&server, "100.00", USDC);
    node.pay(USDC, &[(&to_small, 99_990_000), (&to_large, 100_000_000)]);
    shop.until_status(&server, &small, "paid");
    assert_eq!(shop.read(&server, &large)["status"], "detected");
    node.mine(2);
    shop.until_status(&server, &large, "paid");
    server.stop();
}

// D09: what a log says is not what arrived.
#[test]
fn what_brings_less_than_it_says_is_held_with_what_arrived() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    node.take_fees();
    node.pay(USDC, &[(&deposit, 30_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "under_review");
    let [payment] = &*shop.payments(&server, &id) else {
        panic!("one payment")
    };
    assert_eq!(
        (&payment["status"], &payment["amount"]),
        (&json!("held"), &json!("29.70"))
    );
    let invoice = shop.read(&server, &id);
    assert_eq!(invoice["review"]["hold"], "manual_review", "{invoice}");
    let merchant = shop.merchant(&server);
    let report = merchant.get("/v1/reconciliation").unwrap().expect(200);
    let kinds = report["discrepancies"].as_array().expect("a list").iter();
    let kinds: Vec<_> = kinds.map(|it| (&it["kind"], &it["amount"])).collect();
    assert_eq!(kinds, [(&json!("held"), &json!("29.70"))], "{report}");
    server.stop();
}

// D09 at the merchant's own destination: the wallet is known by what it sent, and the payment is what came of it.
#[test]
fn what_a_bound_wallet_sent_is_known_by_its_log_and_counts_for_what_arrived() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let server = shop.open();
    let (whole, _) = shop.invoice(&server, "25.00", USDC);
    let (less, _) = shop.invoice(&server, "25.00", USDC);
    let payer = node.payer();
    let (destination, units) = shop.bound(&server, &whole, USDC, &payer);
    let (_, more) = shop.bound(&server, &less, USDC, &payer);
    assert_eq!((units, more), (25_000_000, 25_000_001), "told apart");
    server.log_until("watching");
    node.pay(USDC, &[(&destination, units)]);
    node.mine(2);
    shop.until_status(&server, &whole, "paid");
    node.take_fees();
    node.pay(USDC, &[(&destination, more)]);
    node.mine(2);
    let held = shop.until_status(&server, &less, "under_review");
    assert_eq!(held["review"]["hold"], "manual_review", "{held}");
    let [payment] = &*shop.payments(&server, &less) else {
        panic!("one payment")
    };
    let is = ["status", "amount", "attributed_by"].map(|field| &payment[field]);
    assert_eq!(is, ["held", "24.75", "wallet_binding"]);
    // From a wallet that nobody bound it is nobody's, and as much as arrived.
    let stranger = node.ask("eth_accounts", json!([]))[5].take();
    let data = format!(
        "0xa9059cbb{:0>64}{:064x}",
        &node.hex(&destination)[2..],
        10_000_000
    );
    let tx = json!({ "from": stranger, "to": node.contract(USDC), "data": data, "gas": "0x30000", "gasPrice": "0x77359400" });
    node.ask("eth_sendTransaction", json!([tx]));
    node.mine(3);
    let merchant = shop.merchant(&server);
    let mut report = Value::Null;
    until("the stranger's transfer is reported", || {
        report = merchant.get("/v1/reconciliation").unwrap().expect(200);
        report.to_string().contains("\"kind\":\"unattributed\"")
    });
    let found = report["discrepancies"].as_array().expect("a list").iter();
    let found: Vec<_> = found.map(|it| (&it["kind"], &it["amount"])).collect();
    let expected = [("held", "24.75"), ("unattributed", "9.90")];
    let expected = expected.map(|(kind, amount)| (json!(kind), json!(amount)));
    assert_eq!(
        found,
        expected.each_ref().map(|(kind, amount)| (kind, amount)),
        "{report}"
    );
    server.stop();
}

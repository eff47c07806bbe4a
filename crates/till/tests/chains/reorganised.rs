//! Blocks that were there and are not any more.

use serde_json::json;

use crate::common::until;
use crate::node::Node;
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";

fn watched(node: &Node) -> String {
    format!("[networks.{:?}]\nrpc = [{:?}]\n", node.network.id, node.url)
}

// R01, R02.
#[test]
fn a_transfer_that_left_its_block_is_waited_for_again_and_paid_once_when_it_returns() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    let signed = node.signed(USDC, &[(&deposit, 25_000_000)]);
    let hash = node.send(&signed);
    node.mine(1);
    shop.until_status(&server, &id, "detected");
    node.reorganise(1);
    shop.until_status(&server, &id, "awaiting_payment");
    node.mine(1);
    assert_eq!(node.send(&signed), hash);
    node.mine(3);
    shop.until_status(&server, &id, "paid");
    let [payment] = &*shop.payments(&server, &id) else {
        panic!("one payment")
    };
    assert_eq!(
        (&payment["tx_hash"], &payment["status"]),
        (&json!(hash), &json!("credited"))
    );
    let told = shop.told_of(&id);
    assert!(
        !told.contains(&"invoice.payment_reversed".to_owned()),
        "{told:?}"
    );
    server.stop();
}

// R04 with a policy below final.
#[test]
fn what_was_credited_too_early_is_taken_back_and_told() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&format!("{}credit_at = \"included\"\n", watched(&node)));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    shop.until_status(&server, &id, "paid");
    node.reorganise(1);
    shop.until_status(&server, &id, "awaiting_payment");
    until("the reversal is told", || {
        shop.told_of(&id)
            .iter()
            .filter(|it| *it == "invoice.payment_reversed")
            .count()
            == 1
    });
    let [payment] = &*shop.payments(&server, &id) else {
        panic!("one payment")
    };
    assert_eq!(payment["status"], "reversed");
    server.stop();
}

#[test]
fn the_first_block_that_was_ever_read_may_be_replaced_before_anything_is_final() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let server = shop.open();
    until("a block was read", || {
        let ready = server.client("").get("/readyz").unwrap().expect(200);
        ready["networks"][0]["height"] == node.height()
    });
    node.reorganise(1);
    node.mine(1);
    server.log_until("the chain was reorganised");
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// R04, F7.
#[test]
fn a_final_block_that_is_replaced_freezes_its_network_until_an_operator_looked() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    node.reorganise(3);
    node.mine(1);
    shop.until_status(&server, &id, "under_review");
    let ready = server.client("").get("/readyz").unwrap().expect(200);
    assert_eq!(ready["networks"][0]["state"], "frozen", "{ready}");
    let (later, to_later) = shop.invoice(&server, "7.00", USDC);
    node.pay(USDC, &[(&to_later, 7_000_000)]);
    node.mine(3);
    let network = ["--config", "till.toml", "--network", "eip155:84532"];
    let list = [&["network", "list"][..], &network[..2]].concat();
    let shown = shop.place.till(&list).ok().stdout;
    assert!(shown.contains("frozen"), "{shown}");
    assert_eq!(shop.read(&server, &later)["status"], "awaiting_payment");
    let thaw = [&["network", "thaw"][..], &network].concat();
    shop.place.till(&thaw).ok();
    shop.until_status(&server, &later, "paid");
    until("what was in the replaced blocks is gone", || {
        shop.payments(&server, &id)[0]["status"] == "reversed"
    });
    server.stop();
}

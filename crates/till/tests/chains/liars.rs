//! One endpoint of several that lies: it credits nothing, hides nothing, undoes nothing and holds up nobody.

use serde_json::Value;

use crate::common::{Server, until};
use crate::lies;
use crate::node::Node;
use crate::proxy::{Manner, Proxy};
use crate::shop::{Shop, until_reading};

const USDC: &str = "USDC@eip155:84532";
/// Where no bloom can tell a lie.
const USDT: &str = "USDT@tron:3448148188";

fn watched(node: &Node, urls: &[&str]) -> String {
    format!("[networks.{:?}]\nrpc = {urls:?}\n", node.network.id)
}

fn network(server: &Server) -> Value {
    let mut ready = server.client("").get("/readyz").unwrap().json();
    ready["networks"][0].take()
}

/// Pays an invoice of its own, honestly, and it is paid.
#[track_caller]
fn goes_on(shop: &Shop, server: &Server, node: &Node, asset: &str) {
    let (id, deposit) = shop.invoice(server, "30.00", asset);
    node.pay(asset, &[(&deposit, 30_000_000)]);
    node.mine(8);
    shop.until_status(server, &id, "paid");
    assert_eq!(shop.payments(server, &id).len(), 1);
}

// N04.
#[test]
fn a_transfer_that_one_of_three_invents_is_nobodys_and_holds_up_nobody() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let shop = Shop::new(&watched(&node, &[&liar.url, &other.url, &node.url]));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    server.log_until("watching");
    let height = node.height() + 1;
    liar.tells(lies::invents(&node, height, USDT, (&deposit, 25_000_000)));
    node.mine(1);
    server.log_until("an endpoint is not believed");
    goes_on(&shop, &server, &node, USDT);
    assert_eq!(shop.read(&server, &id)["status"], "awaiting_payment");
    assert!(shop.payments(&server, &id).is_empty());
    server.stop();
}

// N04: whatever it invents next, it is the same endpoint that says so.
#[test]
fn who_invents_another_transfer_each_time_holds_up_nobody() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let shop = Shop::new(&watched(&node, &[&liar.url, &other.url, &node.url]));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    until_reading(&server);
    let to = (&*deposit, 25_000_000);
    liar.tells(lies::invents_anew(&node, USDT, to, false));
    node.mine(1);
    goes_on(&shop, &server, &node, USDT);
    assert!(shop.payments(&server, &id).is_empty());
    server.stop();
}

// N04: on Base contents are proven, unless the liar's word that they cannot be is taken for it.
#[test]
fn receipts_of_an_unknown_kind_from_one_of_three_hold_up_nobody() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let shop = Shop::new(&watched(&node, &[&liar.url, &other.url, &node.url]));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    let (_, other_deposit) = shop.invoice(&server, "25.00", USDC);
    until_reading(&server);
    let to = (&*deposit, 25_000_000);
    liar.tells(lies::invents_anew(&node, USDC, to, true));
    // In a block with another transfer, for the bloom names the token there.
    node.pay(USDC, &[(&other_deposit, 1_000_000)]);
    server.log_until("receipts of a kind that their block does not have");
    goes_on(&shop, &server, &node, USDC);
    assert!(shop.payments(&server, &id).is_empty());
    server.stop();
}

// N04, N05: who only seems to stand still, beside one that runs ahead, has no part in what that one tells of.
#[test]
fn what_one_invents_while_the_other_seems_to_stand_still_is_not_paid() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let liar = Proxy::before(&node);
    let shop = Shop::new(&watched(&node, &[&liar.url, &node.url]));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    server.log_until("watching");
    let height = node.height() + 1;
    let invents = || lies::invents(&node, height, USDT, (&deposit, 25_000_000));
    liar.tells(invents());
    node.mine(1);
    server.log_until("not enough endpoints say the same of a transfer");
    node.mine(30);
    liar.tells(lies::both(invents(), lies::hides_ahead()));
    shop.until_status(&server, &id, "detected");
    // Whatever else is said now, the other one was not asked.
    until("it is contradicted", || {
        let reason = network(&server)["reason"].to_string();
        reason.contains("disagree about a transfer")
    });
    assert_eq!(shop.read(&server, &id)["status"], "detected");
    liar.tells_the_truth();
    goes_on(&shop, &server, &node, USDT);
    shop.until_status(&server, &id, "awaiting_payment");
    server.stop();
}

// N01, N02: read alone while the other was away for a moment, it left out what it had left out before.
#[test]
fn what_one_leaves_out_while_it_is_alone_is_found_when_the_other_is_back() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let (other, liar) = (Proxy::before(&node), Proxy::before(&node));
    let shop = Shop::new(&watched(&node, &[&other.url, &liar.url]));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    until_reading(&server);
    liar.becomes(Manner::Omits);
    other.becomes(Manner::Garbage);
    until("it is alone", || {
        let reason = network(&server)["reason"].to_string();
        reason.contains("1 of 2 endpoints")
    });
    let height = node.height();
    node.pay(USDT, &[(&deposit, 25_000_000)]);
    other.becomes(Manner::Hangs);
    node.mine(1);
    assert!(shop.payments(&server, &id).is_empty());
    assert!(
        network(&server)["height"].as_i64() <= Some(height),
        "nothing is read from one alone"
    );
    other.becomes(Manner::Honest);
    node.mine(40);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

#[test]
fn the_same_where_payments_count_early() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let networks = watched(&node, &[&liar.url, &other.url, &node.url]);
    let shop = Shop::new(&format!("{networks}credit_at = \"included\"\n"));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    server.log_until("watching");
    let height = node.height() + 1;
    liar.tells(lies::invents(&node, height, USDT, (&deposit, 25_000_000)));
    node.mine(1);
    server.log_until("an endpoint is not believed");
    goes_on(&shop, &server, &node, USDT);
    assert!(shop.payments(&server, &id).is_empty());
    server.stop();
}

#[test]
fn of_two_that_contradict_each_other_neither_is_believed_until_they_agree_and_readiness_says_why() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let liar = Proxy::before(&node);
    let shop = Shop::new(&watched(&node, &[&liar.url, &node.url]));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    server.log_until("watching");
    let height = node.height() + 1;
    liar.tells(lies::invents(&node, height, USDT, (&deposit, 25_000_000)));
    node.mine(5);
    let why = format!("the endpoints disagree about a transfer at height {height}");
    until("readiness says why", || network(&server)["reason"] == *why);
    assert_eq!(network(&server)["height"], height - 1);
    liar.tells_the_truth();
    goes_on(&shop, &server, &node, USDT);
    assert!(shop.payments(&server, &id).is_empty());
    until("nothing is held any more", || {
        network(&server)["reason"].is_null()
    });
    server.stop();
}

// What is behind final would be credited at once.
#[test]
fn the_second_look_credits_nothing_that_one_endpoint_says_alone() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let shop = Shop::new(&watched(&node, &[&node.url, &other.url, &liar.url]));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    server.log_until("watching");
    let height = node.height() + 1;
    liar.tells(lies::invents(&node, height, USDT, (&deposit, 25_000_000)));
    node.mine(10);
    server.log_until("an endpoint is not believed");
    goes_on(&shop, &server, &node, USDT);
    assert_eq!(shop.read(&server, &id)["status"], "awaiting_payment");
    server.stop();
}

#[test]
fn who_sent_a_transfer_is_what_enough_endpoints_say() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let shop = Shop::new(&watched(&node, &[&liar.url, &other.url, &node.url]));
    let server = shop.open();
    server.log_until("watching");
    liar.tells(lies::changes_senders(
        "0x1111111111111111111111111111111111111111",
    ));
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    node.pay(USDT, &[(&deposit, 25_000_000)]);
    node.mine(3);
    shop.until_status(&server, &id, "paid");
    let [payment] = &*shop.payments(&server, &id) else {
        panic!("one payment")
    };
    let from = payment["from"].as_str().expect("an address");
    assert_eq!(node.hex(from), node.payer().to_lowercase());
    server.log_until("a transfer that is another elsewhere");
    server.stop();
}

#[test]
fn who_is_always_ahead_hides_nothing() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let shop = Shop::new(&watched(&node, &[&node.url, &other.url, &liar.url]));
    let server = shop.open();
    server.log_until("watching");
    liar.tells(lies::hides_ahead());
    goes_on(&shop, &server, &node, USDC);
    server.stop();
}

#[test]
fn a_longer_chain_that_one_endpoint_makes_up_undoes_nothing() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let networks = watched(&node, &[&node.url, &other.url, &liar.url]);
    let shop = Shop::new(&format!("{networks}credit_at = \"included\"\n"));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    shop.until_status(&server, &id, "paid");
    liar.tells(lies::forks(node.height()));
    goes_on(&shop, &server, &node, USDC);
    server.log_until("another block at a height that is final");
    assert_eq!(shop.read(&server, &id)["status"], "paid");
    assert_eq!(shop.payments(&server, &id)[0]["status"], "credited");
    server.stop();
}

#[test]
fn with_one_endpoint_left_transfers_are_seen_and_nothing_is_paid() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let away = Proxy::before(&node);
    let shop = Shop::new(&watched(&node, &[&node.url, &away.url]));
    let server = shop.open();
    until_reading(&server);
    away.becomes(Manner::Garbage);
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    node.pay(USDT, &[(&deposit, 25_000_000)]);
    node.mine(5);
    shop.until_status(&server, &id, "detected");
    until("readiness says why", || {
        network(&server)["reason"] == "1 of 2 endpoints that must agree can be used"
    });
    away.becomes(Manner::Honest);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

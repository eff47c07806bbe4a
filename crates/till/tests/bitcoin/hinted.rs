//! What a node publishes has the server look at once, and nothing else follows from it.

use std::net::TcpListener;

use crate::common::{Client, until};
use crate::node::Node;
use crate::publisher::Publisher;
use crate::shop::until_reading;
use crate::watched::{REGTEST, SATS, Watched};

/// How often something that was published has ended a wait.
fn hinted(operator: &Client) -> u64 {
    let shown = operator.get("/metrics").unwrap().body;
    let shown = String::from_utf8(shown).unwrap();
    let mut lines = shown.lines();
    let line = lines.find(|line| line.starts_with("till_network_hinted_total{"));
    let figure = line.and_then(|line| line.rsplit(' ').next());
    figure.and_then(|it| it.parse().ok()).expect("a figure")
}

#[test]
fn what_is_published_and_may_be_ours_is_looked_for_at_once() {
    let Some((node, mut publisher)) = Node::start().zip(Publisher::start()) else {
        return;
    };
    let lines = format!("rpc = [{:?}]\nzmq = [{:?}]\n", node.url, publisher.url);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = free.local_addr().unwrap().to_string();
    drop(free);
    let metrics = format!("[metrics]\nlisten = {place:?}\n");
    let it = Watched::of(node, &lines, &metrics);
    let operator = Client::new(&place, "");
    let checked = it.shop.place.till(&["check", "--config", "till.toml"]);
    let line = format!("ok {REGTEST} published at {}", publisher.url);
    assert!(checked.stdout.contains(&line), "{}", checked.stdout);
    // Whoever has just connected looks once in any case.
    until("it listens", || hinted(&operator) == 1);
    let ours = it.node.signed(&[1], &[(&it.deposit, SATS)], 1_000);
    let others = it.node.signed(&[2], &[], 1_000);
    it.node.send(&ours);
    publisher.publish("rawtx", others.digits());
    // What comes while the server is looking ends no wait.
    until("a payment is heard of", || {
        publisher.publish("rawtx", ours.digits());
        hinted(&operator) > 1
    });
    it.until_payments(&[(&ours.hash, "pending", "pending")]);
    it.node.mine(6);
    let heard = hinted(&operator);
    until("a block is heard of", || {
        publisher.publish("hashblock", &"00".repeat(32));
        hinted(&operator) > heard
    });
    it.until("paid");
    it.server.stop();
}

#[test]
fn who_publishes_lies_or_is_gone_changes_nothing() {
    let Some((node, mut publisher)) = Node::start().zip(Publisher::start()) else {
        return;
    };
    let lines = format!("rpc = [{:?}]\nzmq = [{:?}]\n", node.url, publisher.url);
    let it = Watched::of(node, &lines, "");
    // Of a payment that nobody made, of blocks that are none, and of what is no transaction.
    let never_sent = it.node.signed(&[2], &[(&it.deposit, SATS)], 1_000);
    for _ in 0..50 {
        publisher.publish("rawtx", never_sent.digits());
        publisher.publish("rawtx", "00ff");
        publisher.publish("hashblock", "ff");
        publisher.publish("rawtx", "");
    }
    let hash = it.node.pay(1, &it.deposit, SATS);
    it.until_payments(&[(&hash, "pending", "pending")]);
    let url = publisher.url.clone();
    drop(publisher);
    it.node.mine(6);
    it.until("paid");
    it.until_payments(&[(&hash, "credited", "final")]);
    it.until_told(&["invoice.created", "invoice.detected", "invoice.paid"]);
    it.server.stop();

    let checked = it.shop.place.till(&["check", "--config", "till.toml"]);
    let line = format!("warn {REGTEST} published at {url} — connection failed");
    assert!(checked.stdout.contains(&line), "{}", checked.stdout);
    // And it is no reason not to start.
    let server = it.shop.open();
    until_reading(&server);
    server.stop();
}

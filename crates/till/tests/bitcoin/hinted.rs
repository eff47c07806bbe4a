//! What a node publishes has the server look at once, and nothing else follows from it.

use std::time::{Duration, Instant};

use crate::node::{Node, Signed};
use crate::publisher::Publisher;
use crate::shop::until_reading;
use crate::watched::{BTC, REGTEST, SATS, Watched};

/// Providers are asked every six seconds. A payment that is made right after such a look is seen with the next one.
const SOON: Duration = Duration::from_millis(4_500);

/// Pays an invoice of its own, and says how long it takes to be seen.
#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
fn seen_after(it: &Watched, coin: u64, tell: impl FnOnce(&Signed)) -> Duration {
    let (id, deposit) = it.shop.invoice(&it.server, "25.00", BTC);
    let signed = it.node.signed(&[coin], &[(&deposit, SATS)], 1_000);
    let begun = Instant::now();
    it.node.send(&signed);
    tell(&signed);
    it.shop.until_status(&it.server, &id, "detected");
    begun.elapsed()
}

#[test]
fn a_published_payment_is_looked_for_at_once() {
    let Some((node, mut publisher)) = Node::start_with_pages().zip(Publisher::start()) else {
        return;
    };
    let lines = format!(
        "esplora = [{:?}]\nzmq = [{:?}]\n",
        node.provider_url(),
        publisher.url
    );
    let it = Watched::of(node, &lines, "");
    let checked = it.shop.place.till(&["check", "--config", "till.toml"]);
    let line = format!("ok {REGTEST} published at {}", publisher.url);
    assert!(checked.stdout.contains(&line), "{}", checked.stdout);
    // Each look that finds a payment is followed by one six seconds later, or sooner.
    let mut times = Vec::new();
    for coin in 1..=4 {
        let tell = |signed: &Signed| publisher.publish("rawtx", signed.digits());
        times.push(seen_after(&it, coin, tell));
    }
    let soon = times[1..].iter().filter(|time| **time < SOON);
    assert!(soon.count() >= 2, "{times:?}");
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

//! What one endpoint of three says alone, while the others are away or say otherwise: it decides nothing.

use crate::common::{Server, until};
use crate::lies;
use crate::node::Node;
use crate::proxy::{Manner, Proxy};
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";

/// The first of three is the one that lies.
struct Three {
    node: Node,
    proxies: [Proxy; 3],
    shop: Shop,
}

impl Three {
    fn new() -> Option<Three> {
        let node = Node::start("eip155:84532")?;
        let proxies = [(); 3].map(|()| Proxy::before(&node));
        let urls = proxies.each_ref().map(|proxy| proxy.url.clone());
        let shop = Shop::new(&format!("[networks.\"eip155:84532\"]\nrpc = {urls:?}\n"));
        Some(Three {
            node,
            proxies,
            shop,
        })
    }

    fn others_become(&self, manner: Manner) {
        self.proxies[1..]
            .iter()
            .for_each(|proxy| proxy.becomes(manner));
    }

    fn until_one_is_left(&self, server: &Server) {
        self.others_become(Manner::Garbage);
        until("one is left", || {
            let ready = server.client("").get("/readyz").unwrap().json();
            ready["networks"][0]["reason"] == "1 of 2 endpoints that must agree can be used"
        });
    }
}

// D09, F1.
#[test]
fn what_arrived_is_what_enough_endpoints_say_and_one_that_is_left_alone_takes_nothing_away() {
    let Some(three) = Three::new() else {
        return;
    };
    let (node, shop) = (&three.node, &three.shop);
    let server = shop.open();
    server.log_until("watching");
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    three.proxies[0].tells(lies::keeps_balances());
    three.until_one_is_left(&server);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    shop.until_status(&server, &id, "detected");
    three.others_become(Manner::Honest);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    assert_eq!(shop.payments(&server, &id)[0]["amount"], "25.00");
    server.stop();
}

// D09: it is asked again before the block is final, whatever was said at first.
#[test]
fn what_brought_nothing_by_the_word_of_enough_is_paid_when_they_come_to_their_senses() {
    let Some(three) = Three::new() else {
        return;
    };
    let (node, shop) = (&three.node, &three.shop);
    let server = shop.open();
    server.log_until("watching");
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    three.proxies[..2]
        .iter()
        .for_each(|proxy| proxy.tells(lies::keeps_balances()));
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    server.log_until("less arrived than a log says");
    three.proxies.iter().for_each(Proxy::tells_the_truth);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    assert_eq!(shop.payments(&server, &id)[0]["amount"], "25.00");
    server.stop();
}

// D09: less than was told, found out only when the others are back.
#[test]
fn what_brings_less_is_held_even_if_that_is_known_only_when_it_is_final() {
    let Some(three) = Three::new() else {
        return;
    };
    let (node, shop) = (&three.node, &three.shop);
    let server = shop.open();
    server.log_until("watching");
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.take_fees();
    three.until_one_is_left(&server);
    node.pay(USDC, &[(&deposit, 30_000_000)]);
    shop.until_status(&server, &id, "detected");
    assert_eq!(shop.payments(&server, &id)[0]["amount"], "30.00");
    three.others_become(Manner::Honest);
    node.mine(2);
    let held = shop.until_status(&server, &id, "under_review");
    assert_eq!(held["review"]["hold"], "manual_review", "{held}");
    assert_eq!(shop.payments(&server, &id)[0]["amount"], "29.70");
    server.stop();
}

// D18.
#[test]
fn one_that_clears_everybody_clears_nobody() {
    let Some(three) = Three::new() else {
        return;
    };
    let (node, shop) = (&three.node, &three.shop);
    let server = shop.open();
    server.log_until("watching");
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.block(&node.contract(USDC), &node.payer());
    three.proxies[0].tells(lies::names_nobody());
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    let held = shop.until_status(&server, &id, "under_review");
    assert_eq!(held["review"]["hold"], "blacklist", "{held}");
    server.stop();
}

// D18.
#[test]
fn one_that_is_left_alone_clears_nobody_and_names_nobody() {
    let Some(three) = Three::new() else {
        return;
    };
    let (node, shop) = (&three.node, &three.shop);
    let server = shop.open();
    server.log_until("watching");
    let (clean, to_clean) = shop.invoice(&server, "25.00", USDC);
    three.proxies[0].tells(lies::names_everybody());
    three.until_one_is_left(&server);
    node.pay(USDC, &[(&to_clean, 25_000_000)]);
    shop.until_status(&server, &clean, "detected");
    three.proxies[0].tells_the_truth();
    three.others_become(Manner::Honest);
    node.mine(2);
    shop.until_status(&server, &clean, "paid");

    let (listed, to_listed) = shop.invoice(&server, "25.00", USDC);
    node.block(&node.contract(USDC), &node.payer());
    three.proxies[0].tells(lies::names_nobody());
    three.until_one_is_left(&server);
    node.pay(USDC, &[(&to_listed, 25_000_000)]);
    shop.until_status(&server, &listed, "detected");
    three.others_become(Manner::Honest);
    node.mine(2);
    let held = shop.until_status(&server, &listed, "under_review");
    assert_eq!(held["review"]["hold"], "blacklist", "{held}");
    server.stop();
}

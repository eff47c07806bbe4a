//! Endpoints whose answers do not fit together, with each other or with what they are asked for.

use crate::common::until;
use crate::lies;
use crate::node::Node;
use crate::proxy::{Lie, Manner, Proxy};
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";

fn watched(urls: &[&str], more: &str) -> String {
    format!("[networks.\"eip155:84532\"]\nrpc = {urls:?}\n{more}")
}

// N08.
#[test]
fn another_chain_behind_the_address_for_a_while_undoes_nothing_and_freezes_nothing() {
    let (Some(node), Some(other)) = (Node::start("eip155:84532"), Node::start("eip155:11155111"))
    else {
        return;
    };
    other.mine(30);
    let proxy = Proxy::before(&node);
    let shop = Shop::new(&watched(&[&proxy.url], ""));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    proxy.tells(lies::is_another(&other));
    until("it is not used", || {
        let ready = server.client("").get("/readyz").unwrap().json();
        assert_ne!(ready["networks"][0]["state"], "frozen", "{ready}");
        ready["networks"][0]["state"] == "halted"
    });
    assert_eq!(shop.read(&server, &id)["status"], "paid");
    server.stop();

    proxy.tells_the_truth();
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "7.00", USDC);
    node.pay(USDC, &[(&deposit, 7_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

/// The first of three says what does not fit. The others are read.
#[track_caller]
fn is_stepped_over(more: &str, lie: impl Fn(&Node) -> Lie) {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let shop = Shop::new(&watched(&[&liar.url, &other.url, &node.url], more));
    let server = shop.open();
    let (first, to_first) = shop.invoice(&server, "5.00", USDC);
    node.pay(USDC, &[(&to_first, 5_000_000)]);
    shop.until_status(&server, &first, "detected");
    liar.tells(lie(&node));
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.mine(2);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(6);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// N03, N07.
#[test]
fn who_does_not_have_a_block_that_it_says_it_has_is_stepped_over() {
    is_stepped_over("", |node| lies::lacks(node.height() + 2..node.height() + 3));
}

#[test]
fn who_gives_logs_of_other_blocks_is_stepped_over() {
    is_stepped_over("", |node| lies::mixes_blocks(node, USDC));
}

#[test]
fn whose_blocks_do_not_hang_together_is_stepped_over() {
    is_stepped_over("quorum = 1\n", |node| lies::breaks_off(node.height()));
}

#[test]
fn where_nobody_else_can_be_read_readiness_says_why_nothing_moves() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let shop = Shop::new(&watched(&[&proxy.url], ""));
    let server = shop.open();
    let (first, to_first) = shop.invoice(&server, "5.00", USDC);
    node.pay(USDC, &[(&to_first, 5_000_000)]);
    shop.until_status(&server, &first, "detected");
    let next = node.height() + 1;
    let reason = |says: &str| {
        until("readiness says why", || {
            let ready = server.client("").get("/readyz").unwrap().json();
            let reason = ready["networks"][0]["reason"].as_str();
            reason.is_some_and(|reason| reason.starts_with(says))
        });
    };
    proxy.tells(lies::lacks(next..next + 1));
    node.mine(3);
    reason(&format!(
        "an endpoint does not have the block at height {next}"
    ));
    proxy.tells(lies::mixes_blocks(&node, USDC));
    reason(&format!(
        "the blocks above height {} could not be read",
        next - 1
    ));
    proxy.tells_the_truth();
    shop.until_status(&server, &first, "paid");
    server.stop();
}

// N11.
#[test]
fn where_reading_begins_is_not_left_to_one_that_has_forgotten() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new("");
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.stop();
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(40);
    let (forgetful, other) = (Proxy::before(&node), Proxy::before(&node));
    forgetful.tells(lies::lacks(0..node.height() - 20));
    let networks = watched(&[&forgetful.url, &other.url, &node.url], "");
    let config = format!("[webhooks]\nallow_private_addresses = true\n{networks}");
    shop.place.write("till.toml", &config);
    let server = shop.open();
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// N10, N17.
#[test]
fn a_provider_that_is_easily_asked_too_much_is_caught_up_with() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let shop = Shop::new(&watched(&[&proxy.url], ""));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    server.stop();
    node.mine(150);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(150);
    proxy.becomes(Manner::Busy(4));
    let server = shop.open();
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// N10.
#[test]
fn a_block_with_more_logs_than_a_provider_gives_is_read_from_its_receipts() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let shop = Shop::new(&watched(&[&proxy.url], ""));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    proxy.becomes(Manner::Capped(10));
    let stranger = "0x1111111111111111111111111111111111111111";
    let mut transfers = vec![(stranger, 1); 11];
    transfers.push((&deposit, 25_000_000));
    node.pay(USDC, &transfers);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    assert_eq!(shop.payments(&server, &id).len(), 1);
    server.stop();
}

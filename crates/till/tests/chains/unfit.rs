//! Endpoints whose answers do not fit together, with each other or with what they are asked for.

use crate::common::until;
use crate::lies;
use crate::node::Node;
use crate::proxy::{Lie, Manner, Proxy};
use crate::shop::Shop;
use crate::watched::{USDC, Watched};

// N08.
#[test]
fn another_chain_behind_the_address_for_a_while_undoes_nothing_and_freezes_nothing() {
    let (Some(one), Some(other)) = (Watched::<1>::open(), Node::start("eip155:11155111")) else {
        return;
    };
    other.mine(30);
    one.pay(25_000_000);
    one.node.mine(2);
    one.until("paid");
    one.proxies[0].tells(lies::is_another(&other));
    until("it is not used", || {
        let ready = one.server.client("").get("/readyz").unwrap().json();
        assert_ne!(ready["networks"][0]["state"], "frozen", "{ready}");
        ready["networks"][0]["state"] == "halted"
    });
    assert_eq!(one.shop.read(&one.server, &one.id)["status"], "paid");
    one.server.stop();

    one.proxies[0].tells_the_truth();
    let (node, shop, server) = (&one.node, &one.shop, one.shop.open());
    let (id, deposit) = shop.invoice(&server, "7.00", USDC);
    node.pay(USDC, &[(&deposit, 7_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

/// The first of three says what does not fit. The others are read.
#[track_caller]
fn is_stepped_over(more: &str, lie: impl Fn(&Node) -> Lie) {
    let Some(three) = Watched::<3>::open_with(more) else {
        return;
    };
    let (node, shop, server) = (&three.node, &three.shop, &three.server);
    three.pay(25_000_000);
    three.until("detected");
    three.proxies[0].tells(lie(node));
    let (id, deposit) = shop.invoice(server, "5.00", USDC);
    node.mine(2);
    node.pay(USDC, &[(&deposit, 5_000_000)]);
    node.mine(6);
    shop.until_status(server, &id, "paid");
    three.server.stop();
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
    let Some(one) = Watched::<1>::open() else {
        return;
    };
    one.pay(25_000_000);
    one.until("detected");
    let (node, proxy) = (&one.node, &one.proxies[0]);
    let next = node.height() + 1;
    let reason = |says: &str| {
        until("readiness says why", || {
            let ready = one.server.client("").get("/readyz").unwrap().json();
            let reason = ready["networks"][0]["reason"].as_str();
            reason.is_some_and(|reason| reason.starts_with(says))
        });
    };
    proxy.tells(lies::lacks(next..next + 1));
    node.mine(3);
    reason(&format!(
        "an endpoint does not have the block at height {next}"
    ));
    proxy.tells(lies::mixes_blocks(node, USDC));
    reason(&format!(
        "the blocks above height {} could not be read",
        next - 1
    ));
    proxy.tells_the_truth();
    one.until("paid");
    one.server.stop();
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
    let urls = [&forgetful.url, &other.url, &node.url];
    let networks = format!("[networks.\"eip155:84532\"]\nrpc = {urls:?}\n");
    let config = format!("[webhooks]\nallow_private_addresses = true\n{networks}");
    shop.place.write("till.toml", &config);
    let server = shop.open();
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// N10, N17.
#[test]
fn a_provider_that_is_easily_asked_too_much_is_caught_up_with() {
    let Some(one) = Watched::<1>::open() else {
        return;
    };
    one.server.stop();
    one.node.mine(150);
    one.node.pay(USDC, &[(&one.deposit, 25_000_000)]);
    one.node.mine(150);
    one.proxies[0].becomes(Manner::Busy(4));
    let server = one.shop.open();
    one.shop.until_status(&server, &one.id, "paid");
    server.stop();
}

// N10.
#[test]
fn a_block_with_more_logs_than_a_provider_gives_is_read_from_its_receipts() {
    let Some(one) = Watched::<1>::open() else {
        return;
    };
    one.proxies[0].becomes(Manner::Capped(10));
    let stranger = "0x1111111111111111111111111111111111111111";
    let mut transfers = vec![(stranger, 1); 11];
    transfers.push((&one.deposit, 25_000_000));
    one.node.pay(USDC, &transfers);
    one.node.mine(2);
    one.until("paid");
    assert_eq!(one.shop.payments(&one.server, &one.id).len(), 1);
    one.server.stop();
}

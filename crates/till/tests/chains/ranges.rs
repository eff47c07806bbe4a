//! Many blocks at once: endpoints that give few of them, or none of the old ones, and chains that never come to rest.

use crate::node::Node;
use crate::proxy::{Manner, Proxy};
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";

fn watched(urls: &[&str]) -> String {
    format!("[networks.\"eip155:84532\"]\nrpc = {urls:?}\nquorum = 1\n")
}

// N10, N17: split and never skipped.
#[test]
fn an_endpoint_that_gives_three_blocks_at_a_time_is_read_to_the_end() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    proxy.becomes(Manner::Narrow(3));
    let shop = Shop::new(&watched(&[&proxy.url]));
    let server = shop.open();
    server.log_until("watching");
    let invoices: Vec<(String, String)> = (0..4)
        .map(|_| shop.invoice(&server, "25.00", USDC))
        .collect();
    server.stop();
    for (_, deposit) in &invoices {
        node.pay(USDC, &[(deposit, 25_000_000)]);
        node.mine(60);
    }
    let server = shop.open();
    for (id, _) in &invoices {
        shop.until_status(&server, id, "paid");
        assert_eq!(shop.payments(&server, id).len(), 1);
    }
    server.stop();
}

// N11: what one has forgotten, another has; and where nobody has it, nothing is passed over.
#[test]
fn blocks_that_an_endpoint_forgot_are_read_from_another_or_waited_for() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let (one, two) = (Proxy::before(&node), Proxy::before(&node));
    let shop = Shop::new(&watched(&[&one.url, &two.url]));
    let server = shop.open();
    server.log_until("watching");
    let (first, to_first) = shop.invoice(&server, "25.00", USDC);
    let (second, to_second) = shop.invoice(&server, "25.00", USDC);
    server.stop();
    node.pay(USDC, &[(&to_first, 25_000_000)]);
    node.mine(20);
    node.pay(USDC, &[(&to_second, 25_000_000)]);
    node.mine(20);
    let forgot = Manner::Forgot(node.height() - 5);
    one.becomes(forgot);
    two.becomes(forgot);
    let server = shop.open();
    server.log_until("an endpoint does not answer");
    assert_eq!(shop.read(&server, &first)["status"], "awaiting_payment");
    two.becomes(Manner::Honest);
    shop.until_status(&server, &first, "paid");
    shop.until_status(&server, &second, "paid");
    server.stop();
}

// R10, R11: over and over, and each time the transfer is mined again.
#[test]
fn a_chain_that_is_reorganised_again_and_again_pays_once() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&[&node.url]));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    let signed = node.signed(USDC, &[(&deposit, 25_000_000)]);
    node.mine(1);
    for _ in 0..20 {
        node.send(&signed);
        node.mine(1);
        node.reorganise(1);
    }
    node.send(&signed);
    node.mine(1);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    assert_eq!(shop.payments(&server, &id).len(), 1);
    shop.until_paid(1);
    let told = shop.told_of(&id);
    let paid = told.iter().filter(|it| *it == "invoice.paid").count();
    assert_eq!(paid, 1, "{told:?}");
    assert!(
        !told.contains(&"invoice.payment_reversed".to_owned()),
        "{told:?}"
    );
    server.stop();
}

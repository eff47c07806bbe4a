//! What leaves a deposit address again in the block that brought it counts only where it went to the merchant's destination.

use serde_json::{Value, json};
use till_core::asset::Family;

use crate::node::Node;
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";
const STRANGER: &str = "0x2222222222222222222222222222222222222222";

/// What becomes of an invoice of 25 that is paid, and of which so much goes on to others in the same block.
fn becomes(node: &Node, shop: &Shop, on: &[(&str, u128)], status: &str) -> Value {
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    let paid = node.signed(USDC, &[(&deposit, 25_000_000)]);
    node.send(&paid);
    for (to, units) in on {
        node.pass_on(USDC, &deposit, to, *units);
    }
    node.mine(1);
    let left: u128 = 25_000_000 - on.iter().map(|(_, units)| units).sum::<u128>();
    assert_eq!(node.balance(USDC, &deposit), left, "all in one block");
    node.mine(2);
    let invoice = shop.until_status(&server, &id, status);
    let mut payments = shop.payments(&server, &id);
    assert_eq!(payments.len(), 1, "{payments:?}");
    server.stop();
    json!([invoice["review"]["hold"], payments.remove(0)["status"]])
}

fn chain() -> Option<(Node, Shop)> {
    let node = Node::start("eip155:84532")?;
    node.keep_balances(USDC);
    let watched = format!("[networks.\"eip155:84532\"]\nrpc = [{:?}]\n", node.url);
    let shop = Shop::new(&watched);
    Some((node, shop))
}

#[test]
fn what_went_on_to_the_merchant_in_the_same_block_is_paid() {
    let Some((node, shop)) = chain() else {
        return;
    };
    let home = till_chains::example_destination(Family::Evm);
    let paid = becomes(&node, &shop, &[(home, 25_000_000)], "paid");
    assert_eq!(paid, json!([null, "credited"]));
}

#[test]
fn what_went_on_to_somebody_else_in_the_same_block_is_held() {
    let Some((node, shop)) = chain() else {
        return;
    };
    let held = becomes(&node, &shop, &[(STRANGER, 25_000_000)], "under_review");
    assert_eq!(held, json!(["manual_review", "held"]));
}

#[test]
fn one_part_that_went_elsewhere_beside_the_merchant_s_is_enough_to_be_held() {
    let Some((node, shop)) = chain() else {
        return;
    };
    let home = till_chains::example_destination(Family::Evm);
    let parts = [(home, 15_000_000), (STRANGER, 10_000_000)];
    let held = becomes(&node, &shop, &parts, "under_review");
    assert_eq!(held, json!(["manual_review", "held"]));
}

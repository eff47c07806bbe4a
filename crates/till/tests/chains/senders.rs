//! Whom a payment is from, as registers on its chain know them.

use serde_json::json;

use crate::common::{text, until};
use crate::lies;
use crate::node::Node;
use crate::proxy::Proxy;
use crate::shop::Shop;
use crate::watched::Watched;

const USDC: &str = "USDC@eip155:84532";
const LIVE_USDC: &str = "USDC@eip155:8453";
const ORACLE: &str = "0x3A91A31cB3dC49b4db9Ce721F50a9D076c8D739B";
const DESTINATION: &str = "eip155=0x8617E340B3D01FA5F11F306F4090FD50E238070D";

// D18.
#[test]
fn who_is_on_the_issuers_own_list_is_held_and_who_was_not_yet_is_paid() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let watched = format!("[networks.\"eip155:84532\"]\nrpc = [{:?}]\n", node.url);
    let shop = Shop::new(&watched);
    let server = shop.open();
    let (before, to_before) = shop.invoice(&server, "25.00", USDC);
    let (after, to_after) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&to_before, 25_000_000)]);
    shop.until_status(&server, &before, "detected");
    node.block(&node.contract(USDC), &node.payer());
    node.pay(USDC, &[(&to_after, 25_000_000)]);
    node.mine(2);
    let held = shop.until_status(&server, &after, "under_review");
    assert_eq!(held["review"]["hold"], "blacklist", "{held}");
    shop.until_status(&server, &before, "paid");
    server.stop();
}

#[test]
fn whom_the_sanctions_oracle_names_is_held_where_money_is_real() {
    let Some(node) = Node::start("eip155:8453") else {
        return;
    };
    let watched = format!(
        "[server]\nlive_mode = true\n[networks.\"eip155:8453\"]\nrpc = [{:?}]\n",
        node.url
    );
    let shop = Shop::on(&["--live", "--destination", DESTINATION], &watched);
    let server = shop.open();
    let (clear, to_clear) = shop.invoice(&server, "25.00", LIVE_USDC);
    let (named, to_named) = shop.invoice(&server, "25.00", LIVE_USDC);
    node.block(ORACLE, "0x1111111111111111111111111111111111111111");
    node.pay(LIVE_USDC, &[(&to_clear, 25_000_000)]);
    shop.until_status(&server, &clear, "detected");
    node.block(ORACLE, &node.payer());
    node.pay(LIVE_USDC, &[(&to_named, 25_000_000)]);
    node.mine(2);
    let held = shop.until_status(&server, &named, "under_review");
    assert_eq!(held["review"]["hold"], "sanctions", "{held}");
    assert_eq!(shop.payments(&server, &named)[0]["status"], "held");
    shop.until_status(&server, &clear, "paid");
    server.stop();
}

#[test]
fn one_endpoint_of_two_names_nobody() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let liar = Proxy::before(&node);
    let urls = json!([liar.url, node.url]);
    let shop = Shop::new(&format!("[networks.\"eip155:84532\"]\nrpc = {urls}\n"));
    let server = shop.open();
    server.log_until("watching");
    liar.tells(lies::names_everybody());
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    until("they contradict each other", || {
        let ready = server.client("").get("/readyz").unwrap().json();
        let reason = ready["networks"][0]["reason"].to_string();
        reason.contains("disagree about a transfer")
    });
    liar.tells_the_truth();
    shop.until_status(&server, &id, "paid");
    server.stop();
}

#[test]
fn nobody_is_asked_where_the_operator_says_so() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let watched = format!(
        "[screening]\non_chain = false\n[networks.\"eip155:84532\"]\nrpc = [{:?}]\n",
        node.url
    );
    let shop = Shop::new(&watched);
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.block(&node.contract(USDC), &node.payer());
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// N19: whom a refund goes to is asked of as many as whom a payment is from.
#[test]
fn one_endpoint_of_three_clears_no_payee() {
    let Some(three) = Watched::<3>::open() else {
        return;
    };
    let payee = "0x2222222222222222222222222222222222222222";
    three.node.block(&three.node.contract(USDC), payee);
    three.proxies[0].tells(lies::names_nobody());
    three.pay(30_000_000);
    three.node.mine(2);
    three.until("overpaid");
    let merchant = three.shop.merchant(&three.server);
    let post = |path: &str, body: serde_json::Value| merchant.post(path, path, &body).unwrap();
    let refund = post(&format!("/v1/invoices/{}/refunds", three.id), json!({})).expect(201);
    let token = text(&refund, "/claim_token");
    let claim = json!({ "network": "eip155:84532", "address": payee });
    let claimed = post(&format!("/v1/refund_claims/{token}"), claim).expect(200);
    assert_eq!(claimed["status"], "in_review", "{claimed}");
    three.server.stop();
}

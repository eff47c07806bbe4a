//! Blocks that were there and are not any more.

use serde_json::{Value, json};

use crate::common::{Server, text, until};
use crate::node::Node;
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";

fn watched(node: &Node) -> String {
    format!("[networks.{:?}]\nrpc = [{:?}]\n", node.network.id, node.url)
}

fn until_read(server: &Server, node: &Node) {
    until("all blocks were read", || {
        let ready = server.client("").get("/readyz").unwrap().expect(200);
        ready["networks"][0]["height"] == node.height()
    });
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
    until_read(&server, &node);
    node.reorganise(1);
    node.mine(1);
    server.log_until("the chain was reorganised");
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// R07: at first nothing is known of the blocks below the head.
#[test]
fn what_comes_into_a_block_below_the_first_that_was_read_is_paid() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let server = shop.open();
    until_read(&server, &node);
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    let signed = node.signed(USDC, &[(&deposit, 25_000_000)]);
    // The last three blocks are others now, and it is in the first of them.
    node.ask("anvil_reorg", json!([3, [[signed, 0]]]));
    node.mine(3);
    let paid = shop.until_status(&server, &id, "paid");
    let block = shop.payments(&server, &id)[0]["block_number"].clone();
    assert!(
        block.as_i64() < Some(node.height() - 4),
        "{paid} in {block}"
    );
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
    let checked = shop.place.till(&["check", "--config", "till.toml"]);
    let frozen = "FAIL eip155:84532 — frozen: the block at height";
    assert!(checked.stdout.contains(frozen), "{}", checked.stdout);
    checked.fails(1);
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
    server.log_until("the freeze has ended");
    shop.until_status(&server, &later, "paid");
    until("what was in the replaced blocks is gone", || {
        shop.payments(&server, &id)[0]["status"] == "reversed"
    });
    server.stop();
}

// I26: what must be looked at is not given back meanwhile.
#[test]
fn nothing_in_replaced_final_blocks_is_refunded_while_they_are_looked_at() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let server = shop.open();
    let (over, to_over) = shop.invoice(&server, "25.00", USDC);
    let (late, to_late) = shop.invoice(&server, "7.00", USDC);
    let (large, to_large) = shop.invoice(&server, "900.00", USDC);
    let merchant = shop.merchant(&server);
    let post = |path: &str, body: Value| merchant.post(path, path, &body).unwrap();
    post(&format!("/v1/invoices/{late}/cancel"), json!({})).expect(200);
    post(
        "/v1/merchant/settings",
        json!({ "manual_review_amount": "900" }),
    )
    .expect(200);
    server.log_until("watching");
    let paid = [
        (&*to_over, 30_000_000),
        (&to_late, 7_000_000),
        (&to_large, 900_000_000),
    ];
    node.pay(USDC, &paid);
    node.mine(2);
    shop.until_status(&server, &over, "overpaid");
    until("it is refundable", || {
        let payments = shop.payments(&server, &late);
        payments
            .first()
            .is_some_and(|it| it["status"] == "refundable")
    });
    let refund = post(&format!("/v1/invoices/{over}/refunds"), json!({})).expect(201);
    let (id, token) = (text(&refund, "/id"), text(&refund, "/claim_token"));
    let payee = json!({ "network": "eip155:84532", "address": node.payer() });
    let claimed = post(&format!("/v1/refund_claims/{token}"), payee).expect(200);
    assert_eq!(claimed["status"], "ready_to_send", "{claimed}");
    let held = shop.until_status(&server, &large, "under_review");
    assert_eq!(held["review"]["hold"], "manual_review", "{held}");
    node.reorganise(3);
    node.mine(1);
    for id in [&over, &late, &large] {
        until("it is to be looked at", || {
            shop.read(&server, id)["review"]["hold"] == "finality_violation"
        });
    }
    let shown = merchant
        .get(&format!("/v1/refunds/{id}"))
        .unwrap()
        .expect(200);
    assert_eq!(shown["status"], "in_review", "{shown}");
    let sent = json!({ "tx_hash": format!("0x{}", "5e".repeat(32)) });
    let refused = post(&format!("/v1/refunds/{id}/mark_sent"), sent).expect(409);
    assert_eq!(refused["error"]["code"], "refund_not_ready");
    let more = post(
        &format!("/v1/invoices/{late}/refunds"),
        json!({ "amount": "7.00" }),
    )
    .expect(409);
    assert_eq!(more["error"]["code"], "refund_exceeds_received", "{more}");
    server.stop();
}

//! Servers that die, start anew, stand still and wake up late.

use till_store::Dialect;
use till_store::testing::fresh;

use crate::node::Node;
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";

fn watched(node: &Node) -> String {
    format!("[networks.{:?}]\nrpc = [{:?}]\n", node.network.id, node.url)
}

// O01, O02.
#[test]
fn what_is_mined_while_no_server_runs_is_credited_once() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let shop = Shop::new(&watched(&node));
    let mut invoices = Vec::new();
    for round in 0..3 {
        let mut server = shop.open();
        let (id, deposit) = shop.invoice(&server, "25.00", USDC);
        // Killed at whatever it is doing: before, while and after the first block is read.
        node.pay(USDC, &[(&deposit, 10_000_000)]);
        if round > 0 {
            shop.until_status(&server, &id, "detected");
        }
        server.signal("KILL");
        server.wait();
        node.pay(USDC, &[(&deposit, 15_000_000)]);
        node.mine(20);
        invoices.push(id);
    }
    let server = shop.open();
    for id in &invoices {
        let invoice = shop.until_status(&server, id, "paid");
        assert_eq!(shop.payments(&server, id).len(), 2, "{invoice}");
    }
    server.stop();
}

// O05, O06: on PostgreSQL, which several servers may share. `scripts/with-postgres` names it.
#[test]
fn a_leader_that_stood_still_wakes_up_late_and_changes_nothing() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    let arguments = ["--database", test.config.url.as_str()];
    let shop = Shop::on(&arguments, &watched(&node));
    let first = shop.open_with(&arguments);
    first.log_until("watching");
    let second = shop.open_with(&arguments);
    let (id, deposit) = shop.invoice(&second, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 10_000_000)]);
    shop.until_status(&second, &id, "detected");
    first.signal("STOP");
    node.pay(USDC, &[(&deposit, 15_000_000)]);
    node.mine(2);
    second.log_until("watching");
    shop.until_status(&second, &id, "paid");
    first.signal("CONT");
    first.log_until("another server watches now");
    let (other, to_other) = shop.invoice(&first, "5.00", USDC);
    node.pay(USDC, &[(&to_other, 5_000_000)]);
    node.mine(2);
    shop.until_status(&first, &other, "paid");
    assert_eq!(shop.payments(&first, &id).len(), 2);
    first.stop();
    second.stop();
    runtime.block_on(test.remove());
}

//! Reading again what was read, because an operator says so.

use crate::lies;
use crate::node::Node;
use crate::proxy::{Manner, Proxy};
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";
const USDT: &str = "USDT@tron:3448148188";

fn rescan(shop: &Shop, network: &str, from: i64) -> String {
    let from = from.to_string();
    let args = [
        "network",
        "thaw",
        "--config",
        "till.toml",
        "--network",
        network,
    ];
    let more = ["--rescan-from", &from];
    shop.place.till(&[&args[..], &more].concat()).ok().stdout
}

#[test]
fn a_running_server_reads_again_what_its_endpoint_left_out() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let network = &node.network.id;
    let shop = Shop::new(&format!(
        "[networks.{network:?}]\nrpc = [{:?}]\n",
        proxy.url
    ));
    let server = shop.open();
    let (missed, to_missed) = shop.invoice(&server, "25.00", USDT);
    server.log_until("watching");
    proxy.becomes(Manner::Omits);
    node.pay(USDT, &[(&to_missed, 25_000_000)]);
    let height = node.height();
    node.mine(10);
    crate::common::until("it was looked at twice", || {
        let list = ["network", "list", "--config", "till.toml", "--json"];
        let shown = shop.place.till(&list).json();
        shown[0]["checked_height"].as_i64() > Some(height)
    });
    proxy.becomes(Manner::Honest);
    let (id, deposit) = shop.invoice(&server, "7.00", USDT);
    node.pay(USDT, &[(&deposit, 7_000_000)]);
    node.mine(3);
    shop.until_status(&server, &id, "paid");
    assert_eq!(shop.read(&server, &missed)["status"], "awaiting_payment");
    let said = rescan(&shop, network, height);
    assert!(
        said.contains(&format!("read again from {height}")),
        "{said}"
    );
    shop.until_status(&server, &missed, "paid");
    assert_eq!(shop.payments(&server, &id).len(), 1);
    server.stop();
}

#[test]
fn what_one_endpoint_invents_in_blocks_that_are_read_again_is_nobodys() {
    let Some(node) = Node::start("tron:3448148188") else {
        return;
    };
    let (liar, other) = (Proxy::before(&node), Proxy::before(&node));
    let network = &node.network.id;
    let urls = [&liar.url, &other.url, &node.url];
    let shop = Shop::new(&format!("[networks.{network:?}]\nrpc = {urls:?}\n"));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    let (paid, to_paid) = shop.invoice(&server, "7.00", USDT);
    node.pay(USDT, &[(&to_paid, 7_000_000)]);
    let height = node.height();
    node.mine(6);
    shop.until_status(&server, &paid, "paid");
    server.stop();
    liar.tells(lies::invents(
        &node,
        height + 1,
        USDT,
        (&deposit, 25_000_000),
    ));
    rescan(&shop, network, height - 1);
    let server = shop.open();
    server.log_until("an endpoint is not believed");
    let (later, to_later) = shop.invoice(&server, "9.00", USDT);
    node.pay(USDT, &[(&to_later, 9_000_000)]);
    node.mine(3);
    shop.until_status(&server, &later, "paid");
    assert_eq!(shop.read(&server, &id)["status"], "awaiting_payment");
    assert_eq!(shop.payments(&server, &paid).len(), 1);
    server.stop();
}

#[test]
fn a_height_that_was_never_read_is_not_read_again_and_nothing_is_left_out() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let network = &node.network.id;
    let shop = Shop::new(&format!("[networks.{network:?}]\nrpc = [{:?}]\n", node.url));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    let (early, to_early) = shop.invoice(&server, "5.00", USDC);
    node.pay(USDC, &[(&to_early, 5_000_000)]);
    node.mine(2);
    shop.until_status(&server, &early, "paid");
    let read = node.height();
    server.stop();
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    node.mine(2);
    let said = rescan(&shop, network, node.height() + 50);
    assert!(
        said.contains(&format!("read again from {}", read + 1)),
        "{said}"
    );
    let server = shop.open();
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

// R04: what is below stays known, so that it is noticed when it is replaced.
#[test]
fn a_rescan_does_not_hide_that_blocks_below_it_are_replaced() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let network = &node.network.id;
    let shop = Shop::new(&format!(
        "[networks.{network:?}]\nrpc = [{:?}]\ncredit_at = \"included\"\n",
        node.url
    ));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    shop.until_status(&server, &id, "paid");
    for above in [1, 4_000_000_000] {
        rescan(&shop, network, node.height() + above);
    }
    node.reorganise(1);
    shop.until_status(&server, &id, "awaiting_payment");
    server.stop();
}

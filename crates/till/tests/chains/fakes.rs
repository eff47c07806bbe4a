//! What looks like a payment and is none, and what is one and does not look like it. Numbers such as D10 are the threats they
//! stand for (docs/threats.md).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::common::{Server, text, until};
use crate::node::Node;
use crate::proxy::{Asked, Proxy};
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";
const DESTINATION: &str = "eip155=0x8617E340B3D01FA5F11F306F4090FD50E238070D";

fn watched(node: &Node, url: &str) -> String {
    format!("[networks.{:?}]\nrpc = [{url:?}]\n", node.network.id)
}

/// An invoice that is paid as one should be, so that all before it was read.
#[track_caller]
fn and_then_one_is_paid(shop: &Shop, server: &Server, node: &Node, asset: &str) {
    let (id, deposit) = shop.invoice(server, "5.00", asset);
    node.pay(asset, &[(&deposit, 5_000_000)]);
    node.mine(2);
    shop.until_status(server, &id, "paid");
}

// D10, D11: what makes no log is nobody's payment, and lies there for its owner all the same.
#[test]
fn coins_and_a_balance_that_grows_by_itself_pay_nothing_and_are_found_by_a_sweep() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    node.keep_balances(USDC);
    let shop = Shop::on(&["--destination", DESTINATION], &watched(&node, &node.url));
    let server = shop.open();
    let (coins, to_coins) = shop.invoice(&server, "25.00", USDC);
    let (grown, to_grown) = shop.invoice(&server, "25.00", USDC);
    let tx = json!({ "from": node.payer(), "to": to_coins, "value": "0xde0b6b3a7640000" });
    node.ask("eth_sendTransaction", json!([tx]));
    let slot = format!("0x{:0>64}", &node.hex(&to_grown)[2..]);
    let units = format!("0x{:064x}", 25_000_000);
    node.ask(
        "anvil_setStorageAt",
        json!([node.contract(USDC), slot, units]),
    );
    node.mine(1);
    and_then_one_is_paid(&shop, &server, &node, USDC);
    for id in [&coins, &grown] {
        assert_eq!(shop.read(&server, id)["status"], "awaiting_payment");
        assert!(shop.payments(&server, id).is_empty());
    }
    let all = shop.sweep(&[]);
    let lying = all[0]["addresses"].as_array().expect("a list").iter();
    let lying: Vec<(&str, &str)> = lying
        .map(|it| (text(it, "/address"), text(it, "/amount")))
        .collect();
    assert!(lying.contains(&(&to_coins, "1.00")), "{lying:?}");
    assert!(lying.contains(&(&to_grown, "25.00")), "{lying:?}");
    server.stop();
}

// D12.
#[test]
fn a_transfer_inside_another_call_is_from_whoever_its_log_names() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    node.keep_balances("EURC@eip155:84532");
    let shop = Shop::new(&watched(&node, &node.url));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    server.log_until("watching");
    // Multicall3 has what it hands on: aggregate3 of one call of the token.
    let multicall = "0xca11bde05977b3631167028862be2a173976ca11";
    let slot = format!("0x{:0>64}", &multicall[2..]);
    let plenty = format!("0x{:064x}", 1_000_000_000);
    node.ask(
        "anvil_setStorageAt",
        json!([node.contract(USDC), slot, plenty]),
    );
    let word = |hex: &str| format!("{hex:0>64}");
    let inner = format!(
        "a9059cbb{}{:064x}",
        word(&node.hex(&deposit)[2..]),
        25_000_000
    );
    let data = [
        "0x82ad56cb".to_owned(),
        word("20"),
        word("1"),
        word("20"),
        word(&node.contract(USDC)[2..]),
        word("0"),
        word("60"),
        word("44"),
        format!("{inner:0<192}"),
    ];
    let tx =
        json!({ "from": node.payer(), "to": multicall, "data": data.concat(), "gas": "0x60000" });
    node.ask("eth_sendTransaction", json!([tx]));
    node.mine(3);
    shop.until_status(&server, &id, "paid");
    let [payment] = &*shop.payments(&server, &id) else {
        panic!("one payment")
    };
    assert_eq!(node.hex(text(payment, "/from")), multicall);
    server.stop();
}

// D15: what is emptied in the very block that brought it was there.
#[test]
fn what_is_emptied_in_the_block_that_brought_it_counts_in_full() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    node.keep_balances(USDC);
    let shop = Shop::on(&["--destination", DESTINATION], &watched(&node, &node.url));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    node.pay(USDC, &[(&deposit, 10_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "partially_paid");
    let batch = shop.sweep(&[])[0].take();
    let flush = json!({
        "from": node.payer(), "to": batch["to"], "data": batch["data"], "gas": "0x60000",
        "gasPrice": "0x77359400",
    });
    node.send(&node.signed(USDC, &[(&deposit, 15_000_000)]));
    node.ask("eth_sendTransaction", json!([flush]));
    node.mine(3);
    shop.until_status(&server, &id, "paid");
    assert_eq!(node.balance(USDC, &deposit), 0);
    server.stop();
}

// D16.
#[test]
fn a_bridged_twin_is_the_wrong_asset_and_an_unknown_one_is_nothing() {
    let Some(node) = Node::start("eip155:8453") else {
        return;
    };
    let live = format!("[server]\nlive_mode = true\n{}", watched(&node, &node.url));
    let shop = Shop::on(&["--live", "--destination", DESTINATION], &live);
    let server = shop.open();
    let (twin, to_twin) = shop.invoice(&server, "25.00", "USDC@eip155:8453");
    let (fake, to_fake) = shop.invoice(&server, "25.00", "USDC@eip155:8453");
    // D01, D02: the same code at an address that nobody knows.
    let unknown = "0x2222222222222222222222222222222222222222";
    node.block(unknown, "0x1111111111111111111111111111111111111111");
    let data = format!(
        "0xa9059cbb{:0>64}{:064x}",
        &node.hex(&to_fake)[2..],
        25_000_000
    );
    let tx = json!({ "from": node.payer(), "to": unknown, "data": data, "gas": "0x60000" });
    node.ask("eth_sendTransaction", json!([tx]));
    node.pay("USDbC@eip155:8453", &[(&to_twin, 25_000_000)]);
    node.mine(2);
    until("the twin is received", || {
        !shop.payments(&server, &twin).is_empty()
    });
    and_then_one_is_paid(&shop, &server, &node, "USDC@eip155:8453");
    assert_eq!(shop.read(&server, &twin)["status"], "awaiting_payment");
    let [payment] = &*shop.payments(&server, &twin) else {
        panic!("one payment")
    };
    assert_eq!(
        (&payment["asset"], &payment["status"], &payment["amount"]),
        (
            &json!("USDbC@eip155:8453"),
            &json!("refundable"),
            &json!("25.00")
        )
    );
    assert_eq!(shop.read(&server, &fake)["status"], "awaiting_payment");
    assert!(shop.payments(&server, &fake).is_empty());
    server.stop();
}

// D17: what a token calls itself, and how it counts, is never asked.
#[test]
fn tokens_are_asked_for_balances_and_blacklists_and_nothing_else() {
    let Some(node) = Node::start("eip155:84532") else {
        return;
    };
    let proxy = Proxy::before(&node);
    let asked: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let noted = Arc::clone(&asked);
    proxy.tells(Arc::new(
        move |method: &str, params: &Value, _: &Asked<'_>| {
            if method == "eth_call" {
                let data = params[0]["data"].as_str().unwrap_or_default();
                let selector = data.get(..10).unwrap_or(data).to_owned();
                noted.lock().expect("not poisoned").insert(selector);
            }
            None
        },
    ));
    let shop = Shop::new(&watched(&node, &proxy.url));
    let server = shop.open();
    and_then_one_is_paid(&shop, &server, &node, USDC);
    let asked = asked.lock().expect("not poisoned");
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    assert_eq!(asked, ["0x70a08231", "0xfe575a87"]);
    server.stop();
}

// D19, D20: the same address on another network of the same mode.
#[test]
fn the_right_token_on_a_network_that_was_not_offered_is_the_wrong_asset() {
    let Some(base) = Node::start("eip155:84532") else {
        return;
    };
    let Some(sepolia) = Node::start("eip155:11155111") else {
        return;
    };
    let both = [&base, &sepolia]
        .map(|node| watched(node, &node.url))
        .concat();
    let shop = Shop::new(&both);
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDC);
    sepolia.pay("USDC@eip155:11155111", &[(&deposit, 25_000_000)]);
    sepolia.mine(2);
    until("it is told of", || {
        shop.told_of(&id)
            .contains(&"invoice.wrong_asset".to_owned())
    });
    assert_eq!(shop.read(&server, &id)["status"], "awaiting_payment");
    base.pay(USDC, &[(&deposit, 25_000_000)]);
    base.mine(2);
    shop.until_status(&server, &id, "paid");
    server.stop();
}

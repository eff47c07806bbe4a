//! Whom `till sweep` and `till recover` believe of what lies on addresses, and what they say of the others.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::common::{Done, Place, text};
use crate::lies;
use crate::node::Node;
use crate::proxy::{Asked, Lie, Manner, Proxy};
use crate::shop::Shop;

const NETWORK: &str = "eip155:84532";
const USDC: &str = "USDC@eip155:84532";
const DESTINATION: &str = "eip155=0x52908400098527886E0F7030069857D2E4169EE7";

/// A merchant to whom 25 dollars were paid, with its server closed.
fn paid(node: &Node) -> (Shop, String) {
    node.keep_balances(USDC);
    let shop = Shop::on(&["--destination", DESTINATION], "");
    let server = shop.open();
    let (_, deposit) = shop.invoice(&server, "25.00", USDC);
    server.stop();
    node.pay(USDC, &[(&deposit, 25_000_000)]);
    (shop, deposit)
}

fn network(id: &str, endpoints: &[&str]) -> String {
    format!("[networks.{id:?}]\nrpc = {endpoints:?}\n")
}

fn swept(shop: &Shop, networks: &str, more: &[&str]) -> Done {
    shop.place.write("till.toml", networks);
    let args = ["sweep", "--config", "till.toml", "--mode", "test"];
    let account = ["--account", shop.account_id()];
    shop.place.till(&[&args[..], &account, more].concat())
}

fn recovered(place: &Place, account: &str, more: &[&str]) -> Done {
    let args = ["recover", "--account", account, "--mode", "test", "--json"];
    place.till(&[&args[..], &["--destination", DESTINATION], more].concat())
}

/// Of what lies on addresses it says that nothing does.
fn hides() -> Lie {
    Arc::new(|method: &str, params: &Value, asked: &Asked<'_>| {
        (method == "eth_call").then(|| {
            let told = asked(method, params.clone());
            let told = told.as_str().unwrap_or_default();
            let (amount, nothing) = (format!("{:064x}", 25_000_000), "0".repeat(64));
            json!(told.replace(&amount, &nothing))
        })
    })
}

fn estimates(answer: Value) -> Lie {
    Arc::new(move |method: &str, _: &Value, _: &Asked<'_>| {
        (method == "eth_estimateGas").then(|| answer.clone())
    })
}

#[test]
fn an_endpoint_of_another_chain_is_not_asked_what_lies_there() {
    let (Some(node), Some(other)) = (Node::start(NETWORK), Node::start("eip155:11155111")) else {
        return;
    };
    let (shop, deposit) = paid(&node);
    other.keep_balances("USDC@eip155:11155111");
    let wrong = Proxy::before(&node);
    wrong.tells(lies::is_another(&other));
    let place = wrong.url.clone();
    let with_key = format!("{place}/secretkey");
    // One that is left does not count for the two that must agree.
    let both = network(NETWORK, &[&with_key, &node.url]);
    let line = swept(&shop, &both, &["--json"]).fails(1);
    let too_few = format!("{NETWORK}: 1 of 2 endpoints that must agree answer");
    assert!(line.contains(&too_few), "{line}");
    let again = Proxy::before(&node);
    let three = network(NETWORK, &[&with_key, &node.url, &again.url]);
    let done = swept(&shop, &three, &["--json"]).ok();
    assert!(done.stdout.contains(&deposit), "{}", done.stdout);
    let told = format!("an endpoint is not used: {place}: it is on eip155:11155111");
    assert!(done.stderr.contains(&told), "{}", done.stderr);
    assert!(!done.stderr.contains("secretkey"), "{}", done.stderr);

    let account = shop.account_id();
    let rpc = format!("{NETWORK}={with_key}");
    let with_config = ["--config", "till.toml", "--count", "2", "--rpc", &rpc];
    let done = recovered(&shop.place, account, &with_config).ok();
    assert!(done.stdout.contains("25.00"), "{}", done.stdout);
    assert!(done.stderr.contains(&told), "{}", done.stderr);

    let alone = network(NETWORK, &[&with_key]);
    let line = swept(&shop, &alone, &["--json"]).fails(1);
    assert!(line.contains("it is on eip155:11155111"), "{line}");
    let elsewhere = Place::new();
    let line = recovered(&elsewhere, account, &["--count", "2", "--rpc", &rpc]).fails(1);
    assert!(line.contains("it is on eip155:11155111"), "{line}");
}

#[test]
fn one_of_two_endpoints_that_hides_what_lies_there_hides_nothing() {
    let Some(node) = Node::start(NETWORK) else {
        return;
    };
    let (shop, deposit) = paid(&node);
    let liar = Proxy::before(&node);
    liar.tells(hides());
    for both in [[&*liar.url, &*node.url], [&*node.url, &*liar.url]] {
        let done = swept(&shop, &network(NETWORK, &both), &["--json"]);
        let all = done.json();
        assert_eq!(text(&all, "/0/addresses/0/address"), deposit);
        assert_eq!(text(&all, "/0/addresses/0/amount"), "25.00");
        let args = ["--config", "till.toml", "--count", "1"];
        let rpc = format!("{NETWORK}={}", liar.url);
        for more in [&[][..], &["--rpc", &rpc]] {
            let args = [&args[..], more].concat();
            let found = recovered(&shop.place, shop.account_id(), &args).json();
            assert_eq!(text(&found, "/0/balances/0/amount"), "25.00");
        }
    }
    // Who believes one endpoint believes it.
    let alone = swept(&shop, &network(NETWORK, &[&liar.url]), &[]).ok();
    assert_eq!(alone.stdout, "nothing lies on this account's addresses\n");
}

#[test]
fn one_endpoint_alone_says_of_no_address_that_it_is_deployed() {
    let Some(node) = Node::start(NETWORK) else {
        return;
    };
    let (shop, deposit) = paid(&node);
    let liar = Proxy::before(&node);
    let deposit = deposit.to_lowercase();
    liar.tells(Arc::new(
        move |method: &str, params: &Value, _: &Asked<'_>| {
            let is_it = method == "eth_getCode" && params[0] == *deposit;
            is_it.then(|| json!("0x00"))
        },
    ));
    let both = network(NETWORK, &[&liar.url, &node.url]);
    let all = swept(&shop, &both, &["--json"]).json();
    assert_eq!(all[0]["addresses"][0]["deployed"], false, "{all}");
}

#[test]
fn what_was_found_is_told_though_another_network_does_not_answer() {
    let Some(node) = Node::start(NETWORK) else {
        return;
    };
    let (shop, deposit) = paid(&node);
    let good = network(NETWORK, &[&node.url]);
    let both = good.clone() + &network("eip155:11155111", &["http://127.0.0.1:1"]);
    for form in [&["--json"][..], &[]] {
        let done = swept(&shop, &both, form);
        assert!(done.stdout.contains(&deposit), "{}", done.stdout);
        let line = done.fails(1);
        assert!(
            line.contains("not everything was looked at: eip155:11155111"),
            "{line}"
        );
    }
    // Where nothing was found it is not said that nothing lies there.
    let done = swept(&shop, &both, &["--min", "26"]);
    assert_eq!(done.stdout, "");
    done.fails(1);
    let done = swept(&shop, &good, &["--min", "26"]).ok();
    assert_eq!(
        done.stdout,
        "what lies on this account's addresses is less than --min\n"
    );
}

#[test]
fn an_estimate_that_cannot_be_so_is_not_believed_and_one_that_is_missing_is_said() {
    let Some(node) = Node::start(NETWORK) else {
        return;
    };
    let (shop, _) = paid(&node);
    let proxy = Proxy::before(&node);
    let gas = |done: &Done| {
        let all: Value = serde_json::from_str(&done.stdout).expect("a list");
        let digits = text(&all, "/0/gas").trim_start_matches("0x").to_owned();
        u64::from_str_radix(&digits, 16).expect("a number")
    };
    let alone = network(NETWORK, &[&proxy.url]);
    let computed = 60_000 + 50_000 + 90_000 + 70_000;
    for lie in [
        json!("0xffffffffffffffff"),
        json!("0x0"),
        json!("0x5207"),
        json!(null),
    ] {
        proxy.tells(estimates(lie.clone()));
        let done = swept(&shop, &alone, &["--json"]).ok();
        assert_eq!(gas(&done), computed, "{lie}");
        let told = "estimated by nobody, and is computed; the transaction may fail";
        assert!(done.stderr.contains(told), "{lie}: {}", done.stderr);
    }
    let both = network(NETWORK, &[&proxy.url, &node.url]);
    let done = swept(&shop, &both, &["--json"]).ok();
    assert!(done.stderr.contains("by others only"), "{}", done.stderr);
    // Who says too little is outbid.
    proxy.tells(estimates(json!("0x5208")));
    let done = swept(&shop, &both, &["--json"]).ok();
    assert!(gas(&done) > 60_000, "{}", done.stdout);
    assert_eq!(done.stderr, "");
}

#[test]
fn an_address_far_beyond_the_first_ones_is_found_again() {
    let Some(node) = Node::start(NETWORK) else {
        return;
    };
    node.keep_balances(USDC);
    let place = Place::new();
    let account = "acct_00000000000000000000000000";
    // As after a restore, which passes over 10,000 numbers.
    let far = recovered(&place, account, &["--count", "10005"]).json();
    let address = text(&far, "/10004/address").to_owned();
    node.pay(USDC, &[(&address, 7_000_000)]);
    let rpc = format!("{NETWORK}={}", node.url);
    let done = recovered(&place, account, &["--rpc", &rpc]).ok();
    assert!(
        done.stderr.contains("eip155: looked up to number 30004"),
        "{}",
        done.stderr
    );
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    let found = done.json();
    assert_eq!(found.as_array().map(Vec::len), Some(101));
    assert_eq!(text(&found, "/100/address"), address);
    assert_eq!(found[100]["number"], 10_004);
    assert_eq!(
        found[100]["balances"],
        json!([{ "asset": USDC, "amount": "7.00" }])
    );
    let counted = recovered(&place, account, &["--rpc", &rpc, "--count", "10004"]).ok();
    assert_eq!(counted.stderr, "");
    assert_eq!(counted.json().as_array().map(Vec::len), Some(10_004));
}

#[test]
fn a_search_goes_on_with_the_next_endpoint_where_one_falls_silent() {
    let Some(node) = Node::start(NETWORK) else {
        return;
    };
    let (shop, deposit) = paid(&node);
    let silent = Proxy::before(&node);
    silent.becomes(Manner::HangsOnCalls);
    let again = Proxy::before(&node);
    let three = network(NETWORK, &[&silent.url, &node.url, &again.url]);
    let done = swept(&shop, &three, &["--json"]).ok();
    assert!(done.stdout.contains(&deposit), "{}", done.stdout);
    assert!(done.stderr.contains("no answer within"), "{}", done.stderr);
}

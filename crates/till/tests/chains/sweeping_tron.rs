//! The same on TRON, whose nodes know no Multicall3: each call is a transaction of its own.

use serde_json::{Value, json};

use crate::common::{Place, text};
use crate::node::Node;
use crate::proxy::{Manner, Proxy};
use crate::shop::Shop;

const USDT: &str = "USDT@tron:3448148188";
const TRX: &str = "TRX@tron:3448148188";
const DESTINATION: &str = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";
const FACTORY: &str = "TG3XXyExBkPp9nzdajDZsozEu4BkaSJozs";

struct Chain {
    node: Node,
    proxy: Proxy,
    shop: Shop,
}

fn open() -> Option<Chain> {
    let node = Node::start("tron:3448148188")?;
    node.keep_balances(USDT);
    let proxy = Proxy::before(&node);
    proxy.becomes(Manner::Tron);
    let networks = format!("[networks.\"tron:3448148188\"]\nrpc = [{:?}]\n", proxy.url);
    let destination = format!("tron={DESTINATION}");
    let shop = Shop::on(&["--destination", &destination], &networks);
    Some(Chain { node, proxy, shop })
}

impl Chain {
    fn sweep(&self) -> Vec<Value> {
        let all = self.shop.sweep(&[]);
        all.as_array().expect("a list").clone()
    }

    /// By a wallet that has nothing to do with the merchant.
    fn send(&self, transaction: &Value) {
        let node = &self.node;
        let anybody = node.ask("eth_accounts", json!([]))[5].take();
        let tx = json!({
            "from": anybody, "to": node.hex(text(transaction, "/to")), "data": transaction["data"],
            "value": transaction["value"], "gas": transaction["gas"],
        });
        let hash = node.ask("eth_sendTransaction", json!([tx]));
        node.mine(1);
        let receipt = node.ask("eth_getTransactionReceipt", json!([hash]));
        assert_eq!(receipt["status"], "0x1", "{receipt}");
    }
}

#[test]
fn what_lies_on_tron_addresses_is_listed_and_goes_where_it_must() {
    let Some(chain) = open() else {
        return;
    };
    let (node, shop) = (&chain.node, &chain.shop);
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", USDT);
    node.pay(USDT, &[(&deposit, 25_000_000)]);
    node.mine(2);
    shop.until_status(&server, &id, "paid");
    // Coins make no log: only whoever looks finds them.
    node.ask("anvil_setBalance", json!([node.hex(&deposit), "0x2dc6c0"]));

    let all = chain.sweep();
    let [deploy, tokens, coins] = &*all else {
        panic!("three: {all:?}")
    };
    assert_eq!(
        (&deploy["to"], &deploy["addresses"]),
        (&json!(FACTORY), &json!([]))
    );
    for (transaction, asset, amount) in [(tokens, USDT, "25.00"), (coins, TRX, "3.00")] {
        assert_eq!(transaction["chain_id"], 3_448_148_188_u64);
        assert_eq!(transaction["to"], deposit);
        let lying =
            json!([{ "address": deposit, "asset": asset, "amount": amount, "deployed": false }]);
        assert_eq!(transaction["addresses"], lying);
    }

    // TRON's machine makes the contract at an address of its own kind, which this one cannot: the code that the factory
    // was given is put where it belongs.
    let data = text(deploy, "/data");
    let init = &data[2 + 64..];
    assert_eq!(init.len(), 2 * 157);
    let runtime = format!("0x{}", &init[2 * 9..]);
    node.ask("anvil_setCode", json!([node.hex(&deposit), runtime]));
    chain.send(tokens);
    assert_eq!(node.balance(USDT, DESTINATION), 25_000_000);
    chain.send(coins);
    let home = node.ask("eth_getBalance", json!([node.hex(DESTINATION), "latest"]));
    assert_eq!(home, "0x2dc6c0");
    assert_eq!(chain.sweep(), Vec::<Value>::new());

    node.pay(USDT, &[(&deposit, 1_000_000)]);
    let again = chain.sweep();
    let [flush] = &*again else {
        panic!("it is deployed by now: {again:?}")
    };
    assert_eq!(flush["addresses"][0]["deployed"], true);
    server.stop();
}

#[test]
fn tron_addresses_are_found_again_with_what_lies_there() {
    let Some(chain) = open() else {
        return;
    };
    let (node, shop) = (&chain.node, &chain.shop);
    let server = shop.open();
    let (_, first) = shop.invoice(&server, "25.00", USDT);
    let (_, second) = shop.invoice(&server, "7.00", USDT);
    node.pay(USDT, &[(&second, 7_000_000)]);
    let account = shop.account_id().to_owned();
    server.stop();
    let elsewhere = Place::new();
    let (rpc, destination) = (
        format!("tron:0xcd8690dc={}", chain.proxy.url),
        format!("tron={DESTINATION}"),
    );
    let recover = |more: &[&str]| {
        let args = [
            "recover",
            "--account",
            &account,
            "--mode",
            "test",
            "--count",
            "3",
        ];
        let rest = ["--destination", &destination, "--rpc", &rpc, "--json"];
        elsewhere.till(&[&args[..], &rest, more].concat())
    };
    let found = recover(&["--network", "tron:0xcd8690dc"]).json();
    let address = |at: usize| text(&found, &format!("/{at}/address")).to_owned();
    assert_eq!([address(0), address(1)], [first, second]);
    assert_eq!(
        (&found[1]["family"], &found[0]["balances"]),
        (&json!("tron"), &json!([]))
    );
    assert_eq!(
        found[1]["balances"],
        json!([{ "asset": USDT, "amount": "7.00" }])
    );
    chain.proxy.becomes(Manner::Garbage);
    let line = recover(&[]).fails(1);
    assert!(
        line.contains("the balances are not complete: tron:3448148188"),
        "{line}"
    );
    let line = recover(&["--network", "tron:1"]).fails(2);
    assert!(line.contains("tron:1 is no network"), "{line}");
}

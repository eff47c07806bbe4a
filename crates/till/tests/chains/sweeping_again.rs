//! Batches that find forwarders deployed which were not when they were printed: by strangers, by another batch, or by
//! themselves when they are sent again.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::common::text;
use crate::node::Node;
use crate::proxy::{Asked, Proxy};
use crate::shop::Shop;

const USDC: &str = "USDC@eip155:84532";
const DESTINATION: &str = "0x52908400098527886E0F7030069857D2E4169EE7";
/// How the init code of every forwarder begins.
const INIT_PREFIX: &str = "60943d8160093d39f373";

struct Chain {
    node: Node,
    proxy: Proxy,
    shop: Shop,
    deposits: Vec<String>,
}

/// So many addresses, with as many dollars on each as its number says, counted from one.
fn open(addresses: usize) -> Option<Chain> {
    let node = Node::start("eip155:84532")?;
    node.keep_balances(USDC);
    let proxy = Proxy::before(&node);
    let networks = format!("[networks.\"eip155:84532\"]\nrpc = [{:?}]\n", proxy.url);
    let destination = format!("eip155={DESTINATION}");
    let shop = Shop::on(&["--destination", &destination], &networks);
    let server = shop.open();
    let deposits = (0..addresses).map(|_| shop.invoice(&server, "5.00", USDC).1);
    let deposits: Vec<String> = deposits.collect();
    server.stop();
    let chain = Chain {
        node,
        proxy,
        shop,
        deposits,
    };
    (0..addresses).for_each(|at| chain.pay(at));
    Some(chain)
}

impl Chain {
    fn pay(&self, at: usize) {
        let units = 1_000_000 * (at as u128 + 1);
        self.node.pay(USDC, &[(&self.deposits[at], units)]);
    }

    /// The one batch there is for all that lies anywhere.
    fn batch(&self) -> Value {
        let all = self.shop.sweep(&[]);
        let [batch] = &**all.as_array().expect("a list") else {
            panic!("one batch: {all}")
        };
        batch.clone()
    }

    /// By a wallet that has nothing to do with the merchant, all in one block; how much gas each took.
    fn send(&self, transactions: &[&Value]) -> Vec<u64> {
        let anybody = self.node.ask("eth_accounts", json!([]))[5].take();
        let hand_in = |it: &&Value| {
            let tx = json!({
                "from": anybody, "to": it["to"], "data": it["data"], "gas": it["gas"],
                "gasPrice": "0x77359400",
            });
            self.node.ask("eth_sendTransaction", json!([tx]))
        };
        let hashes: Vec<Value> = transactions.iter().map(hand_in).collect();
        self.node.mine(1);
        hashes.iter().map(|hash| self.gas_used(hash)).collect()
    }

    fn gas_used(&self, hash: &Value) -> u64 {
        let receipt = self.node.ask("eth_getTransactionReceipt", json!([hash]));
        assert_eq!(receipt["status"], "0x1", "{receipt}");
        number(text(&receipt, "/gasUsed"))
    }

    /// What deploys one of a batch's forwarders alone, as anybody reads it in the batch: salt and init code.
    fn deploying(&self, batch: &Value, at: usize) -> Value {
        let data = text(batch, "/data");
        let (begins, _) = data.match_indices(INIT_PREFIX).nth(at).expect("an entry");
        let payload = &data[begins - 2 * 32..begins + 2 * 157];
        let factory = self.node.network.factory.as_ref();
        json!({ "to": factory, "data": format!("0x{payload}"), "gas": "0x30d40" })
    }

    fn arrived(&self) -> u128 {
        self.node.balance(USDC, DESTINATION)
    }
}

fn number(hex: &str) -> u64 {
    u64::from_str_radix(hex.trim_start_matches("0x"), 16).expect("a number")
}

#[test]
fn a_forwarder_that_a_stranger_deployed_keeps_nothing_from_being_swept() {
    let Some(chain) = open(3) else {
        return;
    };
    let batch = chain.batch();
    let stranger = chain.deploying(&batch, 1);
    chain.send(&[&stranger, &batch]);
    assert_eq!(chain.arrived(), 6_000_000);
    assert_eq!(chain.shop.sweep(&[]), json!([]));
}

#[test]
fn a_batch_that_is_sent_twice_costs_little_and_fails_nothing() {
    let Some(chain) = open(3) else {
        return;
    };
    let batch = chain.batch();
    let [first] = chain.send(&[&batch])[..] else {
        panic!("one transaction")
    };
    assert_eq!(chain.arrived(), 6_000_000);
    let twice = chain.send(&[&batch, &batch]);
    assert!(twice.iter().all(|gas| gas * 2 < first), "{twice:?} {first}");

    // What came meanwhile goes along.
    chain.pay(1);
    chain.send(&[&batch]);
    assert_eq!(chain.arrived(), 8_000_000);
}

#[test]
fn batches_that_were_printed_before_either_was_mined_empty_all_addresses() {
    let Some(chain) = open(2) else {
        return;
    };
    let some = chain.batch();
    let server = chain.shop.open();
    let (_, late) = chain.shop.invoice(&server, "5.00", USDC);
    server.stop();
    chain.node.pay(USDC, &[(&late, 5_000_000)]);
    let all = chain.batch();
    let lying = all["addresses"].as_array().expect("a list");
    assert_eq!(lying.len(), 3);
    assert!(lying.iter().all(|it| it["deployed"] == false));
    chain.send(&[&some, &all]);
    assert_eq!(chain.arrived(), 8_000_000);

    chain.pay(0);
    let after = chain.batch();
    assert_eq!(after["addresses"][0]["deployed"], true);
    assert!(!text(&after, "/data").contains(INIT_PREFIX));
    chain.send(&[&after, &some]);
    assert_eq!(chain.arrived(), 9_000_000);
}

#[test]
fn an_endpoint_that_knows_nothing_of_a_deployment_costs_a_little_gas_and_nothing_else() {
    let Some(chain) = open(3) else {
        return;
    };
    let before = chain.batch();
    chain.send(&[&before]);
    (0..3).for_each(|at| chain.pay(at));
    chain
        .proxy
        .tells(Arc::new(|method: &str, params: &Value, ask: &Asked<'_>| {
            let code = (method == "eth_getCode").then(|| ask(method, params.clone()))?;
            // A forwarder has 148 bytes.
            (code.as_str()?.len() == 2 + 2 * 148).then(|| json!("0x"))
        }));
    let lied_to = chain.batch();
    assert_eq!(lied_to["data"], before["data"]);
    chain.send(&[&lied_to]);
    assert_eq!(chain.arrived(), 12_000_000);
}

#[test]
fn where_no_endpoint_estimates_the_gas_is_enough_for_one_address_and_for_several() {
    for addresses in [1, 6] {
        let Some(chain) = open(addresses) else {
            return;
        };
        let estimated = number(text(&chain.batch(), "/gas"));
        chain.proxy.tells(Arc::new(|method, _, _| {
            (method == "eth_estimateGas").then(|| json!("no"))
        }));
        let batch = chain.batch();
        assert!(number(text(&batch, "/gas")) > estimated);
        chain.send(&[&batch]);
        let paid: u128 = (1..=addresses as u128).sum();
        assert_eq!(chain.arrived(), 1_000_000 * paid);
    }
}

//! From the deposit addresses into one output of the same key, signed by the merchant's wallet; and all addresses again from that key alone.

use serde_json::{Value, json};
use till_chains::example_destination_of;
use till_chains::examples::example_path;
use till_chains::testing::BitcoinWallet;
use till_core::asset::Family;

use crate::common::{Place, text};
use crate::node::Node;
use crate::shop::Shop;
use crate::watched::{BTC, REGTEST, SATS, Watched};

/// From so many blocks on, bcoin's regtest chain takes signatures of this kind.
const SEGWIT_AFTER: u64 = 450;

/// Two invoices are paid, and a third with what nobody would pay a fee for.
fn pay(it: &Watched) {
    let (other, deposit) = it.shop.invoice(&it.server, "25.00", BTC);
    let (_, with_dust) = it.shop.invoice(&it.server, "25.00", BTC);
    let dust = it.node.signed(&[3], &[(&with_dust, 100)], 1_000);
    it.node.mine_only(&[&dust]);
    it.node.pay(1, &it.deposit, SATS);
    it.node.pay(2, &deposit, SATS);
    it.node.mine(6);
    it.until("paid");
    it.shop.until_status(&it.server, &other, "paid");
}

fn swept(shop: &Shop, more: &[&str]) -> Vec<Value> {
    let swept = shop.sweep(&[&["--network", REGTEST], more].concat());
    swept.as_array().expect("a list").clone()
}

#[track_caller]
fn refused(shop: &Shop, more: &[&str], why: &str) {
    let sweep = ["sweep", "--config", "till.toml", "--mode", "test"];
    let account = ["--account", shop.account_id()];
    let done = shop.place.till(&[&sweep[..], &account, more].concat());
    let line = done.fails(1);
    assert!(line.contains(why), "{line}");
}

/// The merchant's wallet signs it, and the node takes it.
fn send(node: &Node, shop: &Shop, psbt: &Value) {
    let wallet = BitcoinWallet::below_example(&example_path(shop.account_id()));
    let wallet = wallet.expect("a wallet");
    let signed = wallet.sign(text(psbt, "/psbt")).expect("its own keys");
    node.send_digits(&signed);
    node.mine(1);
}

#[test]
fn what_lies_on_the_addresses_is_brought_together_by_the_merchants_own_wallet() {
    let Some(it) = Watched::open() else { return };
    pay(&it);
    let Watched {
        node, shop, server, ..
    } = it;
    refused(&shop, &[], "give --fee-rate");
    refused(&shop, &["--fee-rate", "1000"], "costs more than it brings");
    refused(&shop, &["--fee-rate", "600"], "do not pay for a fee");
    let [psbt] = &*swept(&shop, &["--fee-rate", "2"]) else {
        panic!("one transaction")
    };
    assert_eq!(psbt["network"], REGTEST);
    assert_eq!(psbt["fee_rate"], "2");
    let inputs = psbt["inputs"].as_array().expect("a list");
    let mut shown: Vec<(&str, &str)> = inputs
        .iter()
        .map(|input| (text(input, "/path"), text(input, "/amount")))
        .collect();
    shown.sort_unstable();
    assert_eq!(shown, [("0/0", "0.0005"), ("0/1", "0.0005")], "{psbt}");
    assert!(swept(&shop, &["--fee-rate", "2", "--min", "1"]).is_empty());
    node.ask("fee", json!([0.00003]));
    assert_eq!(swept(&shop, &[])[0]["fee_rate"], "3");
    server.stop();
    node.mine(SEGWIT_AFTER);
    send(&node, &shop, psbt);
    refused(&shop, &["--fee-rate", "2"], "costs more than it brings");
}

#[test]
fn a_provider_is_enough_to_sweep_and_to_find_every_address_again() {
    let Some(it) = Watched::open_at_provider() else {
        return;
    };
    pay(&it);
    let Watched {
        node,
        shop,
        server,
        deposit,
        ..
    } = it;
    server.stop();
    let account = shop.account_id();
    let key = example_destination_of(Family::Bitcoin, account).expect("a key");
    let destination = format!("bip122={key}");
    let at_provider = format!("{REGTEST}={}", node.provider_url());
    let at_node = format!("{REGTEST}={}", node.url);
    let elsewhere = Place::new();
    for endpoint in [["--esplora", &*at_provider], ["--rpc", &*at_node]] {
        let recover = ["recover", "--mode", "test", "--json", "--account", account];
        let given = ["--destination", &destination];
        let args = [&recover[..], &given, &endpoint].concat();
        let found = elsewhere.till(&args).json();
        let found = found.as_array().expect("a list");
        assert_eq!(found.len(), 100);
        let lying: Vec<(&str, &str)> = found
            .iter()
            .filter(|it| it["balances"].as_array().is_some_and(|it| !it.is_empty()))
            .map(|it| (text(it, "/path"), text(it, "/balances/0/amount")))
            .collect();
        let expected = [("0/0", "0.0005"), ("0/1", "0.0005"), ("0/2", "0.000001")];
        assert_eq!(lying, expected);
        assert_eq!(found[0]["address"], *deposit);
    }
    node.ask("fee", json!([0.00002]));
    node.mine(SEGWIT_AFTER);
    let [psbt] = &*swept(&shop, &[]) else {
        panic!("one transaction")
    };
    assert_eq!(psbt["fee_rate"], "2");
    send(&node, &shop, psbt);
}

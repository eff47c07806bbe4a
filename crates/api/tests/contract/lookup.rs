//! Looking a transaction up where our own observations know nothing: the operator's nodes are asked.

use std::time::Duration;

use serde_json::{Value, json};
use till_store::Queries;

use crate::harness::{BASE, Mood, NILE, Node, Setup, Till, World, address, id, text, until};

const USDC: &str = "036cbd53842c5426634e7929541ec2318f3dcf7e";
const EURC: &str = "808456652fdb597867f38412077a9182bf77359f";
const FAKE: &str = "1111111111111111111111111111111111111111";
const WALLET: &str = "70997970c51812dc3a010c7d01b50e0d17dc79c8";
const STRANGER: &str = "3c44cdddb6a900fa2b585dd299e03d12fa4293bc";
const BASE_CHAIN: u64 = 84532;
const SOLANA: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
const SOLANA_USDC: &str = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
const SIGNATURE: &str =
    "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";

fn hash(of: &str) -> String {
    format!("0x{}", of.repeat(32))
}

fn digits(address: &str) -> String {
    address.trim_start_matches("0x").to_lowercase()
}

async fn till_with(world: &World, rpc: &[(&str, &Node)]) -> Till {
    let mut setup = Setup {
        checkout_per_minute: 1_000,
        ..Setup::default()
    };
    for (network, node) in rpc {
        setup
            .rpc
            .entry((*network).to_owned())
            .or_default()
            .push(node.url());
    }
    world.till_with(setup).await
}

async fn look(till: &Till, invoice: &Value, hash: &str) -> Value {
    let path = format!(
        "/v1/checkout/invoices/{}/lookup?tx_hash={hash}",
        id(invoice)
    );
    let key = &till.account.test.publishable_key;
    till.call("GET", &path).key(key).send().await.ok(200)
}

fn nothing(hash: &str) -> Value {
    json!({
        "object": "tx_lookup", "tx_hash": hash, "found": false, "network": null,
        "transfers": [], "attributed": false,
    })
}

fn reasons(found: &Value) -> Vec<(String, String)> {
    let transfers = found["transfers"].as_array().expect("transfers");
    let shown = |transfer: &Value| (text(&transfer["amount"]), text(&transfer["reason"]));
    transfers.iter().map(shown).collect()
}

/// Every row of every table.
async fn dump(world: &World) -> Vec<(String, Vec<String>)> {
    let mut reader = world.db.read().await.unwrap();
    let tables = if world.is_postgres() {
        "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1"
    } else {
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
    };
    let tables: Vec<(String,)> = reader.all(tables, &[]).await.unwrap();
    let mut all = Vec::new();
    for (table,) in tables {
        let sql = if world.is_postgres() {
            format!("SELECT t::text FROM {table} t")
        } else {
            let columns = format!("SELECT name FROM pragma_table_info('{table}')");
            let columns: Vec<(String,)> = reader.all(&columns, &[]).await.unwrap();
            let quoted: Vec<_> = columns
                .iter()
                .map(|(name,)| format!("quote({name})"))
                .collect();
            format!("SELECT {} FROM {table}", quoted.join(" || ',' || "))
        };
        let rows: Vec<(String,)> = reader.all(&sql, &[]).await.unwrap();
        let mut rows: Vec<_> = rows.into_iter().map(|(row,)| row).collect();
        rows.sort();
        all.push((table, rows));
    }
    all
}

on_every_engine! {
    async fn what_a_node_knows_is_shown_and_changes_nothing(world: World) {
        let node = Node::start(BASE_CHAIN, Mood::Answers).await;
        let till = till_with(&world, &[("eip155:84532", &node)]).await;
        let invoice = till.invoice().await;
        let deposit = address(&invoice, BASE);
        let body = json!({ "asset": BASE, "sender": format!("0x{WALLET}") });
        let path = format!("/v1/checkout/invoices/{}/wallet_binding", id(&invoice));
        let bound = till.post(&path, body).await.ok(200);
        let destination = digits(&text(&bound["destination"]));
        let owed: u128 = text(&bound["amount_base_units"]).parse().unwrap();
        let to = digits(&deposit);

        node.knows(&hash("01"), &[(USDC, STRANGER, &to, 25_000_000)]);
        node.knows(&hash("02"), &[
            (USDC, WALLET, STRANGER, 1_500_000),
            (FAKE, WALLET, &to, 9_000_000),
            (USDC, WALLET, &to, 0),
            (EURC, WALLET, &to, 2_000_000),
            (USDC, WALLET, &to, 1),
        ]);
        node.knows(&hash("03"), &[(USDC, WALLET, &destination, owed)]);
        node.knows(&hash("04"), &[(USDC, WALLET, &destination, owed + 1), (USDC, STRANGER, &destination, owed)]);
        node.knows(&hash("05"), &[]);

        // Workers may still be busy with the invoice.
        let before = until("a quiet database", || async {
            let first = dump(&world).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            (dump(&world).await == first).then_some(first)
        }).await;
        assert!(before.iter().any(|(table, rows)| table == "invoices" && rows.len() == 1), "{before:?}");

        assert_eq!(look(&till, &invoice, &hash("01")).await, json!({
            "object": "tx_lookup", "tx_hash": hash("01"), "found": true, "network": "eip155:84532",
            "transfers": [{
                "asset": BASE, "amount": "25.00", "to": deposit, "attributed": false, "reason": "not_observed_yet",
            }],
            "attributed": false,
        }));
        let pair = |amount: &str, reason: &str| (amount.to_owned(), reason.to_owned());
        let mixed = look(&till, &invoice, &hash("02")).await;
        assert_eq!(reasons(&mixed), [
            pair("2.00", "asset_not_offered"), pair("0.000001", "not_observed_yet"), pair("1.50", "not_for_this_invoice"),
        ]);
        let wallet = reasons(&look(&till, &invoice, &hash("03")).await);
        assert_eq!(wallet[0].1, "not_observed_yet");
        for (_, reason) in reasons(&look(&till, &invoice, &hash("04")).await) {
            assert_eq!(reason, "not_for_this_invoice");
        }
        let empty = look(&till, &invoice, &hash("05")).await;
        assert_eq!((&empty["found"], &empty["transfers"]), (&json!(true), &json!([])));
        assert_eq!(look(&till, &invoice, &hash("06")).await, nothing(&hash("06")));
        assert_eq!(dump(&world).await, before, "looking wrote something");
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "awaiting_payment");
    }

    async fn our_own_observations_come_first(world: World) {
        let node = Node::start(BASE_CHAIN, Mood::Answers).await;
        let till = till_with(&world, &[("eip155:84532", &node)]).await;
        let invoice = till.invoice().await;
        till.simulate(&id(&invoice), json!({ "amount": "7" })).await;
        let seen = text(&till.payments_of(&id(&invoice)).await[0]["tx_hash"]);
        node.knows(&seen, &[(USDC, WALLET, STRANGER, 1)]);
        let found = look(&till, &invoice, &seen).await;
        assert_eq!((&found["attributed"], &found["transfers"][0]["amount"]), (&json!(true), &json!("7.00")));
        assert!(node.asked().is_empty());
    }

    async fn a_node_that_fails_has_found_nothing_and_the_next_is_asked(world: World) {
        let page = Node::start(BASE_CHAIN, Mood::Page).await;
        let elsewhere = Node::start(1, Mood::Answers).await;
        let good = Node::start(BASE_CHAIN, Mood::Answers).await;
        let base = "eip155:84532";
        let till = till_with(&world, &[(base, &page), (base, &elsewhere), (base, &good)]).await;
        let invoice = till.invoice().await;
        let to = digits(&address(&invoice, BASE));
        // A node of another network is not believed, whatever it knows.
        elsewhere.knows(&hash("01"), &[(USDC, WALLET, &to, 99)]);
        good.knows(&hash("01"), &[(USDC, WALLET, &to, 5_000_000)]);
        let found = look(&till, &invoice, &hash("01")).await;
        assert_eq!(found["transfers"][0]["amount"], "5.00");
        assert_eq!(elsewhere.asked(), ["eth_chainId"]);
        assert_eq!(good.asked(), ["eth_chainId", "eth_getTransactionReceipt"]);
        look(&till, &invoice, &hash("01")).await;
        assert_eq!(good.asked(), ["eth_getTransactionReceipt"], "asked once which network it is");
        assert_eq!(look(&till, &invoice, &hash("02")).await, nothing(&hash("02")));
    }

    async fn only_the_networks_of_the_invoice_are_asked_and_only_for_hashes_of_theirs(world: World) {
        let base = Node::start(BASE_CHAIN, Mood::Answers).await;
        let nile = Node::start(3_448_148_188, Mood::Answers).await;
        let amoy = Node::start(80_002, Mood::Answers).await;
        let rpc = [("eip155:84532", &base), ("tron:3448148188", &nile), ("eip155:80002", &amoy)];
        let till = till_with(&world, &rpc).await;
        let invoice = till.invoice().await;
        let deposit = address(&invoice, NILE);
        let nile_usdt = ("eca9bc828a3005b9a3b909f2cc5c2a54794de05f", hash("01"));
        let tron_hex = hex_of_tron(&deposit);
        nile.knows(&nile_usdt.1, &[(nile_usdt.0, WALLET, &tron_hex, 25_000_000)]);
        let plain = &nile_usdt.1[2..];
        let found = look(&till, &invoice, plain).await;
        assert_eq!((&found["network"], &found["tx_hash"]), (&json!("tron:3448148188"), &json!(plain)));
        assert_eq!((&found["transfers"][0]["to"], &found["transfers"][0]["reason"]), (&json!(deposit), &json!("not_observed_yet")));
        assert!(base.asked().is_empty());
        nile.asked();
        look(&till, &invoice, &hash("01")).await;
        assert_eq!(base.asked().len(), 2);
        look(&till, &invoice, SIGNATURE).await;
        assert!(base.asked().is_empty() && nile.asked().is_empty() && amoy.asked().is_empty());
    }

    async fn whoever_sent_on_solana_learns_where_it_went(world: World) {
        let (node, lost) = (Node::start(0, Mood::Answers).await, Node::start(0, Mood::Answers).await);
        node.begins_with("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG");
        lost.begins_with("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d");
        let till = till_with(&world, &[(SOLANA, &lost), (SOLANA, &node)]).await;
        let invoice = till.invoice().await;
        let balance = |owner: &str, amount: &str, account: u32| json!({
            "accountIndex": account, "mint": SOLANA_USDC, "owner": owner,
            "uiTokenAmount": { "amount": amount, "decimals": 6, "uiAmountString": "0" },
        });
        let told = json!({ "slot": 5, "meta": {
            "err": null,
            "preTokenBalances": [balance("payer", "9000000", 1)],
            "postTokenBalances": [balance("payer", "2000000", 1), balance("somebody", "7000000", 2)],
        } });
        // A node of another cluster is not believed.
        lost.knows_result(SIGNATURE, told.clone());
        assert_eq!(look(&till, &invoice, SIGNATURE).await, nothing(SIGNATURE));
        node.knows_result(SIGNATURE, told);
        let transfer = json!({
            "asset": format!("USDC@{SOLANA}"), "amount": "7.00", "to": "somebody",
            "attributed": false, "reason": "not_for_this_invoice",
        });
        assert_eq!(look(&till, &invoice, SIGNATURE).await, json!({
            "object": "tx_lookup", "tx_hash": SIGNATURE, "found": true, "network": SOLANA,
            "transfers": [transfer], "attributed": false,
        }));
        assert!(lost.asked().iter().all(|method| method == "getGenesisHash"));
        // Nothing is asked of it for a hash that is none of its own.
        node.asked();
        assert_eq!(look(&till, &invoice, &hash("01")).await, nothing(&hash("01")));
        assert!(node.asked().is_empty());
    }

    async fn nodes_that_hang_do_not_hold_the_payer_up(world: World) {
        let (base, sepolia) = (Node::start(BASE_CHAIN, Mood::Hangs).await, Node::start(11_155_111, Mood::Answers).await);
        let mut setup = Setup { lookup_time: Duration::from_secs(1), ..Setup::default() };
        setup.rpc.insert("eip155:84532".to_owned(), vec![base.url(), base.url()]);
        let till = world.till_with(setup.clone()).await;
        let invoice = till.invoice().await;
        assert_eq!(look(&till, &invoice, &hash("01")).await, nothing(&hash("01")));
        assert!(!base.asked().is_empty());
        // Another network is asked beside it and answers at once.
        setup.lookup_time = Duration::from_secs(60);
        setup.rpc.insert("eip155:11155111".to_owned(), vec![sepolia.url()]);
        let till = world.till_with(setup).await;
        let invoice = till.invoice().await;
        sepolia.knows(&hash("01"), &[]);
        assert_eq!(look(&till, &invoice, &hash("01")).await["network"], "eip155:11155111");
    }
}

fn hex_of_tron(address: &str) -> String {
    let nile = till_core::asset::Registry::builtin()
        .network("tron:3448148188")
        .expect("Nile");
    assert_eq!(
        till_chains::parse_address(nile, address).as_deref(),
        Ok(address)
    );
    let bytes = till_chains::tron::address::parse(address).expect("an address");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! A chain of one test's own, with a wallet that has the coins of thirty blocks.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use till_chains::bitcoin::script::parse;
use till_core::asset::Mode;

use crate::common::{Client, text};

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scripts/regtest-node.cjs"
);
/// The same beside Bitcoin Core itself, without Esplora's pages.
const CORE_SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../scripts/regtest-core.cjs"
);

/// A signed transaction.
pub struct Signed {
    pub hash: String,
    hex: Value,
}

impl Signed {
    /// As nodes take it.
    pub fn digits(&self) -> &str {
        self.hex.as_str().expect("digits")
    }
}

pub struct Node {
    child: Child,
    client: Client,
    pub url: String,
    /// The same chain at another address, which may lie.
    pub second_url: String,
}

impl Node {
    /// None where there is no program to run.
    pub fn start() -> Option<Node> {
        let program = match std::env::var("TILL_TEST_BITCOIND") {
            Ok(bitcoind) => [CORE_SCRIPT.to_owned(), bitcoind],
            Err(_) => [SCRIPT.to_owned(), folder()?],
        };
        let mut child = Command::new("node")
            .args(program)
            .env("NODE_BACKEND", "js")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node runs");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let said = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("Listening on ").map(str::to_owned))
            .expect("it says where it listens");
        let (place, second) = said.split_once(" and ").expect("two addresses");
        Some(Node {
            child,
            client: Client::new(place, ""),
            url: format!("http://{place}"),
            second_url: format!("http://{second}"),
        })
    }

    /// The same where there must be Esplora's pages: Bitcoin Core has none.
    pub fn start_with_pages() -> Option<Node> {
        if std::env::var("TILL_TEST_BITCOIND").is_ok() {
            eprintln!("skipped: Bitcoin Core has no pages of Esplora");
            return None;
        }
        Node::start()
    }

    /// Where Esplora's pages about the same chain are.
    pub fn provider_url(&self) -> String {
        format!("{}/api", self.url)
    }

    /// And those that may lie.
    pub fn second_provider_url(&self) -> String {
        format!("{}/api/", self.second_url)
    }

    #[track_caller]
    pub fn ask(&self, method: &str, params: Value) -> Value {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut answer = self.client.post("/", "", &question).unwrap().expect(200);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Spends the coins of these blocks, each given to one address; more fee replaces less.
    pub fn signed(&self, coins: &[u64], outputs: &[(&str, u64)], fee: u64) -> Signed {
        let outputs: Vec<(String, u64)> = outputs
            .iter()
            .map(|(address, sats)| (script(address), *sats))
            .collect();
        let made = self.ask("make", json!([coins, outputs, fee]));
        Signed {
            hash: text(&made, "/txid").to_owned(),
            hex: made["hex"].clone(),
        }
    }

    /// Hands in what somebody else has signed, and says under which hash.
    #[track_caller]
    pub fn send_digits(&self, digits: &str) -> String {
        let hash = self.ask("sendrawtransaction", json!([digits]));
        hash.as_str().expect("a hash").to_owned()
    }

    /// Hands it in: it waits for a block.
    #[track_caller]
    pub fn send(&self, signed: &Signed) {
        self.ask("sendrawtransaction", json!([signed.hex]));
    }

    /// Pays from the coin of one block, and says under which hash.
    #[track_caller]
    pub fn pay(&self, coin: u64, address: &str, sats: u64) -> String {
        let signed = self.signed(&[coin], &[(address, sats)], 1_000);
        self.send(&signed);
        signed.hash
    }

    /// Blocks with all that waits.
    pub fn mine(&self, blocks: u64) -> i64 {
        let height = self.ask("mine", json!([blocks]));
        height.as_i64().expect("a height")
    }

    /// A block with these and nothing else, whatever waits.
    pub fn mine_only(&self, signed: &[&Signed]) {
        let only: Vec<&Value> = signed.iter().map(|it| &it.hex).collect();
        self.ask("mine", json!([1, only]));
    }

    /// A block whose miner is paid to an address.
    pub fn mine_to(&self, address: &str) {
        self.ask("mine", json!([1, null, script(address)]));
    }

    /// What is wrong with the second address from now on.
    pub fn lie(&self, lie: Option<&str>) {
        self.ask("lie", json!([lie]));
    }

    /// Takes the last blocks back: what they had waits again.
    pub fn take_back(&self, depth: i64) {
        let info = self.ask("getblockchaininfo", json!([]));
        let height = info["blocks"].as_i64().expect("a height") - depth + 1;
        let name = self.ask("getblockhash", json!([height]));
        self.ask("invalidateblock", json!([name]));
    }
}

fn script(address: &str) -> String {
    let program = parse(Mode::Test, address).expect("an address");
    let digits: String = program.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0014{digits}")
}

impl Drop for Node {
    fn drop(&mut self) {
        // It ends with its standard input, and ends what it has started.
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}

fn folder() -> Option<String> {
    let folder = std::env::var("TILL_TEST_BITCOIN").ok();
    if folder.is_none() {
        let required = std::env::var("TILL_REQUIRE_BITCOIN").is_ok_and(|value| value == "1");
        assert!(!required, "TILL_REQUIRE_BITCOIN is 1 but there is no node");
        eprintln!("skipped: TILL_TEST_BITCOIN is not set (see scripts/with-bitcoin)");
    }
    folder
}

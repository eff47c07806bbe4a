//! A chain of one test's own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use till_chains::raw::raw;
use till_core::asset::{Network, Registry};

use crate::common::Client;

/// A token that takes the caller's word: for every pair of recipient and amount behind the selector of `transfer` it adds
/// to the recipient's balance, which is in the slot that the address names, and emits a Transfer from the caller. It knows
/// `balanceOf`, and answers every other question about an address from the slot that the address names with its first
/// bit set: an issuer's blacklist, and as well the oracle's.
///
/// ```text
/// PUSH1 00 CALLDATALOAD PUSH1 e0 SHR
/// DUP1 PUSH4 70a08231 EQ PUSH1 71 JUMPI PUSH4 a9059cbb EQ ISZERO PUSH1 7e JUMPI
/// CALLVALUE PUSH1 91 JUMPI PUSH1 04
/// 20: JUMPDEST CALLDATASIZE DUP2 LT ISZERO PUSH1 66 JUMPI
/// DUP1 PUSH1 20 ADD CALLDATALOAD DUP2 CALLDATALOAD            amount, recipient
/// DUP1 SLOAD DUP3 ADD DUP2 SSTORE
/// SWAP1 PUSH1 00 MSTORE CALLER PUSH32 topic PUSH1 20 PUSH1 00 LOG3
/// PUSH1 40 ADD PUSH1 20 JUMP
/// 66: JUMPDEST PUSH1 01 PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
/// 71: JUMPDEST PUSH1 04 CALLDATALOAD SLOAD PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
/// 7e: JUMPDEST PUSH1 04 CALLDATALOAD PUSH1 01 PUSH1 ff SHL OR SLOAD PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
/// 91: JUMPDEST PUSH1 00 PUSH1 00 REVERT
/// ```
const TOKEN: &str = "0x60003560e01c806370a082311460715763a9059cbb1415607e573460915760045b36811015606657806020\
                     0135813580548201815590600052337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4d\
                     f523b3ef60206000a36040016020565b600160005260206000f35b6004355460005260206000f35b60043560\
                     0160ff1b175460005260206000f35b60006000fd";
/// The same, which keeps a hundredth of what it says it moves: before ADD it has PUSH1 64 SWAP1 DIV PUSH1 63 MUL.
const FEE_TAKER: &str = "0x60003560e01c806370a082311460785763a9059cbb14156085573460985760045b36811015606d57806020\
                         013581358054826064900460630201815590600052337fddf252ad1be2c89b69c2b068fc378daa952ba7f163\
                         c4a11628f55a4df523b3ef60206000a36040016020565b600160005260206000f35b60043554600052602060\
                         00f35b600435600160ff1b175460005260206000f35b60006000fd";
const FACTORY: &str = "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe036016000816020823780\
                       35828234f58015156039578182fd5b8082525050506014600cf3";

/// A token with balances, each in the slot that its owner's address names: `balanceOf` and `transfer`, and nothing else.
///
/// ```text
/// PUSH1 00 CALLDATALOAD PUSH1 e0 SHR                     the selector
/// DUP1 PUSH4 70a08231 EQ PUSH1 1d JUMPI
/// PUSH4 a9059cbb EQ PUSH1 2a JUMPI
/// PUSH1 00 DUP1 REVERT
/// 1d: JUMPDEST PUSH1 04 CALLDATALOAD SLOAD PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
/// 2a: JUMPDEST CALLER SLOAD PUSH1 24 CALLDATALOAD        balance, amount
/// DUP1 DUP3 LT PUSH1 79 JUMPI                            too little
/// DUP1 DUP3 SUB CALLER SSTORE
/// PUSH1 04 CALLDATALOAD DUP1 SLOAD DUP3 ADD DUP2 SSTORE  the recipient's
/// SWAP1 PUSH1 00 MSTORE CALLER PUSH32 topic PUSH1 20 PUSH1 00 LOG3
/// PUSH1 01 PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
/// 79: JUMPDEST PUSH1 00 DUP1 REVERT
/// ```
const LEDGER: &str = "0x60003560e01c806370a0823114601d5763a9059cbb14602a57600080fd\
                      5b60043554600052602060\
                      00f35b3354602435808210607957808203335560043580548201815590600052337f\
                      ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef\
                      60206000a3600160005260206000f35b600080fd";
const MULTICALL3: &str = include_str!("../../../../testdata/multicall3.hex");
const MULTICALL3_ADDRESS: &str = "0xcA11bde05977b3631167028862bE2a173976CA11";

pub struct Node {
    child: Child,
    client: Client,
    pub url: String,
    pub network: &'static Network,
}

impl Node {
    /// A chain under the number of a network, with the factory and the tokens that are known there. Blocks are made when a
    /// test says so; a block is safe with one on top and final with two. None where there is no program to run.
    pub fn start(network: &str) -> Option<Node> {
        let network = Registry::builtin().network(network).expect("a network");
        let chain_id = network.chain_id.expect("a number").to_string();
        let mut child = Command::new(program()?)
            .args(["--host", "127.0.0.1", "--port", "0", "--no-mining"])
            .args(["--order", "fifo", "--slots-in-an-epoch", "1"])
            .args(["--chain-id", &chain_id])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("anvil runs");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let place = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("Listening on ").map(str::to_owned))
            .expect("it says where it listens");
        thread::spawn(move || lines.for_each(drop));
        let node = Node {
            child,
            client: Client::new(&place, ""),
            url: format!("http://{place}"),
            network,
        };
        if let Some(factory) = &network.factory {
            node.set_code(factory, FACTORY);
        }
        node.set_tokens(TOKEN);
        node.mine(5);
        Some(node)
    }

    fn set_tokens(&self, code: &str) {
        let assets = Registry::builtin().assets().iter();
        let here = assets.filter(|asset| asset.network == self.network.id);
        for contract in here.filter_map(|asset| asset.contract.as_ref()) {
            self.set_code(contract, code);
        }
    }

    /// From now on tokens keep a part of what they say they move.
    pub fn take_fees(&self) {
        self.set_tokens(FEE_TAKER);
    }

    /// From now on a contract says of an address that it is blocked; where nothing is, it comes to be.
    pub fn block(&self, contract: &str, address: &str) {
        let (contract, address) = (self.hex(contract), self.hex(address));
        if self.ask("eth_getCode", json!([contract, "latest"])) == "0x" {
            self.ask("anvil_setCode", json!([contract, TOKEN]));
        }
        let slot = format!("0x80{:0>62}", &address[2..]);
        let yes = format!("0x{:064x}", 1);
        self.ask("anvil_setStorageAt", json!([contract, slot, yes]));
    }

    fn set_code(&self, address: &str, code: &str) {
        self.ask("anvil_setCode", json!([self.hex(address), code]));
    }

    /// From now on tokens have balances, the first wallet plenty of an asset, and many calls can be made in one.
    pub fn keep_balances(&self, asset: &str) {
        self.set_tokens(LEDGER);
        let multicall = format!("0x{}", MULTICALL3.trim());
        self.set_code(MULTICALL3_ADDRESS, &multicall);
        let payer = self.ask("eth_accounts", json!([]))[0].take();
        let slot = format!("0x{:0>64}", &payer.as_str().expect("an address")[2..]);
        let plenty = format!("0x{:064x}", 1u128 << 100);
        let contract = self.contract(asset);
        self.ask("anvil_setStorageAt", json!([contract, slot, plenty]));
    }

    pub fn payer(&self) -> String {
        let payer = self.ask("eth_accounts", json!([]))[0].take();
        payer.as_str().expect("an address").to_owned()
    }

    pub fn contract(&self, asset: &str) -> String {
        let asset = Registry::builtin().asset(asset).expect("an asset");
        self.hex(asset.contract.as_deref().expect("a token"))
    }

    pub fn balance(&self, asset: &str, address: &str) -> u128 {
        let data = format!("0x70a08231{:0>64}", &self.hex(address)[2..]);
        let call = json!({ "to": self.contract(asset), "data": data });
        let word = self.ask("eth_call", json!([call, "latest"]));
        let digits = word.as_str().expect("a word").trim_start_matches("0x");
        u128::from_str_radix(digits, 16).expect("a number")
    }

    /// An address as nodes write it.
    pub fn hex(&self, address: &str) -> String {
        if address.starts_with("0x") {
            return address.to_lowercase();
        }
        let bytes = raw(self.network.family, address).expect("an address");
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("0x{digits}")
    }

    #[track_caller]
    pub fn ask(&self, method: &str, params: Value) -> Value {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut answer = self.client.post("/", "", &question).unwrap().expect(200);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    pub fn mine(&self, blocks: u64) {
        self.ask("anvil_mine", json!([format!("0x{blocks:x}")]));
    }

    pub fn height(&self) -> i64 {
        let number = self.ask("eth_blockNumber", json!([]));
        let digits = number.as_str().expect("a number").trim_start_matches("0x");
        i64::from_str_radix(digits, 16).expect("a number")
    }

    /// A signed call of a token with transfers, for a later block or for several.
    pub fn signed(&self, asset: &str, transfers: &[(&str, u128)]) -> String {
        let contract = self.contract(asset);
        let mut data = "0xa9059cbb".to_owned();
        for (to, units) in transfers {
            data += &format!("{:0>64}{units:064x}", &self.hex(to)[2..]);
        }
        let payer = self.ask("eth_accounts", json!([]))[0].take();
        let nonce = self.ask("eth_getTransactionCount", json!([payer, "pending"]));
        let tx = json!({
            "from": payer, "to": contract, "data": data, "nonce": nonce, "gas": "0x200000",
            "gasPrice": "0x77359400",
        });
        let signed = self.ask("eth_signTransaction", json!([tx]));
        signed.as_str().expect("bytes").to_owned()
    }

    /// Hands it in; the next block has it.
    pub fn send(&self, signed: &str) -> String {
        let hash = self.ask("eth_sendRawTransaction", json!([signed]));
        hash.as_str().expect("a hash").to_owned()
    }

    /// Hands in a transfer that an address makes without anybody's signature: only a test's own chain does that.
    pub fn pass_on(&self, asset: &str, from: &str, to: &str, units: u128) {
        let from = self.hex(from);
        self.ask("anvil_setBalance", json!([from, "0xde0b6b3a7640000"]));
        self.ask("anvil_impersonateAccount", json!([from]));
        let data = format!("0xa9059cbb{:0>64}{units:064x}", &self.hex(to)[2..]);
        let tx = json!({
            "from": from, "to": self.contract(asset), "data": data, "gas": "0x30000", "gasPrice": "0x77359400",
        });
        self.ask("eth_sendTransaction", json!([tx]));
    }

    /// Hands in so many transactions that have nothing to do with anybody.
    pub fn send_coins(&self, count: usize) {
        let stranger = self.ask("eth_accounts", json!([]))[7].take();
        for _ in 0..count {
            let tx = json!({ "from": stranger, "to": stranger, "gas": "0x5208", "gasPrice": "0x77359400" });
            self.ask("eth_sendTransaction", json!([tx]));
        }
    }

    /// Two logs in the next block: one of a token that is no transfer, and a transfer of something that is no token.
    pub fn speak(&self, token: &str, stranger: &str) {
        // PUSH1 00 PUSH1 00 LOG0, and for the other: PUSH32 topic PUSH1 00 PUSH1 00 LOG1.
        let topic = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
        let one_topic = format!("0x7f{topic}60006000a1");
        self.ask("anvil_setCode", json!([token, "0x60006000a0"]));
        self.ask("anvil_setCode", json!([stranger, one_topic]));
        let payer = self.payer();
        for to in [token, stranger] {
            let tx = json!({ "from": payer, "to": to, "gas": "0x30000", "gasPrice": "0x77359400" });
            self.ask("eth_sendTransaction", json!([tx]));
        }
    }

    /// Pays, in a block of its own.
    pub fn pay(&self, asset: &str, transfers: &[(&str, u128)]) -> String {
        let hash = self.send(&self.signed(asset, transfers));
        self.mine(1);
        hash
    }

    /// Replaces the last blocks by empty ones.
    pub fn reorganise(&self, depth: u64) {
        self.ask("anvil_reorg", json!([depth, []]));
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn program() -> Option<String> {
    let program = std::env::var("TILL_TEST_ANVIL_PROGRAM").ok();
    if program.is_none() {
        let required = std::env::var("TILL_REQUIRE_ANVIL").is_ok_and(|value| value == "1");
        assert!(!required, "TILL_REQUIRE_ANVIL is 1 but there is no anvil");
        eprintln!("skipped: TILL_TEST_ANVIL_PROGRAM is not set (see scripts/with-anvil)");
    }
    program
}

//! The real binary beside a real chain: anvil, under the number of Base Sepolia, which `scripts/with-anvil`
//! starts and names in TILL_TEST_ANVIL. Without it these tests say that they are skipped, or fail if
//! TILL_REQUIRE_ANVIL is 1.

#[expect(dead_code, reason = "each suite uses its own part of what they share")]
mod common;

use common::{Client, Place, text};
use serde_json::{Value, json};

/// The registry's contract on this network; anvil starts without it.
const USDC: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const FAKE: &str = "0x1111111111111111111111111111111111111111";
const STRANGER: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

/// A token that takes the caller's word: it emits a Transfer from the caller for every pair of recipient and
/// amount behind the selector, so that a call of `transfer(address,uint256)` emits one. Sent any coin, it fails.
///
/// ```text
/// CALLVALUE PUSH1 50 JUMPI                               fail if value was sent
/// PUSH1 04                                               at = 4
/// 06: JUMPDEST CALLDATASIZE DUP2 LT ISZERO PUSH1 45 JUMPI    while at < size
/// DUP1 PUSH1 20 ADD CALLDATALOAD PUSH1 00 MSTORE         memory[0] = data[at + 32]
/// DUP1 CALLDATALOAD CALLER PUSH32 topic                  topic, caller, data[at]
/// PUSH1 20 PUSH1 00 LOG3
/// PUSH1 40 ADD PUSH1 06 JUMP                             at += 64
/// 45: JUMPDEST PUSH1 01 PUSH1 00 MSTORE PUSH1 20 PUSH1 00 RETURN
/// 50: JUMPDEST PUSH1 00 PUSH1 00 REVERT
/// ```
const TOKEN: &str = "0x3460505760045b3681101560455780602001356000528035337f\
                     ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef\
                     60206000a36040016006565b600160005260206000f35b60006000fd";

struct Anvil {
    url: String,
    client: Client,
}

impl Anvil {
    fn find() -> Option<Anvil> {
        let url = std::env::var("TILL_TEST_ANVIL").ok();
        if url.is_none() {
            let required = std::env::var("TILL_REQUIRE_ANVIL").is_ok_and(|value| value == "1");
            assert!(
                !required,
                "TILL_REQUIRE_ANVIL is 1 but TILL_TEST_ANVIL names no chain"
            );
            eprintln!("skipped: TILL_TEST_ANVIL is not set (see scripts/with-anvil)");
        }
        let url = url?;
        let address = url.trim_start_matches("http://").to_owned();
        let anvil = Anvil {
            client: Client::new(&address, ""),
            url,
        };
        for contract in [USDC, FAKE] {
            anvil.ask("anvil_setCode", json!([contract, TOKEN]));
        }
        Some(anvil)
    }

    fn ask(&self, method: &str, params: Value) -> Value {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut answer = self.client.post("/", "", &question).unwrap().expect(200);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    /// Calls a token with transfers and gives the transaction's hash.
    fn send(&self, contract: &str, transfers: &[(&str, u128)], coins: &str) -> String {
        let mut data = "0xa9059cbb".to_owned();
        for (to, units) in transfers {
            data += &format!("{:0>64}{units:064x}", &to[2..].to_lowercase());
        }
        let payer = self.ask("eth_accounts", json!([]))[0].take();
        // With its gas named, a transaction that fails is mined all the same.
        let tx = json!({ "from": payer, "to": contract, "data": data, "value": coins, "gas": "0x30000" });
        let hash = self.ask("eth_sendTransaction", json!([tx]));
        // Mined at once, which is a moment after it was accepted.
        for _ in 0..5_000 {
            let receipt = self.ask("eth_getTransactionReceipt", json!([hash]));
            if !receipt.is_null() {
                return hash.as_str().expect("a hash").to_owned();
            }
        }
        panic!("{hash} was not mined");
    }
}

// The factory is not there, so that the network is halted: whoever asks is told what the node says, and nothing counts.
#[test]
fn a_transfer_on_the_chain_is_found_and_not_credited() {
    let Some(anvil) = Anvil::find() else { return };
    let place = Place::new();
    let account = place.account(&[]);
    let config = format!("[networks.\"eip155:84532\"]\nrpc = [\"{}\"]\n", anvil.url);
    let file = place.write("till.toml", &config);
    let server = place.serve(&["--config", file.to_str().unwrap()]);
    let merchant = server.client(text(&account, "/test/secret_key"));
    let payer = server.client(text(&account, "/test/publishable_key"));

    let body = json!({ "amount": "25.00", "currency": "USD" });
    let invoice = merchant.post("/v1/invoices", "one", &body).unwrap();
    let invoice = invoice.expect(201);
    let id = text(&invoice, "/id");
    let options = invoice["payment_options"].as_array().unwrap();
    let option = options
        .iter()
        .find(|option| option["asset"] == "USDC@eip155:84532");
    let deposit = text(option.expect("offered"), "/address");
    let look = |hash: &str| {
        let path = format!("/v1/checkout/invoices/{id}/lookup?tx_hash={hash}");
        payer.get(&path).unwrap().expect(200)
    };
    let shown = |amount: &str, to: &str, reason: &str| {
        json!({
            "asset": "USDC@eip155:84532", "amount": amount, "to": to,
            "attributed": false, "reason": reason,
        })
    };

    let paid = anvil.send(USDC, &[(deposit, 25_000_000)], "0x0");
    let found = look(&paid);
    let expected = json!({
        "object": "tx_lookup", "tx_hash": paid, "found": true, "network": "eip155:84532",
        "transfers": [shown("25.00", deposit, "not_observed_yet")], "attributed": false,
    });
    assert_eq!(found, expected);

    let stranger = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    let both = anvil.send(
        USDC,
        &[(STRANGER, 1_000_000), (deposit, 0), (deposit, 2)],
        "0x0",
    );
    let expected = json!([
        shown("0.000002", deposit, "not_observed_yet"),
        shown("1.00", stranger, "not_for_this_invoice"),
    ]);
    assert_eq!(look(&both)["transfers"], expected);

    let lookalike = anvil.send(FAKE, &[(deposit, 25_000_000)], "0x0");
    let failed = anvil.send(USDC, &[(deposit, 25_000_000)], "0x1");
    for moved_nothing in [lookalike, failed] {
        let found = look(&moved_nothing);
        assert_eq!(
            (&found["found"], &found["transfers"]),
            (&json!(true), &json!([]))
        );
    }
    let unknown = look(&format!("0x{}", "ab".repeat(32)));
    assert_eq!(
        (&unknown["found"], &unknown["network"]),
        (&json!(false), &Value::Null)
    );

    let path = format!("/v1/invoices/{id}");
    let after = merchant.get(&path).unwrap().expect(200);
    assert_eq!(after["status"], "awaiting_payment");
    let payments = merchant.get("/v1/payments").unwrap().expect(200);
    assert_eq!(payments["data"], json!([]));
    server.stop();
}

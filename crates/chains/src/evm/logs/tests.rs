//! Logs as nodes give them, and as they must not be believed. Numbers such as D03 are the threats they stand for.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const USDC: &str = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
const PAYER: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const SHOP: &str = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
const TOPIC: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

fn contracts(id: &str) -> Contracts {
    Contracts::of(Registry::builtin().network(id).unwrap())
}

fn word(address: &str) -> String {
    format!("0x{:0>64}", &address[2..])
}

fn log() -> Value {
    json!({
        "address": USDC,
        "topics": [TOPIC, word(PAYER), word(SHOP)],
        "data": format!("0x{:064x}", 25_000_000),
        "blockHash": format!("0x{}", "b".repeat(64)),
        "blockNumber": "0x1d4c2af",
        "blockTimestamp": "0x68d2f1ac",
        "transactionHash": format!("0x{}", "c".repeat(64)),
        "transactionIndex": "0x7",
        "logIndex": "0x1f",
        "removed": false
    })
}

fn read_all(logs: &Value) -> Result<Vec<Log>, DecodeError> {
    logs_of("eip155:84532", logs)
}

fn logs_of(network: &str, logs: &Value) -> Result<Vec<Log>, DecodeError> {
    super::logs(&contracts(network), &logs.to_string())
}

fn changed(field: &str, value: &Value) -> Value {
    let mut log = log();
    log[field] = value.clone();
    json!([log])
}

#[test]
fn a_transfer_is_read_from_its_log() {
    let logs = read_all(&json!([log()])).unwrap();
    let [log] = &*logs else { panic!("one log") };
    assert_eq!(log.height, 0x1d4_c2af);
    assert_eq!(
        (log.block_hash, log.tx_hash),
        ([0xbb; 32].into(), [0xcc; 32])
    );
    let moved = log.moved.unwrap();
    assert_eq!(moved.units, 25_000_000);
    assert_eq!(hex::encode(moved.sender.unwrap()), PAYER[2..]);
    assert_eq!(hex::encode(moved.recipient), SHOP[2..]);
    assert_eq!(read_all(&json!([])), Ok(Vec::new()));
}

// D03, D07.
#[test]
fn what_only_looks_like_a_transfer_moves_nothing() {
    let value = format!("0x{:064x}", 5);
    let dirty = format!("0x{:0>64}", format!("1{}", &SHOP[2..]));
    for other in [
        changed("topics", &json!([TOPIC, word(PAYER), word(SHOP), value])),
        changed("topics", &json!([TOPIC, word(PAYER)])),
        changed("topics", &json!([TOPIC])),
        changed("topics", &json!([TOPIC, word(PAYER), dirty])),
        changed("data", &json!("0x")),
        changed("data", &json!(format!("0x{:066x}", 5))),
        changed("data", &json!(format!("0x{:064x}", 0))),
        changed("data", &json!(format!("0x{}", "f".repeat(64)))),
    ] {
        let logs = read_all(&other).unwrap();
        assert_eq!(logs[0].moved, None, "{other}");
    }
}

// D01, D02, N04, N13, N14.
#[test]
fn an_answer_with_anything_else_in_it_is_none() {
    for (field, value) in [
        (
            "address",
            json!("0x1111111111111111111111111111111111111111"),
        ),
        ("address", json!("0x036cbd")),
        ("topics", json!([])),
        ("topics", json!([word(PAYER), TOPIC, word(SHOP)])),
        ("topics", json!([TOPIC, word(PAYER), "0x5"])),
        ("data", json!("5")),
        ("blockNumber", json!(null)),
        ("blockNumber", json!("0x00")),
        ("blockHash", json!(null)),
        ("transactionHash", json!("0x")),
        ("logIndex", json!(null)),
        ("logIndex", json!("7")),
    ] {
        let others = changed(field, &value);
        assert!(read_all(&others).is_err(), "{field} {value}");
        let mut both = others;
        both.as_array_mut().unwrap().insert(0, log());
        assert!(
            read_all(&both).is_err(),
            "{field} {value} behind a good one"
        );
    }
    for not_logs in [json!(null), json!({}), json!("0x"), json!([null])] {
        assert!(read_all(&not_logs).is_err(), "{not_logs}");
    }
}

#[test]
fn what_was_removed_and_what_is_there_twice_is_passed_over() {
    let mut removed = log();
    removed["removed"] = json!(true);
    removed["logIndex"] = json!("0x20");
    let mut another = log();
    another["logIndex"] = json!("0x21");
    let one = read_all(&json!([log()])).unwrap();
    assert_eq!(read_all(&json!([log(), removed, log()])), Ok(one.clone()));
    let two = [one.clone(), one].concat();
    assert_eq!(read_all(&json!([log(), another, log()])), Ok(two));
}

// D23: TRON's nodes have been seen to write the contract with its prefix.
#[test]
fn a_tron_contract_is_known_with_and_without_its_prefix() {
    let nile = "tron:3448148188";
    let usdt = hex::encode(contracts(nile).all()[0]);
    for address in [format!("0x{usdt}"), format!("0x41{usdt}")] {
        let logs = logs_of(nile, &changed("address", &json!(address))).unwrap();
        assert!(logs[0].moved.is_some(), "{address}");
    }
    assert!(read_all(&changed("address", &json!(format!("0x41{}", &USDC[2..])))).is_err());
}

#[test]
fn look_alikes_are_watched_like_what_is_offered() {
    let base = contracts("eip155:8453");
    let bridged = "d9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca";
    let native = "833589fcd6edb6e08f4c7c32d4f71b54bda02913";
    let known: Vec<String> = base.all().iter().map(hex::encode).collect();
    assert!(known.iter().any(|contract| contract == bridged));
    assert!(known.iter().any(|contract| contract == native));
}

proptest! {
    #[test]
    fn garbage_never_panics(text in "\\PC*", field in "[a-zA-Z]{1,16}", value in "(0x)?[0-9a-fA-F]{0,70}") {
        let _ = super::logs(&contracts("eip155:84532"), &text);
        let _ = read_all(&changed(&field, &json!(value)));
        let _ = read_all(&changed("data", &json!(value)));
        let _ = read_all(&changed("topics", &json!([TOPIC, value])));
    }

    #[test]
    fn an_answer_that_breaks_off_is_none(cut in 1usize..2_000) {
        let text = json!([log(), log()]).to_string();
        prop_assume!(cut < text.len());
        prop_assert!(super::logs(&contracts("eip155:84532"), &text[..cut]).is_err());
    }

    #[test]
    fn any_amount_below_the_end_is_read_exactly(units in 1u128..(1 << 112)) {
        let logs = read_all(&changed("data", &json!(format!("0x{units:064x}")))).unwrap();
        prop_assert_eq!(logs[0].moved.map(|moved| moved.units), Some(units));
    }
}

//! Blocks as nodes give them.

use proptest::prelude::*;
use serde_json::{Value, json};
use till_core::asset::Registry;

use super::*;

fn network(id: &str) -> &'static Network {
    Registry::builtin().network(id).unwrap()
}

fn hash(digit: &str) -> String {
    format!("0x{}", digit.repeat(64))
}

fn block() -> Value {
    json!({
        "number": "0x1d4c2af",
        "hash": hash("a"),
        "parentHash": hash("b"),
        "timestamp": "0x68d2f1ac",
        "logsBloom": format!("0x{}", "00".repeat(256)),
        "stateRoot": hash("c"),
        "transactions": [],
        "baseFeePerGas": "0x7",
        "withdrawals": []
    })
}

fn read(block: &Value) -> Result<Option<Header>, DecodeError> {
    header(network("eip155:84532"), &block.to_string())
}

#[test]
fn a_head_is_read_from_a_block() {
    let header = read(&block()).unwrap().unwrap();
    assert_eq!(header.height, 0x1d4_c2af);
    assert_eq!(
        (header.hash, header.parent),
        ([0xaa; 32].into(), [0xbb; 32].into())
    );
    assert_eq!(header.time, 0x68d2_f1ac * 1_000);
    assert_eq!(header.bloom, Some(Bloom::default()));
    assert_eq!(read(&Value::Null), Ok(None));
}

// java-tron: no state root, and a bloom of zeros whatever is in the block.
#[test]
fn a_tron_block_has_no_bloom_worth_reading() {
    let mut block = block();
    block["stateRoot"] = json!("0x");
    for bloom in [
        json!(format!("0x{}", "00".repeat(256))),
        json!("0x"),
        Value::Null,
    ] {
        block["logsBloom"] = bloom;
        let nile = network("tron:3448148188");
        let header = header(nile, &block.to_string()).unwrap().unwrap();
        assert_eq!(header.bloom, None);
    }
}

// N13, N15.
#[test]
fn what_is_malformed_is_no_block() {
    for (field, value) in [
        ("number", json!(null)),
        ("number", json!(7)),
        ("number", json!("7")),
        ("number", json!("0x07")),
        ("number", json!("0xffffffffffffffff")),
        ("number", json!("0x7fffffffffffffff")),
        ("number", json!("0x20000000000001")),
        ("hash", json!(null)),
        ("hash", json!("0xaa")),
        ("parentHash", json!(format!("0x{}", "g".repeat(64)))),
        ("timestamp", json!("0x7fffffffffffffff")),
        ("timestamp", json!("0x3afff44180")),
        ("timestamp", json!("0x200000001")),
        ("timestamp", json!("0x")),
        ("logsBloom", json!("0x00")),
        ("logsBloom", json!(null)),
    ] {
        let mut block = block();
        block[field] = value.clone();
        let read = read(&block);
        assert!(read.is_err(), "{field} {value}: {read:?}");
    }
}

proptest! {
    #[test]
    fn garbage_never_panics(text in "\\PC*", field in "[a-zA-Z]{1,12}", value in "\\PC{0,20}") {
        let _ = header(network("eip155:84532"), &text);
        let mut block = block();
        block[field] = json!(value);
        let _ = read(&block);
    }

    #[test]
    fn a_block_that_breaks_off_is_none(cut in 1usize..600) {
        let text = block().to_string();
        prop_assume!(cut < text.len());
        prop_assert!(header(network("eip155:84532"), &text[..cut]).is_err());
    }
}

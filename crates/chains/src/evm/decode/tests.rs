//! Receipts as nodes give them, and as they must not be believed. Numbers such as D04 are the threats they stand for.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const HASH: &str = "0x3f6f1fbd2a0b5b0e6dd28ee6bb9d4d3a3e4c1f0a9f3b8d7c6e5f4a3b2c1d0e9f";
const BLOCK: &str = "0x9c1d2b3a4f5e6d7c8b9a0f1e2d3c4b5a6f7e8d9c0b1a2f3e4d5c6b7a8f9e0d1c";
const USDC: &str = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
const PAYER: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const SHOP: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const TOPIC: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

fn network(id: &str) -> &'static Network {
    Registry::builtin().network(id).unwrap()
}

fn hash() -> [u8; 32] {
    bytes(HASH).unwrap()
}

fn word(address: &str) -> String {
    format!("0x{:0>64}", address[2..].to_lowercase())
}

fn amount(units: u128) -> String {
    format!("0x{units:064x}")
}

/// A transfer's log as a node on Base Sepolia gives it.
fn log(index: u64, units: u128) -> Value {
    json!({
        "address": USDC,
        "topics": [TOPIC, word(PAYER), word(SHOP)],
        "data": amount(units),
        "blockHash": BLOCK,
        "blockNumber": "0x1d4c2af",
        "blockTimestamp": "0x68d2f1ac",
        "transactionHash": HASH,
        "transactionIndex": "0x7",
        "logIndex": format!("0x{index:x}"),
        "removed": false
    })
}

fn receipt_of(logs: &[Value]) -> Value {
    json!({
        "type": "0x2",
        "status": "0x1",
        "cumulativeGasUsed": "0x2ab91c",
        "logsBloom": format!("0x{}", "00".repeat(256)),
        "logs": logs,
        "transactionHash": HASH,
        "transactionIndex": "0x7",
        "blockHash": BLOCK,
        "blockNumber": "0x1d4c2af",
        "gasUsed": "0xb411",
        "effectiveGasPrice": "0xf4a10",
        "from": PAYER,
        "to": USDC,
        "contractAddress": null,
        "l1Fee": "0x1a2b"
    })
}

fn decode(receipt: &Value) -> Result<Option<Vec<Transfer>>, DecodeError> {
    let receipt = super::receipt(network("eip155:84532"), &hash(), &receipt.to_string())?;
    Ok(receipt.map(|receipt| receipt.transfers))
}

#[track_caller]
fn check(receipt: &Value, expected: &[(u64, u128)]) {
    let transfers = decode(receipt).unwrap().unwrap();
    let shown: Vec<_> = transfers.iter().map(|t| (t.log_index, t.units.0)).collect();
    assert_eq!(shown, expected);
}

/// The first log, with one of its fields changed.
fn changed(field: &str, value: Value) -> Value {
    let mut log = log(0, 5);
    log[field] = value;
    receipt_of(&[log])
}

#[test]
fn a_transfer_is_read_from_its_log() {
    let transfers = decode(&receipt_of(&[log(3, 25_000_000)])).unwrap();
    let [transfer] = &*transfers.unwrap() else {
        panic!("one transfer");
    };
    assert_eq!(transfer.asset.code, "USDC@eip155:84532");
    assert_eq!(transfer.recipient, SHOP);
    assert_eq!(transfer.senders[0].to_lowercase(), PAYER);
    assert_eq!(transfer.units, Units(25_000_000));
    assert_eq!(transfer.log_index, 3);
}

#[test]
fn a_place_counts_the_logs_of_its_own_transaction() {
    let mut other = log(41, 5);
    other["address"] = json!("0x1111111111111111111111111111111111111111");
    let logs = [log(40, 5), other, log(42, 0), log(43, 7)];
    let transfers = decode(&receipt_of(&logs)).unwrap().unwrap();
    let places: Vec<_> = transfers.iter().map(|it| (it.place, it.units.0)).collect();
    assert_eq!(places, [(0, 5), (3, 7)]);
}

fn with_bloom(logs: &[Value], told_of: &[Value]) -> Receipt {
    let mut bloom = Bloom::default();
    for log in told_of {
        bloom.add(&bytes::<20>(log["address"].as_str().unwrap()).unwrap());
        for topic in log["topics"].as_array().unwrap() {
            bloom.add(&bytes::<32>(topic.as_str().unwrap()).unwrap());
        }
    }
    let mut receipt = receipt_of(logs);
    receipt["logsBloom"] = json!(bloom.shown());
    let text = receipt.to_string();
    let receipt = super::receipt(network("eip155:84532"), &hash(), &text);
    receipt.unwrap().unwrap()
}

// N02: places are counted, so a log that is left out would move the others.
#[test]
fn a_receipt_with_logs_left_out_is_noticed() {
    let mut other = log(41, 5);
    other["address"] = json!("0x1111111111111111111111111111111111111111");
    let all = [log(40, 5), other, log(42, 7)];
    assert!(with_bloom(&all, &all).is_whole);
    assert!(
        !with_bloom(&[all[0].clone(), all[2].clone()], &all).is_whole,
        "a gap"
    );
    assert!(!with_bloom(&all[1..2], &all).is_whole, "the bloom has more");
    assert!(!with_bloom(&all, &all[..1]).is_whole, "the bloom has less");
    assert!(with_bloom(&[], &[]).is_whole);
}

#[test]
fn a_block_has_each_receipt_once() {
    let read =
        |receipts: &Value| super::block_receipts(network("eip155:84532"), &receipts.to_string());
    let receipt = receipt_of(&[log(3, 5)]);
    let receipts = read(&json!([receipt])).unwrap();
    assert_eq!(receipts[&hash()].transfers[0].units, Units(5));
    assert_eq!(read(&json!([])).unwrap().len(), 0);
    assert!(read(&json!([receipt, receipt])).is_err());
    assert!(read(&Value::Null).is_err());
}

// D01, D02.
#[test]
fn a_contract_that_is_not_pinned_moves_nothing_whatever_it_calls_itself() {
    check(
        &changed(
            "address",
            json!("0x1111111111111111111111111111111111111111"),
        ),
        &[],
    );
    // The same token's address on another network is another contract here.
    let elsewhere = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
    check(&changed("address", json!(elsewhere)), &[]);
    check(
        &changed(
            "address",
            json!("0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
        ),
        &[(0, 5)],
    );
}

// D03.
#[test]
fn a_log_of_another_shape_is_no_transfer() {
    let topics = [TOPIC.to_owned(), word(PAYER), word(SHOP)];
    check(&changed("topics", json!([])), &[]);
    check(&changed("topics", json!(topics[..2])), &[]);
    // A token that is not fungible: its number is the fourth topic, and there is no data.
    let mut nft = log(0, 0);
    nft["topics"] = json!([topics[0], topics[1], topics[2], amount(5)]);
    nft["data"] = json!("0x");
    check(&receipt_of(&[nft]), &[]);
    check(&changed("data", json!("0x")), &[]);
    check(&changed("data", json!("0x05")), &[]);
    check(&changed("data", json!(format!("{}00", amount(5)))), &[]);
    let approval = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925";
    check(
        &changed("topics", json!([approval, topics[1], topics[2]])),
        &[],
    );
    let unclean = format!("0x01{}", &topics[2][4..]);
    check(
        &changed("topics", json!([topics[0], topics[1], unclean])),
        &[],
    );
}

// D04.
#[test]
fn a_transaction_that_failed_moved_nothing() {
    let mut failed = receipt_of(&[]);
    failed["status"] = json!("0x0");
    check(&failed, &[]);
    failed["logs"] = json!([log(0, 5)]);
    check(&failed, &[]);
    for status in [
        json!(null),
        json!("0x2"),
        json!("0x01"),
        json!("1"),
        json!(1),
        json!(true),
    ] {
        let mut odd = receipt_of(&[log(0, 5)]);
        odd["status"] = status;
        assert!(decode(&odd).is_err(), "{odd}");
    }
}

// D05: the call's return value is nowhere in a receipt, so it cannot be believed.
#[test]
fn a_transfer_that_returned_false_without_a_log_moved_nothing() {
    check(&receipt_of(&[]), &[]);
}

// D07.
#[test]
fn a_transfer_of_nothing_is_passed_over() {
    check(&receipt_of(&[log(0, 0), log(1, 1)]), &[(1, 1)]);
}

// D12.
#[test]
fn the_sender_is_the_logs_and_not_the_transactions() {
    let mut receipt = receipt_of(&[log(0, 5)]);
    receipt["from"] = json!("0x0000000071727de22e5e9d8baf0edac6f37da032");
    receipt["to"] = json!("0xca11bde05977b3631167028862be2a173976ca11");
    let transfers = decode(&receipt).unwrap().unwrap();
    assert_eq!(transfers[0].senders[0].to_lowercase(), PAYER);
}

// D13.
#[test]
fn every_log_counts_once() {
    let twice = receipt_of(&[log(4, 5), log(5, 6), log(4, 5)]);
    check(&twice, &[(4, 5), (5, 6)]);
    let mut removed = log(6, 7);
    removed["removed"] = true.into();
    let with_removed = receipt_of(&[log(4, 5), log(5, 6), removed]);
    check(&with_removed, &[(4, 5), (5, 6)]);
    let contradicting = receipt_of(&[log(4, 5), log(4, 6)]);
    assert_eq!(decode(&contradicting), Err(DecodeError::Contradiction));
}

#[test]
fn what_is_in_no_block_is_not_found() {
    assert_eq!(decode(&Value::Null), Ok(None));
    for field in ["blockHash", "blockNumber"] {
        let mut pending = receipt_of(&[log(0, 5)]);
        pending[field] = Value::Null;
        assert_eq!(decode(&pending), Ok(None));
    }
}

// N07.
#[test]
fn the_receipt_of_another_transaction_is_refused() {
    let other = json!(BLOCK);
    let mut receipt = receipt_of(&[log(0, 5)]);
    receipt["transactionHash"] = other.clone();
    assert_eq!(decode(&receipt), Err(DecodeError::OtherTransaction));
    let receipt = changed("transactionHash", other);
    assert_eq!(decode(&receipt), Err(DecodeError::OtherTransaction));
}

// N13.
#[test]
fn malformed_numbers_and_bytes_spoil_the_whole_answer() {
    for (field, values) in [
        (
            "logIndex",
            &[
                "",
                "0x",
                "3",
                "0x03",
                "0xg",
                "0X3",
                "-0x3",
                "0x+3",
                "0x10000000000000000",
            ][..],
        ),
        ("address", &["", "0x", &USDC[2..], &USDC[..41], "0xzz"]),
        ("data", &["", "5", "0x5", "0xzz", "0x 5"]),
        ("transactionHash", &["", "0x", &HASH[2..], &HASH[..65]]),
    ] {
        for value in values {
            let receipt = changed(field, json!(value));
            assert!(decode(&receipt).is_err(), "{field}: {value}");
        }
        assert!(
            decode(&changed(field, Value::Null)).is_err(),
            "{field}: null"
        );
        assert!(decode(&changed(field, json!(5))).is_err(), "{field}: 5");
    }
    let short_topic = changed("topics", json!([TOPIC, "0x00", word(SHOP)]));
    assert_eq!(decode(&short_topic), Err(DecodeError::Bytes));
    let everything = format!("0x{}", "ff".repeat(32));
    let receipt = changed("data", json!(everything));
    check(&receipt, &[]);
    check(
        &changed("data", json!(amount(Units::END.0 - 1))),
        &[(0, Units::END.0 - 1)],
    );
    // More than any supply is no transfer, of whatever token.
    check(&changed("data", json!(amount(Units::END.0))), &[]);
    let mut other = log(0, 5);
    other["address"] = json!("0x1111111111111111111111111111111111111111");
    other["data"] = json!(everything);
    check(&receipt_of(&[other, log(1, 6)]), &[(1, 6)]);
}

// D06, D23.
#[test]
fn tron_answers_alike_and_shows_its_own_addresses() {
    let nile = network("tron:3448148188");
    let usdt = nile_usdt();
    for prefix in ["0x", "0x41"] {
        let mut log = log(0, 1_000_000);
        log["address"] = json!(format!("{prefix}{}", hex::encode(usdt)));
        let receipt = receipt_of(&[log]).to_string();
        let receipt = super::receipt(nile, &hash(), &receipt).unwrap().unwrap();
        let transfers = receipt.transfers;
        assert_eq!(transfers[0].asset.code, "USDT@tron:3448148188");
        let shop = bytes(&SHOP.to_lowercase()).unwrap();
        assert_eq!(transfers[0].recipient, crate::tron::address::display(&shop));
        assert!(transfers[0].senders[0].starts_with('T'));
    }
    // The prefix is TRON's alone.
    assert!(decode(&changed("address", json!(format!("0x41{}", &USDC[2..])))).is_err());
}

fn nile_usdt() -> [u8; 20] {
    crate::tron::address::parse("TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf").unwrap()
}

#[test]
fn a_field_given_twice_is_refused() {
    let text = receipt_of(&[log(0, 5)]).to_string();
    let twice = text.replacen(
        "\"status\":\"0x1\"",
        "\"status\":\"0x0\",\"status\":\"0x1\"",
        1,
    );
    assert_ne!(text, twice);
    let decoded = super::receipt(network("eip155:84532"), &hash(), &twice);
    assert_eq!(decoded, Err(DecodeError::Shape));
}

proptest! {
    #[test]
    fn what_was_encoded_is_decoded(
        amounts in proptest::collection::vec(0..Units::END.0, 0..20),
        noise in proptest::collection::vec("[0-9a-f]{0,80}", 0..5),
    ) {
        let mut logs: Vec<Value> =
            amounts.iter().enumerate().map(|(at, units)| log(at as u64, *units)).collect();
        for (at, data) in noise.iter().enumerate() {
            let mut other = log(100 + at as u64, 0);
            other["address"] = json!("0x1111111111111111111111111111111111111111");
            other["data"] = json!(format!("0x{}", &data[..data.len() & !1]));
            logs.push(other);
        }
        let transfers = decode(&receipt_of(&logs)).unwrap().unwrap();
        let read: Vec<u128> = transfers.iter().map(|transfer| transfer.units.0).collect();
        let moved: Vec<u128> = amounts.into_iter().filter(|units| *units != 0).collect();
        prop_assert_eq!(read, moved);
    }

    #[test]
    fn garbage_never_panics(
        text in "\\PC*", hex in "0x[0-9a-fA-F]{0,70}", number in "(0x)?[0-9a-f]{0,20}", cut: usize,
    ) {
        let _ = super::receipt(network("eip155:84532"), &hash(), &text);
        let _ = quantity(&number);
        for field in ["address", "data", "logIndex", "transactionHash"] {
            for value in [&text, &hex, &number] {
                let _ = decode(&changed(field, json!(value)));
                let _ = decode(&changed("topics", json!([TOPIC, value, hex])));
            }
        }
        let whole = receipt_of(&[log(0, 5)]).to_string();
        let cut = &whole[..cut % whole.len()];
        prop_assert!(super::receipt(network("eip155:84532"), &hash(), cut).is_err());
    }
}

//! Blocks that are made here, with the work that regtest asks for, and spoiled.

use bitcoin::block::{Header as RawHeader, Version};
use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::{self, TxIn, TxOut};
use bitcoin::{
    Amount, BlockHash, CompactTarget, OutPoint, ScriptBuf, Transaction as RawTransaction,
    TxMerkleNode, Txid, WPubkeyHash, absolute,
};
use serde_json::{Value, json};
use till_core::asset::Registry;

use super::*;

const REGTEST: &str = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328";

fn network() -> &'static Network {
    Registry::builtin().network(REGTEST).unwrap()
}

fn paying(outputs: &[(u64, [u8; 20])], spends: &[u8]) -> RawTransaction {
    let input = |from: &u8| TxIn {
        previous_output: OutPoint::new(Txid::from_byte_array([*from; 32]), u32::from(*from)),
        ..TxIn::default()
    };
    let output = |(sats, program): &(u64, [u8; 20])| TxOut {
        value: Amount::from_sat(*sats),
        script_pubkey: ScriptBuf::new_p2wpkh(&WPubkeyHash::from_byte_array(*program)),
    };
    RawTransaction {
        version: transaction::Version::TWO,
        lock_time: absolute::LockTime::ZERO,
        input: spends.iter().map(input).collect(),
        output: outputs.iter().map(output).collect(),
    }
}

fn coinbase(program: [u8; 20]) -> RawTransaction {
    let mut raw = paying(&[(5_000_000_000, program)], &[0]);
    raw.input[0].previous_output = OutPoint::null();
    raw.input[0].script_sig = ScriptBuf::from_bytes(vec![1, 1]);
    raw
}

/// With the root and the work that it needs.
fn mined(txdata: Vec<RawTransaction>) -> RawBlock {
    let mut raw = RawBlock {
        header: RawHeader {
            version: Version::TWO,
            prev_blockhash: BlockHash::from_byte_array([9; 32]),
            merkle_root: TxMerkleNode::all_zeros(),
            time: 1_700_000_000,
            bits: CompactTarget::from_consensus(0x207f_ffff),
            nonce: 0,
        },
        txdata,
    };
    raw.header.merkle_root = raw.compute_merkle_root().unwrap();
    work(raw)
}

fn work(mut raw: RawBlock) -> RawBlock {
    while raw.header.validate_pow(raw.header.target()).is_err() {
        raw.header.nonce += 1;
    }
    raw
}

fn named(raw: &RawBlock) -> BlockName {
    name(&raw.block_hash().to_string()).unwrap()
}

fn told(raw: &RawBlock) -> Result<Block, DecodeError> {
    block(network(), &named(raw), &serialize_hex(raw))
}

#[test]
fn every_output_to_a_key_counts_once_at_its_place() {
    let pays = paying(
        &[(7, [1; 20]), (0, [2; 20]), (8, [1; 20]), (9, [3; 20])],
        &[4, 5],
    );
    let raw = mined(vec![coinbase([8; 20]), pays.clone()]);
    let read = told(&raw).unwrap();
    assert_eq!(hex::encode(read.header.parent), "09".repeat(32));
    assert_eq!(read.header.time, 1_700_000_000_000);
    let [first, second] = &read.transactions[..] else {
        panic!("two transactions");
    };
    assert!(first.is_coinbase && !second.is_coinbase);
    assert_eq!(hex::encode(second.hash), pays.compute_txid().to_string());
    let paid: Vec<(u32, u8, u64)> = second
        .outputs
        .iter()
        .map(|it| (it.place, it.program[0], it.sats))
        .collect();
    assert_eq!(paid, [(0, 1, 7), (2, 1, 8), (3, 3, 9)]);
    let spent: Vec<(u8, u32)> = second
        .spends
        .iter()
        .map(|it| (it.transaction[0], it.output))
        .collect();
    assert_eq!(spent, [(4, 4), (5, 5)]);
}

#[test]
fn a_block_with_a_transaction_left_out_added_or_doubled_is_none() {
    let of = |from: u8| paying(&[(u64::from(from), [from; 20])], &[from]);
    let raw = mined(vec![coinbase([8; 20]), of(1), of(2)]);
    assert!(told(&raw).is_ok());
    let spoiled = [
        vec![coinbase([8; 20]), of(1)],
        vec![coinbase([8; 20]), of(2), of(1)],
        vec![coinbase([8; 20]), of(1), of(2), of(3)],
        // The same root: the last one is hashed with itself.
        vec![coinbase([8; 20]), of(1), of(2), of(2)],
        vec![],
    ];
    for txdata in spoiled {
        let raw = RawBlock {
            txdata,
            ..raw.clone()
        };
        assert_eq!(told(&raw), Err(DecodeError::MerkleRoot));
    }
}

#[test]
fn what_could_be_a_node_of_the_tree_is_no_transaction() {
    let mut short = paying(&[(1, [1; 20])], &[1]);
    short.output[0].script_pubkey = ScriptBuf::from_bytes(vec![0x51; 4]);
    assert_eq!(short.base_size(), 64);
    let raw = mined(vec![coinbase([8; 20]), short]);
    assert_eq!(told(&raw), Err(DecodeError::MerkleRoot));
}

#[test]
fn a_block_begins_with_its_coinbase_and_has_no_other() {
    let of = |from: u8| paying(&[(1, [from; 20])], &[from]);
    for txdata in [vec![of(1)], vec![coinbase([8; 20]), coinbase([7; 20])]] {
        assert_eq!(told(&mined(txdata)), Err(DecodeError::Shape));
    }
}

#[test]
fn another_block_or_one_without_work_is_not_taken_for_it() {
    let one = mined(vec![coinbase([8; 20])]);
    let other = mined(vec![coinbase([7; 20])]);
    let read = block(network(), &named(&one), &serialize_hex(&other));
    assert_eq!(read, Err(DecodeError::OtherBlock));
    let mut lazy = one.clone();
    lazy.header.bits = CompactTarget::from_consensus(0x1d00_ffff);
    assert_eq!(told(&lazy), Err(DecodeError::Work));
}

fn spent(script: &str) -> Value {
    json!({ "txid": "00", "vout": 0, "prevout": { "scriptPubKey": { "hex": script } } })
}

fn as_told(raw: &RawBlock, inputs: &[Value]) -> Value {
    let [coinbase, pays] = &raw.txdata[..] else {
        panic!("two transactions");
    };
    json!({
        "hash": raw.block_hash().to_string(), "confirmations": 3,
        "tx": [
            { "hex": serialize_hex(coinbase), "vin": [{ "coinbase": "01" }] },
            { "hex": serialize_hex(pays), "vin": inputs },
        ],
    })
}

#[test]
fn the_senders_are_the_owners_of_all_that_is_spent_each_once() {
    let raw = mined(vec![
        coinbase([8; 20]),
        paying(&[(7, [1; 20])], &[4, 5, 6, 7]),
    ]);
    let key = |byte: &str| format!("0014{}", byte.repeat(20));
    let inputs = [key("aa"), key("bb"), key("aa"), "6a".to_owned()];
    let inputs: Vec<Value> = inputs.iter().map(|it| spent(it)).collect();
    let told = as_told(&raw, &inputs);
    let read = sent_in_block(Mode::Test, &named(&raw), &told.to_string());
    let read = read.unwrap().unwrap();
    assert!(read[0].senders.is_empty());
    assert_eq!(
        read[1].senders,
        ["aa", "bb"].map(|byte| {
            let program = [u8::from_str_radix(byte, 16).unwrap(); 20];
            super::super::script::shown(Mode::Test, &program).unwrap()
        })
    );
    let mut gone = told.clone();
    gone["confirmations"] = json!(-1);
    let read = sent_in_block(Mode::Test, &named(&raw), &gone.to_string());
    assert_eq!(read, Ok(None), "it is not on the chain");
    let mut few = told.clone();
    few["tx"][1]["vin"][0]["prevout"] = Value::Null;
    let read = sent_in_block(Mode::Test, &named(&raw), &few.to_string());
    assert_eq!(read, Err(DecodeError::PreviousOutputs));
    let mut short = told;
    short["tx"][1]["vin"].as_array_mut().unwrap().pop();
    let read = sent_in_block(Mode::Test, &named(&raw), &short.to_string());
    assert_eq!(read, Err(DecodeError::Shape));
}

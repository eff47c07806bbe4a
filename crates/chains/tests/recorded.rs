//! What answers that were recorded say: Ethereum's shape from anvil, TRON's with what java-tron leaves empty. Numbers such as
//! D04 are the threats they stand for (docs/threats.md).

use till_chains::evm::decode::{Receipt, block_receipts, receipt};
use till_chains::evm::logs::{Contracts, Log, logs};
use till_chains::rpc::{RpcError, open};
use till_chains::{normalise_tx_hash, raw};
use till_core::asset::{Network, Registry};

const SHOP: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const OTHER: &str = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
const MULTICALL3: &str = "0xcA11bde05977b3631167028862bE2a173976CA11";

macro_rules! recorded {
    ($name:literal) => {
        include_bytes!(concat!("fixtures/", $name, ".json"))
    };
}

fn network(id: &str) -> &'static Network {
    Registry::builtin().network(id).expect("a network")
}

fn evm() -> &'static Network {
    network("eip155:84532")
}

fn tron() -> &'static Network {
    network("tron:3448148188")
}

fn result(answer: &[u8]) -> String {
    open(1, answer).expect("an answer").get().to_owned()
}

fn read(network: &Network, answer: &[u8]) -> Receipt {
    let result = result(answer);
    let told: serde_json::Value = serde_json::from_str(&result).expect("a receipt");
    let hash = told["transactionHash"].as_str().and_then(normalise_tx_hash);
    let hash = hash.and_then(|hash| hash.bytes()).expect("a hash");
    let receipt = receipt(network, &hash, &result).expect("it is well formed");
    receipt.expect("it is in a block")
}

/// Place, recipient and units of each transfer; addresses of TRON as the other family shows them.
fn moved(network: &Network, receipt: &Receipt) -> Vec<(u32, String, u128)> {
    let shown = |address: &str| {
        let bytes = raw::raw(network.family, address).expect("an address");
        raw::shown(evm().family, &bytes)
    };
    let transfers = receipt.transfers.iter();
    transfers
        .map(|it| (it.place, shown(&it.recipient), it.units.0))
        .collect()
}

fn to(place: u32, recipient: &str, units: u128) -> (u32, String, u128) {
    (place, recipient.to_owned(), units)
}

#[test]
fn a_transfer_is_what_its_receipt_says_on_both_families() {
    let expected = [to(0, SHOP, 25_000_000)];
    let there = read(evm(), recorded!("evm_receipt"));
    assert_eq!(moved(evm(), &there), expected);
    assert!(there.is_whole);
    let there = read(tron(), recorded!("tron_receipt"));
    assert_eq!(moved(tron(), &there), expected);
    assert_eq!(there.transfers[0].asset.code, "USDT@tron:3448148188");
}

// D07, D13, D14.
#[test]
fn one_transaction_moves_several_and_what_is_zero_is_none() {
    let expected = [
        to(0, SHOP, 4_000_000),
        to(1, OTHER, 7_000_000),
        to(3, SHOP, 6_000_000),
    ];
    let many = read(evm(), recorded!("evm_receipt_many"));
    assert_eq!(moved(evm(), &many), expected);
    let many = read(tron(), recorded!("tron_receipt_many"));
    assert_eq!(moved(tron(), &many), expected);
}

// D04, D05, D21, D22: what failed, and what moved something that is no token's, has no log.
#[test]
fn a_transaction_that_failed_moved_nothing_on_both_families() {
    for (network, answer) in [
        (evm(), &recorded!("evm_receipt_failed")[..]),
        (tron(), &recorded!("tron_receipt_failed")[..]),
    ] {
        assert_eq!(read(network, answer).transfers, []);
    }
    let succeeded = result(recorded!("tron_receipt_failed"));
    let succeeded = succeeded.replace("\"status\": \"0x0\"", "\"status\": \"0x1\"");
    let answer = format!("{{\"id\":1,\"result\":{succeeded}}}");
    assert_eq!(read(tron(), answer.as_bytes()).transfers, []);
}

// D01, D02.
#[test]
fn the_same_event_of_another_contract_moved_nothing() {
    for (network, answer) in [
        (evm(), &recorded!("evm_receipt_other")[..]),
        (tron(), &recorded!("tron_receipt_other")[..]),
    ] {
        assert_eq!(read(network, answer).transfers, []);
    }
}

// D12.
#[test]
fn a_transfer_inside_another_call_is_found_and_its_sender_is_the_logs() {
    let inner = read(evm(), recorded!("evm_receipt_inner"));
    assert_eq!(moved(evm(), &inner), [to(0, SHOP, 9_000_000)]);
    assert_eq!(inner.transfers[0].senders, [MULTICALL3]);
    let inner = read(tron(), recorded!("tron_receipt_inner"));
    assert_eq!(moved(tron(), &inner), [to(0, SHOP, 9_000_000)]);
}

// N02: receipt by receipt and log by log it is the same block.
#[test]
fn a_blocks_receipts_and_its_logs_tell_the_same() {
    let receipts = block_receipts(evm(), &result(recorded!("evm_block_receipts")));
    let receipts = receipts.expect("they are well formed");
    let from_receipts = receipts
        .values()
        .map(|it| it.transfers.len())
        .sum::<usize>();
    let logs = |network: &'static Network, answer: &[u8]| -> Vec<Log> {
        logs(&Contracts::of(network), &result(answer)).expect("they are well formed")
    };
    let of_evm = logs(evm(), recorded!("evm_logs"));
    let moving = of_evm.iter().filter(|log| log.moved.is_some()).count();
    assert_eq!((moving, of_evm.len()), (from_receipts, from_receipts + 1));
    assert_eq!(logs(tron(), recorded!("tron_logs")).len(), of_evm.len());
}

// N10: how java-tron says that it is asked too often, and for too much.
#[test]
fn what_tron_says_beside_the_protocol_is_a_refusal() {
    let busy = open(1, recorded!("tron_busy"));
    assert!(matches!(busy, Err(RpcError::TooOften { .. })), "{busy:?}");
    let refused = open(1, recorded!("tron_refused"));
    assert!(
        matches!(refused, Err(RpcError::Refused { code: -32005, .. })),
        "{refused:?}"
    );
}

//! Real chains: logs read and looked through, and a payer's block on its way to the merchant's webhook.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::json;
use till_chains::evm::logs::{Contracts, logs};
use till_chains::watched::Watched;
use till_core::asset::Registry;

use super::Res;
use super::load::per_second;
use crate::node::Node;
use crate::shop::Shop;

const NETWORK: &str = "eip155:84532";
const ASSET: &str = "USDC@eip155:84532";
/// Logs of one answer, and how many of them are to somebody who is watched.
const LOGS: usize = 10_000;
const OURS: usize = 10;
const TIME: Duration = Duration::from_secs(3);
/// Transfers of one transaction, of the block that has many.
/// A transaction of the tests has gas for that many, tokens with balances included.
const PER_TRANSACTION: usize = 50;

/// Logs read and looked through in a second, with so many addresses watched.
pub fn matched(addresses: u64) -> Res<u64> {
    let mut watched = Watched::default();
    watched.reserve(usize::try_from(addresses)?);
    (0..addresses).for_each(|number| watched.insert(&address(number)));
    let contracts = Contracts::of(Registry::builtin().network(NETWORK).ok_or("a network")?);
    let answer = answer(&contracts);
    let (begun, mut done) = (Instant::now(), 0);
    while begun.elapsed() < TIME {
        let logs = logs(&contracts, &answer)?;
        let hits = logs.iter().filter(|log| {
            let moved = log.moved.as_ref();
            moved.is_some_and(|moved| watched.may_have(&moved.recipient))
        });
        if hits.count() != OURS {
            return Err("a log was passed over".into());
        }
        done += black_box(&logs).len();
    }
    Ok(per_second(done, begun.elapsed()))
}

/// Spread as hashes are.
fn address(number: u64) -> [u8; 20] {
    let mut address = [0; 20];
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    for piece in address.chunks_mut(8) {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        piece.copy_from_slice(&z.to_le_bytes()[..piece.len()]);
    }
    address
}

fn answer(contracts: &Contracts) -> String {
    let hex = |bytes: &[u8]| {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("0x{digits}")
    };
    let word = |address: &[u8; 20]| format!("0x{:0>64}", &hex(address)[2..]);
    let contract = hex(&contracts.all()[0]);
    let topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    let log = |at: usize| {
        // Beyond all that are watched, but for a few.
        let number = if at.is_multiple_of(LOGS / OURS) {
            at as u64
        } else {
            u64::MAX / 2 + at as u64
        };
        json!({
            "address": contract,
            "topics": [topic, word(&address(u64::MAX - at as u64)), word(&address(number))],
            "data": format!("0x{:064x}", 25_000_000 + at),
            "blockHash": format!("0x{}", "b".repeat(64)),
            "blockNumber": "0x1d4c2af",
            "blockTimestamp": "0x68d2f1ac",
            "transactionHash": format!("0x{at:064x}"),
            "transactionIndex": "0x7",
            "logIndex": format!("0x{at:x}"),
            "removed": false,
        })
    };
    let logs: Vec<_> = (0..LOGS).map(log).collect();
    json!(logs).to_string()
}

/// Milliseconds from a block to the webhook of its payment, and from a block with many payments until all are credited
/// and told. None where there is no anvil.
pub fn told(many: usize) -> Res<Option<(u64, u64)>> {
    let Some(node) = Node::start(NETWORK) else {
        return Ok(None);
    };
    let shop = Shop::new(&format!("[networks.{NETWORK:?}]\nrpc = [{:?}]\n", node.url));
    let server = shop.open();
    let (id, deposit) = shop.invoice(&server, "25.00", ASSET);
    node.send(&node.signed(ASSET, &[(&deposit, 25_000_000)]));
    let begun = Instant::now();
    node.mine(1);
    shop.until_told(&id, &["invoice.created", "invoice.detected"]);
    let one = begun.elapsed().as_millis();

    let invoices: Vec<(String, String)> = (0..many)
        .map(|_| shop.invoice(&server, "25.00", ASSET))
        .collect();
    // All of them in one block.
    node.ask("evm_setBlockGasLimit", json!(["0x20000000"]));
    for some in invoices.chunks(PER_TRANSACTION) {
        let transfers: Vec<(&str, u128)> = some
            .iter()
            .map(|(_, to)| (to.as_str(), 25_000_000))
            .collect();
        node.send(&node.signed(ASSET, &transfers));
    }
    let begun = Instant::now();
    node.mine(3);
    shop.until_paid(many + 1);
    let all = begun.elapsed().as_millis();
    server.stop();
    Ok(Some((u64::try_from(one)?, u64::try_from(all)?)))
}

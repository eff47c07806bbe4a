//! Questions to Ethereum's nodes, and to TRON's `/jsonrpc`, which answers the same ones.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use till_core::asset::Network;

use super::blocks::{self, Header, in_order};
use super::decode::{self, Receipt, Transfer};
use super::logs::{self, Contracts, Log};
use super::receipts_root::receipts_root;
use super::words::{self, DecodeError};
use crate::block_hash::BlockHash;
use crate::rpc::{Endpoint, RpcClient, RpcError};

/// The logs of a busy network's tokens, or all receipts of a large block. More is asked for in smaller parts.
const LARGE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Which block is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockRef {
    At(i64),
    Hash([u8; 32]),
    /// `latest`, `safe` or `finalized`.
    Tag(String),
}

/// A block's head; nothing when the node knows no such block.
pub async fn header(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    which: &BlockRef,
) -> Result<Option<Header>, RpcError> {
    let (method, block) = match which {
        BlockRef::At(height) => ("eth_getBlockByNumber", number(*height)),
        BlockRef::Tag(tag) => ("eth_getBlockByNumber", tag.clone()),
        BlockRef::Hash(hash) => ("eth_getBlockByHash", shown(hash)),
    };
    let result = rpc.call(endpoint, method, &json!([block, false])).await?;
    let header = read(blocks::header(network, result.get()))?;
    let is_it = |header: &Header| match which {
        BlockRef::At(height) => header.height == *height,
        BlockRef::Hash(hash) => header.hash == BlockHash::from(*hash),
        BlockRef::Tag(_) => true,
    };
    match header {
        Some(header) if !is_it(&header) => Err(not("it is another block")),
        header => Ok(header),
    }
}

/// Where logs are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRange {
    /// A block that the node must know.
    Block([u8; 32]),
    Heights(i64, i64),
}

/// The logs of a network's tokens that may be transfers.
pub async fn logs(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    contracts: &Contracts,
    within: LogRange,
) -> Result<Vec<Log>, RpcError> {
    let addresses: Vec<String> = contracts.all().iter().map(|it| shown(it)).collect();
    let mut filter = json!({ "address": addresses, "topics": [shown(&decode::TRANSFER)] });
    match within {
        LogRange::Block(hash) => filter["blockHash"] = shown(&hash).into(),
        LogRange::Heights(from, to) => {
            filter["fromBlock"] = number(from).into();
            filter["toBlock"] = number(to).into();
        }
    }
    let result = large(rpc, endpoint, "eth_getLogs", &json!([filter])).await?;
    read(logs::logs(contracts, result.get()))
}

/// What became of a transaction; nothing when the node knows of no block with it.
pub async fn receipt(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    tx_hash: &[u8; 32],
) -> Result<Option<Receipt>, RpcError> {
    let params = json!([shown(tx_hash)]);
    let result = large(rpc, endpoint, "eth_getTransactionReceipt", &params).await?;
    read(decode::receipt(network, tx_hash, result.get()))
}

/// All receipts of a block, by transaction. Not every node can be asked for them.
pub async fn block_receipts(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    block: &[u8; 32],
) -> Result<BTreeMap<[u8; 32], Receipt>, RpcError> {
    let params = json!([shown(block)]);
    let result = large(rpc, endpoint, "eth_getBlockReceipts", &params).await?;
    read(decode::block_receipts(network, result.get()))
}

/// Where a block's head is known to name the root of what nodes give as its receipts: Ethereum, and what OP builds on it.
/// Others give receipts of their own besides, or have kinds of their own.
const NAMING_RECEIPTS: [u64; 6] = [1, 11_155_111, 10, 11_155_420, 8453, 84532];

/// Whether a network's headers name the root of what its nodes give as receipts.
pub fn names_receipts(network: &Network) -> bool {
    let is_naming = |id: u64| NAMING_RECEIPTS.contains(&id);
    network.chain_id.is_some_and(is_naming)
}

/// What asking for all receipts of a block came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proven {
    /// These are all: the block's head names their root.
    All(BTreeMap<[u8; 32], Receipt>),
    /// The block's head names others.
    Others,
    /// The network has receipts of its own kind, or heads that name none.
    Unknown,
}

/// All receipts of a block, held against what its head names.
pub async fn proven_receipts(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    header: &Header,
) -> Result<Proven, RpcError> {
    let named = header.receipts_root.zip(header.transactions);
    let (true, Some((named, order))) = (names_receipts(network), named) else {
        return Ok(Proven::Unknown);
    };
    let params = json!([header.hash.text()]);
    let result = large(rpc, endpoint, "eth_getBlockReceipts", &params).await?;
    let Some(root) = read(receipts_root(result.get()))? else {
        return Ok(Proven::Unknown);
    };
    let proven = read(decode::proven_receipts(
        network,
        (header.hash, header.height),
        result.get(),
    ))?;
    let hashes: Vec<[u8; 32]> = proven.iter().map(|(hash, _)| *hash).collect();
    Ok(match root == named && in_order(&hashes) == order {
        true => Proven::All(proven.into_iter().collect()),
        false => Proven::Others,
    })
}

/// The code at an address; empty where there is none.
pub async fn code(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    address: &[u8; 20],
) -> Result<Vec<u8>, RpcError> {
    let params = json!([shown(address), "latest"]);
    let result = rpc.call(endpoint, "eth_getCode", &params).await?;
    let code = serde_json::from_str::<&str>(result.get()).ok();
    code.and_then(|text| words::any_bytes(text).ok())
        .ok_or_else(|| not("it is no code"))
}

/// How much of the network's own coin lies on an address, where that is less than 2⁶⁴.
pub async fn coins(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    address: &[u8; 20],
) -> Result<u128, RpcError> {
    let params = json!([shown(address), "latest"]);
    let result = rpc.call(endpoint, "eth_getBalance", &params).await?;
    let number = serde_json::from_str::<&str>(result.get()).ok();
    let number = number.and_then(|text| words::quantity(text).ok());
    let number = number.ok_or_else(|| not("it is no balance"))?;
    Ok(number.into())
}

/// What a contract answers, as bytes.
pub async fn asked(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    contract: &[u8; 20],
    input: &[u8],
) -> Result<Vec<u8>, RpcError> {
    called(rpc, endpoint, contract, input, json!("latest")).await
}

/// What it answered when a block had just been made.
pub async fn asked_in(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    contract: &[u8; 20],
    input: &[u8],
    block: &[u8; 32],
) -> Result<Vec<u8>, RpcError> {
    let block = json!({ "blockHash": shown(block) });
    called(rpc, endpoint, contract, input, block).await
}

async fn called(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    contract: &[u8; 20],
    input: &[u8],
    when: Value,
) -> Result<Vec<u8>, RpcError> {
    let call = json!({ "to": shown(contract), "data": shown(input) });
    let params = json!([call, when]);
    let result = large(rpc, endpoint, "eth_call", &params).await?;
    let answer = serde_json::from_str::<&str>(result.get()).ok();
    answer
        .and_then(|text| words::any_bytes(text).ok())
        .ok_or_else(|| not("it is no answer of a contract"))
}

/// What a call would cost.
pub async fn gas(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    to: &[u8; 20],
    data: &[u8],
) -> Result<u64, RpcError> {
    let call = json!({ "to": shown(to), "data": shown(data) });
    let result = rpc
        .call(endpoint, "eth_estimateGas", &json!([call]))
        .await?;
    let number = serde_json::from_str::<&str>(result.get()).ok();
    number
        .and_then(|text| words::quantity(text).ok())
        .ok_or_else(|| not("it is no amount of gas"))
}

async fn large(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    method: &str,
    params: &Value,
) -> Result<Box<RawValue>, RpcError> {
    rpc.call_up_to(LARGE_BYTES_MAX, endpoint, method, params)
        .await
}

fn read<T>(decoded: Result<T, DecodeError>) -> Result<T, RpcError> {
    decoded.map_err(|error| RpcError::NotAnAnswer(error.to_string()))
}

fn not(what: &str) -> RpcError {
    RpcError::NotAnAnswer(what.to_owned())
}

fn shown(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

fn number(height: i64) -> String {
    format!("0x{height:x}")
}

pub async fn chain_id(rpc: &RpcClient, endpoint: &Endpoint) -> Result<u64, RpcError> {
    let result = rpc.call(endpoint, "eth_chainId", &json!([])).await?;
    let number = serde_json::from_str::<&str>(result.get()).ok();
    number
        .and_then(|text| words::quantity(text).ok())
        .ok_or_else(|| RpcError::NotAnAnswer("it is not a chain id".to_owned()))
}

/// What a transaction moved; nothing when the node knows of no block with it.
pub async fn transfers(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    tx_hash: &[u8; 32],
) -> Result<Option<Vec<Transfer>>, RpcError> {
    let receipt = receipt(rpc, endpoint, network, tx_hash).await?;
    Ok(receipt.map(|receipt| receipt.transfers))
}

/// What a contract answers to a question with yes or no.
pub async fn asks(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    contract: &[u8; 20],
    input: &[u8],
) -> Result<bool, RpcError> {
    let answer = asked(rpc, endpoint, contract, input).await?;
    yes_or_no(&answer).ok_or_else(|| not("it is neither yes nor no"))
}

/// A word that is 0 or 1. Where there is no such contract, the answer is empty.
fn yes_or_no(answer: &[u8]) -> Option<bool> {
    let word: [u8; 32] = answer.try_into().ok()?;
    match word {
        [leading @ .., last] if leading == [0; 31] && last <= 1 => Some(last == 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_word_of_zero_or_one_is_an_answer() {
        let word = |last: u8| [vec![0; 31], vec![last]].concat();
        assert_eq!(yes_or_no(&word(0)), Some(false));
        assert_eq!(yes_or_no(&word(1)), Some(true));
        for other in [word(2), vec![], vec![1], vec![0xff; 32], vec![0; 33]] {
            assert_eq!(yes_or_no(&other), None, "{other:?}");
        }
    }
}

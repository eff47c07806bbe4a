//! Questions to Bitcoin Core, and to whatever answers like it, by JSON-RPC.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use till_core::asset::Network;

use super::block::{Block, block, sent_in_block};
use super::decode_error::DecodeError;
use super::header::{BlockHeader, BlockName, header, name};
use super::script::KeyProgram;
use super::transaction::{
    Outpoint, SentTransaction, Transaction, in_block, output_owner, owners, transaction,
};
use super::unspent::{FEE_BLOCKS, Unspent, estimated, scanned};
use crate::rpc::{Endpoint, RpcClient, RpcError};

/// A block of four million bytes in digits, or with all that it spends; or the names of half a million transactions.
const LARGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How long all unspent outputs of a chain may take to be gone through.
const SCAN_TIME: Duration = Duration::from_secs(900);

const NO_SUCH_HEIGHT: i64 = -8;
const NOT_FOUND: i64 = -5;
const MISC: i64 = -1;

/// How to ask for bytes in digits, and how for what they say with the outputs that they spend.
const BYTES: u8 = 0;
const TRANSACTION_AND_SPENT: u8 = 2;
const BLOCK_AND_SPENT: u8 = 3;

#[derive(Deserialize)]
struct ChainInfo {
    blocks: i64,
    bestblockhash: String,
    #[serde(default)]
    pruneheight: Option<i64>,
}

async fn chain_info(rpc: &RpcClient, endpoint: &Endpoint) -> Result<ChainInfo, RpcError> {
    let result = rpc.call(endpoint, "getblockchaininfo", &json!([])).await?;
    json_of(&result)
}

/// Height and name of the last block.
pub async fn best(rpc: &RpcClient, endpoint: &Endpoint) -> Result<(i64, BlockName), RpcError> {
    let info = chain_info(rpc, endpoint).await?;
    let name = read(name(&info.bestblockhash))?;
    match info.blocks {
        height @ 0.. => Ok((height, name)),
        _ => Err(RpcError::NotAnAnswer("it is no height".to_owned())),
    }
}

/// The name of the block at a height; none above the node's last block.
pub async fn name_at(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    height: i64,
) -> Result<Option<BlockName>, RpcError> {
    let told = rpc.call(endpoint, "getblockhash", &json!([height])).await;
    let told = unless(told, NO_SUCH_HEIGHT)?;
    let Some(result) = told else {
        return Ok(None);
    };
    read(name(&json_of::<String>(&result)?)).map(Some)
}

/// The header with a name; none where the node has no such block.
pub async fn header_of(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    name: &BlockName,
) -> Result<Option<BlockHeader>, RpcError> {
    let params = json!([hex::encode(name), false]);
    let told = rpc.call(endpoint, "getblockheader", &params).await;
    let Some(result) = unless(told, NOT_FOUND)? else {
        return Ok(None);
    };
    let hex: String = json_of(&result)?;
    read(header(network, name, &hex)).map(Some)
}

#[derive(Deserialize)]
struct HeaderInfo {
    hash: String,
    height: i64,
    confirmations: i64,
}

/// The height of a block; none where it is not on the node's chain.
pub async fn height_of(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    block: &BlockName,
) -> Result<Option<i64>, RpcError> {
    let params = json!([hex::encode(block), true]);
    let told = rpc.call(endpoint, "getblockheader", &params).await;
    let Some(result) = unless(told, NOT_FOUND)? else {
        return Ok(None);
    };
    let info: HeaderInfo = json_of(&result)?;
    match read(name(&info.hash))? == *block && info.height >= 0 {
        true => Ok((info.confirmations > 0).then_some(info.height)),
        false => read(Err(DecodeError::OtherBlock)),
    }
}

/// A block that the node must have, proven.
pub async fn whole_block(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    name: &BlockName,
) -> Result<Block, RpcError> {
    let params = json!([hex::encode(name), BYTES]);
    let told = large(rpc, endpoint, "getblock", &params).await;
    let result = named_gap(rpc, endpoint, told).await?;
    let hex: String = json_of(&result)?;
    read(block(network, name, &hex))
}

/// A transaction of a block, with whose the outputs were that it spends; none where the block does not have it, or is not on
/// the node's chain.
pub async fn sent(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    (block, hash): (&BlockName, &[u8; 32]),
) -> Result<Option<SentTransaction>, RpcError> {
    let params = json!([hex::encode(hash), TRANSACTION_AND_SPENT, hex::encode(block)]);
    let told = large(rpc, endpoint, "getrawtransaction", &params).await;
    let told = match told {
        Ok(result) => Ok(Some(result)),
        Err(error) => unless(Err(error), NOT_FOUND),
    };
    let Some(result) = named_gap(rpc, endpoint, told).await? else {
        return Ok(None);
    };
    read(in_block(network.mode, (block, hash), result.get()))
}

/// All transactions of a block in the same way.
pub async fn sent_all(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    block: &BlockName,
) -> Result<Vec<SentTransaction>, RpcError> {
    let params = json!([hex::encode(block), BLOCK_AND_SPENT]);
    let told = large(rpc, endpoint, "getblock", &params).await;
    let result = named_gap(rpc, endpoint, told).await?;
    let sent = read(sent_in_block(network.mode, block, result.get()))?;
    Ok(sent.unwrap_or_default())
}

#[derive(Deserialize)]
struct TransactionNames {
    tx: Vec<String>,
}

/// The coinbase of a block, proven by its own bytes; that it is this block's is what the node says.
pub async fn coinbase(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    block: &BlockName,
) -> Result<Option<SentTransaction>, RpcError> {
    let told = large(rpc, endpoint, "getblock", &json!([hex::encode(block), 1])).await;
    let result = named_gap(rpc, endpoint, told).await?;
    let names: TransactionNames = json_of(&result)?;
    let first = names.tx.first().ok_or(DecodeError::Shape);
    let hash = read(first.and_then(|text| name(text)))?;
    let sent = sent(rpc, endpoint, network, (block, &hash)).await?;
    Ok(sent.filter(|sent| sent.transaction.is_coinbase))
}

/// The names of all transactions that wait for a block.
pub async fn mempool(rpc: &RpcClient, endpoint: &Endpoint) -> Result<Vec<[u8; 32]>, RpcError> {
    let result = large(rpc, endpoint, "getrawmempool", &json!([false])).await?;
    let names: Vec<&str> = serde_json::from_str(result.get()).map_err(|_| shape())?;
    read(names.into_iter().map(name).collect())
}

/// A transaction that waits for a block; none where the node does not have it any more.
pub async fn waiting(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    hash: &[u8; 32],
) -> Result<Option<Transaction>, RpcError> {
    let Some(hex) = waiting_bytes(rpc, endpoint, hash).await? else {
        return Ok(None);
    };
    let transaction = read(transaction(&hex))?;
    match transaction.hash == *hash {
        true => Ok(Some(transaction)),
        false => read(Err(DecodeError::OtherTransaction)),
    }
}

async fn waiting_bytes(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    hash: &[u8; 32],
) -> Result<Option<String>, RpcError> {
    let params = json!([hex::encode(hash), false]);
    let told = large(rpc, endpoint, "getrawtransaction", &params).await;
    let Some(result) = unless(told, NOT_FOUND)? else {
        return Ok(None);
    };
    json_of(&result).map(Some)
}

/// Whose the outputs were that a waiting transaction spends, each once, in the order of its inputs; none where the node cannot
/// say it of all of them, because another transaction has spent one meanwhile.
pub async fn waiting_senders(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    spends: &[Outpoint],
) -> Result<Option<Vec<String>>, RpcError> {
    let mut senders = Vec::new();
    for spent in spends {
        let Some(owner) = owner_of(rpc, endpoint, network, spent).await? else {
            return Ok(None);
        };
        if let Some(owner) = owner
            && !senders.contains(&owner)
        {
            senders.push(owner);
        }
    }
    Ok(Some(senders))
}

/// An output of a block that no block has spent, or of a transaction that waits itself.
async fn owner_of(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    spent: &Outpoint,
) -> Result<Option<Option<String>>, RpcError> {
    let params = json!([hex::encode(spent.transaction), spent.output, false]);
    let result = rpc.call(endpoint, "gettxout", &params).await?;
    if let Some(owner) = read(output_owner(network.mode, result.get()))? {
        return Ok(Some(owner));
    }
    let Some(hex) = waiting_bytes(rpc, endpoint, &spent.transaction).await? else {
        return Ok(None);
    };
    let owners = read(owners(network.mode, &spent.transaction, &hex))?;
    let at = usize::try_from(spent.output).unwrap_or(usize::MAX);
    Ok(owners.get(at).cloned())
}

/// What can be spent of what lies on these, found in all that nobody has spent: that takes minutes on a chain with a history.
pub async fn unspent(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    programs: &[KeyProgram],
) -> Result<Vec<Unspent>, RpcError> {
    let scripts = programs.iter();
    let scripts: Vec<String> = scripts
        .map(|it| format!("raw(0014{})", hex::encode(it)))
        .collect();
    let params = json!(["start", scripts]);
    let limits = (LARGE_BYTES_MAX, SCAN_TIME);
    let result = rpc.call_within(limits, endpoint, "scantxoutset", &params);
    read(scanned(result.await?.get()))
}

/// Sats per 1,000 virtual bytes that bring a transaction into a block soon; none where the node cannot say.
pub async fn fee_rate(rpc: &RpcClient, endpoint: &Endpoint) -> Result<Option<u64>, RpcError> {
    let result = rpc
        .call(endpoint, "estimatesmartfee", &json!([FEE_BLOCKS]))
        .await?;
    read(estimated(result.get()))
}

/// The bytes of a transaction in the block at a height; none where the node has them no more.
pub async fn bytes_at(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    (height, hash): (i64, &[u8; 32]),
) -> Result<Option<Vec<u8>>, RpcError> {
    let Some(block) = name_at(rpc, endpoint, height).await? else {
        return Ok(None);
    };
    let params = json!([hex::encode(hash), false, hex::encode(block)]);
    let told = match large(rpc, endpoint, "getrawtransaction", &params).await {
        Err(RpcError::Refused { .. }) => return Ok(None),
        told => told?,
    };
    let digits: String = json_of(&told)?;
    read(
        hex::decode(digits)
            .map(Some)
            .map_err(|_| DecodeError::Shape),
    )
}

/// A refusal with this code means that there is no such thing.
fn unless(
    told: Result<Box<RawValue>, RpcError>,
    none: i64,
) -> Result<Option<Box<RawValue>>, RpcError> {
    match told {
        Err(RpcError::Refused { code, .. }) if code == none => Ok(None),
        told => told.map(Some),
    }
}

/// A node that has thrown old blocks away says only that it has not got one: from where on it has them is asked, for whoever
/// must find another node.
async fn named_gap<T>(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    told: Result<T, RpcError>,
) -> Result<T, RpcError> {
    let Err(RpcError::Refused { code, message }) = &told else {
        return told;
    };
    if *code != MISC || !message.contains("not available") {
        return told;
    }
    let Some(kept) = chain_info(rpc, endpoint).await?.pruneheight else {
        return told;
    };
    Err(RpcError::Refused {
        code: MISC,
        message: format!(
            "its blocks below height {kept} were pruned; name a node that still has them"
        ),
    })
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

fn json_of<T: for<'de> Deserialize<'de>>(result: &RawValue) -> Result<T, RpcError> {
    serde_json::from_str(result.get()).map_err(|_| shape())
}

fn shape() -> RpcError {
    RpcError::NotAnAnswer(DecodeError::Shape.to_string())
}

fn read<T>(decoded: Result<T, DecodeError>) -> Result<T, RpcError> {
    decoded.map_err(|error| RpcError::NotAnAnswer(error.to_string()))
}

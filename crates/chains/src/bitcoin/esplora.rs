//! Questions to a provider with Esplora's pages. Blocks and transactions prove themselves as a node's do; whose the spent outputs
//! were, and what waits for a block, is what it says.

use bytes::Bytes;
use serde::Deserialize;
use till_core::asset::Network;

use super::block::{Block, block_of_bytes};
use super::decode_error::DecodeError;
use super::esplora_answers::{self, EsploraTransaction};
use super::header::{BlockHeader, BlockName, name};
use super::script::{KeyProgram, shown_on};
use super::transaction::{SentTransaction, Transaction};
use super::unspent::{FEE_BLOCKS, Unspent, estimated_for, told};
use super::waiting_about::WaitingAbout;
use crate::rpc::{Endpoint, RpcClient, RpcError};

/// A list of headers, with all that providers add to them.
const SMALL_BYTES_MAX: usize = 1024 * 1024;
/// A block, or a transaction that is nearly as large with all that it spends.
const LARGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The last block.
pub async fn last_name(rpc: &RpcClient, endpoint: &Endpoint) -> Result<BlockName, RpcError> {
    let told = name_on(rpc, endpoint, "blocks/tip/hash").await?;
    told.ok_or_else(|| RpcError::NotAnAnswer("it has no blocks".to_owned()))
}

/// The name of the block at a height; none above the provider's last block.
pub async fn name_at(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    height: i64,
) -> Result<Option<BlockName>, RpcError> {
    name_on(rpc, endpoint, &format!("block-height/{height}")).await
}

/// Headers from a height downwards, or from the last block, as many as the provider gives at once, each the parent of the one
/// before it. None where there is no block at the height.
pub async fn headers(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    from: Option<i64>,
) -> Result<Option<Vec<(i64, BlockHeader)>>, RpcError> {
    let path = from.map_or("blocks".to_owned(), |from| format!("blocks/{from}"));
    let Some(page) = rpc.page(SMALL_BYTES_MAX, endpoint, &path).await? else {
        return Ok(None);
    };
    read(esplora_answers::headers(network, from, &page)).map(Some)
}

#[derive(Deserialize)]
struct BlockStatus {
    in_best_chain: bool,
    height: Option<i64>,
}

/// The height of a block; none where it is not on the provider's chain.
pub async fn height_of(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    block: &BlockName,
) -> Result<Option<i64>, RpcError> {
    let path = format!("block/{}/status", hex::encode(block));
    let Some(page) = rpc.page(SMALL_BYTES_MAX, endpoint, &path).await? else {
        return Ok(None);
    };
    let status: BlockStatus = json_of(&page)?;
    Ok(status.height.filter(|it| status.in_best_chain && *it >= 0))
}

/// A block that the provider must have, proven.
pub async fn whole_block(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    name: &BlockName,
) -> Result<Block, RpcError> {
    let path = format!("block/{}/raw", hex::encode(name));
    let page = rpc.page(LARGE_BYTES_MAX, endpoint, &path).await?;
    let page = page.ok_or_else(|| RpcError::NotAnAnswer("it has no such block".to_owned()))?;
    read(block_of_bytes(network, name, &page))
}

/// A transaction of a block, with whose the outputs were that it spends; none where it is in no block, or in another.
pub async fn sent(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    (block, hash): (&BlockName, &[u8; 32]),
) -> Result<Option<SentTransaction>, RpcError> {
    let Some(told) = transaction(rpc, endpoint, hash).await? else {
        return Ok(None);
    };
    match read(told.block())? == Some(*block) {
        true => read(told.sent(network.mode)).map(Some),
        false => Ok(None),
    }
}

/// The first transaction of a block; that it is this block's is what the provider says.
pub async fn coinbase(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    block: &BlockName,
) -> Result<Option<SentTransaction>, RpcError> {
    let path = format!("block/{}/txid/0", hex::encode(block));
    let Some(hash) = name_on(rpc, endpoint, &path).await? else {
        return Ok(None);
    };
    let sent = sent(rpc, endpoint, network, (block, &hash)).await?;
    Ok(sent.filter(|sent| sent.transaction.is_coinbase))
}

#[derive(Deserialize)]
struct Named {
    txid: String,
}

#[derive(Deserialize)]
struct Status {
    confirmed: bool,
}

/// The names of those transactions that wait for a block and touch an address, or of this one if it waits.
pub async fn waiting_about(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    about: &WaitingAbout,
) -> Result<Vec<[u8; 32]>, RpcError> {
    match about {
        WaitingAbout::Address(program) => {
            let address = shown_on(network, program).unwrap_or_default();
            let path = format!("address/{address}/txs/mempool");
            let page = rpc.page(LARGE_BYTES_MAX, endpoint, &path).await?;
            let page = page.ok_or_else(no_addresses)?;
            let all: Vec<Named> = json_of(&page)?;
            read(all.iter().map(|it| name(&it.txid)).collect())
        }
        WaitingAbout::Transaction(hash) => {
            let path = format!("tx/{}/status", hex::encode(hash));
            let Some(page) = rpc.page(SMALL_BYTES_MAX, endpoint, &path).await? else {
                return Ok(Vec::new());
            };
            let status: Status = json_of(&page)?;
            let waits = (!status.confirmed).then_some(*hash);
            Ok(waits.into_iter().collect())
        }
    }
}

/// A transaction that waits for a block, proven; none where the provider does not have it any more.
pub async fn waiting(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    hash: &[u8; 32],
) -> Result<Option<Transaction>, RpcError> {
    let told = transaction(rpc, endpoint, hash).await?;
    let waits = told.filter(|told| !told.is_confirmed());
    waits.map(|told| read(told.transaction())).transpose()
}

/// Whose the outputs were that it spends.
pub async fn waiting_senders(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    hash: &[u8; 32],
) -> Result<Option<Vec<String>>, RpcError> {
    let Some(told) = transaction(rpc, endpoint, hash).await? else {
        return Ok(None);
    };
    Ok(Some(read(told.sent(network.mode))?.senders))
}

/// What can be spent of what lies on these, one after the other.
pub async fn unspent(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    programs: &[KeyProgram],
) -> Result<Vec<Unspent>, RpcError> {
    let mut unspent = Vec::new();
    for program in programs {
        let address = shown_on(network, program).unwrap_or_default();
        let path = format!("address/{address}/utxo");
        let page = rpc.page(LARGE_BYTES_MAX, endpoint, &path).await?;
        let page = page.ok_or_else(no_addresses)?;
        unspent.extend(read(told(program, &page))?);
    }
    Ok(unspent)
}

/// Sats per 1,000 virtual bytes that bring a transaction into a block soon; none where the provider does not say.
pub async fn fee_rate(rpc: &RpcClient, endpoint: &Endpoint) -> Result<Option<u64>, RpcError> {
    match rpc.page(SMALL_BYTES_MAX, endpoint, "fee-estimates").await? {
        Some(page) => read(estimated_for(FEE_BLOCKS, &page)),
        None => Ok(None),
    }
}

/// The bytes of a transaction; none where the provider has no such.
pub async fn bytes_of(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    hash: &[u8; 32],
) -> Result<Option<Vec<u8>>, RpcError> {
    let path = format!("tx/{}/raw", hex::encode(hash));
    let page = rpc.page(LARGE_BYTES_MAX, endpoint, &path).await?;
    Ok(page.map(|page| page.to_vec()))
}

fn no_addresses() -> RpcError {
    RpcError::NotAnAnswer("it knows no addresses".to_owned())
}

async fn transaction(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    hash: &[u8; 32],
) -> Result<Option<EsploraTransaction>, RpcError> {
    let path = format!("tx/{}", hex::encode(hash));
    let Some(page) = rpc.page(LARGE_BYTES_MAX, endpoint, &path).await? else {
        return Ok(None);
    };
    let told: EsploraTransaction = json_of(&page)?;
    match read(told.transaction())?.hash == *hash {
        true => Ok(Some(told)),
        false => read(Err(DecodeError::OtherTransaction)),
    }
}

/// A page that has one name and nothing else.
async fn name_on(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    path: &str,
) -> Result<Option<BlockName>, RpcError> {
    let Some(page) = rpc.page(SMALL_BYTES_MAX, endpoint, path).await? else {
        return Ok(None);
    };
    let text = str::from_utf8(&page).map_err(|_| DecodeError::Shape);
    read(text.and_then(|text| name(text.trim()))).map(Some)
}

fn json_of<T: for<'de> Deserialize<'de>>(page: &Bytes) -> Result<T, RpcError> {
    read(serde_json::from_slice(page).map_err(|_| DecodeError::Shape))
}

fn read<T>(decoded: Result<T, DecodeError>) -> Result<T, RpcError> {
    decoded.map_err(|error| RpcError::NotAnAnswer(error.to_string()))
}

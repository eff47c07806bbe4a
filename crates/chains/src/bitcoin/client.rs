//! Questions about Bitcoin's chain to one endpoint: a node that answers as Bitcoin Core does, or a provider with Esplora's pages.

use till_core::asset::Network;

use super::block::Block;
use super::header::{BlockHeader, BlockName};
use super::script::KeyProgram;
use super::transaction::{Outpoint, SentTransaction, Transaction};
use super::unspent::{MATURE_AFTER, Unspent};
use super::waiting_about::WaitingAbout;
use super::{core_rpc, esplora};
use crate::rpc::{Endpoint, RpcClient, RpcError};

/// The block that every chain begins with: it names the network.
pub async fn genesis(rpc: &RpcClient, endpoint: &Endpoint) -> Result<BlockName, RpcError> {
    let first = name_at(rpc, endpoint, 0).await?;
    first.ok_or_else(|| RpcError::NotAnAnswer("it has no blocks".to_owned()))
}

/// The last block.
pub async fn last_name(rpc: &RpcClient, endpoint: &Endpoint) -> Result<BlockName, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::last_name(rpc, endpoint).await,
        false => Ok(core_rpc::best(rpc, endpoint).await?.1),
    }
}

/// The last blocks, the latest first: at least one, and as many as one question brings.
pub async fn last_headers(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
) -> Result<Vec<(i64, BlockHeader)>, RpcError> {
    if endpoint.is_asked_by_address() {
        let last = esplora::headers(rpc, endpoint, network, None).await?;
        return Ok(last.unwrap_or_default());
    }
    let (height, name) = core_rpc::best(rpc, endpoint).await?;
    let header = core_rpc::header_of(rpc, endpoint, network, &name).await?;
    Ok(header.map(|header| (height, header)).into_iter().collect())
}

/// The name of the block at a height; none above the endpoint's last block.
pub async fn name_at(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    height: i64,
) -> Result<Option<BlockName>, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::name_at(rpc, endpoint, height).await,
        false => core_rpc::name_at(rpc, endpoint, height).await,
    }
}

/// The header of the block at a height; none above the endpoint's last block.
pub async fn header_at(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    height: i64,
) -> Result<Option<BlockHeader>, RpcError> {
    if endpoint.is_asked_by_address() {
        let from = esplora::headers(rpc, endpoint, network, Some(height)).await?;
        return Ok(from.and_then(|from| from.first().map(|(_, header)| *header)));
    }
    match core_rpc::name_at(rpc, endpoint, height).await? {
        Some(name) => core_rpc::header_of(rpc, endpoint, network, &name).await,
        None => Ok(None),
    }
}

/// The height of a block; none where it is not on the endpoint's chain.
pub async fn height_of(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    block: &BlockName,
) -> Result<Option<i64>, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::height_of(rpc, endpoint, block).await,
        false => core_rpc::height_of(rpc, endpoint, block).await,
    }
}

/// A block that the endpoint must have, proven.
pub async fn whole_block(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    name: &BlockName,
) -> Result<Block, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::whole_block(rpc, endpoint, network, name).await,
        false => core_rpc::whole_block(rpc, endpoint, network, name).await,
    }
}

/// A transaction of a block, with whose the outputs were that it spends; none where the block does not have it, or is not on
/// the endpoint's chain.
pub async fn sent(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    (block, hash): (&BlockName, &[u8; 32]),
) -> Result<Option<SentTransaction>, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::sent(rpc, endpoint, network, (block, hash)).await,
        false => core_rpc::sent(rpc, endpoint, network, (block, hash)).await,
    }
}

/// All transactions of a block in the same way, where one question brings them.
pub async fn sent_all(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    block: &BlockName,
) -> Result<Vec<SentTransaction>, RpcError> {
    match endpoint.is_asked_by_address() {
        true => Err(RpcError::NotAnAnswer(
            "its transactions are asked for one by one".to_owned(),
        )),
        false => core_rpc::sent_all(rpc, endpoint, network, block).await,
    }
}

/// The block whose coinbase can be spent once the one at this height is there; none near the beginning of a chain.
pub async fn maturing(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    height: i64,
) -> Result<Option<BlockName>, RpcError> {
    match height - (MATURE_AFTER - 1) {
        mined @ 0.. => name_at(rpc, endpoint, mined).await,
        _ => Ok(None),
    }
}

/// The coinbase of a block, proven by its own bytes; that it is this block's is what the endpoint says.
pub async fn coinbase(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    block: &BlockName,
) -> Result<Option<SentTransaction>, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::coinbase(rpc, endpoint, network, block).await,
        false => core_rpc::coinbase(rpc, endpoint, network, block).await,
    }
}

/// The names of all transactions that wait for a block at a node.
pub async fn mempool(rpc: &RpcClient, endpoint: &Endpoint) -> Result<Vec<[u8; 32]>, RpcError> {
    core_rpc::mempool(rpc, endpoint).await
}

/// The names of those that wait at a provider and touch an address, or of this one if it waits.
pub async fn waiting_about(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    about: &WaitingAbout,
) -> Result<Vec<[u8; 32]>, RpcError> {
    esplora::waiting_about(rpc, endpoint, network, about).await
}

/// A transaction that waits for a block; none where the endpoint does not have it any more.
pub async fn waiting(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    hash: &[u8; 32],
) -> Result<Option<Transaction>, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::waiting(rpc, endpoint, hash).await,
        false => core_rpc::waiting(rpc, endpoint, hash).await,
    }
}

/// Whose the outputs were that a waiting transaction spends, each once, in the order of its inputs; none where the endpoint
/// cannot say it of all of them, because another transaction has spent one meanwhile.
pub async fn waiting_senders(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    (hash, spends): (&[u8; 32], &[Outpoint]),
) -> Result<Option<Vec<String>>, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::waiting_senders(rpc, endpoint, network, hash).await,
        false => core_rpc::waiting_senders(rpc, endpoint, network, spends).await,
    }
}

/// What can be spent of what lies on these.
pub async fn unspent(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    programs: &[KeyProgram],
) -> Result<Vec<Unspent>, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::unspent(rpc, endpoint, network, programs).await,
        false => core_rpc::unspent(rpc, endpoint, programs).await,
    }
}

/// Sats per 1,000 virtual bytes that bring a transaction into one of the next blocks; none where the endpoint cannot say.
pub async fn fee_rate(rpc: &RpcClient, endpoint: &Endpoint) -> Result<Option<u64>, RpcError> {
    match endpoint.is_asked_by_address() {
        true => esplora::fee_rate(rpc, endpoint).await,
        false => core_rpc::fee_rate(rpc, endpoint).await,
    }
}

/// The bytes of the transaction that has an output; none where the endpoint does not have them.
pub async fn previous(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    unspent: &Unspent,
) -> Result<Option<Vec<u8>>, RpcError> {
    let hash = &unspent.place.transaction;
    match endpoint.is_asked_by_address() {
        true => esplora::bytes_of(rpc, endpoint, hash).await,
        false => core_rpc::bytes_at(rpc, endpoint, (unspent.height, hash)).await,
    }
}

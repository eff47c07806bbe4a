//! A block's head, from the result of `eth_getBlockByNumber` or `eth_getBlockByHash`. TRON's nodes leave fields empty
//! that others fill; only those are read that all of them have.

use alloy_primitives::keccak256;
use serde::Deserialize;
use till_core::asset::{Family, Network};

use super::bloom::Bloom;
use super::decode::TRANSFER;
use super::words::{DecodeError, bytes, height, time_ms};
use crate::block_hash::BlockHash;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub height: i64,
    pub hash: BlockHash,
    pub parent: BlockHash,
    /// In milliseconds.
    pub time: i64,
    /// None where the network's nodes do not fill it.
    pub bloom: Option<Bloom>,
    /// What names all receipts; the same.
    pub receipts_root: Option<[u8; 32]>,
    /// A hash of the block's transaction hashes in their order. A receipt does not name its transaction, so that the root
    /// says what happened at each place in a block and not in which transaction.
    pub transactions: Option<[u8; 32]>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawBlock {
    number: String,
    hash: String,
    parent_hash: String,
    timestamp: String,
    logs_bloom: Option<String>,
    receipts_root: Option<String>,
    transactions: Option<Vec<String>>,
}

impl Header {
    /// Whether a contract may have said in this block that something was moved. False is certain; nothing where nobody
    /// can tell.
    pub fn may_have_transfers_of(&self, contract: &[u8; 20]) -> Option<bool> {
        let bloom = self.bloom.as_ref()?;
        Some(bloom.may_have(contract) && bloom.may_have(&TRANSFER))
    }
}

/// Nothing when the node knows no such block.
pub fn header(network: &Network, result: &str) -> Result<Option<Header>, DecodeError> {
    let raw: Option<RawBlock> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    let Some(raw) = raw else {
        return Ok(None);
    };
    let bloom = match (network.family, &raw.logs_bloom) {
        (Family::Tron, _) => None,
        (_, Some(text)) => Some(Bloom::parse(text)?),
        (_, None) => return Err(DecodeError::Shape),
    };
    let receipts_root = match (network.family, &raw.receipts_root) {
        (Family::Tron, _) | (_, None) => None,
        (_, Some(text)) => Some(bytes(text)?),
    };
    let transactions = match (network.family, &raw.transactions) {
        (Family::Tron, _) | (_, None) => None,
        (_, Some(hashes)) => {
            let hashes: Result<Vec<[u8; 32]>, DecodeError> =
                hashes.iter().map(|text| bytes(text)).collect();
            Some(in_order(&hashes?))
        }
    };
    Ok(Some(Header {
        height: height(&raw.number)?,
        hash: bytes::<32>(&raw.hash)?.into(),
        parent: bytes::<32>(&raw.parent_hash)?.into(),
        time: time_ms(&raw.timestamp)?,
        bloom,
        receipts_root,
        transactions,
    }))
}

/// A hash of transaction hashes in their order.
pub fn in_order(hashes: &[[u8; 32]]) -> [u8; 32] {
    keccak256(hashes.concat()).0
}

#[cfg(test)]
mod tests;

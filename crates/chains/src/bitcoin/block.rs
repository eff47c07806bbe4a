//! A whole block: its bytes prove themselves. The header hashes to the name that was asked for, and the transactions to the
//! root that the header names, so whoever sends it can neither leave one out nor invent one.

use std::collections::HashSet;

use bitcoin::Block as RawBlock;
use bitcoin::consensus::encode::deserialize;
use serde::Deserialize;
use till_core::asset::{Mode, Network};

use super::decode_error::DecodeError;
use super::header::{BlockHeader, BlockName, checked, name};
use super::transaction::{RawSent, SentTransaction, Transaction, is_ambiguous, read};

/// A block and what is in it, in its order: the first transaction is the coinbase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub header: BlockHeader,
    pub transactions: Vec<Transaction>,
}

/// A block from its bytes in digits, held against its name.
pub fn block(network: &Network, name: &BlockName, hex: &str) -> Result<Block, DecodeError> {
    let bytes = hex::decode(hex).map_err(|_| DecodeError::Shape)?;
    block_of_bytes(network, name, &bytes)
}

/// The same, where the bytes are not written as digits.
pub fn block_of_bytes(
    network: &Network,
    name: &BlockName,
    bytes: &[u8],
) -> Result<Block, DecodeError> {
    let raw: RawBlock = deserialize(bytes).map_err(|_| DecodeError::Shape)?;
    let header = checked(network, name, &raw.header)?;
    let transactions: Vec<Transaction> = raw.txdata.iter().map(read).collect();
    let mut known = HashSet::with_capacity(transactions.len());
    // A list whose end is doubled has the same root.
    let is_doubled = !transactions.iter().all(|it| known.insert(it.hash));
    let is_ambiguous = raw.txdata.iter().any(is_ambiguous);
    if is_doubled || is_ambiguous || !raw.check_merkle_root() {
        return Err(DecodeError::MerkleRoot);
    }
    let mut are_coinbase = transactions.iter().map(|it| it.is_coinbase);
    if are_coinbase.next() != Some(true) || are_coinbase.any(|it| it) {
        return Err(DecodeError::Shape);
    }
    Ok(Block {
        header,
        transactions,
    })
}

#[derive(Deserialize)]
struct RawTold {
    hash: String,
    confirmations: i64,
    tx: Vec<RawSent>,
}

/// The transactions of a block with whose the outputs were that they spend, from the result of `getblock` with previous
/// outputs. Nothing where the block is not on the node's chain.
pub fn sent_in_block(
    mode: Mode,
    block: &BlockName,
    result: &str,
) -> Result<Option<Vec<SentTransaction>>, DecodeError> {
    let raw: RawTold = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    if name(&raw.hash)? != *block {
        return Err(DecodeError::OtherBlock);
    }
    if raw.confirmations < 0 {
        return Ok(None);
    }
    let sent = raw.tx.iter().map(|it| it.sent(mode));
    sent.collect::<Result<Vec<_>, _>>().map(Some)
}

#[cfg(test)]
mod tests;

//! What a node's answer says was moved: transfers of tokens from the logs of a receipt, and from nothing else.
//!
//! Calldata says what somebody wanted, a log of the pinned contract says what happened. An answer that is
//! malformed anywhere is no answer; one that is well formed and about something else is passed over.
//! TRON's `/jsonrpc` answers in the same shape.

use std::collections::BTreeMap;

use alloy_primitives::hex;
use serde::Deserialize;
use till_core::asset::{Asset, Family, Network, Registry};
use till_core::money::Units;

use super::bloom::Bloom;
use super::words::{any_bytes, bytes, height, quantity};
use crate::block_hash::BlockHash;

pub use super::words::DecodeError;

/// keccak256 of `Transfer(address,address,uint256)`.
pub(super) const TRANSFER: [u8; 32] =
    hex!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// What a transaction that is in a block did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub block_hash: BlockHash,
    pub height: i64,
    /// In the order of its logs; none when it failed.
    pub transfers: Vec<Transfer>,
    /// Whether no log can be missing, as far as the receipt itself can tell: they are numbered without a gap and make
    /// up its bloom. Places are counted, so a receipt with a hole would count them wrongly.
    pub is_whole: bool,
}

/// One transfer of an asset we know, its addresses in the network's own form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub asset: &'static Asset,
    /// Inside the block.
    pub log_index: u64,
    /// Among the logs of its own transaction: the same wherever the transaction is mined.
    pub place: u32,
    /// Whose it was before. A log names one; a transaction of another family may spend what many had.
    pub senders: Vec<String>,
    pub recipient: String,
    pub units: Units,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawReceipt {
    transaction_hash: String,
    block_hash: Option<String>,
    block_number: Option<String>,
    status: Option<String>,
    logs_bloom: Option<String>,
    logs: Vec<RawLog>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawLog {
    transaction_hash: String,
    log_index: String,
    address: String,
    topics: Vec<String>,
    data: String,
    #[serde(default)]
    removed: bool,
}

/// A transaction's receipt from the result of `eth_getTransactionReceipt`. Nothing when it is in no block (yet). A
/// transaction that failed moved nothing.
pub fn receipt(
    network: &Network,
    tx_hash: &[u8; 32],
    result: &str,
) -> Result<Option<Receipt>, DecodeError> {
    let raw: Option<RawReceipt> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    match raw {
        Some(raw) => read(network, tx_hash, &raw),
        None => Ok(None),
    }
}

/// The receipts of a whole block from the result of `eth_getBlockReceipts`, by transaction.
pub fn block_receipts(
    network: &Network,
    result: &str,
) -> Result<BTreeMap<[u8; 32], Receipt>, DecodeError> {
    let raw: Vec<RawReceipt> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    let mut receipts = BTreeMap::new();
    for raw in &raw {
        let tx_hash = bytes::<32>(&raw.transaction_hash)?;
        let receipt = read(network, &tx_hash, raw)?.ok_or(DecodeError::Shape)?;
        if receipts.insert(tx_hash, receipt).is_some() {
            return Err(DecodeError::Contradiction);
        }
    }
    Ok(receipts)
}

/// The same for receipts that are held against the root in their block's header, in their order. Only what the root commits
/// to is believed: success and logs, each at its place; not the block that a receipt names, nor the numbers of logs.
pub fn proven_receipts(
    network: &Network,
    (block_hash, height): (BlockHash, i64),
    result: &str,
) -> Result<Vec<([u8; 32], Receipt)>, DecodeError> {
    let raw: Vec<RawReceipt> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    let mut receipts = Vec::with_capacity(raw.len());
    let mut log_index = 0;
    for raw in &raw {
        let mut transfers = Vec::new();
        for (place, log) in (0u32..).zip(committed(&raw.logs)) {
            if let Some(transfer) = transfer(network, log_index, log, &mut Bloom::default())? {
                transfers.push(Transfer { place, ..transfer });
            }
            log_index += 1;
        }
        let receipt = Receipt {
            block_hash,
            height,
            transfers: match succeeded(raw)? {
                true => transfers,
                false => Vec::new(),
            },
            is_whole: true,
        };
        receipts.push((bytes(&raw.transaction_hash)?, receipt));
    }
    Ok(receipts)
}

/// The logs that the root is made of, exactly: `receipts_root` passes over what was removed and what is there twice, too.
fn committed(logs: &[RawLog]) -> Vec<&RawLog> {
    let mut kept: Vec<&RawLog> = Vec::new();
    for log in logs.iter().filter(|log| !log.removed) {
        let is_same = |other: &&RawLog| {
            (&other.address, &other.topics, &other.data, &other.log_index)
                == (&log.address, &log.topics, &log.data, &log.log_index)
        };
        if !kept.iter().any(is_same) {
            kept.push(log);
        }
    }
    kept
}

/// A receipt without a status is older than every token we know.
fn succeeded(raw: &RawReceipt) -> Result<bool, DecodeError> {
    match quantity(raw.status.as_ref().ok_or(DecodeError::Shape)?)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(DecodeError::Number),
    }
}

fn read(
    network: &Network,
    tx_hash: &[u8; 32],
    raw: &RawReceipt,
) -> Result<Option<Receipt>, DecodeError> {
    if bytes::<32>(&raw.transaction_hash)? != *tx_hash {
        return Err(DecodeError::OtherTransaction);
    }
    let (Some(block_hash), Some(block_number)) = (&raw.block_hash, &raw.block_number) else {
        return Ok(None);
    };
    let (block_hash, height) = (bytes::<32>(block_hash)?.into(), height(block_number)?);
    let succeeded = succeeded(raw)?;
    let mut transfers = BTreeMap::new();
    let mut bloom = Bloom::default();
    for log in raw.logs.iter().filter(|log| !log.removed) {
        let index = quantity(&log.log_index)?;
        if bytes::<32>(&log.transaction_hash)? != *tx_hash {
            return Err(DecodeError::OtherTransaction);
        }
        let transfer = transfer(network, index, log, &mut bloom)?;
        match transfers.get(&index) {
            None => drop(transfers.insert(index, transfer)),
            Some(known) if *known == transfer => {}
            Some(_) => return Err(DecodeError::Contradiction),
        }
    }
    let is_whole = has_no_gap(&transfers) && fits(network, raw, &bloom)?;
    let placed = (0u32..).zip(transfers.into_values());
    let transfers = placed.filter_map(|(place, transfer)| {
        let transfer = transfer?;
        Some(Transfer { place, ..transfer })
    });
    Ok(Some(Receipt {
        block_hash,
        height,
        transfers: match succeeded {
            true => transfers.collect(),
            false => Vec::new(),
        },
        is_whole,
    }))
}

fn has_no_gap<T>(logs: &BTreeMap<u64, T>) -> bool {
    let ends = logs.keys().next().zip(logs.keys().next_back());
    ends.is_none_or(|(first, last)| (last - first) == logs.len() as u64 - 1)
}

/// TRON's nodes leave the bloom empty.
fn fits(network: &Network, raw: &RawReceipt, bloom: &Bloom) -> Result<bool, DecodeError> {
    let told = match (&raw.logs_bloom, network.family) {
        (Some(told), Family::Evm) => Bloom::parse(told)?,
        _ => return Ok(true),
    };
    Ok(told == *bloom)
}

/// Nothing for a log that is not a transfer of an asset we know.
fn transfer(
    network: &Network,
    log_index: u64,
    log: &RawLog,
    bloom: &mut Bloom,
) -> Result<Option<Transfer>, DecodeError> {
    let contract = contract(network, &log.address)?;
    let topics = log.topics.iter().map(|topic| bytes::<32>(topic));
    let topics = topics.collect::<Result<Vec<_>, _>>()?;
    bloom.add(&contract);
    topics.iter().for_each(|topic| bloom.add(topic));
    let data = any_bytes(&log.data)?;
    let ([TRANSFER, from, to], Ok(value)) = (&*topics, <[u8; 32]>::try_from(data)) else {
        return Ok(None);
    };
    let (Some(sender), Some(recipient)) = (address(from), address(to)) else {
        return Ok(None);
    };
    let display = |address: &[u8; 20]| crate::raw::shown(network.family, address);
    let contract = display(&contract);
    let Some(asset) = Registry::builtin().asset_of_contract(&network.id, &contract) else {
        return Ok(None);
    };
    // More than any supply is no transfer: nobody is to be waited for because of it.
    let units = amount(&value).unwrap_or_default();
    // Anybody can make a transfer of nothing, in anybody's name.
    Ok((units != 0).then(|| Transfer {
        asset,
        log_index,
        place: 0,
        senders: vec![display(&sender)],
        recipient: display(&recipient),
        units: Units(units),
    }))
}

/// What a word says was moved.
pub(super) fn amount(value: &[u8; 32]) -> Result<u128, DecodeError> {
    let (high, low) = value.split_at(16);
    let low = low.try_into().map_err(|_| DecodeError::Bytes)?;
    let units = u128::from_be_bytes(low);
    match high.iter().any(|byte| *byte != 0) || units >= Units::END.0 {
        true => Err(DecodeError::Amount),
        false => Ok(units),
    }
}

pub(super) fn contract(network: &Network, text: &str) -> Result<[u8; 20], DecodeError> {
    if network.family == Family::Tron
        && let Ok(prefixed) = bytes::<21>(text)
        && let [crate::address::tron::PREFIX, rest @ ..] = &prefixed
    {
        return Ok(*rest);
    }
    bytes(text)
}

/// An address fills the last 20 bytes of its topic; what has anything before them is not one.
pub(super) fn address(topic: &[u8; 32]) -> Option<[u8; 20]> {
    let (padding, address) = topic.split_at(12);
    let clean = padding.iter().all(|byte| *byte == 0);
    clean.then(|| address.try_into().ok()).flatten()
}

#[cfg(test)]
mod tests;

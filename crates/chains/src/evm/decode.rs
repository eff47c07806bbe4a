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

/// keccak256 of `Transfer(address,address,uint256)`.
const TRANSFER: [u8; 32] = hex!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// No supply comes near it, and sums of what is below cannot overflow.
const UNITS_END: u128 = 1 << 127;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    #[error("it is not a receipt")]
    Shape,
    #[error("a number is malformed")]
    Number,
    #[error("bytes are malformed")]
    Bytes,
    #[error("it is about another transaction")]
    OtherTransaction,
    #[error("it contradicts itself")]
    Contradiction,
    #[error("an amount is larger than any supply")]
    Amount,
}

/// One transfer of an asset we know, its addresses in the network's own form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub asset: &'static Asset,
    pub log_index: u64,
    pub sender: String,
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
}

/// The transfers of a transaction from the result of `eth_getTransactionReceipt`, in the order of its logs.
/// Nothing when it is in no block (yet). A transaction that failed moved nothing.
pub fn receipt(
    network: &Network,
    tx_hash: &[u8; 32],
    result: &str,
) -> Result<Option<Vec<Transfer>>, DecodeError> {
    let raw: Option<RawReceipt> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    let Some(raw) = raw else {
        return Ok(None);
    };
    if bytes::<32>(&raw.transaction_hash)? != *tx_hash {
        return Err(DecodeError::OtherTransaction);
    }
    let (Some(block_hash), Some(block_number)) = (raw.block_hash, raw.block_number) else {
        return Ok(None);
    };
    bytes::<32>(&block_hash)?;
    quantity(&block_number)?;
    // A receipt without a status is older than every token we know.
    let succeeded = match quantity(&raw.status.ok_or(DecodeError::Shape)?)? {
        0 => false,
        1 => true,
        _ => return Err(DecodeError::Number),
    };
    let mut transfers = BTreeMap::new();
    for log in &raw.logs {
        let index = quantity(&log.log_index)?;
        if bytes::<32>(&log.transaction_hash)? != *tx_hash {
            return Err(DecodeError::OtherTransaction);
        }
        let transfer = transfer(network, index, log)?;
        match transfers.get(&index) {
            None => drop(transfers.insert(index, transfer)),
            Some(known) if *known == transfer => {}
            Some(_) => return Err(DecodeError::Contradiction),
        }
    }
    let transfers = transfers.into_values().flatten();
    Ok(Some(match succeeded {
        true => transfers.collect(),
        false => Vec::new(),
    }))
}

/// Nothing for a log that is not a transfer of an asset we know.
fn transfer(
    network: &Network,
    log_index: u64,
    log: &RawLog,
) -> Result<Option<Transfer>, DecodeError> {
    let contract = contract(network, &log.address)?;
    let topics = log.topics.iter().map(|topic| bytes::<32>(topic));
    let topics = topics.collect::<Result<Vec<_>, _>>()?;
    let data = any_bytes(&log.data)?;
    let ([TRANSFER, from, to], Ok(value)) = (&*topics, <[u8; 32]>::try_from(data)) else {
        return Ok(None);
    };
    let (Some(sender), Some(recipient)) = (address(from), address(to)) else {
        return Ok(None);
    };
    let display = |address: &[u8; 20]| match network.family {
        Family::Tron => crate::tron::address::display(address),
        _ => super::address::display(address),
    };
    let contract = display(&contract);
    let Some(asset) = Registry::builtin().asset_of_contract(&network.id, &contract) else {
        return Ok(None);
    };
    let (high, low) = value.split_at(16);
    let low = low.try_into().map_err(|_| DecodeError::Bytes)?;
    let units = u128::from_be_bytes(low);
    if high.iter().any(|byte| *byte != 0) || units >= UNITS_END {
        return Err(DecodeError::Amount);
    }
    // Anybody can make a transfer of nothing, in anybody's name.
    Ok((units != 0).then(|| Transfer {
        asset,
        log_index,
        sender: display(&sender),
        recipient: display(&recipient),
        units: Units(units),
    }))
}

fn contract(network: &Network, text: &str) -> Result<[u8; 20], DecodeError> {
    if network.family == Family::Tron
        && let Ok(prefixed) = bytes::<21>(text)
        && let [crate::tron::address::PREFIX, rest @ ..] = &prefixed
    {
        return Ok(*rest);
    }
    bytes(text)
}

/// An address fills the last 20 bytes of its topic; what has anything before them is not one.
fn address(topic: &[u8; 32]) -> Option<[u8; 20]> {
    let (padding, address) = topic.split_at(12);
    let clean = padding.iter().all(|byte| *byte == 0);
    clean.then(|| address.try_into().ok()).flatten()
}

/// A number as nodes write it: `0x` and hexadecimal digits without leading zeros.
pub fn quantity(text: &str) -> Result<u64, DecodeError> {
    let digits = text.strip_prefix("0x").ok_or(DecodeError::Number)?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let padded = digits.len() > 1 && digits.starts_with('0');
    if !plain || padded {
        return Err(DecodeError::Number);
    }
    u64::from_str_radix(digits, 16).map_err(|_| DecodeError::Number)
}

fn bytes<const N: usize>(text: &str) -> Result<[u8; N], DecodeError> {
    let digits = text.strip_prefix("0x").ok_or(DecodeError::Bytes)?;
    let mut bytes = [0; N];
    ::hex::decode_to_slice(digits, &mut bytes).map_err(|_| DecodeError::Bytes)?;
    Ok(bytes)
}

fn any_bytes(text: &str) -> Result<Vec<u8>, DecodeError> {
    let digits = text.strip_prefix("0x").ok_or(DecodeError::Bytes)?;
    ::hex::decode(digits).map_err(|_| DecodeError::Bytes)
}

#[cfg(test)]
mod tests;

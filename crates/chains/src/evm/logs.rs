//! The logs of a network's tokens, from the result of `eth_getLogs`: which transactions may concern us. What they
//! moved is read from their receipts.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;
use till_core::asset::{Network, Registry};

use super::decode::{TRANSFER, address, amount, contract};
use super::words::{DecodeError, any_bytes, bytes, height, quantity};
use crate::block_hash::BlockHash;
use crate::raw::raw;

/// The contracts of a network's assets, those that are only recognised among them.
#[derive(Clone, Debug)]
pub struct Contracts {
    network: &'static Network,
    all: Vec<[u8; 20]>,
}

impl Contracts {
    pub fn of(network: &'static Network) -> Contracts {
        let assets = Registry::builtin().assets().iter();
        let of_network = assets.filter(|asset| asset.network == network.id);
        let address = |text: &String| raw(network.family, text);
        Contracts {
            network,
            all: of_network
                .filter_map(|asset| asset.contract.as_ref().and_then(address))
                .collect(),
        }
    }

    /// The same with one contract alone.
    pub fn only(&self, contract: [u8; 20]) -> Contracts {
        Contracts {
            network: self.network,
            all: vec![contract],
        }
    }

    pub fn network(&self) -> &'static Network {
        self.network
    }

    pub fn all(&self) -> &[[u8; 20]] {
        &self.all
    }
}

/// A log of the kind that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Log {
    pub height: i64,
    pub block_hash: BlockHash,
    pub tx_hash: [u8; 32],
    pub contract: [u8; 20],
    /// None for one that only looks like a transfer, or that moves nothing.
    pub moved: Option<LoggedTransfer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoggedTransfer {
    /// None where a transaction spends what several had: what it did names them.
    pub sender: Option<[u8; 20]>,
    pub recipient: [u8; 20],
    pub units: u128,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawLog<'a> {
    #[serde(borrow)]
    block_number: Cow<'a, str>,
    #[serde(borrow)]
    block_hash: Cow<'a, str>,
    #[serde(borrow)]
    transaction_hash: Cow<'a, str>,
    #[serde(borrow)]
    address: Cow<'a, str>,
    #[serde(borrow)]
    topics: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    data: Cow<'a, str>,
    #[serde(borrow)]
    log_index: Cow<'a, str>,
    #[serde(default)]
    removed: bool,
}

/// What is malformed anywhere, or was not asked for, makes the whole answer none. What was removed from the chain, and what is
/// there twice, is passed over.
pub fn logs(contracts: &Contracts, result: &str) -> Result<Vec<Log>, DecodeError> {
    let raw: Vec<RawLog<'_>> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    let (mut known, mut logs) = (HashSet::new(), Vec::new());
    for raw in raw.iter().filter(|raw| !raw.removed) {
        let log = read(contracts, raw)?;
        if known.insert((quantity(&raw.log_index)?, log.clone())) {
            logs.push(log);
        }
    }
    Ok(logs)
}

fn read(contracts: &Contracts, log: &RawLog<'_>) -> Result<Log, DecodeError> {
    let contract = contract(contracts.network, &log.address)?;
    let (first, rest) = log.topics.split_first().ok_or(DecodeError::Contradiction)?;
    let is_asked_for = contracts.all.contains(&contract) && bytes::<32>(first)? == TRANSFER;
    if !is_asked_for {
        return Err(DecodeError::Contradiction);
    }
    let height = height(&log.block_number)?;
    let mut topics = [[0; 32]; 3];
    for (place, topic) in topics.iter_mut().zip(rest) {
        *place = bytes(topic)?;
    }
    let data = any_bytes(&log.data)?;
    let value = <[u8; 32]>::try_from(data);
    Ok(Log {
        height,
        block_hash: bytes::<32>(&log.block_hash)?.into(),
        tx_hash: bytes(&log.transaction_hash)?,
        contract,
        moved: match (rest.len(), value) {
            (2, Ok(value)) => moved(&topics[0], &topics[1], &value),
            _ => None,
        },
    })
}

/// An amount larger than any supply is no transfer: nobody can be waited for because of it.
fn moved(sender: &[u8; 32], recipient: &[u8; 32], value: &[u8; 32]) -> Option<LoggedTransfer> {
    Some(LoggedTransfer {
        sender: Some(address(sender)?),
        recipient: address(recipient)?,
        units: amount(value).ok().filter(|units| *units != 0)?,
    })
}

#[cfg(test)]
mod tests;

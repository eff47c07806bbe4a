//! What Esplora's pages say. A header is put together from its parts and hashes to its name; so does a transaction. Nothing proves whose
//! the outputs were that a transaction spends.

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header as RawHeader, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, BlockHash, CompactTarget, OutPoint, Script, ScriptBuf, Sequence,
    Transaction as RawTransaction, TxIn, TxMerkleNode, TxOut, Txid, Witness,
};
use serde::Deserialize;
use till_core::asset::{Mode, Network};

use super::decode_error::DecodeError;
use super::header::{BlockHeader, BlockName, checked, name, reversed};
use super::script::owner;
use super::transaction::{SentTransaction, Transaction, read};

#[derive(Deserialize)]
struct EsploraBlock {
    id: String,
    height: i64,
    version: i64,
    timestamp: u32,
    merkle_root: String,
    previousblockhash: Option<String>,
    nonce: u32,
    bits: u32,
}

impl EsploraBlock {
    fn header(&self, network: &Network) -> Result<BlockHeader, DecodeError> {
        let parent = self.previousblockhash.as_deref();
        let parent = parent.map(name).transpose()?.unwrap_or_default();
        let raw = RawHeader {
            version: BlockVersion::from_consensus(signed(self.version)?),
            prev_blockhash: BlockHash::from_byte_array(reversed(parent)),
            merkle_root: TxMerkleNode::from_byte_array(reversed(name(&self.merkle_root)?)),
            time: self.timestamp,
            bits: CompactTarget::from_consensus(self.bits),
            nonce: self.nonce,
        };
        checked(network, &name(&self.id)?, &raw)
    }
}

/// Versions have 32 bits; some write them with a sign and some without.
fn signed(version: i64) -> Result<i32, DecodeError> {
    match (i32::try_from(version), u32::try_from(version)) {
        (Ok(version), _) => Ok(version),
        (Err(_), Ok(version)) => Ok(version.cast_signed()),
        (Err(_), Err(_)) => Err(DecodeError::Shape),
    }
}

/// Headers from a height downwards, or from the last block, each the parent of the one before it; at least one.
pub fn headers(
    network: &Network,
    from: Option<i64>,
    page: &[u8],
) -> Result<Vec<(i64, BlockHeader)>, DecodeError> {
    let told: Vec<EsploraBlock> = serde_json::from_slice(page).map_err(|_| DecodeError::Shape)?;
    let header = |it: &EsploraBlock| Ok((it.height, it.header(network)?));
    let headers: Result<Vec<(i64, BlockHeader)>, DecodeError> = told.iter().map(header).collect();
    let headers = headers?;
    let top = headers.first().map(|(height, _)| *height);
    let is_asked_for = top.is_some_and(|top| top >= 0 && from.is_none_or(|from| from == top));
    let follows = |pair: &[(i64, BlockHeader)]| {
        pair[1].0 + 1 == pair[0].0 && pair[1].1.name == pair[0].1.parent
    };
    match is_asked_for && headers.windows(2).all(follows) {
        true => Ok(headers),
        false => Err(DecodeError::OtherBlock),
    }
}

/// A transaction as `/tx/:txid` tells it.
#[derive(Deserialize)]
pub struct EsploraTransaction {
    version: i64,
    locktime: u32,
    vin: Vec<Input>,
    vout: Vec<Output>,
    status: Inclusion,
}

#[derive(Deserialize)]
struct Input {
    txid: String,
    vout: u32,
    prevout: Option<Output>,
    #[serde(default)]
    scriptsig: String,
    is_coinbase: bool,
    sequence: u32,
}

#[derive(Deserialize)]
struct Output {
    scriptpubkey: String,
    value: u64,
}

#[derive(Deserialize)]
struct Inclusion {
    confirmed: bool,
    block_hash: Option<String>,
}

impl Output {
    fn script(&self) -> Result<ScriptBuf, DecodeError> {
        let bytes = hex::decode(&self.scriptpubkey).map_err(|_| DecodeError::Shape)?;
        Ok(ScriptBuf::from_bytes(bytes))
    }
}

impl EsploraTransaction {
    pub fn is_confirmed(&self) -> bool {
        self.status.confirmed
    }

    /// The block that it is said to be in.
    pub fn block(&self) -> Result<Option<BlockName>, DecodeError> {
        match (self.status.confirmed, self.status.block_hash.as_deref()) {
            (false, _) => Ok(None),
            (true, Some(block)) => name(block).map(Some),
            (true, None) => Err(DecodeError::Shape),
        }
    }

    /// What its hash commits to. Signatures beside it (its witness) are no part of that.
    fn raw(&self) -> Result<RawTransaction, DecodeError> {
        let input = |it: &Input| {
            let signature = hex::decode(&it.scriptsig).map_err(|_| DecodeError::Shape)?;
            Ok(TxIn {
                previous_output: OutPoint {
                    txid: Txid::from_byte_array(reversed(name(&it.txid)?)),
                    vout: it.vout,
                },
                script_sig: ScriptBuf::from_bytes(signature),
                sequence: Sequence(it.sequence),
                witness: Witness::new(),
            })
        };
        let output = |it: &Output| {
            Ok(TxOut {
                value: Amount::from_sat(it.value),
                script_pubkey: it.script()?,
            })
        };
        Ok(RawTransaction {
            version: Version(signed(self.version)?),
            lock_time: LockTime::from_consensus(self.locktime),
            input: self
                .vin
                .iter()
                .map(input)
                .collect::<Result<_, DecodeError>>()?,
            output: self
                .vout
                .iter()
                .map(output)
                .collect::<Result<_, DecodeError>>()?,
        })
    }

    /// It, under the hash of what is told of it.
    pub fn transaction(&self) -> Result<Transaction, DecodeError> {
        Ok(read(&self.raw()?))
    }

    /// And whose the outputs were that it spends.
    pub fn sent(&self, mode: Mode) -> Result<SentTransaction, DecodeError> {
        let transaction = self.transaction()?;
        let mut senders = Vec::new();
        for input in &self.vin {
            if input.is_coinbase != transaction.is_coinbase {
                return Err(DecodeError::Shape);
            }
            if transaction.is_coinbase {
                continue;
            }
            let spent = input.prevout.as_ref();
            let script = spent.ok_or(DecodeError::PreviousOutputs)?.script()?;
            if let Some(owner) = owner(mode, Script::from_bytes(script.as_bytes()))
                && !senders.contains(&owner)
            {
                senders.push(owner);
            }
        }
        Ok(SentTransaction {
            transaction,
            senders,
        })
    }
}

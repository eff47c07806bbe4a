//! Transactions: from their bytes, which hash to their name; and from what a node says of the outputs that they spend, which
//! nothing proves.

use bitcoin::consensus::encode::{deserialize, deserialize_hex};
use bitcoin::hashes::Hash as _;
use bitcoin::{Script, Transaction as RawTransaction};
use serde::Deserialize;
use till_core::asset::Mode;

use super::decode_error::DecodeError;
use super::header::{name, reversed};
use super::script::{KeyProgram, key_program, owner};

/// An inner node of a merkle tree has so many bytes: what is as long could be one that is passed off as a transaction.
const AMBIGUOUS_BYTES: usize = 64;

/// Which output of which transaction: its hash as people write it, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Outpoint {
    pub transaction: [u8; 32],
    pub output: u32,
}

/// An output that pays to the hash of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyOutput {
    /// Among the outputs of its transaction.
    pub place: u32,
    pub program: KeyProgram,
    pub sats: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// As nodes and people write it.
    pub hash: [u8; 32],
    pub is_coinbase: bool,
    pub spends: Vec<Outpoint>,
    pub outputs: Vec<KeyOutput>,
}

/// A transaction from its bytes.
pub fn transaction(hex: &str) -> Result<Transaction, DecodeError> {
    let raw: RawTransaction = deserialize_hex(hex).map_err(|_| DecodeError::Shape)?;
    Ok(read(&raw))
}

/// The same from bytes that are not written as digits.
pub fn from_bytes(bytes: &[u8]) -> Result<Transaction, DecodeError> {
    let raw: RawTransaction = deserialize(bytes).map_err(|_| DecodeError::Shape)?;
    Ok(read(&raw))
}

pub(super) fn is_ambiguous(raw: &RawTransaction) -> bool {
    raw.base_size() == AMBIGUOUS_BYTES
}

pub(super) fn read(raw: &RawTransaction) -> Transaction {
    let spends = raw.input.iter().map(|input| Outpoint {
        transaction: reversed(input.previous_output.txid.to_byte_array()),
        output: input.previous_output.vout,
    });
    let outputs = (0u32..).zip(&raw.output).filter_map(|(place, output)| {
        let sats = output.value.to_sat();
        let program = key_program(&output.script_pubkey).filter(|_| sats > 0)?;
        Some(KeyOutput {
            place,
            program,
            sats,
        })
    });
    Transaction {
        hash: reversed(raw.compute_txid().to_byte_array()),
        is_coinbase: raw.is_coinbase(),
        outputs: outputs.collect(),
        spends: spends.collect(),
    }
}

/// A transaction, and whose the outputs were that it spends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentTransaction {
    pub transaction: Transaction,
    /// Each once, in the order of the inputs. Empty for what is newly mined.
    pub senders: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct RawSent {
    hex: String,
    vin: Vec<RawInput>,
    blockhash: Option<String>,
    in_active_chain: Option<bool>,
}

#[derive(Deserialize)]
struct RawInput {
    coinbase: Option<serde::de::IgnoredAny>,
    prevout: Option<RawOutput>,
}

#[derive(Deserialize)]
pub(super) struct RawOutput {
    #[serde(rename = "scriptPubKey")]
    script: RawScript,
}

#[derive(Deserialize)]
struct RawScript {
    hex: String,
}

impl RawOutput {
    /// None for a script without an address.
    pub(super) fn owner(&self, mode: Mode) -> Result<Option<String>, DecodeError> {
        let script = hex::decode(&self.script.hex).map_err(|_| DecodeError::Shape)?;
        Ok(owner(mode, Script::from_bytes(&script)))
    }
}

impl RawSent {
    pub(super) fn sent(&self, mode: Mode) -> Result<SentTransaction, DecodeError> {
        let transaction = transaction(&self.hex)?;
        if transaction.spends.len() != self.vin.len() {
            return Err(DecodeError::Shape);
        }
        let mut senders = Vec::new();
        for input in &self.vin {
            if input.coinbase.is_some() != transaction.is_coinbase {
                return Err(DecodeError::Shape);
            }
            if transaction.is_coinbase {
                continue;
            }
            let spent = input.prevout.as_ref();
            let spent = spent.ok_or(DecodeError::PreviousOutputs)?;
            if let Some(owner) = spent.owner(mode)?
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

/// A transaction of a block from the result of `getrawtransaction` with previous outputs. Nothing where the block is not on the
/// node's chain.
pub fn in_block(
    mode: Mode,
    (block, hash): (&[u8; 32], &[u8; 32]),
    result: &str,
) -> Result<Option<SentTransaction>, DecodeError> {
    let raw: RawSent = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    let said = raw.blockhash.as_deref().ok_or(DecodeError::Shape)?;
    if name(said)? != *block {
        return Err(DecodeError::OtherBlock);
    }
    let sent = raw.sent(mode)?;
    if sent.transaction.hash != *hash {
        return Err(DecodeError::OtherTransaction);
    }
    Ok((raw.in_active_chain != Some(false)).then_some(sent))
}

/// Whose an output is, from the result of `gettxout`. Nothing where the node knows of no such output that was not spent.
pub fn output_owner(mode: Mode, result: &str) -> Result<Option<Option<String>>, DecodeError> {
    let raw: Option<RawOutput> = serde_json::from_str(result).map_err(|_| DecodeError::Shape)?;
    raw.map(|raw| raw.owner(mode)).transpose()
}

/// Whose the outputs of a transaction are, from its bytes.
pub fn owners(mode: Mode, hash: &[u8; 32], hex: &str) -> Result<Vec<Option<String>>, DecodeError> {
    let raw: RawTransaction = deserialize_hex(hex).map_err(|_| DecodeError::Shape)?;
    if reversed(raw.compute_txid().to_byte_array()) != *hash {
        return Err(DecodeError::OtherTransaction);
    }
    let outputs = raw.output.iter();
    Ok(outputs.map(|it| owner(mode, &it.script_pubkey)).collect())
}

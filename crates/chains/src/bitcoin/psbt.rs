//! A transaction that brings together what lies on an account's addresses, for the merchant's own wallet to sign (BIP-174). It pays to the
//! account's own change chain, so nobody else can be paid by it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bitcoin::absolute::LockTime;
use bitcoin::bip32::{ChildNumber, DerivationPath, Fingerprint, KeySource};
use bitcoin::consensus::encode::deserialize;
use bitcoin::hashes::Hash as _;
use bitcoin::psbt::Psbt;
use bitcoin::secp256k1::PublicKey;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, CompressedPublicKey, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Txid,
    Witness,
};
use till_core::asset::Mode;

use super::account::BitcoinAccount;
use super::header::reversed;
use super::transaction::Outpoint;
use crate::AddressError;

/// What a witness of the hash of a key takes, with all of its input: in weight, four of which are a virtual byte.
const INPUT_WEIGHT: u64 = 272;
/// Everything else of a transaction with one such output, and with up to 252 inputs or more.
const REST_WEIGHT: u64 = 174;
/// Nodes pass nothing on that pays less to a hash of a key.
const DUST_SATS: u64 = 294;
/// Inputs of one transaction: a third of what nodes pass on.
pub const INPUTS_MAX: usize = 500;

const CHANGE: u32 = 1;
const RECEIVING: u32 = 0;
const PURPOSE: u32 = 84;

/// An output on one of an account's addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coin {
    /// The number of the address.
    pub number: u64,
    pub place: Outpoint,
    pub sats: u64,
    /// The whole transaction that has it, where an endpoint gave it: some wallets do not sign without.
    pub previous: Option<Vec<u8>>,
}

/// What is to be signed, and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepPsbt {
    /// In base64, as wallets take it.
    pub psbt: String,
    pub fee: u64,
    pub sent: u64,
    /// Where it goes: below the account key.
    pub path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    #[error(
        "{sats} sats do not pay for a fee of {fee}, or leave less than nodes pass on (294): wait for a lower fee rate, or for more"
    )]
    TooLittle { sats: u64, fee: u64 },
    #[error("a transaction that has one of the outputs is not the one that was asked for")]
    OtherTransaction,
    #[error(transparent)]
    Key(#[from] AddressError),
    #[error("the transaction cannot be written: {0}")]
    Unwritable(String),
}

/// The fee of so much weight at a rate in sats per 1,000 virtual bytes, rounded up.
fn fee(weight: u64, rate: u64) -> u64 {
    weight.div_ceil(4).saturating_mul(rate).div_ceil(1_000)
}

/// Whether an output brings more than the fee for spending it.
pub fn is_worth_its_fee(sats: u64, rate: u64) -> bool {
    sats > fee(INPUT_WEIGHT, rate)
}

/// A transaction that spends all of these, at a rate in sats per 1,000 virtual bytes. The fingerprint is that of the key from which
/// the account key was derived by BIP84; without it, origins begin at the account key itself.
pub fn sweep(
    account: &BitcoinAccount,
    master: Option<[u8; 4]>,
    coins: &[Coin],
    rate: u64,
) -> Result<SweepPsbt, SweepError> {
    let inputs = u64::try_from(coins.len()).unwrap_or(u64::MAX);
    let sats = coins.iter().map(|coin| coin.sats).sum::<u64>();
    let fee = fee(
        INPUT_WEIGHT
            .saturating_mul(inputs)
            .saturating_add(REST_WEIGHT),
        rate,
    );
    let too_little = SweepError::TooLittle { sats, fee };
    let sent = sats
        .checked_sub(fee)
        .filter(|sent| *sent >= DUST_SATS)
        .ok_or(too_little)?;
    let home = account.change_key(0)?;
    let unsigned = Transaction {
        version: Version::TWO,
        lock_time: LockTime::ZERO,
        input: coins.iter().map(input).collect(),
        output: vec![output(&home, sent)],
    };
    let unwritable = |error: bitcoin::psbt::Error| SweepError::Unwritable(error.to_string());
    let mut psbt = Psbt::from_unsigned_tx(unsigned).map_err(unwritable)?;
    let origin = Origin::of(account, master);
    psbt.xpub.insert(*account.xpub(), origin.below(&[])?);
    for (input, coin) in psbt.inputs.iter_mut().zip(coins) {
        let key = account.receiving_key(coin.number)?;
        let number = number(coin.number)?;
        input.witness_utxo = Some(output(&key, coin.sats));
        input.non_witness_utxo = previous(coin)?;
        let source = origin.below(&[RECEIVING, number])?;
        input.bip32_derivation.insert(public(&key), source);
    }
    for output in &mut psbt.outputs {
        let source = origin.below(&[CHANGE, 0])?;
        output.bip32_derivation.insert(public(&home), source);
    }
    Ok(SweepPsbt {
        psbt: STANDARD.encode(psbt.serialize()),
        fee,
        sent,
        path: format!("{CHANGE}/0"),
    })
}

fn number(number: u64) -> Result<u32, SweepError> {
    u32::try_from(number).map_err(|_| SweepError::Key(AddressError::NumberTooLarge))
}

fn public(key: &CompressedPublicKey) -> PublicKey {
    key.0
}

fn input(coin: &Coin) -> TxIn {
    TxIn {
        previous_output: OutPoint {
            txid: txid(coin),
            vout: coin.place.output,
        },
        script_sig: ScriptBuf::new(),
        // Whoever waits too long for a block may raise the fee.
        sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
        witness: Witness::new(),
    }
}

fn txid(coin: &Coin) -> Txid {
    Txid::from_byte_array(reversed(coin.place.transaction))
}

fn output(key: &CompressedPublicKey, sats: u64) -> TxOut {
    TxOut {
        value: Amount::from_sat(sats),
        script_pubkey: ScriptBuf::new_p2wpkh(&key.wpubkey_hash()),
    }
}

/// It hashes to its name, so it proves what the output holds.
fn previous(coin: &Coin) -> Result<Option<Transaction>, SweepError> {
    let Some(bytes) = &coin.previous else {
        return Ok(None);
    };
    let told: Transaction = deserialize(bytes).map_err(|_| SweepError::OtherTransaction)?;
    let at = usize::try_from(coin.place.output).unwrap_or(usize::MAX);
    let holds = told.output.get(at).map(|output| output.value.to_sat());
    match told.compute_txid() == txid(coin) && holds == Some(coin.sats) {
        true => Ok(Some(told)),
        false => Err(SweepError::OtherTransaction),
    }
}

/// Where keys come from, as far as it is known.
struct Origin {
    fingerprint: Fingerprint,
    to_account: Vec<ChildNumber>,
}

impl Origin {
    fn of(account: &BitcoinAccount, master: Option<[u8; 4]>) -> Origin {
        let Some(master) = master else {
            return Origin {
                fingerprint: account.xpub().fingerprint(),
                to_account: Vec::new(),
            };
        };
        let coin = match account.mode() {
            Mode::Live => 0,
            Mode::Test => 1,
        };
        let hardened = |index| ChildNumber::Hardened { index };
        Origin {
            fingerprint: Fingerprint::from(master),
            to_account: vec![
                hardened(PURPOSE),
                hardened(coin),
                account.xpub().child_number,
            ],
        }
    }

    fn below(&self, numbers: &[u32]) -> Result<KeySource, SweepError> {
        let mut path = self.to_account.clone();
        for number in numbers {
            let child = ChildNumber::from_normal_idx(*number);
            path.push(child.map_err(|_| SweepError::Key(AddressError::NumberTooLarge))?);
        }
        Ok((self.fingerprint, DerivationPath::from(path)))
    }
}

#[cfg(test)]
mod tests;

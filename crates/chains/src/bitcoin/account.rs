//! A merchant's account key, and the addresses that follow from it.

use std::sync::OnceLock;

use bitcoin::bip32::{ChildNumber, Xpub};
use bitcoin::hashes::Hash as _;
use bitcoin::secp256k1::{Secp256k1, VerifyOnly};
use bitcoin::{Address, CompressedPublicKey, KnownHrp, NetworkKind, base58};
use till_core::asset::Mode;

use crate::AddressError;

/// An encoded extended key is 111 or 112 characters; anything longer is not worth decoding.
const TEXT_LEN_MAX: usize = 112;
const ENCODED_LEN: usize = 78;
/// `m/purpose'/coin'/account'`.
const ACCOUNT_DEPTH: u8 = 3;

const XPUB: [u8; 4] = [0x04, 0x88, 0xb2, 0x1e];
const ZPUB: [u8; 4] = [0x04, 0xb2, 0x47, 0x46];
const TPUB: [u8; 4] = [0x04, 0x35, 0x87, 0xcf];
const VPUB: [u8; 4] = [0x04, 0x5f, 0x1c, 0xf6];
/// xprv, yprv, zprv, Yprv, Zprv, and the same for the test networks.
const PRIVATE: [[u8; 4]; 10] = [
    [0x04, 0x88, 0xad, 0xe4],
    [0x04, 0x9d, 0x78, 0x78],
    [0x04, 0xb2, 0x43, 0x0c],
    [0x02, 0x95, 0xb0, 0x05],
    [0x02, 0xaa, 0x7a, 0x99],
    [0x04, 0x35, 0x83, 0x94],
    [0x04, 0x4a, 0x4e, 0x28],
    [0x04, 0x5f, 0x18, 0xbc],
    [0x02, 0x42, 0x85, 0xb5],
    [0x02, 0x57, 0x50, 0x48],
];

/// A merchant's account key, parsed once, with the key of its receiving chain ready to hand out children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitcoinAccount {
    account: Xpub,
    receiving: Xpub,
}

impl BitcoinAccount {
    /// Takes xpub and zpub (live), tpub and vpub (test): the same key behind two names each.
    pub fn parse(text: &str) -> Result<BitcoinAccount, AddressError> {
        if text.len() > TEXT_LEN_MAX {
            return Err(AddressError::Malformed);
        }
        let mut bytes = base58::decode_check(text).map_err(|error| match error {
            base58::Error::IncorrectChecksum(_) => AddressError::Checksum,
            _ => AddressError::Malformed,
        })?;
        let Some(version) = bytes.first_chunk::<4>() else {
            return Err(AddressError::Malformed);
        };
        if PRIVATE.contains(version) {
            return Err(AddressError::PrivateKey);
        }
        if bytes.len() != ENCODED_LEN {
            return Err(AddressError::Malformed);
        }
        let version = match *version {
            XPUB | ZPUB => XPUB,
            TPUB | VPUB => TPUB,
            _ => return Err(AddressError::NotAnAccountKey),
        };
        bytes[..4].copy_from_slice(&version);
        let account = Xpub::decode(&bytes).map_err(|_| AddressError::Malformed)?;
        // A key of another depth is a key of something else: its children are not where the merchant's
        // wallet looks for money.
        if account.depth != ACCOUNT_DEPTH || !account.child_number.is_hardened() {
            return Err(AddressError::NotAnAccountKey);
        }
        let receiving = child(&account, 0)?;
        Ok(BitcoinAccount { account, receiving })
    }

    pub fn mode(&self) -> Mode {
        match self.account.network {
            NetworkKind::Main => Mode::Live,
            NetworkKind::Test => Mode::Test,
        }
    }

    /// `xpub…` or `tpub…`, whatever name the key came under.
    pub fn canonical(&self) -> String {
        self.account.to_string()
    }

    /// What the addresses depend on: the public key and the chain code. The same key may be written with other
    /// words about where it comes from, and for either kind of network.
    pub fn material(&self) -> String {
        let key = hex::encode(self.account.public_key.serialize());
        format!("{key}{}", hex::encode(self.account.chain_code.to_bytes()))
    }

    /// The key at these numbers below this one, written as an account key of its own.
    pub fn descendant(&self, numbers: &[u32]) -> Result<BitcoinAccount, AddressError> {
        let mut account = self.account;
        for number in numbers {
            account = child(&account, *number)?;
        }
        (account.depth, account.child_number) = (self.account.depth, self.account.child_number);
        let receiving = child(&account, 0)?;
        Ok(BitcoinAccount { account, receiving })
    }

    pub(super) fn xpub(&self) -> &Xpub {
        &self.account
    }

    /// The key that the child `0/number` of the account is.
    pub(super) fn receiving_key(&self, number: u64) -> Result<CompressedPublicKey, AddressError> {
        let number = u32::try_from(number).map_err(|_| AddressError::NumberTooLarge)?;
        Ok(child(&self.receiving, number)?.to_pub())
    }

    /// And `1/number`, which wallets keep for what they pay to themselves.
    pub(super) fn change_key(&self, number: u32) -> Result<CompressedPublicKey, AddressError> {
        Ok(child(&child(&self.account, 1)?, number)?.to_pub())
    }

    /// The address of the child `1/number`.
    pub fn change_address(&self, number: u32) -> Result<String, AddressError> {
        Ok(self.shown(&self.change_key(number)?))
    }

    fn shown(&self, key: &CompressedPublicKey) -> String {
        let hrp = match self.mode() {
            Mode::Live => KnownHrp::Mainnet,
            Mode::Test => KnownHrp::Testnets,
        };
        Address::p2wpkh(key, hrp).to_string()
    }

    /// The hash of the key of the child `0/number`, which outputs to its address name.
    pub fn program(&self, number: u64) -> Option<[u8; 20]> {
        Some(
            self.receiving_key(number)
                .ok()?
                .wpubkey_hash()
                .to_byte_array(),
        )
    }

    /// P2WPKH of the child `0/number`.
    pub fn address(&self, number: u64) -> Result<String, AddressError> {
        Ok(self.shown(&self.receiving_key(number)?))
    }
}

fn child(parent: &Xpub, number: u32) -> Result<Xpub, AddressError> {
    static SECP: OnceLock<Secp256k1<VerifyOnly>> = OnceLock::new();
    let secp = SECP.get_or_init(Secp256k1::verification_only);
    let number = ChildNumber::from_normal_idx(number).map_err(|_| AddressError::NumberTooLarge)?;
    // Beyond a number out of range this fails with a probability below 2^-127 (BIP32).
    parent
        .ckd_pub(secp, number)
        .map_err(|_| AddressError::NumberTooLarge)
}

/// The path below the account key, as `address_derivation` writes it.
pub fn path(number: u64) -> String {
    format!("0/{number}")
}

/// Only what [`path`] writes: the receiving chain and a plain number.
pub fn parse_path(text: &str) -> Result<u64, AddressError> {
    let digits = text.strip_prefix("0/").ok_or(AddressError::Path)?;
    let number = digits.parse().map_err(|_| AddressError::Path)?;
    if path(number) != text {
        return Err(AddressError::Path);
    }
    Ok(number)
}

#[cfg(test)]
mod tests;

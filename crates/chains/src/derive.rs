//! Deposit addresses: computed, never generated. The merchant's destination is an input of every one of
//! them, and the same inputs give the same address on any machine, at any time.

use alloy_primitives::Keccak256;
use serde::{Deserialize, Serialize};
use till_core::asset::{Family, Mode, Network};

use crate::AddressError;
use crate::bitcoin::account::{BitcoinAccount, parse_path, path};
use crate::evm::forwarder::EvmForwarder;
use crate::solana::program_address::deposit_token_account;
use crate::tron::forwarder::tron_address;
use crate::{bitcoin, evm, raw, solana, tron};

/// What a deposit address is computed from, and the contract's `address_derivation` object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "scheme", deny_unknown_fields)]
pub enum Derivation {
    #[serde(rename = "create2_forwarder_v1")]
    Evm {
        factory: String,
        salt: String,
        destination: String,
    },
    #[serde(rename = "tron_create2_forwarder_v1")]
    Tron {
        factory: String,
        salt: String,
        destination: String,
    },
    #[serde(rename = "bip84_v1")]
    Bitcoin { account_xpub: String, path: String },
    #[serde(rename = "program_address_v1")]
    Solana {
        program: String,
        destination: String,
        salt: String,
        mint: String,
    },
}

impl Derivation {
    /// Recomputed from the fields alone, as a checkout would that trusts nobody. The version of a Bitcoin
    /// key tells the main network from the test networks.
    pub fn address(&self) -> Result<String, AddressError> {
        match self {
            Derivation::Evm {
                factory,
                salt,
                destination,
            } => {
                let forwarder = EvmForwarder::new(&evm::address::parse(destination)?);
                let factory = evm::address::parse(factory)?;
                let address = forwarder.address(&factory, &parse_salt(salt)?);
                Ok(evm::address::display(&address))
            }
            Derivation::Tron {
                factory,
                salt,
                destination,
            } => {
                let forwarder = EvmForwarder::new(&tron::address::parse(destination)?);
                let factory = tron::address::parse(factory)?;
                let address = tron_address(&factory, &parse_salt(salt)?, &forwarder);
                Ok(tron::address::display(&address))
            }
            Derivation::Bitcoin { account_xpub, path } => {
                BitcoinAccount::parse(account_xpub)?.address(parse_path(path)?)
            }
            Derivation::Solana {
                program,
                destination,
                salt,
                mint,
            } => {
                let account = deposit_token_account(
                    &solana::address::parse(program)?,
                    &solana::address::parse(destination)?,
                    &parse_salt(salt)?,
                    &solana::address::parse(mint)?,
                )
                .ok_or(AddressError::Malformed)?;
                Ok(solana::address::display(&account))
            }
        }
    }
}

/// The salt of an account's address number `number`:
/// `keccak256("till/deposit/v1" ‖ 0 ‖ account ‖ 0 ‖ mode ‖ 0 ‖ namespace ‖ 0 ‖ number)`, the number as
/// eight bytes, big end first. Nothing random goes in, so that no lost row can ever mean lost money; the
/// zero bytes keep neighbouring fields apart.
pub fn salt(account: &str, mode: Mode, family: Family, number: u64) -> [u8; 32] {
    let mut hasher = Keccak256::new();
    for field in [
        "till/deposit/v1",
        account,
        mode.as_str(),
        family.namespace(),
    ] {
        hasher.update(field);
        hasher.update([0]);
    }
    hasher.update(number.to_be_bytes());
    hasher.finalize().0
}

/// The inputs of an account's deposit address number `number` on a network. Every EVM network gives the
/// same one, because the factory is the same and the salt names the family only.
pub fn derive(
    network: &Network,
    account: &str,
    destination: &str,
    number: u64,
) -> Result<Derivation, AddressError> {
    let destination = parse_destination(network.family, network.mode, destination)?;
    let salt = || {
        let salt = salt(account, network.mode, network.family, number);
        format!("0x{}", hex::encode(salt))
    };
    let factory = || network.factory.clone().ok_or(AddressError::NoFactory);
    match network.family {
        Family::Evm => Ok(Derivation::Evm {
            factory: factory()?,
            salt: salt(),
            destination,
        }),
        Family::Tron => Ok(Derivation::Tron {
            factory: factory()?,
            salt: salt(),
            destination,
        }),
        Family::Bitcoin => Ok(Derivation::Bitcoin {
            account_xpub: destination,
            path: path(number),
        }),
        // No program is deployed, and the address would depend on the mint as well.
        Family::Solana => Err(AddressError::NoFactory),
    }
}

/// What a merchant registers to be paid to, in canonical form: an address, or for Bitcoin the extended
/// public key of an account.
pub fn parse_destination(family: Family, mode: Mode, text: &str) -> Result<String, AddressError> {
    match family {
        Family::Evm => Ok(evm::address::display(&evm::address::parse(text)?)),
        Family::Tron => Ok(tron::address::display(&tron::address::parse(text)?)),
        Family::Bitcoin => {
            let account = BitcoinAccount::parse(text)?;
            if account.mode() != mode {
                return Err(AddressError::WrongNetwork);
            }
            Ok(account.canonical())
        }
        Family::Solana => Ok(solana::address::display(&solana::address::parse(text)?)),
    }
}

/// What a destination's addresses depend on where they are keys of its own (Bitcoin), whichever of its spellings was
/// registered. None where addresses belong to the account, which may share a destination with others.
pub fn account_key(family: Family, destination: &str) -> Result<Option<String>, AddressError> {
    match family {
        Family::Bitcoin => BitcoinAccount::parse(destination).map(|key| Some(key.material())),
        Family::Evm | Family::Tron | Family::Solana => Ok(None),
    }
}

/// No network has shorter addresses.
const ADDRESS_CHARS_MIN: usize = 25;

/// Whether a text of unknown network is all of an address: what looks like one of a network that we know must be valid there,
/// so that a list that broke off in the middle of a line is noticed. Hex digits alone are none: they would match nothing.
pub fn is_whole_address(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_bitcoin = |mode: Mode| bitcoin::address::parse(mode, text).is_ok();
    if let Some(digits) = lower.strip_prefix("0x") {
        return digits.len() == 40 && is_hex(digits);
    }
    match lower.as_bytes() {
        [b'b', b'c', b'1', ..] => is_bitcoin(Mode::Live),
        [b't', b'b', b'1', ..] => is_bitcoin(Mode::Test),
        [b'1' | b'3', ..] => is_bitcoin(Mode::Live),
        _ if text.starts_with('T') => tron::address::parse(text).is_ok(),
        _ => text.len() >= ADDRESS_CHARS_MIN && !is_hex(text),
    }
}

/// Any address that money can be sent to on the network, in canonical form: senders, refund payouts.
pub fn parse_address(network: &Network, text: &str) -> Result<String, AddressError> {
    match network.family {
        Family::Bitcoin => bitcoin::address::parse(network.mode, text),
        family => parse_destination(family, network.mode, text),
    }
}

/// One account's deposit addresses on a network, what they share parsed once for any number of them.
#[derive(Clone, Debug)]
pub struct DepositAddresses<'a> {
    network: &'a Network,
    account: &'a str,
    root: Root,
}

#[derive(Clone, Debug)]
enum Root {
    Evm([u8; 20], EvmForwarder),
    Tron([u8; 20], EvmForwarder),
    Bitcoin(BitcoinAccount),
}

impl<'a> DepositAddresses<'a> {
    pub fn new(
        network: &'a Network,
        account: &'a str,
        destination: &str,
    ) -> Result<DepositAddresses<'a>, AddressError> {
        let factory = || network.factory.as_deref().ok_or(AddressError::NoFactory);
        let root = match network.family {
            Family::Evm => Root::Evm(
                evm::address::parse(factory()?)?,
                EvmForwarder::new(&evm::address::parse(destination)?),
            ),
            Family::Tron => Root::Tron(
                tron::address::parse(factory()?)?,
                EvmForwarder::new(&tron::address::parse(destination)?),
            ),
            Family::Bitcoin => {
                let root = BitcoinAccount::parse(destination)?;
                if root.mode() != network.mode {
                    return Err(AddressError::WrongNetwork);
                }
                Root::Bitcoin(root)
            }
            Family::Solana => return Err(AddressError::NoFactory),
        };
        Ok(DepositAddresses {
            network,
            account,
            root,
        })
    }

    /// What [`derive`] and [`Derivation::address`] give for the same number.
    pub fn address(&self, number: u64) -> Result<String, AddressError> {
        match (&self.root, self.raw(number)) {
            (Root::Bitcoin(account), _) => account.address(number),
            (_, Some(address)) => Ok(raw::shown(self.network.family, &address)),
            _ => Err(AddressError::Malformed),
        }
    }

    /// The same as the 20 bytes that say who is paid.
    pub fn raw(&self, number: u64) -> Option<[u8; 20]> {
        let salt = || salt(self.account, self.network.mode, self.network.family, number);
        match &self.root {
            Root::Evm(factory, forwarder) => Some(forwarder.address(factory, &salt())),
            Root::Tron(factory, forwarder) => Some(tron_address(factory, &salt(), forwarder)),
            Root::Bitcoin(account) => account.program(number),
        }
    }
}

fn parse_salt(text: &str) -> Result<[u8; 32], AddressError> {
    let mut salt = [0; 32];
    let digits = text.strip_prefix("0x").ok_or(AddressError::Salt)?;
    hex::decode_to_slice(digits, &mut salt).map_err(|_| AddressError::Salt)?;
    Ok(salt)
}

#[cfg(test)]
mod tests;

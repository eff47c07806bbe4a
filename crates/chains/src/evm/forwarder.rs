//! The forwarder: a contract without owner or storage whose code carries the merchant's destination, so
//! that the address it will be deployed at promises where the money goes before it exists.

use alloy_primitives::keccak256;

/// Init code is `INIT_PREFIX ‖ destination ‖ INIT_SUFFIX`; `contracts/` and the checkout hold the same bytes.
pub const INIT_PREFIX: [u8; 10] = [0x60, 0x94, 0x3d, 0x81, 0x60, 0x09, 0x3d, 0x39, 0xf3, 0x73];

pub const INIT_SUFFIX: [u8; 127] = alloy_primitives::hex!(
    "36601a57005b60043560003560e01c6379c76e1a14603157600080fd5b80604a5780808047855af16092575b"
    "3d6000803e3d6000fd5b6370a0823160e01b600052306004526020600060246000845afa3d601f1016156040"
    "5760005163a9059cbb60e01b600052826004526024526000806044600080855af1156040575b00"
);

pub const INIT_LEN: usize = INIT_PREFIX.len() + 20 + INIT_SUFFIX.len();

/// The first byte of the CREATE2 preimage.
pub const EVM_CREATE2_PREFIX: u8 = 0xff;

/// The code of the factory that forwarders are deployed through, wherever it stands: 69 bytes without owner or storage.
const FACTORY_HASH: [u8; 32] =
    alloy_primitives::hex!("2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989");

pub fn is_factory(code: &[u8]) -> bool {
    keccak256(code).0 == FACTORY_HASH
}

pub fn init_code(destination: &[u8; 20]) -> [u8; INIT_LEN] {
    let mut code = [0; INIT_LEN];
    let (prefix, rest) = code.split_at_mut(INIT_PREFIX.len());
    let (middle, suffix) = rest.split_at_mut(destination.len());
    prefix.copy_from_slice(&INIT_PREFIX);
    middle.copy_from_slice(destination);
    suffix.copy_from_slice(&INIT_SUFFIX);
    code
}

/// One destination's forwarder, its init code hashed once for any number of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvmForwarder {
    pub init_hash: [u8; 32],
}

impl EvmForwarder {
    pub fn new(destination: &[u8; 20]) -> EvmForwarder {
        EvmForwarder {
            init_hash: keccak256(init_code(destination)).0,
        }
    }

    pub fn address(&self, factory: &[u8; 20], salt: &[u8; 32]) -> [u8; 20] {
        evm_address(factory, salt, &self.init_hash)
    }
}

/// EIP-1014.
pub fn evm_address(factory: &[u8; 20], salt: &[u8; 32], init_hash: &[u8; 32]) -> [u8; 20] {
    create2(EVM_CREATE2_PREFIX, factory, salt, init_hash)
}

/// TRON hashes the same fields behind its own first byte, hence the argument.
pub fn create2(prefix: u8, factory: &[u8; 20], salt: &[u8; 32], init_hash: &[u8; 32]) -> [u8; 20] {
    let mut preimage = [prefix; 85];
    preimage[1..21].copy_from_slice(factory);
    preimage[21..53].copy_from_slice(salt);
    preimage[53..].copy_from_slice(init_hash);
    let mut address = [0; 20];
    address.copy_from_slice(&keccak256(preimage)[12..]);
    address
}

#[cfg(test)]
mod tests {
    use alloy_primitives::hex;
    use proptest::prelude::*;

    use super::*;
    use crate::evm::address::{display, parse};

    #[test]
    fn the_init_code_is_the_one_that_was_run() {
        let destination = parse("0x52908400098527886E0F7030069857D2E4169EE7").unwrap();
        assert_eq!(INIT_LEN, 157);
        assert_eq!(
            EvmForwarder::new(&destination).init_hash,
            hex!("f2d7ef103dd1bd1b769e7f8371fa76c842d618e878c8ebec0ebaee2779cc53a4")
        );
        // The runtime is what follows the nine bytes of constructor.
        assert_eq!(
            keccak256(&init_code(&destination)[9..]),
            hex!("b1d8fa8233b13a193c7cafabc0a5ed8f449f67c8cc400c35b36b58cf6dbe365b")
        );
    }

    #[test]
    fn the_factory_is_known_by_its_code() {
        let code = hex!(
            "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234"
            "f58015156039578182fd5b8082525050506014600cf3"
        );
        assert!(is_factory(&code));
        assert!(!is_factory(&code[1..]));
        assert!(!is_factory(&[]));
    }

    #[test]
    fn create2_agrees_with_the_examples_of_eip_1014() {
        let init_hash = keccak256([0]).0;
        assert_eq!(
            display(&evm_address(&[0; 20], &[0; 32], &init_hash)),
            "0x4D1A2e2bB4F88F0250f26Ffff098B0b30B26BF38"
        );
        let mut deployer = [0; 20];
        deployer[..4].copy_from_slice(&hex!("deadbeef"));
        assert_eq!(
            display(&evm_address(&deployer, &[0; 32], &init_hash)),
            "0xB928f69Bb1D91Cd65274e3c79d8986362984fDA3"
        );
    }

    fn flip<const N: usize>(mut bytes: [u8; N], place: usize, by: u8) -> [u8; N] {
        bytes[place % N] ^= by;
        bytes
    }

    proptest! {
        #[test]
        fn any_flipped_byte_gives_another_address(
            factory: [u8; 20], salt: [u8; 32], destination: [u8; 20], place: usize, by in 1u8..,
        ) {
            let address = |factory, salt, destination| {
                EvmForwarder::new(&destination).address(&factory, &salt)
            };
            let right = address(factory, salt, destination);
            prop_assert_ne!(address(flip(factory, place, by), salt, destination), right);
            prop_assert_ne!(address(factory, flip(salt, place, by), destination), right);
            prop_assert_ne!(address(factory, salt, flip(destination, place, by)), right);
        }
    }
}

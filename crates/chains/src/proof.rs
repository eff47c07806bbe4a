//! Who signed a text with a wallet: EIP-191 on EVM networks, TIP-191 on TRON.

use std::sync::OnceLock;

use alloy_primitives::keccak256;
use bitcoin::secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use bitcoin::secp256k1::{Message, Secp256k1, VerifyOnly};
use till_core::asset::Family;

use crate::{evm, tron};

/// What a wallet signs to show that it is the payer's own: each value as the request has it, a line each.
pub fn binding_message(invoice: &str, asset: &str, sender: &str) -> String {
    format!("Till wallet binding\n{invoice}\n{asset}\n{sender}")
}

/// The address whose key made the signature (`0x` and 65 bytes: r, s, and 27 or 28, or 0 or 1). None where it is
/// not a signature, and on networks whose wallets sign in another way.
pub fn signer(family: Family, message: &str, signature: &str) -> Option<String> {
    let (network, display): (_, fn(&[u8; 20]) -> String) = match family {
        Family::Evm => ("Ethereum", evm::address::display),
        Family::Tron => ("TRON", tron::address::display),
        Family::Bitcoin | Family::Solana => return None,
    };
    let signature = parse(signature)?;
    let prefix = format!("\x19{network} Signed Message:\n{}", message.len());
    let digest = keccak256([prefix.as_bytes(), message.as_bytes()].concat());
    static SECP: OnceLock<Secp256k1<VerifyOnly>> = OnceLock::new();
    let key = SECP
        .get_or_init(Secp256k1::verification_only)
        .recover_ecdsa(&Message::from_digest(digest.0), &signature)
        .ok()?;
    let hash = keccak256(&key.serialize_uncompressed()[1..]).0;
    let mut address = [0; 20];
    address.copy_from_slice(&hash[12..]);
    Some(display(&address))
}

fn parse(text: &str) -> Option<RecoverableSignature> {
    let mut bytes = [0; 65];
    let digits = text.strip_prefix("0x").unwrap_or(text);
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    let id = match bytes[64] {
        id @ (0 | 1) => id,
        id @ (27 | 28) => id - 27,
        _ => return None,
    };
    let id = RecoveryId::from_i32(i32::from(id)).ok()?;
    RecoverableSignature::from_compact(&bytes[..64], id).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Wallet;

    /// From the documentation of web3.js, `eth.accounts.sign`.
    #[test]
    fn a_published_signature_names_its_published_signer() {
        let signature = "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c";
        assert_eq!(
            signer(Family::Evm, "Some data", signature).as_deref(),
            Some("0x2c7536E3605D9C16a7a3D7b1898e529396a65c23")
        );
        let bare = signature.trim_start_matches("0x");
        assert_eq!(
            signer(Family::Evm, "Some data", bare),
            signer(Family::Evm, "Some data", signature)
        );
        let other = signer(Family::Evm, "Some date", signature);
        assert_ne!(
            other.as_deref(),
            Some("0x2c7536E3605D9C16a7a3D7b1898e529396a65c23")
        );
    }

    #[test]
    fn a_signature_for_one_kind_of_network_says_nothing_on_another() {
        let key = Wallet::of([7; 32]).unwrap();
        let message = binding_message("inv_1", "USDT@tron:3448148188", "T");
        let tron = hex::encode(key.sign("TRON", &message));
        let evm = hex::encode(key.sign("Ethereum", &message));
        let own = signer(Family::Evm, &message, &evm).unwrap();
        let same = signer(Family::Tron, &message, &tron).unwrap();
        assert_eq!(
            evm::address::parse(&own).unwrap(),
            tron::address::parse(&same).unwrap()
        );
        assert_ne!(signer(Family::Evm, &message, &tron), Some(own));
        assert_ne!(signer(Family::Tron, &message, &evm), Some(same));
        assert_eq!(signer(Family::Bitcoin, &message, &evm), None);
    }

    #[test]
    fn the_lines_are_signed_as_they_were_sent() {
        assert_eq!(
            binding_message("inv_1", "USDC@eip155:84532", "0xabc"),
            "Till wallet binding\ninv_1\nUSDC@eip155:84532\n0xabc"
        );
    }

    proptest! {
        #[test]
        fn whoever_signs_is_named(secret in proptest::array::uniform32(1_u8..), message in "\\PC{0,80}") {
            let key = Wallet::of(secret);
            prop_assume!(key.is_some());
            let key = key.unwrap();
            let mut bytes = key.sign("Ethereum", &message);
            let found = signer(Family::Evm, &message, &hex::encode(bytes));
            prop_assert_eq!(found.clone(), Some(evm::address::display(&key.address())));
            // Hardware wallets write 0 and 1.
            bytes[64] -= 27;
            prop_assert_eq!(signer(Family::Evm, &message, &hex::encode(bytes)), found);
        }

        #[test]
        fn garbage_never_panics(text in "\\PC*", bytes in proptest::collection::vec(any::<u8>(), 0..70)) {
            let _ = signer(Family::Evm, "x", &text);
            let _ = signer(Family::Tron, "x", &hex::encode(bytes));
        }
    }
}

//! A payer's wallet, for tests: the server itself never has a key.

use alloy_primitives::keccak256;
use bitcoin::secp256k1::{Message, Secp256k1, SecretKey};

/// A wallet of EVM networks and TRON.
pub struct Wallet(SecretKey);

impl Wallet {
    /// None for the few bytes that are no key.
    pub fn of(secret: [u8; 32]) -> Option<Wallet> {
        SecretKey::from_slice(&secret).ok().map(Wallet)
    }

    pub fn address(&self) -> [u8; 20] {
        let public = self.0.public_key(&Secp256k1::new());
        let hash = keccak256(&public.serialize_uncompressed()[1..]).0;
        std::array::from_fn(|at| hash[12 + at])
    }

    /// The text signed as wallets do, the prefix being `Ethereum` or `TRON`.
    pub fn sign(&self, prefix: &str, text: &str) -> [u8; 65] {
        let said = format!("\x19{prefix} Signed Message:\n{}{text}", text.len());
        let digest = Message::from_digest(keccak256(said).0);
        let signature = Secp256k1::new().sign_ecdsa_recoverable(&digest, &self.0);
        let (recovery, compact) = signature.serialize_compact();
        let mut bytes = [27; 65];
        bytes[..64].copy_from_slice(&compact);
        bytes[64] += u8::from(recovery.to_i32() == 1);
        bytes
    }
}

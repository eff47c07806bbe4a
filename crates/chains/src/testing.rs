//! Wallets of payers and merchants, for tests: the server itself never has a key.

use alloy_primitives::keccak256;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bitcoin::bip32::{ChildNumber, DerivationPath, Xpriv};
use bitcoin::consensus::encode::serialize_hex;
use bitcoin::ecdsa::Signature;
use bitcoin::hashes::Hash as _;
use bitcoin::psbt::Psbt;
use bitcoin::secp256k1::{Message, Secp256k1, SecretKey};
use bitcoin::sighash::{EcdsaSighashType, SighashCache};
use bitcoin::{NetworkKind, Witness};

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

/// A merchant's wallet of Bitcoin: the documented example key of test mode, or one below it.
pub struct BitcoinWallet(Xpriv);

/// What BIP39 makes of the mnemonic in BIP84's test vectors.
const EXAMPLE_SEED: &str = "5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4";
const EXAMPLE_PATH: &str = "84'/1'/0'";

impl BitcoinWallet {
    pub fn example() -> Option<BitcoinWallet> {
        BitcoinWallet::below_example(&[])
    }

    /// That of a new test account is below the example, by the numbers that its id makes.
    pub fn below_example(numbers: &[u32]) -> Option<BitcoinWallet> {
        let seed = hex::decode(EXAMPLE_SEED).ok()?;
        let master = Xpriv::new_master(NetworkKind::Test, &seed).ok()?;
        let path: DerivationPath = EXAMPLE_PATH.parse().ok()?;
        let numbers: Result<Vec<_>, _> = numbers
            .iter()
            .map(|it| ChildNumber::from_normal_idx(*it))
            .collect();
        let path = path.extend(numbers.ok()?);
        let key = master.derive_priv(&Secp256k1::new(), &path).ok()?;
        Some(BitcoinWallet(key))
    }

    /// The transaction of a PSBT in base64 with all signatures, as digits; none where a key is not this wallet's.
    pub fn sign(&self, psbt: &str) -> Option<String> {
        let secp = Secp256k1::new();
        let psbt = Psbt::deserialize(&STANDARD.decode(psbt).ok()?).ok()?;
        let mut signed = psbt.unsigned_tx.clone();
        for (at, input) in psbt.inputs.iter().enumerate() {
            let (public, (_, path)) = input.bip32_derivation.first_key_value()?;
            let last_two = path.as_ref().last_chunk::<2>()?;
            let key = self.0.derive_priv(&secp, last_two).ok()?.private_key;
            let spent = input.witness_utxo.as_ref()?;
            if key.public_key(&secp) != *public {
                return None;
            }
            let mut hashes = SighashCache::new(&psbt.unsigned_tx);
            let all = EcdsaSighashType::All;
            let hash = hashes.p2wpkh_signature_hash(at, &spent.script_pubkey, spent.value, all);
            let signature =
                secp.sign_ecdsa(&Message::from_digest(hash.ok()?.to_byte_array()), &key);
            let signature = Signature {
                signature,
                sighash_type: all,
            };
            signed.input.get_mut(at)?.witness = Witness::p2wpkh(&signature, public);
        }
        Some(serialize_hex(&signed))
    }
}

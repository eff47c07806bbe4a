//! Encryption of what must not be readable at rest.
//!
//! One key encrypts, every key decrypts, so that the old ones can be dropped once everything was written again with
//! a new one. The first encrypts until another is named. Each use binds its purpose: a ciphertext moved to another
//! column or account does not open.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit as _, Nonce};
use hmac::{Hmac, Mac as _};
use sha2::{Digest as _, Sha256};
use till_core::error::{Code, Refusal};

use crate::base::clock::Ids;

const VERSION: u8 = 1;
const NAME_BYTES: usize = 4;
const NONCE_BYTES: usize = 12;

struct NamedKey {
    name: [u8; NAME_BYTES],
    cipher: ChaCha20Poly1305,
    mac_key: [u8; 32],
}

pub struct Vault {
    keys: Vec<NamedKey>,
    /// Which of them encrypts.
    newest: AtomicUsize,
    /// Another one encrypts, and it is not here.
    lacks_newest: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    #[error("no key was given")]
    NoKey,
    #[error("the stored value was written with a key that is not configured")]
    UnknownKey,
    #[error("the stored value does not open: it was damaged, moved or made for another purpose")]
    DoesNotOpen,
}

impl Vault {
    pub fn new(keys: &[[u8; 32]]) -> Result<Vault, VaultError> {
        let keys: Vec<NamedKey> = keys.iter().map(named).collect();
        if keys.is_empty() {
            Err(VaultError::NoKey)
        } else {
            Ok(Vault {
                keys,
                newest: AtomicUsize::new(0),
                lacks_newest: AtomicBool::new(false),
            })
        }
    }

    fn newest(&self) -> &NamedKey {
        &self.keys[self.newest.load(Ordering::Relaxed)]
    }

    /// What the key that encrypts is called: enough to tell keys apart, and nothing of what they are.
    pub fn name(&self) -> String {
        hex::encode(self.newest().name)
    }

    /// What the first key is called.
    pub fn first_name(&self) -> String {
        hex::encode(self.keys[0].name)
    }

    /// From now on the key of this name encrypts, if it is here. If it is not, none does.
    pub fn encrypt_with(&self, name: &str) -> bool {
        let is_it = |key: &NamedKey| hex::encode(key.name) == name;
        let found = self.keys.iter().position(is_it);
        if let Some(at) = found {
            self.newest.store(at, Ordering::Relaxed);
        }
        self.lacks_newest.store(found.is_none(), Ordering::Relaxed);
        found.is_some()
    }

    /// Whether the key that encrypts now has encrypted this.
    pub fn is_newest(&self, stored: &[u8]) -> bool {
        stored.get(1..=NAME_BYTES) == Some(&self.newest().name[..])
    }

    pub fn has(&self, name: &str) -> bool {
        self.keys.iter().any(|key| hex::encode(key.name) == name)
    }

    /// Refused where another key encrypts: what an old one went on to encrypt would be lost with it.
    pub fn seal(&self, ids: &Ids, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, Refusal> {
        if self.lacks_newest.load(Ordering::Relaxed) {
            return Err(Refusal::of(Code::ServiceUnavailable));
        }
        let key = self.newest();
        let nonce: [u8; NONCE_BYTES] = ids.random();
        let payload = Payload {
            msg: plain,
            aad: purpose.as_bytes(),
        };
        let sealed = key
            .cipher
            .encrypt(&Nonce::from(nonce), payload)
            .expect("in-memory encryption fails only beyond 256 GiB");
        let mut out = Vec::with_capacity(1 + NAME_BYTES + NONCE_BYTES + sealed.len());
        out.push(VERSION);
        out.extend_from_slice(&key.name);
        out.extend_from_slice(&nonce);
        out.extend_from_slice(&sealed);
        Ok(out)
    }

    pub fn open(&self, purpose: &str, stored: &[u8]) -> Result<Vec<u8>, VaultError> {
        let (head, sealed) = stored
            .split_at_checked(1 + NAME_BYTES + NONCE_BYTES)
            .ok_or(VaultError::DoesNotOpen)?;
        if head[0] != VERSION {
            return Err(VaultError::DoesNotOpen);
        }
        let name = &head[1..=NAME_BYTES];
        let key = self
            .keys
            .iter()
            .find(|key| key.name == name)
            .ok_or(VaultError::UnknownKey)?;
        let nonce: [u8; NONCE_BYTES] = head[1 + NAME_BYTES..]
            .try_into()
            .map_err(|_| VaultError::DoesNotOpen)?;
        key.cipher
            .decrypt(
                &Nonce::from(nonce),
                Payload {
                    msg: sealed,
                    aad: purpose.as_bytes(),
                },
            )
            .map_err(|_| VaultError::DoesNotOpen)
    }

    /// A keyed tag, for tokens that must be checkable without being stored.
    pub fn tag(&self, purpose: &str, message: &[u8]) -> [u8; 32] {
        tag_with(&self.newest().mac_key, purpose, message)
    }

    /// The same by every key: what was tagged before the key was rotated is found, too.
    pub fn tags(&self, purpose: &str, message: &[u8]) -> Vec<[u8; 32]> {
        let keys = self.keys.iter();
        keys.map(|key| tag_with(&key.mac_key, purpose, message))
            .collect()
    }

    /// Whether any of the keys made this tag; compared in constant time.
    pub fn is_tag(&self, purpose: &str, message: &[u8], tag: &[u8]) -> bool {
        tag.len() == 32 && self.is_short_tag(purpose, message, tag)
    }

    /// The same for a tag of which only the beginning was kept, at least ten bytes.
    pub fn is_short_tag(&self, purpose: &str, message: &[u8], tag: &[u8]) -> bool {
        use subtle::ConstantTimeEq as _;
        let is = |key: &NamedKey| {
            tag_with(&key.mac_key, purpose, message)[..tag.len()]
                .ct_eq(tag)
                .into()
        };
        (10..=32).contains(&tag.len()) && self.keys.iter().any(is)
    }
}

fn named(key: &[u8; 32]) -> NamedKey {
    let name = Sha256::digest([b"till/vault/name", &key[..]].concat());
    let mac_key = Sha256::digest([b"till/vault/tags", &key[..]].concat());
    NamedKey {
        name: [name[0], name[1], name[2], name[3]],
        cipher: ChaCha20Poly1305::new(Key::from_slice(key)),
        mac_key: mac_key.into(),
    }
}

fn tag_with(key: &[u8; 32], purpose: &str, message: &[u8]) -> [u8; 32] {
    let mut mac =
        <Hmac<Sha256> as hmac::Mac>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(purpose.as_bytes());
    mac.update(&[0]);
    mac.update(message);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{CountingEntropy, StillClock};

    fn ids() -> Ids {
        Ids::new(
            Arc::new(StillClock::at(0)),
            Arc::new(CountingEntropy::default()),
        )
    }

    #[test]
    fn what_was_sealed_opens_for_its_purpose_alone() {
        let vault = Vault::new(&[[1; 32]]).unwrap();
        let sealed = vault.seal(&ids(), "a", b"secret").unwrap();
        assert_eq!(vault.open("a", &sealed), Ok(b"secret".to_vec()));
        assert_eq!(vault.open("b", &sealed), Err(VaultError::DoesNotOpen));
        assert!(!sealed.windows(6).any(|window| window == b"secret"));
    }

    #[test]
    fn every_flipped_byte_is_noticed() {
        let vault = Vault::new(&[[1; 32]]).unwrap();
        let sealed = vault.seal(&ids(), "a", b"secret").unwrap();
        for index in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[index] ^= 1;
            assert!(vault.open("a", &damaged).is_err(), "byte {index}");
        }
        assert!(vault.open("a", &[]).is_err());
    }

    #[test]
    fn an_old_key_still_opens_and_a_dropped_one_does_not() {
        let old = Vault::new(&[[1; 32]]).unwrap();
        let sealed = old.seal(&ids(), "a", b"secret").unwrap();
        let rotated = Vault::new(&[[2; 32], [1; 32]]).unwrap();
        assert_eq!(rotated.open("a", &sealed), Ok(b"secret".to_vec()));
        assert!(!rotated.is_newest(&sealed));
        let dropped = Vault::new(&[[2; 32]]).unwrap();
        assert_eq!(dropped.open("a", &sealed), Err(VaultError::UnknownKey));
    }

    #[test]
    fn the_key_that_is_named_encrypts_and_none_where_it_is_not_there() {
        let vault = Vault::new(&[[1; 32], [2; 32]]).unwrap();
        let other = Vault::new(&[[2; 32]]).unwrap();
        assert!(vault.encrypt_with(&other.name()));
        assert_eq!(vault.name(), other.name());
        let sealed = vault.seal(&ids(), "a", b"secret").unwrap();
        assert!(vault.is_newest(&sealed) && other.open("a", &sealed).is_ok());
        assert!(!vault.encrypt_with("00000000"));
        assert_eq!(vault.name(), other.name());
        assert!(vault.seal(&ids(), "a", b"secret").is_err());
        assert!(vault.open("a", &sealed).is_ok());
        assert!(vault.encrypt_with(&other.name()));
        assert!(vault.seal(&ids(), "a", b"secret").is_ok());
    }
}

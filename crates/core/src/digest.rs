//! Signed books: what a digest of the journal is made of, and whether one fits.
//!
//! A digest covers entries of one account and mode. Each entry is one line of JSON, always written the same way; the root is
//! a hash over the root of the digest before and these lines; the signature binds the root to its account, mode and day.

use std::fmt;

use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::time;

/// The root before the first digest.
pub const NO_ROOT: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What a signature is about begins with this line, so that it can be mistaken for nothing else.
const TITLE: &str = "till ledger digest v1";

/// An entry of the journal as the database has it, whatever that is. The order of the fields is the order in the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub entry: String,
    /// RFC 3339 in UTC.
    pub created_at: String,
    pub kind: String,
    pub invoice: Option<String>,
    pub subject: String,
    pub step: i64,
    pub reverses: Option<String>,
    pub asset: String,
    pub lines: Vec<EntryLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryLine {
    pub line: i64,
    pub debit: String,
    pub credit: String,
    /// In base units.
    pub amount: String,
}

impl Entry {
    /// The canonical line, without its end.
    pub fn canonical(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// Adds up the lines of one digest.
#[derive(Clone)]
pub struct Sum {
    hash: Sha256,
    covered: Covered,
}

/// What a digest says of the entries that it covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    pub entries: u64,
    pub first_entry: String,
    pub last_entry: String,
    /// In hexadecimal digits.
    pub root: String,
}

impl Sum {
    /// None where the root before is none.
    pub fn after(previous: &str) -> Option<Sum> {
        let previous: [u8; 32] = bytes(previous)?;
        Some(Sum {
            hash: Sha256::new_with_prefix(previous),
            covered: Covered::default(),
        })
    }

    /// The canonical line of an entry, without its end.
    pub fn add(&mut self, entry: &str, line: &str) {
        self.hash.update(line.as_bytes());
        self.hash.update(b"\n");
        if self.covered.entries == 0 {
            entry.clone_into(&mut self.covered.first_entry);
        }
        self.covered.entries += 1;
        entry.clone_into(&mut self.covered.last_entry);
    }

    pub fn entries(&self) -> u64 {
        self.covered.entries
    }

    pub fn end(self) -> Covered {
        Covered {
            root: hex::encode(self.hash.finalize()),
            ..self.covered
        }
    }
}

/// A digest as somebody presents it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presented {
    pub account: String,
    pub mode: String,
    /// Days since 1970.
    pub day: i64,
    pub previous: String,
    pub covered: Covered,
    pub key_id: String,
    pub signature: String,
}

impl Presented {
    fn message(&self) -> String {
        message(&self.account, &self.mode, self.day, &self.covered.root)
    }
}

/// Why a digest does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// It does not follow the digest before it.
    Chain,
    /// The journal has other entries than were signed.
    Entries,
    /// Nobody knows the key that is said to have signed it.
    Key,
    /// That key did not sign it.
    Signature,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misfit::Chain => "its digest does not follow the one before",
            Misfit::Entries => "an entry was altered, removed or put in since it was signed",
            Misfit::Key => "its digest was signed with a key that is not known",
            Misfit::Signature => "the signature of its digest is wrong",
        })
    }
}

/// Whether a digest follows the root before it, covers these entries, and was signed with one of these public keys.
pub fn check(
    presented: &Presented,
    before: Option<&str>,
    covered: &Covered,
    public_keys: &[String],
) -> Result<(), Misfit> {
    if before.is_some_and(|root| root != presented.previous) {
        return Err(Misfit::Chain);
    }
    if presented.covered != *covered {
        return Err(Misfit::Entries);
    }
    let mut of_id = public_keys.iter().filter(|key| {
        let id = key_id(key);
        id.as_deref() == Some(&*presented.key_id)
    });
    let public_key = of_id.next().ok_or(Misfit::Key)?;
    match is_signed(public_key, &presented.message(), &presented.signature) {
        true => Ok(()),
        false => Err(Misfit::Signature),
    }
}

/// What is signed: each of its parts on a line.
fn message(account: &str, mode: &str, day: i64, root: &str) -> String {
    let day = time::show_day(day);
    format!("{TITLE}\n{account}\n{mode}\n{day}\n{root}\n")
}

/// The key that signs digests.
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    pub fn from_seed(seed: &[u8; 32]) -> SigningKey {
        SigningKey(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// In hexadecimal digits.
    pub fn public_key(&self) -> String {
        hex::encode(self.0.verifying_key().as_bytes())
    }

    /// The signature of a digest, in hexadecimal digits.
    pub fn sign(&self, account: &str, mode: &str, day: i64, root: &str) -> String {
        let message = message(account, mode, day, root);
        hex::encode(self.0.sign(message.as_bytes()).to_bytes())
    }
}

/// What a public key is called: the beginning of its hash. None for a text that is no key.
pub fn key_id(public_key: &str) -> Option<String> {
    let key: [u8; 32] = bytes(public_key)?;
    VerifyingKey::from_bytes(&key).ok()?;
    Some(hex::encode(&Sha256::digest(key)[..8]))
}

fn is_signed(public_key: &str, message: &str, signature: &str) -> bool {
    let signed = || {
        let key = VerifyingKey::from_bytes(&bytes(public_key)?).ok()?;
        let signature = Signature::from_bytes(&bytes(signature)?);
        key.verify_strict(message.as_bytes(), &signature).ok()
    };
    signed().is_some()
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests;

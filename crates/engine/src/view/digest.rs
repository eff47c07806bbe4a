//! The merchant's view of a digest of the journal, and what everybody may see of the keys that sign them.

use serde::Serialize;
use till_core::time;
use till_store::digests::DigestRow;
use till_store::ledger_keys::LedgerKeyRow;
use utoipa::ToSchema;

/// A signed hash of a day's entries in the journal and of the digest before it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = LedgerDigest)]
pub struct DigestView {
    pub id: String,
    #[schema(example = "ledger_digest", pattern = "^ledger_digest$")]
    pub object: &'static str,
    /// The UTC day. It also has what arrived late for earlier days.
    #[schema(example = "2026-11-15")]
    pub day: String,
    /// How many entries it covers.
    pub entries: u64,
    pub first_entry: String,
    pub last_entry: String,
    /// SHA-256 over `previous` and the canonical lines of the entries, in hexadecimal digits.
    pub root: String,
    /// The root of the digest before it; zeros for the first.
    pub previous: String,
    /// Which of the keys at `/.well-known/till-ledger.json` signed it.
    pub key_id: String,
    /// Ed25519, in hexadecimal digits.
    pub signature: String,
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl DigestView {
    pub fn of(row: &DigestRow) -> DigestView {
        DigestView {
            id: row.id.clone(),
            object: "ledger_digest",
            day: time::show_day(row.day),
            entries: row.entries,
            first_entry: row.first_entry.clone(),
            last_entry: row.last_entry.clone(),
            root: row.root.clone(),
            previous: row.previous.clone(),
            key_id: row.key_id.clone(),
            signature: row.signature.clone(),
            created_at: time::show(row.created_at),
        }
    }
}

/// The keys that sign digests of the journal, of today and of earlier days.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = LedgerKeys)]
pub struct LedgerKeysView {
    #[schema(example = "ledger_keys", pattern = "^ledger_keys$")]
    pub object: &'static str,
    /// The one that signs now is the last.
    pub keys: Vec<LedgerKeyView>,
}

/// The public half of a key that signs, or signed, digests of the journal.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = LedgerKey)]
pub struct LedgerKeyView {
    /// The beginning of the public key's SHA-256.
    pub key_id: String,
    /// `ed25519`.
    #[schema(example = "ed25519")]
    pub algorithm: &'static str,
    /// 32 bytes in hexadecimal digits.
    pub public_key: String,
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl LedgerKeysView {
    pub fn of(rows: &[LedgerKeyRow]) -> LedgerKeysView {
        let key = |row: &LedgerKeyRow| LedgerKeyView {
            key_id: row.id.clone(),
            algorithm: "ed25519",
            public_key: row.public_key.clone(),
            created_at: time::show(row.created_at),
        };
        LedgerKeysView {
            object: "ledger_keys",
            keys: rows.iter().map(key).collect(),
        }
    }
}

//! Checkout sessions: who loaded the page an address was left on, without remembering anybody.
//!
//! A token is a random number and our tag over it and the invoice. Checking one needs no row, and one of
//! another invoice, account or mode does not pass.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use till_core::scope::Scope;

use crate::base::Engine;

const PURPOSE: &str = "checkout_session";
const NONCE_BYTES: usize = 16;
const TAG_BYTES: usize = 32;
const TOKEN_CHARS: usize = (NONCE_BYTES + TAG_BYTES) / 3 * 4;

/// Tells sessions of one invoice apart. Not a secret: no token can be made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionId(pub [u8; NONCE_BYTES]);

/// A new session of this invoice, unguessable and fit for a URL.
pub fn issue(engine: &Engine, scope: &Scope, invoice: &str) -> String {
    let nonce: [u8; NONCE_BYTES] = engine.ids.random();
    let tag = engine.vault.tag(PURPOSE, &message(scope, invoice, nonce));
    URL_SAFE_NO_PAD.encode([&nonce[..], &tag[..]].concat())
}

/// The session a token stands for, if it is one of this invoice.
pub fn check(engine: &Engine, scope: &Scope, invoice: &str, token: &str) -> Option<SessionId> {
    if token.len() != TOKEN_CHARS {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (nonce, tag) = bytes.split_first_chunk::<NONCE_BYTES>()?;
    engine
        .vault
        .is_tag(PURPOSE, &message(scope, invoice, *nonce), tag)
        .then_some(SessionId(*nonce))
}

/// Lengths before the texts, so that no two invoices write the same.
fn message(scope: &Scope, invoice: &str, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
    let mut message = nonce.to_vec();
    for part in [&*scope.account, scope.mode.as_str(), invoice] {
        message.extend_from_slice(&(part.len() as u64).to_be_bytes());
        message.extend_from_slice(part.as_bytes());
    }
    message
}

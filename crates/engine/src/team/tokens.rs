//! Tokens that prove something by being known: of sessions, links and invitations. Only their hashes are kept.

use sha2::{Digest as _, Sha256};
use till_core::id;

use crate::base::Engine;

/// 256 random bits, in the clear: shown once, in a cookie or the fragment of a link.
#[derive(Clone, Debug)]
pub struct Token(pub String);

impl Token {
    pub fn new(engine: &Engine) -> Token {
        Token(id::token(&engine.ids.random::<32>()))
    }

    pub fn hash(&self) -> [u8; 32] {
        hash(&self.0)
    }
}

/// A token is random enough that its plain hash tells nothing.
pub fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

//! Addresses of users: encrypted, and found by a tag. They are compared without case.

use till_core::email::parse_email;
use till_core::error::{Code, Refusal};

use crate::base::Engine;
use crate::base::fail::Fail;

const TAG: &str = "user_email";

/// An address in the form in which it is kept: its domain in lower case, its name as its owner writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email(String);

impl Email {
    pub fn parse(text: &str) -> Result<Email, Refusal> {
        let email = parse_email(text).map(Email);
        email.ok_or_else(|| Refusal::of(Code::EmailInvalid).param("email"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both are the same person's: the case of letters does not count.
    pub fn is_same(&self, other: &str) -> bool {
        self.0.eq_ignore_ascii_case(other)
    }

    /// What finds it.
    pub fn tag(&self, engine: &Engine) -> Vec<u8> {
        tag_of(engine, self.0.as_bytes())
    }

    /// The same by every key that may have made it.
    pub fn tags(&self, engine: &Engine) -> Vec<[u8; 32]> {
        let lower = self.0.to_ascii_lowercase();
        engine.vault.tags(TAG, lower.as_bytes())
    }

    /// Encrypted for the row that holds it.
    pub fn seal(&self, engine: &Engine, holder: &str) -> Result<Vec<u8>, Fail> {
        let purpose = purpose(holder);
        Ok(engine
            .vault
            .seal(&engine.ids, &purpose, self.0.as_bytes())?)
    }
}

/// What finds an address, by the key that encrypts now.
pub fn tag_of(engine: &Engine, email: &[u8]) -> Vec<u8> {
    engine.vault.tag(TAG, &email.to_ascii_lowercase()).into()
}

/// What the address of a user or an invitation is encrypted for.
pub fn purpose(holder: &str) -> String {
    format!("email_of/{holder}")
}

pub fn open(engine: &Engine, holder: &str, sealed: &[u8]) -> Result<String, Fail> {
    let plain = engine.vault.open(&purpose(holder), sealed);
    String::from_utf8(plain.map_err(Fail::broken)?).map_err(Fail::broken)
}

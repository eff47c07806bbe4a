//! Whose things a request may touch: one account in one mode. Every query starts from it.

use std::sync::Arc;

use crate::asset::Mode;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    pub account: Arc<str>,
    pub mode: Mode,
}

impl Scope {
    pub fn new(account: &str, mode: Mode) -> Scope {
        Scope {
            account: account.into(),
            mode,
        }
    }

    /// The same account's other half.
    pub fn in_other_mode(&self) -> Scope {
        let mode = match self.mode {
            Mode::Test => Mode::Live,
            Mode::Live => Mode::Test,
        };
        Scope {
            account: Arc::clone(&self.account),
            mode,
        }
    }
}

/// What sort of credential a request comes with. Their idempotency keys are kept apart, so that payers, who hold
/// the publishable key or a claim's link, cannot touch the merchant's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Credential {
    /// A secret key.
    Merchant,
    /// A publishable key.
    Payer,
    /// The token of a refund's claim.
    Claim,
    /// A user's session on the dashboard, for what is not a resource that keys have too.
    User,
}

impl Credential {
    pub fn as_str(self) -> &'static str {
        match self {
            Credential::Merchant => "merchant",
            Credential::Payer => "payer",
            Credential::Claim => "claim",
            Credential::User => "user",
        }
    }

    pub fn parse(text: &str) -> Option<Credential> {
        let all = [
            Credential::Merchant,
            Credential::Payer,
            Credential::Claim,
            Credential::User,
        ];
        all.into_iter().find(|of| of.as_str() == text)
    }
}

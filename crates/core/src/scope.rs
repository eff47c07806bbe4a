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

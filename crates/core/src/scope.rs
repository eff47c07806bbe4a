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
}

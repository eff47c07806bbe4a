//! What the endpoints of a network do not agree on, and since when. Times are given, in microseconds of a clock that only
//! rises.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::endpoint::{SLOW_US, TransactionInBlock};

/// Old disputes about blocks that are no more are forgotten, together.
const KEPT_MAX: usize = 10_000;

#[derive(Default)]
pub struct Disputes {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    since: HashMap<TransactionInBlock, u64>,
    /// Why the network is not read on, or nothing more becomes final, in words for operators.
    held: Option<String>,
}

impl Disputes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has gone on for so long that nobody is merely slow. None when it begins now.
    pub(crate) fn is_old(&self, about: TransactionInBlock, now_us: u64) -> Option<bool> {
        let mut state = self.state();
        if let Some(since) = state.since.get(&about) {
            return Some(since + SLOW_US <= now_us);
        }
        if state.since.len() >= KEPT_MAX {
            state.since.clear();
        }
        state.since.insert(about, now_us);
        None
    }

    pub(crate) fn settled(&self, about: &TransactionInBlock) {
        self.state().since.remove(about);
    }

    pub fn hold(&self, why: Option<String>) {
        self.state().held = why;
    }

    pub fn held(&self) -> Option<String> {
        self.state().held.clone()
    }
}

#[cfg(test)]
mod tests {
    use till_chains::BlockHash;

    use super::*;

    #[test]
    fn a_dispute_is_old_when_nobody_can_merely_be_slow_and_begins_anew_once_settled() {
        let (disputes, about) = (Disputes::default(), (BlockHash::from([1; 32]), [2; 32]));
        assert_eq!(disputes.is_old(about, 7), None);
        assert_eq!(disputes.is_old(about, 6 + SLOW_US), Some(false));
        assert_eq!(disputes.is_old(about, 7 + SLOW_US), Some(true));
        assert_eq!(
            disputes.is_old((BlockHash::from([1; 32]), [3; 32]), 7 + SLOW_US),
            None
        );
        disputes.settled(&about);
        assert_eq!(disputes.is_old(about, 7 + SLOW_US), None);
    }
}

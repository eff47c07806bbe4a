//! The transactions about which a network's endpoints disagree, and since when. Times are arguments, in microseconds of
//! a monotonic clock.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::endpoint::{SLOW_US, TransactionInBlock};

/// The most disputes that are kept. Beyond it all are forgotten together: most are about blocks that were replaced.
const KEPT_MAX: usize = 10_000;

#[derive(Default)]
pub struct Disputes {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    since: HashMap<TransactionInBlock, u64>,
    /// Why reading stopped, or why nothing more becomes final, for operators.
    held: Option<String>,
}

impl Disputes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a dispute has lasted longer than an honest endpoint can lag. None if it begins with this call.
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

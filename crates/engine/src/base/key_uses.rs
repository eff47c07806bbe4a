//! When keys were used last: noted in memory by every request, and written down now and then.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub struct KeyUses(Mutex<HashMap<String, i64>>);

impl KeyUses {
    fn uses(&self) -> MutexGuard<'_, HashMap<String, i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn note(&self, key: &str, now: i64) {
        let mut uses = self.uses();
        match uses.get_mut(key) {
            Some(at) => *at = now.max(*at),
            None => drop(uses.insert(key.to_owned(), now)),
        }
    }

    /// When a key was used last, as far as it is not written down yet.
    pub fn of(&self, key: &str) -> Option<i64> {
        self.uses().get(key).copied()
    }

    /// Everything that is not written down yet, in the order of the keys.
    pub fn all(&self) -> Vec<(String, i64)> {
        let uses = self.uses();
        let mut all: Vec<_> = uses.iter().map(|(key, at)| (key.clone(), *at)).collect();
        all.sort();
        all
    }

    /// Forgets what was written down, unless the key was used again meanwhile.
    pub fn forget(&self, written: &[(String, i64)]) {
        let mut uses = self.uses();
        for (key, at) in written {
            if uses.get(key) == Some(at) {
                uses.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_use_counts_and_one_since_it_was_written_is_kept() {
        let uses = KeyUses::default();
        uses.note("key_a", 20);
        uses.note("key_a", 10);
        uses.note("key_b", 5);
        let all = uses.all();
        assert_eq!(all, [("key_a".to_owned(), 20), ("key_b".to_owned(), 5)]);
        uses.note("key_b", 6);
        uses.forget(&all);
        assert_eq!((uses.of("key_a"), uses.of("key_b")), (None, Some(6)));
    }
}

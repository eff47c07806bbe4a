//! Numbers of deposit addresses that this process has taken ahead and not leased yet.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use till_core::asset::Family;
use till_core::scope::Scope;

#[derive(Debug, Default)]
pub struct Numbers(Mutex<HashMap<(Scope, Family), VecDeque<i64>>>);

impl Numbers {
    /// Up to `wanted` of them, in the order in which they were put here.
    pub fn take(&self, scope: &Scope, family: Family, wanted: usize) -> Vec<i64> {
        match self.lock().get_mut(&(scope.clone(), family)) {
            Some(numbers) => numbers.drain(..wanted.min(numbers.len())).collect(),
            None => Vec::new(),
        }
    }

    pub fn put(&self, scope: &Scope, family: Family, numbers: impl IntoIterator<Item = i64>) {
        let mut numbers = numbers.into_iter().peekable();
        if numbers.peek().is_some() {
            let mut held = self.lock();
            held.entry((scope.clone(), family))
                .or_default()
                .extend(numbers);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Scope, Family), VecDeque<i64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

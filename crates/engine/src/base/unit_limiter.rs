//! Limits how many units of work one account may have under way, where several connections write: an account whose rows are
//! locked must not have them all wait for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use till_core::scope::Scope;
use till_store::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// As long as a unit of work waits for a connection.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct UnitLimiter {
    /// None where there is one writer, which everybody shares.
    per_account: Option<usize>,
    accounts: Mutex<HashMap<Scope, Arc<Semaphore>>>,
}

/// Counts as one of the account's units of work until it is dropped.
pub struct UnitPermit<'t> {
    limiter: &'t UnitLimiter,
    scope: &'t Scope,
    permit: Option<OwnedSemaphorePermit>,
}

impl UnitLimiter {
    /// A quarter of the connections is always left to the others.
    pub fn new(writers: Option<u32>) -> UnitLimiter {
        let share = |writers: u32| usize::try_from(writers - writers / 4).unwrap_or(usize::MAX);
        UnitLimiter {
            per_account: writers.map(share),
            accounts: Mutex::default(),
        }
    }

    fn accounts(&self) -> MutexGuard<'_, HashMap<Scope, Arc<Semaphore>>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn take<'t>(&'t self, scope: &'t Scope) -> Result<UnitPermit<'t>, StoreError> {
        let mut unit = UnitPermit {
            limiter: self,
            scope,
            permit: None,
        };
        if let Some(share) = self.per_account {
            let mine = {
                let mut accounts = self.accounts();
                let mine = accounts
                    .entry(scope.clone())
                    .or_insert_with(|| Arc::new(Semaphore::new(share)));
                Arc::clone(mine)
            };
            let permit = timeout(PATIENCE, mine.acquire_owned()).await;
            let permit = permit.map_err(|_| StoreError::Unavailable)?;
            // Nobody closes it.
            unit.permit = permit.ok();
        }
        Ok(unit)
    }
}

impl Drop for UnitPermit<'_> {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else {
            return;
        };
        drop(permit);
        let mut accounts = self.limiter.accounts();
        // Only this map knows it: nobody has a permit or waits for one.
        if accounts
            .get(self.scope)
            .is_some_and(|mine| Arc::strong_count(mine) == 1)
        {
            accounts.remove(self.scope);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use till_core::asset::Mode;

    use super::*;

    #[tokio::test]
    async fn one_account_leaves_some_to_the_others() {
        let limiter = UnitLimiter::new(Some(8));
        let (greedy, other) = (
            Scope::new("acct_1", Mode::Test),
            Scope::new("acct_2", Mode::Test),
        );
        let mut held = Vec::new();
        while let Some(permit) = limiter.take(&greedy).now_or_never() {
            held.push(permit.unwrap());
        }
        assert_eq!(held.len(), 6);
        assert!(limiter.take(&other).now_or_never().is_some());
        held.pop();
        assert!(limiter.take(&greedy).now_or_never().is_some());
        drop(held);
        assert!(limiter.accounts().is_empty(), "nobody is remembered");
    }

    #[tokio::test]
    async fn where_one_writes_for_all_nobody_waits_for_a_turn() {
        let limiter = UnitLimiter::new(None);
        let scope = Scope::new("acct_1", Mode::Test);
        let held: Vec<_> = (0..100)
            .map(|_| limiter.take(&scope).now_or_never())
            .collect();
        assert!(held.iter().all(Option::is_some));
    }
}

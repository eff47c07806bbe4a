//! Accounts that hold others up. A group of requests fails as a whole when a row of one account stays locked: by another
//! process that was paused, by somebody at the database. Such an account goes on by itself, one unit of work at a time,
//! until its rows can be written again, and the others never wait for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use till_core::scope::Scope;
use tokio::sync::{Mutex as AsyncMutex, Semaphore, oneshot};

use crate::base::fail::Fail;
use crate::base::{Answer, Engine};
use crate::invoices::create::CreateInvoice;
use crate::invoices::create_batch::{create_alone, create_group};

/// So many accounts that are known to be locked are tried at a time: each try holds a connection while it waits.
const LOCKED_AT_ONCE: usize = 2;

pub(super) struct WaitingRequest {
    pub(super) request: CreateInvoice,
    pub(super) answer: oneshot::Sender<Result<Answer, Fail>>,
}

pub(super) struct LockedAccounts {
    pub(super) engine: Arc<Engine>,
    accounts: Mutex<HashMap<Scope, Account>>,
    places: Semaphore,
}

/// One that is not written together with others.
#[derive(Default)]
struct Account {
    turn: Arc<AsyncMutex<()>>,
    is_locked: bool,
    /// Tasks that wait for their turn or have it.
    tasks: usize,
}

impl LockedAccounts {
    pub(super) fn new(engine: &Arc<Engine>) -> Arc<LockedAccounts> {
        Arc::new(LockedAccounts {
            engine: Arc::clone(engine),
            accounts: Mutex::default(),
            places: Semaphore::new(LOCKED_AT_ONCE),
        })
    }

    fn accounts(&self) -> MutexGuard<'_, HashMap<Scope, Account>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that can be written together. The others, and whoever has hung up, are seen to here.
    pub(super) fn without_locked(
        self: &Arc<LockedAccounts>,
        batch: Vec<WaitingRequest>,
    ) -> Vec<WaitingRequest> {
        let (aside, together) = {
            let accounts = self.accounts();
            let wanted = batch.into_iter().filter(|one| !one.answer.is_closed());
            wanted.partition::<Vec<_>, _>(|one| accounts.contains_key(&one.request.scope))
        };
        self.take(aside);
        together
    }

    /// Writes them account by account, beside whatever else goes on.
    pub(super) fn take(self: &Arc<LockedAccounts>, batch: Vec<WaitingRequest>) {
        let mut by_account: HashMap<Scope, Vec<WaitingRequest>> = HashMap::new();
        for one in batch {
            by_account
                .entry(one.request.scope.clone())
                .or_default()
                .push(one);
        }
        for (scope, batch) in by_account {
            let turn = {
                let mut accounts = self.accounts();
                let account = accounts.entry(scope.clone()).or_default();
                account.tasks += 1;
                Arc::clone(&account.turn)
            };
            let task = Task {
                aside: Arc::clone(self),
                scope,
            };
            tokio::spawn(task.run(turn, batch));
        }
    }
}

/// Requests of one account that are on their way by themselves.
struct Task {
    aside: Arc<LockedAccounts>,
    scope: Scope,
}

impl Drop for Task {
    /// An account that is not locked, and of which nothing is left, is one like the others again.
    fn drop(&mut self) {
        let mut accounts = self.aside.accounts();
        if let Some(account) = accounts.get_mut(&self.scope) {
            account.tasks -= 1;
            if account.tasks == 0 && !account.is_locked {
                accounts.remove(&self.scope);
            }
        }
    }
}

impl Task {
    async fn run(self, turn: Arc<AsyncMutex<()>>, batch: Vec<WaitingRequest>) {
        let _turn = turn.lock().await;
        let was_locked = self.is_locked();
        // The semaphore is never closed.
        let _place = match was_locked {
            true => self.aside.places.acquire().await.ok(),
            false => None,
        };
        // Those for whom it took too long have hung up or given up by now.
        let batch: Vec<WaitingRequest> = batch
            .into_iter()
            .filter(|one| !one.answer.is_closed())
            .collect();
        if batch.is_empty() {
            return;
        }
        let (requests, answers) = split(batch);
        let results = self.write(&requests).await;
        answer_all(answers, results);
    }

    async fn write(&self, requests: &[CreateInvoice]) -> Vec<Result<Answer, Fail>> {
        if let [request] = requests {
            let result = create_alone(&self.aside.engine, request).await;
            self.set_locked(result.as_ref().is_err_and(Fail::is_lock));
            return vec![result];
        }
        let fail = match create_group(&self.aside.engine, requests).await {
            Ok(results) => {
                self.set_locked(false);
                return results;
            }
            Err(fail) => fail,
        };
        let is_locked = fail.is_lock();
        self.set_locked(is_locked);
        if is_locked || fail.is_outage() {
            // One by one each would wait for the same lock.
            return vec![Err(fail); requests.len()];
        }
        let mut results = Vec::with_capacity(requests.len());
        for request in requests {
            results.push(create_alone(&self.aside.engine, request).await);
        }
        results
    }

    fn is_locked(&self) -> bool {
        let accounts = self.aside.accounts();
        accounts
            .get(&self.scope)
            .is_some_and(|account| account.is_locked)
    }

    fn set_locked(&self, is_locked: bool) {
        if let Some(account) = self.aside.accounts().get_mut(&self.scope) {
            account.is_locked = is_locked;
        }
    }
}

type Answers = Vec<oneshot::Sender<Result<Answer, Fail>>>;

pub(super) fn split(batch: Vec<WaitingRequest>) -> (Vec<CreateInvoice>, Answers) {
    let pairs = batch.into_iter().map(|one| (one.request, one.answer));
    pairs.unzip()
}

pub(super) fn join(requests: Vec<CreateInvoice>, answers: Answers) -> Vec<WaitingRequest> {
    let pairs = requests.into_iter().zip(answers);
    let waiting = pairs.map(|(request, answer)| WaitingRequest { request, answer });
    waiting.collect()
}

/// The caller may have hung up; what was committed stays committed.
pub(super) fn answer_all(answers: Answers, results: Vec<Result<Answer, Fail>>) {
    for (answer, result) in answers.into_iter().zip(results) {
        drop(answer.send(result));
    }
}

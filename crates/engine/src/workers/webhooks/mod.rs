//! Sends what is due, endpoint by endpoint. Each endpoint has its own task and its own slots, so one that
//! hangs holds up nobody else. What is told of one invoice is told in the order in which it happened.

mod attempt;
mod claim;
mod deliver;
mod failing;
mod ready;
mod slots;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use till_core::asset::Mode;
use till_core::scope::Scope;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::base::wake::Stopping;

use attempt::{attempt, record};
use claim::{Hold, claim, renew};
pub use deliver::Deliver;
use ready::Ready;
use slots::SendSlots;

/// With fewer than this left to send, the next are claimed.
const READY_MIN: usize = 32;
const PERIOD: Duration = Duration::from_secs(1);

/// Sends everything due now whose turn it is, to one endpoint after the other.
pub async fn run_due(engine: &Engine, sender: &impl Deliver) -> Result<(), Fail> {
    let slots = SendSlots::new(engine.config.limits.webhooks_under_way);
    for scope in due_scopes(engine).await {
        serve_endpoint(engine, sender, &scope, &Signals::default(), &slots).await?;
    }
    Ok(())
}

/// What an endpoint's task is told while it is at work.
#[derive(Default)]
struct Signals {
    /// Something became due.
    more: Notify,
    /// The server stops: what is claimed is still sent and recorded, so that nobody sends it again.
    last: AtomicBool,
}

type Busy = Arc<Mutex<HashMap<Scope, Arc<Signals>>>>;

/// An endpoint is served as long as this lives, however its task ends.
struct BeingServed {
    busy: Busy,
    scope: Scope,
}

impl Drop for BeingServed {
    fn drop(&mut self) {
        self.busy
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.scope);
    }
}

pub async fn run(engine: Arc<Engine>, sender: Arc<impl Deliver>, mut stopping: Stopping) {
    let busy: Busy = Arc::default();
    let slots = SendSlots::new(engine.config.limits.webhooks_under_way);
    let served = || busy.lock().unwrap_or_else(PoisonError::into_inner);
    let mut tasks = JoinSet::new();
    loop {
        for scope in due_scopes(&engine).await {
            let signals = Arc::new(Signals::default());
            match served().entry(scope.clone()) {
                Entry::Occupied(served) => {
                    served.get().more.notify_one();
                    continue;
                }
                Entry::Vacant(free) => drop(free.insert(Arc::clone(&signals))),
            }
            let (engine, sender) = (Arc::clone(&engine), Arc::clone(&sender));
            let slots = Arc::clone(&slots);
            let being_served = BeingServed {
                busy: Arc::clone(&busy),
                scope,
            };
            tasks.spawn(async move {
                let scope = being_served.scope.clone();
                let served = serve_endpoint(&engine, &*sender, &scope, &signals, &slots).await;
                drop(being_served);
                // Something may have become due after the last look and before the slot was given back.
                let is_told = signals.more.notified().now_or_never().is_some();
                match served {
                    Ok(Served::Something) => engine.nudges.webhooks(scope),
                    Ok(Served::Nothing) if is_told => engine.nudges.webhooks(scope),
                    // What is due waits for another server's attempts: the period is soon enough.
                    Ok(Served::Nothing) => {}
                    // The period is soon enough: a nudge would make a hot loop of it.
                    Err(fail) => {
                        tracing::error!(account = %scope.account, ?fail, "delivering an account's webhooks failed because the database failed; retried. Check it if this lasts");
                    }
                }
            });
        }
        // Nobody asks how they ended: they said so themselves.
        while tasks.try_join_next().is_some() {}
        tokio::select! {
            () = engine.nudges.webhooks.notified() => {}
            () = tokio::time::sleep(PERIOD) => {}
            _ = stopping.wait_for(|stop| *stop) => break,
        }
    }
    for signals in served().values() {
        signals.last.store(true, Ordering::Relaxed);
    }
    while tasks.join_next().await.is_some() {}
}

/// Endpoints that were nudged, and all that have something due: the second finds what the first lost.
async fn due_scopes(engine: &Engine) -> Vec<Scope> {
    let nudged = engine.nudges.take_endpoints();
    let found = async {
        let mut reader = engine.db.read().await?;
        till_store::deliveries::due_endpoints(&mut reader, engine.clock.now_ms()).await
    };
    match found.await {
        Ok(endpoints) => endpoints
            .iter()
            .filter_map(|endpoint| {
                Some(Scope::new(&endpoint.account, Mode::parse(&endpoint.mode)?))
            })
            .collect(),
        Err(error) => {
            tracing::warn!(%error, "due webhooks could not be read because the database failed; retried. Check it if this lasts");
            nudged.into_iter().collect()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Served {
    Something,
    Nothing,
}

/// Sends everything due to one endpoint, a bounded number at a time, until nothing is. While requests are
/// under way the next are claimed and the last recorded: neither the receiver nor the database waits for the
/// other, and what becomes due meanwhile waits for nothing that hangs.
async fn serve_endpoint(
    engine: &Engine,
    sender: &impl Deliver,
    scope: &Scope,
    signals: &Signals,
    slots: &Arc<SendSlots>,
) -> Result<Served, Fail> {
    let mut ready = Ready::default();
    let mut done = Vec::new();
    // At most one of each; a set that may be empty is simply not waited for.
    let (mut claims, mut records) = (FuturesUnordered::new(), FuturesUnordered::new());
    let mut renewals = FuturesUnordered::new();
    let mut under_way = FuturesUnordered::new();
    let mut given_back = slots.watch();
    let waiter = slots.waiter(scope);
    let mut claimed_all = Ok(false);
    let mut served = Served::Nothing;
    loop {
        let may_claim = matches!(claimed_all, Ok(false)) && !signals.last.load(Ordering::Relaxed);
        if may_claim && claims.is_empty() && ready.len() < READY_MIN {
            claims.push(claim(engine, scope));
        }
        let now = engine.clock.now_ms();
        if signals.last.load(Ordering::Relaxed) && renewals.is_empty() && ready.len() > 0 {
            let left = ready.let_go();
            let let_go = renew(engine, scope, left, Hold::NoMore);
            renewals.push(
                let_go
                    .map(move |gone| (HashSet::new(), now, gone))
                    .left_future(),
            );
        }
        // In this order: one given back after it is noticed below.
        given_back.mark_unchanged();
        let mut lacks_slot = false;
        while ready.has_next(now) {
            let Some(slot) = waiter.take(under_way.len()) else {
                lacks_slot = true;
                break;
            };
            if let Some((endpoint, delivery)) = ready.next(now) {
                under_way.push(attempt(engine, sender, endpoint, delivery, slot));
            }
        }
        if !lacks_slot {
            waiter.leave();
        }
        let old = ready.to_renew(now);
        if renewals.is_empty() && !old.is_empty() {
            let asked: HashSet<String> = old.iter().map(|(id, _)| id.clone()).collect();
            let held = renew(engine, scope, old, Hold::Longer);
            renewals.push(held.map(move |ours| (asked, now, ours)).right_future());
        }
        if records.is_empty() && !done.is_empty() {
            records.push(record(engine, scope, std::mem::take(&mut done)));
        }
        let waits_for_slot = lacks_slot && under_way.is_empty();
        if claims.is_empty()
            && under_way.is_empty()
            && records.is_empty()
            && renewals.is_empty()
            && !waits_for_slot
        {
            return claimed_all.map(|_| served);
        }
        // In a fixed order, so that the simulator's runs repeat; what is sent comes last because there is most
        // of it.
        tokio::select! {
            biased;
            Some(recorded) = records.next() => {
                recorded?;
                // Those that came after them may have their turn now.
                if claimed_all.is_ok() {
                    claimed_all = Ok(false);
                }
            }
            Some(claimed) = claims.next() => match claimed {
                Ok(Some((endpoint, claimed))) => {
                    served = Served::Something;
                    ready.add(endpoint, claimed, now);
                }
                Ok(None) => claimed_all = Ok(true),
                // What was claimed before is still sent and recorded.
                Err(fail) => claimed_all = Err(fail),
            },
            Some(attempted) = under_way.next() => {
                ready.finish(&attempted.delivery);
                waiter.took(attempted.latency_ms);
                done.push(attempted);
            }
            Some((asked, at, ours)) = renewals.next() => match ours {
                Ok(ours) => ready.renewed(&asked, &ours.into_iter().collect(), at),
                // They are sent all the same; should somebody take them over meanwhile, twice.
                Err(fail) => tracing::warn!(?fail, "claims on webhooks under way could not be renewed; another server may send them a second time"),
            },
            Ok(()) = given_back.changed(), if lacks_slot => {}
            () = signals.more.notified(), if matches!(claimed_all, Ok(true)) => claimed_all = Ok(false),
            // One whose turn has not come may have waited long enough.
            () = tokio::time::sleep(PERIOD), if ready.len() > 0 => {}
        }
    }
}

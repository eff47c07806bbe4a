//! Sends what is due, endpoint by endpoint. Each endpoint has its own task and its own places, so one that
//! hangs holds up nobody else. What is told of one invoice is told in the order in which it happened.

use scoped_futures::ScopedFutureExt as _;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use till_core::asset::Mode;
use till_core::id::IdKind;
use till_core::scope::Scope;
use till_core::time::SECOND_MS;
use till_core::webhook::{
    EVENT_ID_HEADER, EVENT_TYPE_HEADER, SIGNATURE_HEADER, retry_delay_ms, sign,
};
use till_store::deliveries::{Attempted, Claimed, DeliveryRow, Message, Patience};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::base::wake::Stopping;
use crate::merchants::secrets;
use crate::outbound::{Outcome, Sender};

/// How many requests may be under way to one endpoint.
const PLACES_PER_ENDPOINT: usize = 32;
/// How many are claimed together.
const CLAIM_MAX: i64 = 64;
/// With fewer than this left to send, the next are claimed.
const READY_MIN: usize = 32;
/// Longer than any attempt may take; a worker that died is taken over after it.
const CLAIM_MS: i64 = 60 * SECOND_MS;
/// How long a delivery waits at most for the one before it of the same subject, since that one began: well within
/// its claim.
const TURN_MS: i64 = 15 * SECOND_MS;
const PATIENCE: Patience = Patience {
    claim_ms: CLAIM_MS,
    turn_ms: TURN_MS,
};
const PERIOD: Duration = Duration::from_secs(1);

/// What takes a webhook to where it goes. The simulator's receiver is one too.
pub trait Deliver: Send + Sync + 'static {
    fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: Bytes,
    ) -> impl Future<Output = Outcome> + Send;
}

impl Deliver for Sender {
    async fn post(&self, url: &str, headers: &[(&'static str, String)], body: Bytes) -> Outcome {
        Sender::post(self, url, headers, body).await
    }
}

/// Sends everything due now whose turn it is, to one endpoint after the other.
pub async fn run_due(engine: &Engine, sender: &impl Deliver) -> Result<(), Fail> {
    for scope in due_scopes(engine).await {
        serve_endpoint(engine, sender, &scope, &Signals::default()).await?;
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
struct Place {
    busy: Busy,
    scope: Scope,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.busy
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.scope);
    }
}

pub async fn run(engine: Arc<Engine>, sender: Arc<impl Deliver>, mut stopping: Stopping) {
    let busy: Busy = Arc::default();
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
            let place = Place {
                busy: Arc::clone(&busy),
                scope,
            };
            tasks.spawn(async move {
                let served = serve_endpoint(&engine, &*sender, &place.scope, &signals).await;
                let scope = place.scope.clone();
                drop(place);
                // Something may have become due after the last look and before the place was given back.
                let is_told = signals.more.notified().now_or_never().is_some();
                match served {
                    Ok(Served::Something) => engine.nudges.webhooks(scope),
                    Ok(Served::Nothing) if is_told => engine.nudges.webhooks(scope),
                    // What is due waits for another server's attempts: the period is soon enough.
                    Ok(Served::Nothing) => {}
                    // The period is soon enough: a nudge would make a hot loop of it.
                    Err(fail) => {
                        tracing::error!(account = %scope.account, ?fail, "delivering webhooks failed; it is tried again");
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
            tracing::warn!(%error, "due webhooks could not be looked up");
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
) -> Result<Served, Fail> {
    let mut ready = Ready::default();
    let mut done = Vec::new();
    // At most one of each; a set that may be empty is simply not waited for.
    let (mut claims, mut records) = (FuturesUnordered::new(), FuturesUnordered::new());
    let mut under_way = FuturesUnordered::new();
    let mut claimed_all = Ok(false);
    let mut served = Served::Nothing;
    loop {
        let may_claim = matches!(claimed_all, Ok(false)) && !signals.last.load(Ordering::Relaxed);
        if may_claim && claims.is_empty() && ready.waiting.len() < READY_MIN {
            claims.push(claim(engine, scope));
        }
        while under_way.len() < PLACES_PER_ENDPOINT
            && let Some((endpoint, delivery)) = ready.next(engine.clock.now_ms())
        {
            under_way.push(attempt(engine, sender, endpoint, delivery));
        }
        if records.is_empty() && !done.is_empty() {
            records.push(record(engine, scope, std::mem::take(&mut done)));
        }
        if claims.is_empty() && under_way.is_empty() && records.is_empty() {
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
                    ready.add(endpoint, claimed);
                }
                Ok(None) => claimed_all = Ok(true),
                // What was claimed before is still sent and recorded.
                Err(fail) => claimed_all = Err(fail),
            },
            Some(attempted) = under_way.next() => {
                ready.finish(&attempted.delivery);
                done.push(attempted);
            }
            () = signals.more.notified(), if matches!(claimed_all, Ok(true)) => claimed_all = Ok(false),
            // One whose turn has not come may have waited long enough.
            () = tokio::time::sleep(PERIOD), if !ready.waiting.is_empty() => {}
        }
    }
}

/// What is claimed and not sent yet, in the order in which it happened.
#[derive(Default)]
struct Ready {
    waiting: VecDeque<(Arc<Endpoint>, Claimed)>,
    /// The subjects of which something is under way, and since when.
    told_of: HashMap<String, i64>,
}

impl Ready {
    fn add(&mut self, endpoint: Endpoint, mut claimed: Vec<Claimed>) {
        let endpoint = Arc::new(endpoint);
        claimed.sort_unstable_by_key(|delivery| delivery.seq);
        let claimed = claimed.into_iter();
        self.waiting
            .extend(claimed.map(|delivery| (Arc::clone(&endpoint), delivery)));
    }

    /// The next whose turn it is.
    fn next(&mut self, now: i64) -> Option<(Arc<Endpoint>, Claimed)> {
        let at = self.waiting.iter().position(|(_, delivery)| {
            let subject = delivery.subject.as_ref();
            let since = subject.and_then(|subject| self.told_of.get(subject));
            since.is_none_or(|since| now - since >= TURN_MS)
        })?;
        let next = self.waiting.remove(at)?;
        if let Some(subject) = &next.1.subject {
            self.told_of.insert(subject.clone(), now);
        }
        Some(next)
    }

    fn finish(&mut self, delivery: &Claimed) {
        if let Some(subject) = &delivery.subject {
            self.told_of.remove(subject);
        }
    }
}

struct Endpoint {
    url: String,
    secrets: Vec<String>,
}

/// Claims what is due. A retry becomes a delivery of its own; with no URL any more, everything due ends.
async fn claim(engine: &Engine, scope: &Scope) -> Result<Option<(Endpoint, Vec<Claimed>)>, Fail> {
    engine
        .db
        .write(move |tx| {
            async move {
                let now = engine.clock.now_ms();
                let merchant = till_store::accounts::merchant(tx, scope).await?;
                let url = merchant.and_then(|merchant| merchant.webhook_url);
                let claimed =
                    till_store::deliveries::claim(tx, scope, now, PATIENCE, CLAIM_MAX).await?;
                if claimed.is_empty() {
                    return Ok(None);
                }
                let (mut ready, mut retries) = (Vec::new(), Vec::new());
                for delivery in claimed {
                    if delivery.status == "pending" {
                        ready.push(delivery);
                        continue;
                    }
                    till_store::deliveries::retire(tx, scope, &delivery.id, delivery.fence).await?;
                    if let Some(url) = &url {
                        retries.push(next_attempt(engine, scope, url, &delivery, now));
                        let id = retries[retries.len() - 1].id.clone();
                        ready.push(Claimed {
                            id,
                            attempt: delivery.attempt + 1,
                            fence: 0,
                            ..delivery
                        });
                    }
                }
                till_store::deliveries::insert(tx, &retries).await?;
                let Some(url) = url else {
                    let gone: Vec<Attempted<'_>> = ready
                        .iter()
                        .map(|delivery| end_without_url(delivery, now))
                        .collect();
                    till_store::deliveries::record(tx, scope, &gone).await?;
                    return Ok(None);
                };
                let secrets = secrets::current(tx, engine, scope).await?;
                Ok::<_, Fail>(Some((Endpoint { url, secrets }, ready)))
            }
            .scope_boxed()
        })
        .await
}

fn next_attempt(
    engine: &Engine,
    scope: &Scope,
    url: &str,
    failed: &Claimed,
    now: i64,
) -> DeliveryRow {
    DeliveryRow::pending(
        scope,
        engine.ids.make(IdKind::Delivery),
        Message {
            event: failed.event.clone(),
            event_type: failed.event_type.clone(),
            subject: failed.subject.clone(),
        },
        url.to_owned(),
        failed.attempt + 1,
        (now, now + CLAIM_MS),
    )
}

fn end_without_url(delivery: &Claimed, now: i64) -> Attempted<'_> {
    Attempted {
        id: &delivery.id,
        fence: delivery.fence,
        url: "",
        succeeded: false,
        status_code: None,
        latency_ms: None,
        error: Some("no webhook URL is set any more"),
        response_body: None,
        attempted_at: Some(now),
        next_attempt_at: None,
    }
}

struct Done {
    endpoint: Arc<Endpoint>,
    delivery: Claimed,
    outcome: Outcome,
    attempted_at: i64,
    latency_ms: i64,
    next_attempt_at: Option<i64>,
}

impl Done {
    fn attempted(&self) -> Attempted<'_> {
        let outcome = &self.outcome;
        Attempted {
            id: &self.delivery.id,
            fence: self.delivery.fence,
            url: &self.endpoint.url,
            succeeded: outcome.delivered,
            status_code: outcome.status_code.map(i64::from),
            latency_ms: Some(self.latency_ms),
            error: outcome.error.as_deref(),
            response_body: outcome.status_code.map(|_| outcome.response_body.as_str()),
            attempted_at: Some(self.attempted_at),
            next_attempt_at: self.next_attempt_at,
        }
    }
}

async fn attempt(
    engine: &Engine,
    sender: &impl Deliver,
    endpoint: Arc<Endpoint>,
    mut delivery: Claimed,
) -> Done {
    let attempted_at = engine.clock.now_ms();
    let secrets: Vec<&str> = endpoint.secrets.iter().map(String::as_str).collect();
    let body = Bytes::from(std::mem::take(&mut delivery.body));
    let headers = [
        (
            SIGNATURE_HEADER,
            sign(&secrets, attempted_at / SECOND_MS, &body),
        ),
        (EVENT_ID_HEADER, delivery.event.clone()),
        (EVENT_TYPE_HEADER, delivery.event_type.clone()),
    ];
    let started = engine.clock.monotonic_us();
    let outcome = sender.post(&endpoint.url, &headers, body).await;
    let latency_ms = i64::try_from(engine.clock.monotonic_us().saturating_sub(started) / 1_000)
        .unwrap_or(i64::MAX);
    metrics::counter!("till_webhook_attempts_total", "delivered" => if outcome.delivered { "yes" } else { "no" })
        .increment(1);
    let jitter = u64::from_le_bytes(engine.ids.random());
    let next_attempt_at = if outcome.delivered {
        None
    } else {
        let failed = u32::try_from(delivery.attempt).unwrap_or(u32::MAX);
        retry_delay_ms(failed, jitter).map(|delay| engine.clock.now_ms() + delay)
    };
    Done {
        endpoint,
        delivery,
        outcome,
        attempted_at,
        latency_ms,
        next_attempt_at,
    }
}

async fn record(engine: &Engine, scope: &Scope, done: Vec<Done>) -> Result<(), Fail> {
    let attempts: Vec<Attempted<'_>> = done.iter().map(Done::attempted).collect();
    let attempts = attempts.as_slice();
    engine
        .db
        .write(move |tx| {
            async move {
                till_store::deliveries::record(tx, scope, attempts)
                    .await
                    .map(drop)
                    .map_err(Fail::from)
            }
            .scope_boxed()
        })
        .await
}

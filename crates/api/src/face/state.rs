//! What the handlers share.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use till_core::scope::Scope;
use till_engine::base::Stopping;
use till_engine::invoices::gather::Gatherer;
use till_engine::invoices::retrieve::Retrievals;
use till_engine::merchants::accounts::{self, Caller};
use till_engine::outbound::Sender;
use till_engine::{Engine, Fail};
use till_store::keys::KeyRow;

use till_http::answer::{Broken, Failure};
use till_http::idempotency::InFlight;
use till_http::rate_limit::RateLimiter;

/// Renders the metrics in Prometheus' text form.
pub type Metrics = Arc<dyn Fn() -> String + Send + Sync>;

#[derive(Clone)]
pub struct ApiConfig {
    pub docs_url: String,
    pub trusted_proxies: Vec<ipnet::IpNet>,
    pub checkout_per_minute: u32,
    pub metrics: Option<Metrics>,
}

pub struct Api {
    pub engine: Arc<Engine>,
    pub gatherer: Gatherer,
    pub retrievals: Retrievals,
    pub sender: Arc<Sender>,
    pub config: ApiConfig,
    pub stopping: Stopping,
    pub in_flight: Arc<InFlight<(Scope, String)>>,
    pub streams: Mutex<HashMap<(StreamOf, String), usize>>,
    limiter: RateLimiter,
    keys: Mutex<KnownKeys>,
}

/// Keys by their hash.
type KnownKeys = HashMap<[u8; 32], Arc<KnownKey>>;

/// When a key was looked up, and what came of it.
type KnownKey = tokio::sync::Mutex<Option<(u64, Result<Option<Arc<KeyRow>>, Fail>)>>;

/// What open streams are counted by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StreamOf {
    Client(IpAddr),
    Invoice,
}

/// Statements that look invoices up at one time: while one runs, those for the next gather.
const RETRIEVAL_LANES: usize = 2;
/// How long a key that was looked up may be believed. Long enough to spare a busy server the question,
/// short enough that a key rolled from another process has stopped working before anyone can tell.
const KEY_LIFE_US: u64 = 20_000;
/// Beyond this the cache starts over: the keys in use come back at once.
const KEYS_MAX: usize = 10_000;

impl Api {
    pub fn new(
        engine: Arc<Engine>,
        gatherer: Gatherer,
        sender: Arc<Sender>,
        config: ApiConfig,
        stopping: Stopping,
    ) -> Arc<Api> {
        let limiter = RateLimiter::new(config.checkout_per_minute);
        let retrievals = Retrievals::start(&engine, RETRIEVAL_LANES);
        Arc::new(Api {
            limiter,
            engine,
            gatherer,
            retrievals,
            sender,
            config,
            stopping,
            in_flight: InFlight::new(),
            streams: Mutex::default(),
            keys: Mutex::default(),
        })
    }

    /// Who a key belongs to, and whether it may be used at all.
    pub async fn caller(&self, key: &str) -> Result<Caller, Failure> {
        let known = self.known_key(accounts::hash_key(key));
        // Whoever finds it too old looks it up; the others wait for that answer instead of all asking.
        let mut known = known.lock().await;
        let now_us = self.engine.clock.monotonic_us();
        let found = match &*known {
            Some((at, found)) if now_us.saturating_sub(*at) < KEY_LIFE_US => found.clone(),
            _ => {
                // Boxed: what is rare makes no room for itself in every request's future.
                let found = Box::pin(accounts::find_key(&self.engine, key)).await;
                let found = found.map(|found| found.map(Arc::new));
                // An answer is as old as its question. A failure is told to all who waited for it: asking one
                // after the other, they would wait ever longer for a database that is away.
                let at = match &found {
                    Ok(_) => now_us,
                    Err(_) => self.engine.clock.monotonic_us(),
                };
                *known = Some((at, found.clone()));
                found
            }
        };
        drop(known);
        let found = found.map_err(fail)?;
        accounts::admit(&self.engine, found.as_deref()).map_err(fail)
    }

    /// Counts a call to an endpoint that is limited per key and client.
    pub fn limit(
        &self,
        endpoint: &'static str,
        caller: &Caller,
        client: IpAddr,
    ) -> Result<(), Failure> {
        Ok(self.limiter.check(endpoint, &caller.key_id, client)?)
    }

    fn known_key(&self, hash: [u8; 32]) -> Arc<KnownKey> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= KEYS_MAX && !keys.contains_key(&hash) {
            keys.clear();
        }
        Arc::clone(keys.entry(hash).or_default())
    }
}

/// The engine's failures in HTTP's terms. A database that is away is not a defect: the client may retry.
pub fn fail(fail: Fail) -> Failure {
    use till_core::error::{Code, Refusal};
    use till_store::StoreError;
    match fail {
        Fail::Refused(refusal) => refusal.into(),
        Fail::Again
        | Fail::Store(
            StoreError::Unavailable
            | StoreError::Busy
            | StoreError::Serialization
            | StoreError::LockTimeout,
            _,
        ) => Refusal::of(Code::ServiceUnavailable).into(),
        Fail::Store(error, place) => Broken(format!("{error} (at {place})")).into(),
        Fail::Broken(cause, place) => Broken(format!("{cause} (at {place})")).into(),
    }
}

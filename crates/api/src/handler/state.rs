//! What the handlers share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use till_core::scope::{Credential, Scope};
use till_engine::base::Stopping;
use till_engine::invoices::gather::Gatherer;
use till_engine::invoices::retrieve::Retrievals;
use till_engine::merchants::accounts::{self, Caller};
use till_engine::outbound::Sender;
use till_engine::team::changes;
use till_engine::{Engine, Fail};

use super::pages::CarriedPages;
use till_http::client_addr::LoggedAddress;
use till_http::idempotency::InFlight;
use till_http::rate_limit::RateLimiter;
use till_http::server::ServerLimits;

#[derive(Clone)]
pub struct ApiConfig {
    pub docs_url: String,
    pub trusted_proxies: Vec<ipnet::IpNet>,
    pub checkout_per_minute: u32,
    pub streams_per_client: usize,
    /// How often a live stream on which nothing happens says that it is there.
    pub heartbeat: Duration,
    pub server: ServerLimits,
    /// How much of a client's address is logged.
    pub client_shown: LoggedAddress,
    /// As far as this program was built with them.
    pub pages: CarriedPages,
}

pub struct Api {
    pub engine: Arc<Engine>,
    pub gatherer: Gatherer,
    pub retrievals: Retrievals,
    pub sender: Arc<Sender>,
    pub config: ApiConfig,
    pub stopping: Stopping,
    pub in_flight: Arc<InFlight<HeldKey>>,
    /// How many live streams are open, by what they are counted by.
    pub streams: Mutex<HashMap<String, usize>>,
    pub(super) limiter: RateLimiter,
    keys: Mutex<KnownKeys>,
}

/// An idempotency key that a request of this process holds.
pub type HeldKey = (Scope, Credential, String);

/// Keys by their hash.
type KnownKeys = HashMap<[u8; 32], Arc<KnownKey>>;

/// When a key was looked up, and what came of it.
type KnownKey = tokio::sync::Mutex<Option<(u64, Result<Arc<Caller>, Fail>)>>;

/// Shorter than what proxies take for silence.
pub const HEARTBEAT: Duration = Duration::from_secs(15);
/// Statements that look invoices up at one time: while one runs, those for the next gather.
const RETRIEVAL_LANES: usize = 2;
/// How long a key that was found good may be believed. Long enough to spare a busy server the question, shorter than
/// any process takes to start and roll it: whoever has seen it rolled has seen the last of it.
const KEY_LIFE_US: u64 = 5_000;
/// The same for a live stream that goes on.
const STREAMED_KEY_LIFE_US: u64 = 10_000_000;
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
    pub async fn caller(&self, key: &str) -> Result<Arc<Caller>, Fail> {
        self.caller_as_of(key, KEY_LIFE_US).await
    }

    /// The same for those who ask again and again: however many they are, one of them looks it up now and then.
    pub async fn caller_lately(&self, key: &str) -> Result<Arc<Caller>, Fail> {
        self.caller_as_of(key, STREAMED_KEY_LIFE_US).await
    }

    async fn caller_as_of(&self, key: &str, life_us: u64) -> Result<Arc<Caller>, Fail> {
        let known = self.known_key(accounts::hash_key(key));
        // Whoever finds it too old looks it up; the others wait for that answer instead of all asking.
        let mut known = known.lock().await;
        let now_us = self.engine.clock.monotonic_us();
        let life_of = |found: &Result<_, Fail>| match found {
            Ok(_) => life_us,
            // What it was refused for may be mended by now, and who mended it tries at once.
            Err(Fail::Refused(_)) => 0,
            // For those who waited for it, and nobody else: the database may be back.
            Err(_) => life_us.min(KEY_LIFE_US),
        };
        match &*known {
            Some((at, found)) if now_us.saturating_sub(*at) < life_of(found) => found.clone(),
            _ => {
                // Boxed to keep the future small: most requests find the key known.
                let found = Box::pin(self.look_up(key)).await;
                let found = found.map(Arc::new);
                // An answer is as old as its question. A failure of ours is told to all who waited for it: asking
                // one after the other, they would wait ever longer for a database that is away.
                let at = match &found {
                    Ok(_) | Err(Fail::Refused(_)) => now_us,
                    Err(_) => self.engine.clock.monotonic_us(),
                };
                *known = Some((at, found.clone()));
                found
            }
        }
    }

    /// Where the time of a change has come it is in effect from here on, whether or not a worker runs anywhere.
    async fn look_up(&self, key: &str) -> Result<Caller, Fail> {
        let caller = accounts::caller(&self.engine, key).await?;
        if caller.has_due_change {
            changes::put_in_effect(&self.engine, &caller.scope).await?;
        }
        Ok(caller)
    }

    fn known_key(&self, hash: [u8; 32]) -> Arc<KnownKey> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= KEYS_MAX && !keys.contains_key(&hash) {
            keys.clear();
        }
        Arc::clone(keys.entry(hash).or_default())
    }
}

//! The server under test and everything around it that a seed decides.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::task::Poll;

use sha2::{Digest as _, Sha256};
use till_core::asset::{Family, Mode};
use till_core::payment::Level;
use till_core::scope::Scope;
use till_engine::base::clock::Clock as _;
use till_engine::base::prices::{FixedPrices, Prices};
use till_engine::base::vault::Vault;
use till_engine::merchants::accounts::{self, Modes};
use till_engine::smtp::Mailer;
use till_engine::testing::{CountingEntropy, StillClock};
use till_engine::{Engine, EngineConfig, EngineLimits};
use till_store::{Db, DbConfig};

use crate::chain::Chain;
use crate::model::{COOLDOWN_MS, Merchant, Model, UNPAID_COOLDOWN_MS};
use crate::receiver::Receiver;
use crate::rng::Rng;
use crate::steps::ask::Ask;
use crate::steps::create::Request;
use crate::tape::{Part, Tape};

pub const START_MS: i64 = 1_800_000_000_000;
pub const LIFE_MS: i64 = 60 * 60_000;
pub const VOLATILE_LIFE_MS: i64 = 15 * 60_000;
pub const VOLATILE_REST_MS: i64 = 60 * 60_000;
pub const SELECT_MS: i64 = 30 * 60_000;
/// So few that they run out, and so many that processes take some ahead.
const POOLS_MAX: [i64; 2] = [12, 100_000];
pub const GAP_LIMIT: i64 = 4;
pub const PRICES: [(&str, &str); 3] = [
    ("BTC/USD", "50000"),
    ("BTC/EUR", "43210.5"),
    ("BTC/JPY", "7000001"),
];
/// m/84'/0'/0' of the mnemonic in BIP84's test vectors.
const LIVE_XPUB: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
/// What went wrong, in words.
pub type Check = Result<(), String>;

pub struct World {
    /// Whether its chains are replaced more often than others.
    pub is_stormy: bool,
    pub rng: Rng,
    pub clock: Arc<StillClock>,
    pub entropy: Arc<CountingEntropy>,
    database: Database,
    pub engine: Arc<Engine>,
    pub receiver: Arc<Receiver>,
    pub model: Model,
    /// What really is on the networks.
    pub chains: Vec<Chain>,
    /// The epochs in which two processes believe they lead, by network.
    pub epochs: BTreeMap<(String, usize), i64>,
    pool_max: i64,
    pub keys_made: u64,
    pub transactions_made: u64,
    /// The first request under each merchant's key.
    pub requests: BTreeMap<(usize, String), Request>,
    /// What payers and links' merchants asked for, under which keys.
    pub asked: Vec<(usize, String, Ask)>,
    /// Events that nobody needs to have received: their URL was taken away.
    pub excused: BTreeSet<String>,
    /// When each merchant's limit of review was last set, in its business time.
    pub limit_set: BTreeMap<usize, i64>,
    /// The journal as it was last read: it may only grow.
    pub journal: Vec<String>,
    /// What happened at all, so that a simulation that tests nothing is noticed.
    pub visited: BTreeSet<String>,
    trace: Sha256,
    /// What the step has done so far, in words.
    notes: Vec<String>,
}

enum Database {
    Memory,
    /// Closed and opened again at every restart.
    File(tempfile::TempDir),
}

impl World {
    /// So many that they do not run out.
    pub fn has_many_addresses(&self) -> bool {
        self.pool_max == POOLS_MAX[1]
    }

    pub async fn new(seed: u64, tape: Option<Tape>) -> World {
        let clock = Arc::new(StillClock::at(START_MS));
        let entropy = Arc::new(CountingEntropy::seeded(seed));
        // A file costs an fsync per step, so one seed in eight has one.
        let database = match seed % 8 {
            7 => Database::File(tempfile::tempdir().unwrap()),
            _ => Database::Memory,
        };
        let db = open(&database).await;
        db.migrate(START_MS).await.unwrap();
        let credit_at: BTreeMap<String, Level> = [
            ("eip155:84532".to_owned(), Level::Safe),
            ("tron:3448148188".to_owned(), Level::Included),
            ("eip155:56".to_owned(), Level::Included),
        ]
        .into();
        let pool_max = POOLS_MAX[usize::from(seed % 4 == 3)];
        let engine = Arc::new(engine(db, &clock, &entropy, &credit_at, pool_max));
        let mut world = World {
            rng: Rng::new(seed, tape),
            is_stormy: seed % 4 == 1,
            receiver: Arc::new(Receiver::new(Arc::clone(&clock))),
            clock,
            entropy,
            database,
            engine,
            model: Model {
                merchants: Vec::new(),
                nets: BTreeMap::new(),
                credit_at,
            },
            chains: Vec::new(),
            epochs: BTreeMap::new(),
            pool_max,
            keys_made: 0,
            transactions_made: 0,
            requests: BTreeMap::new(),
            asked: Vec::new(),
            excused: BTreeSet::new(),
            limit_set: BTreeMap::new(),
            journal: Vec::new(),
            visited: BTreeSet::new(),
            trace: Sha256::new(),
            notes: Vec::new(),
        };
        world
            .add_account("first", &[Family::Evm, Family::Tron, Family::Bitcoin])
            .await;
        world.add_account("second", &[Family::Evm]).await;
        world
    }

    /// Both test modes take the documented examples, as new accounts do.
    async fn add_account(&mut self, name: &str, live: &[Family]) {
        let mut destinations = Vec::new();
        for family in live.iter().copied() {
            let text = match family {
                Family::Bitcoin => LIVE_XPUB,
                _ => till_chains::example_destination(family),
            };
            let own = till_chains::parse_destination(family, Mode::Live, text).unwrap();
            destinations.push((family, Mode::Live, own));
        }
        let made = accounts::create_account(&self.engine, name, Modes::TestAndLive, &destinations)
            .await
            .unwrap();
        for (mode, keys) in [(Mode::Test, made.test), (Mode::Live, made.live.unwrap())] {
            let mark = format!("{name}-{}-mark", mode.as_str());
            let url = format!("https://{name}-{}.example.com/hooks", mode.as_str());
            self.receiver.set_secret(&url, &keys.webhook_secret, &mark);
            let scope = Scope::new(&made.id, mode);
            // In live mode the URL is set on the dashboard, which is not here yet.
            self.run_sql(
                "UPDATE merchants SET webhook_url = $3 WHERE account = $1 AND mode = $2",
                &[
                    made.id.as_str().into(),
                    mode.as_str().into(),
                    url.as_str().into(),
                ],
            )
            .await;
            self.model.merchants.push(Merchant {
                scope,
                mark,
                offset_ms: 0,
                tolerance_bps: 0,
                review_cents: None,
                url: Some(url),
                invoices: BTreeMap::new(),
                seen: BTreeMap::new(),
                leases: Vec::new(),
                leased_now: BTreeMap::new(),
                suffixes_now: BTreeMap::new(),
                credited: BTreeSet::new(),
                pool_max: self.pool_max,
                keys: BTreeMap::new(),
                links: BTreeMap::new(),
                link_events: 0,
                bindings: Vec::new(),
                fresh: Vec::new(),
                before: (0, 0),
                moved: BTreeMap::new(),
            });
        }
    }

    async fn run_sql(&self, sql: &str, args: &[till_store::Val]) {
        let mut tx = self.engine.db.begin().await.unwrap();
        till_store::Queries::run(&mut tx, sql, args).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// The last merchant, second and live, has a destination on EVM networks only.
    pub fn only_evm(&self, merchant: usize) -> bool {
        merchant == 3
    }

    pub fn real_now(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Business time of a merchant.
    pub fn now(&self, merchant: usize) -> i64 {
        self.clock.now_ms() + self.model.merchants[merchant].offset_ms
    }

    /// The process died and starts again on what was committed.
    pub async fn restart(&mut self) {
        // Starting takes time, and ids rise with it.
        self.rng.about("restart", &());
        self.clock.advance(self.rng.between(1, 200));
        let mut db = self.engine.db.clone();
        if let Database::File(_) = self.database {
            db.close().await;
            db = open(&self.database).await;
        }
        let credit_at = &self.model.credit_at;
        let engine = engine(db, &self.clock, &self.entropy, credit_at, self.pool_max);
        self.engine = Arc::new(engine);
    }

    /// Another process on the same database, with a clock of its own.
    pub fn process(&self, clock: &Arc<StillClock>, mailer: Option<Mailer>) -> Arc<Engine> {
        let db = self.engine.db.clone();
        let credit_at = &self.model.credit_at;
        let engine = engine(db, clock, &self.entropy, credit_at, self.pool_max);
        Arc::new(engine.with_mailer(mailer))
    }

    /// Drives a future to its end, or until it stops at the step or post it must die at; then it is dropped.
    pub async fn mortal<T>(&self, after: Option<u64>, work: impl Future<Output = T>) -> Option<T> {
        let after = after.unwrap_or(u64::MAX);
        self.engine.db.stop_after(after);
        self.receiver.stop_after(after);
        let mut work = Box::pin(work);
        let done = std::future::poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.engine.db.has_stopped() || self.receiver.has_stopped() => {
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        })
        .await;
        drop(work);
        self.engine.db.stop_after(u64::MAX);
        self.receiver.stop_after(u64::MAX);
        done
    }

    /// Where in the next step the process dies, if it does.
    pub fn doom(&mut self) -> Option<u64> {
        self.rng.about("death", &());
        let dies = self.rng.percent(12);
        let doom = dies.then(|| self.rng.next() % 30 + 1);
        doom.filter(|_| self.rng.keeps(Part::Death))
    }

    pub fn note(&mut self, line: String) {
        self.trace.update(line.as_bytes());
        self.trace.update(b"\n");
        self.notes.push(line);
    }

    pub fn visit(&mut self, what: &str) {
        if !self.visited.contains(what) {
            self.visited.insert(what.to_owned());
        }
    }

    /// What was noted since the last time.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    pub fn trace_hash(&self) -> String {
        hex::encode(self.trace.clone().finalize())
    }
}

async fn open(database: &Database) -> Db {
    let url = match database {
        Database::Memory => "sqlite::memory:".to_owned(),
        Database::File(folder) => format!("sqlite:{}", folder.path().join("till.db").display()),
    };
    Db::open(&DbConfig::new(url)).await.unwrap()
}

/// As if every network had endpoints: what arrives is told by the simulated chains.
fn live_networks() -> BTreeSet<String> {
    let networks = till_core::asset::Registry::builtin().networks().iter();
    networks.map(|network| network.id.clone()).collect()
}

fn engine(
    db: Db,
    clock: &Arc<StillClock>,
    entropy: &Arc<CountingEntropy>,
    credit_at: &BTreeMap<String, Level>,
    pool_max: i64,
) -> Engine {
    let fixed: BTreeMap<String, String> = PRICES
        .iter()
        .map(|(pair, price)| ((*pair).to_owned(), (*price).to_owned()))
        .collect();
    let config = EngineConfig {
        public_url: "https://till.example.com".into(),
        checkout_url: "https://pay.example.com".into(),
        shard: None,
        live_mode: true,
        demo: false,
        allow_private_webhooks: false,
        pool_max,
        cooldown_ms: COOLDOWN_MS,
        unpaid_cooldown_ms: UNPAID_COOLDOWN_MS,
        require_wallet_proof: false,
        bitcoin_gap_limit: GAP_LIMIT,
        life_ms: LIFE_MS,
        volatile_life_ms: VOLATILE_LIFE_MS,
        volatile_rest_ms: VOLATILE_REST_MS,
        select_ms: SELECT_MS,
        final_above: BTreeMap::new(),
        final_depths: BTreeMap::new(),
        attempt_ms: 3 * 86_400_000,
        watched: live_networks(),
        credit_at: credit_at.clone(),
        limits: EngineLimits::default(),
        dashboard: till_engine::DashboardConfig::default(),
    };
    let prices = FixedPrices {
        test: fixed.clone(),
        live: fixed,
    };
    Engine::new(
        db,
        Arc::clone(clock) as _,
        Arc::clone(entropy) as _,
        config,
        Vault::new(&[[7; 32]]).unwrap(),
        Prices::new(prices, 120_000),
    )
}

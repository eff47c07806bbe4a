//! Engines on one database, with a clock that stands still and accounts to work with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use scoped_futures::ScopedFutureExt as _;
use till_chains::rpc::Endpoint;
use till_core::actor::Actor;
use till_core::asset::Mode;
use till_core::payment::Level;
use till_core::scope::{Credential, Scope};
use till_engine::base::prices::{FixedPrices, Prices};
use till_engine::base::vault::Vault;
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::gather::create_all;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::merchants::accounts::{Modes, create_account};
use till_engine::once::Once;
use till_engine::test_mode::{Simulation, simulate_payment};
use till_engine::testing::{CountingEntropy, StillClock};
use till_engine::{Engine, EngineConfig, EngineLimits};
use till_store::invoices::InvoiceRow;
use till_store::{Db, Queries as _, Val};
use till_watch::{EndpointSettings, WatchSettings, Watching};

pub const NOW: i64 = 1_794_712_419_000;
pub const LIFE_MS: i64 = 3_600_000;

pub struct World {
    pub engine: Arc<Engine>,
    pub clock: Arc<StillClock>,
    pub scope: Scope,
    pub db: Db,
}

impl World {
    pub async fn new(db: Db) -> World {
        World::crediting(db, BTreeMap::new()).await
    }

    /// One that credits on some networks before their blocks are final.
    pub async fn crediting(db: Db, credit_at: BTreeMap<String, Level>) -> World {
        let clock = Arc::new(StillClock::at(NOW));
        let engine = Arc::new(bare(&db, &clock, 1, credit_at));
        let scope = account(&engine).await;
        World {
            engine,
            clock,
            scope,
            db,
        }
    }

    /// One that watches a network, for so long at most before an expiry.
    pub async fn watching(db: Db, network: &str, expiry_wait_ms: i64) -> World {
        let clock = Arc::new(StillClock::at(NOW));
        let settings = WatchSettings {
            endpoints: EndpointSettings {
                of: vec![Endpoint::parse("http://127.0.0.1:1").unwrap()],
                quorum: None,
            },
            publishers: Vec::new(),
            scan_from: None,
        };
        let networks = [(network.to_owned(), settings)].into();
        let watching = Watching::new(networks, expiry_wait_ms).unwrap();
        let engine = Arc::new(bare(&db, &clock, 1, BTreeMap::new()).with_watching(watching));
        let scope = account(&engine).await;
        World {
            engine,
            clock,
            scope,
            db,
        }
    }

    /// One whose clock shows something else.
    pub fn with_clock(&self, number: u64, now_ms: i64) -> Arc<Engine> {
        engine(&self.db, &Arc::new(StillClock::at(now_ms)), number)
    }

    /// Another server on the same database.
    pub fn beside(&self, number: u64) -> Arc<Engine> {
        engine(&self.db, &self.clock, number)
    }

    /// Another server on the same database, with key files of its own.
    pub fn with_keys(&self, number: u64, keys: &[[u8; 32]]) -> Arc<Engine> {
        let mut engine = bare(&self.db, &self.clock, number, BTreeMap::new());
        engine.vault = Vault::new(keys).unwrap();
        Arc::new(engine)
    }

    pub async fn invoice(&self) -> String {
        self.invoices(&self.scope, 1).await.remove(0)
    }

    pub async fn invoices(&self, scope: &Scope, count: usize) -> Vec<String> {
        let requests: Vec<CreateInvoice> = (0..count).map(|_| self.request(scope)).collect();
        let answers = create_all(&self.engine, &requests).await.into_iter();
        let id = |answer: till_engine::Answer| {
            let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
            body["id"].as_str().unwrap().to_owned()
        };
        answers.map(|answer| id(answer.unwrap())).collect()
    }

    /// To create an invoice, with a key of its own.
    pub fn request(&self, scope: &Scope) -> CreateInvoice {
        let random: [u8; 8] = self.engine.ids.random();
        let key = format!("key-{random:?}");
        CreateInvoice {
            scope: scope.clone(),
            once: Once::new(
                Actor::key("key_1"),
                Credential::Merchant,
                key,
                "POST",
                "/v1/invoices",
                b"{}",
            ),
            request: NewInvoice {
                amount: "25.00".into(),
                currency: "USD".into(),
                assets: Some(vec!["USDC@eip155:84532".into()]),
                description: None,
                customer_ref: None,
                return_url: None,
                metadata: BTreeMap::new(),
            },
            wanted: PendingRequest::default(),
        }
    }

    pub async fn row(&self, scope: &Scope, invoice: &str) -> InvoiceRow {
        let mut reader = self.db.read().await.unwrap();
        let row = till_store::invoices::find(&mut reader, scope, invoice).await;
        row.unwrap().unwrap()
    }

    pub async fn status(&self, invoice: &str) -> &'static str {
        self.row(&self.scope, invoice).await.status.as_str()
    }

    pub async fn event_types(&self, invoice: &str) -> Vec<String> {
        let mut reader = self.db.read().await.unwrap();
        let sql = "SELECT type FROM events WHERE subject = $1 ORDER BY id";
        let types: Vec<(String,)> = reader.all(sql, &[invoice.into()]).await.unwrap();
        types.into_iter().map(|(kind,)| kind).collect()
    }

    pub async fn timers(&self) -> Vec<(String, i64, i64)> {
        let mut reader = self.db.read().await.unwrap();
        let sql = "SELECT subject, due_at, attempts FROM timers ORDER BY due_at, subject";
        reader.all(sql, &[]).await.unwrap()
    }

    pub async fn run_sql(&self, sql: &str, args: &[Val]) {
        let mut tx = self.db.begin().await.unwrap();
        tx.run(sql, args).await.unwrap();
        tx.commit().await.unwrap();
    }
}

pub async fn account(engine: &Engine) -> Scope {
    let made = create_account(engine, "Shop", Modes::TestOnly, &[]).await;
    Scope::new(&made.unwrap().id, Mode::Test)
}

/// A payment made up by the test helper, at these levels.
pub async fn pay(engine: &Engine, scope: &Scope, invoice: &str, levels: &[&str]) {
    let steps = levels.iter().map(|level| (*level).to_owned()).collect();
    let simulation = Simulation {
        finality_steps: Some(steps),
        ..Simulation::default()
    };
    let simulation = &simulation;
    let paid = engine.unit(scope, |tx, context| {
        simulate_payment(tx, context, invoice, simulation).scope_boxed()
    });
    paid.await.unwrap();
}

fn engine(db: &Db, clock: &Arc<StillClock>, seed: u64) -> Arc<Engine> {
    Arc::new(bare(db, clock, seed, BTreeMap::new()))
}

fn bare(db: &Db, clock: &Arc<StillClock>, seed: u64, credit_at: BTreeMap<String, Level>) -> Engine {
    let config = EngineConfig {
        public_url: "https://pay.example".into(),
        checkout_url: "https://pay.example".into(),
        shard: None,
        live_mode: false,
        demo: false,
        allow_private_webhooks: false,
        pool_max: 10_000,
        cooldown_ms: 86_400_000,
        unpaid_cooldown_ms: 86_400_000,
        require_wallet_proof: false,
        bitcoin_gap_limit: 20,
        life_ms: LIFE_MS,
        volatile_life_ms: 900_000,
        volatile_rest_ms: 3_600_000,
        select_ms: 900_000,
        final_above: BTreeMap::new(),
        final_depths: BTreeMap::new(),
        attempt_ms: 3 * 86_400_000,
        watched: BTreeSet::new(),
        credit_at,
        limits: EngineLimits::default(),
        dashboard: till_engine::DashboardConfig::default(),
    };
    Engine::new(
        db.clone(),
        Arc::clone(clock) as _,
        Arc::new(CountingEntropy::seeded(seed << 32)),
        config,
        Vault::new(&[[7; 32]]).unwrap(),
        Prices::new(FixedPrices::default(), 60_000),
    )
}

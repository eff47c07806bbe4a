//! A real server in this process: engine, gatherer, workers and sockets, on a database of its own.

mod call;
mod clock;
pub mod described;
mod node;
mod receiver;
pub mod recorded;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use till_api::{Api, ApiConfig, CarriedPages};
use till_chains::rpc::Endpoint;
use till_core::asset::{Family, Mode};
use till_core::payment::Level;
use till_core::scope::Scope;
use till_core::time::HOUR_MS;
use till_core::webhook::UrlPolicy;
use till_engine::base::prices::{FixedPrices, Prices};
use till_engine::base::vault::Vault;
use till_engine::invoices::gather::Gatherer;
use till_engine::lists::{ListConfig, Lists, ListsConfig};
use till_engine::merchants::accounts::{self, Modes, NewAccount};
use till_engine::outbound::{Sender, SenderConfig};
use till_engine::testing::CountingEntropy;
use till_engine::{DashboardConfig, Engine, EngineConfig, EngineLimits, workers};
use till_http::server::ServerLimits;
use till_store::testing::TestDb;
use till_store::{Db, DbConfig};
use till_watch::{EndpointSettings, Nodes};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};

pub use call::{Call, Reply, raw};
pub use clock::TestClock;
pub use node::{Mood, Node};
pub use receiver::Receiver;

/// How long anything may take before a test gives it up. Only tests that fail wait for it.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub const BASE: &str = "USDC@eip155:84532";
pub const SEPOLIA: &str = "USDC@eip155:11155111";
pub const NILE: &str = "USDT@tron:3448148188";
pub const EURC: &str = "EURC@eip155:84532";
pub const BTC: &str = "BTC@bip122:00000000da84f2bafbbc53dee25a72ae";
pub const LIVE_USDC: &str = "USDC@eip155:8453";

/// What differs between the servers of different tests.
#[derive(Clone)]
pub struct Setup {
    pub live_mode: bool,
    pub demo: bool,
    /// Whether workers run in the server, or it answers requests and nothing else.
    pub workers: bool,
    pub url_policy: UrlPolicy,
    pub pool_max: i64,
    pub bitcoin_gap_limit: i64,
    pub cooldown_ms: i64,
    pub unpaid_cooldown_ms: i64,
    pub require_wallet_proof: bool,
    /// Networks that are watched, as far as live mode asks.
    pub watched: BTreeSet<String>,
    pub credit_at: BTreeMap<String, Level>,
    /// None: the documented examples in test mode, and an EVM address in live mode.
    pub destinations: Option<Vec<(Family, Mode, String)>>,
    pub checkout_per_minute: u32,
    /// How often a quiet stream says so.
    pub heartbeat: Duration,
    /// Whether the server can send mail (to nobody: what is sent is tested with a real server elsewhere).
    pub mail: bool,
    pub trusted_proxies: Vec<ipnet::IpNet>,
    /// EndpointSettings by network.
    pub rpc: BTreeMap<String, Vec<String>>,
    pub lookup_time: Duration,
    /// The pages that the server carries.
    pub pages: CarriedPages,
    /// What addresses are held against.
    pub lists: Vec<ListConfig>,
    pub limits: EngineLimits,
    pub dashboard: DashboardConfig,
    /// What encrypts, the first first.
    pub keys: Vec<[u8; 32]>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            live_mode: false,
            demo: false,
            workers: true,
            url_policy: UrlPolicy::PrivateAllowed,
            pool_max: 10_000,
            bitcoin_gap_limit: 20,
            cooldown_ms: 3_600_000,
            unpaid_cooldown_ms: 3_600_000,
            require_wallet_proof: false,
            watched: ["eip155:8453".to_owned()].into(),
            credit_at: BTreeMap::new(),
            destinations: None,
            checkout_per_minute: 60,
            heartbeat: till_api::HEARTBEAT,
            mail: false,
            trusted_proxies: Vec::new(),
            rpc: BTreeMap::new(),
            lookup_time: PATIENCE / 2,
            pages: CarriedPages::default(),
            lists: Vec::new(),
            limits: EngineLimits::default(),
            dashboard: DashboardConfig::default(),
            keys: vec![[7; 32]],
        }
    }
}

pub fn live() -> Setup {
    Setup {
        live_mode: true,
        ..Setup::default()
    }
}

/// A database and the servers a test runs on it.
#[derive(Clone)]
pub struct World {
    pub db: Db,
    pub config: DbConfig,
    pub clock: Arc<TestClock>,
    stops: Arc<Mutex<Vec<watch::Sender<bool>>>>,
}

impl World {
    pub async fn till(&self) -> Till {
        self.till_with(Setup::default()).await
    }

    pub async fn till_with(&self, setup: Setup) -> Till {
        let server = Server::start(self, self.db.clone(), &setup).await;
        let account = new_account(&server.engine, &setup).await;
        Till {
            server: Arc::new(server),
            account: Arc::new(account),
        }
    }

    /// A second server on the same database, with connections of its own.
    pub async fn beside(&self, first: &Till, setup: Setup) -> Till {
        let db = Db::open(&self.config).await.expect("the database opens");
        let server = Server::start(self, db, &setup).await;
        Till {
            server: Arc::new(server),
            account: Arc::clone(&first.account),
        }
    }

    pub fn is_in_memory(&self) -> bool {
        self.db.dialect() == till_store::Dialect::SqliteMemory
    }

    pub fn is_postgres(&self) -> bool {
        self.db.dialect() == till_store::Dialect::Postgres
    }
}

pub struct Server {
    pub address: SocketAddr,
    pub engine: Arc<Engine>,
    stop: watch::Sender<bool>,
    shutdown: Mutex<Option<oneshot::Sender<()>>>,
    ended: Mutex<Option<tokio::task::JoinHandle<()>>>,
    workers: Mutex<Vec<tokio::task::JoinHandle<()>>>,
}

static SEED: AtomicU64 = AtomicU64::new(1);

impl Server {
    async fn start(world: &World, db: Db, setup: &Setup) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let base = format!("http://{address}");
        let lanes = if world.is_postgres() { 4 } else { 1 };
        let engine = Arc::new(engine(db, &world.clock, setup, &base));
        let (stop, stopping) = watch::channel(false);
        let sender = Arc::new(sender(setup));
        // They end with the runtime of the test at the latest.
        let workers = match setup.workers {
            true => workers::start(&engine, Arc::clone(&sender), &stopping),
            false => Vec::new(),
        };
        drop(workers::start_streams(&engine, &stopping));
        let api = Api::new(
            Arc::clone(&engine),
            Gatherer::start(&engine, lanes),
            sender,
            ApiConfig {
                docs_url: format!("{base}/docs"),
                trusted_proxies: setup.trusted_proxies.clone(),
                checkout_per_minute: setup.checkout_per_minute,
                streams_per_client: 100,
                heartbeat: setup.heartbeat,
                client_shown: till_api::LoggedAddress::Prefix,
                server: ServerLimits::default(),
                pages: setup.pages.clone(),
            },
            stopping,
        );
        let (shutdown, asked) = oneshot::channel::<()>();
        let ended = tokio::spawn(till_api::serve(api, listener, None, async {
            asked.await.ok();
        }));
        world.stops.lock().unwrap().push(stop.clone());
        Server {
            address,
            engine,
            stop,
            shutdown: Mutex::new(Some(shutdown)),
            ended: Mutex::new(Some(ended)),
            workers: Mutex::new(workers),
        }
    }

    /// Workers and streams are told; the socket stays open a while, as behind a load balancer.
    pub fn begin_to_stop(&self) {
        self.stop.send_replace(true);
    }

    /// An orderly end, as on SIGTERM; returns when the last request was answered and the workers are done.
    pub async fn shut_down(&self) {
        self.begin_to_stop();
        drop(self.shutdown.lock().unwrap().take());
        let ended = self.ended.lock().unwrap().take();
        if let Some(ended) = ended {
            tokio::time::timeout(PATIENCE, ended)
                .await
                .expect("the server ends in time")
                .expect("the server does not panic");
        }
        let workers = std::mem::take(&mut *self.workers.lock().unwrap());
        let ended = tokio::time::timeout(PATIENCE, futures::future::join_all(workers)).await;
        for worker in ended.expect("the workers end in time") {
            worker.expect("no worker panics");
        }
    }
}

fn engine(db: Db, clock: &Arc<TestClock>, setup: &Setup, base: &str) -> Engine {
    let config = EngineConfig {
        public_url: base.to_owned(),
        checkout_url: format!("{base}/checkout"),
        shard: None,
        live_mode: setup.live_mode,
        demo: setup.demo,
        allow_private_webhooks: setup.url_policy == UrlPolicy::PrivateAllowed,
        pool_max: setup.pool_max,
        cooldown_ms: setup.cooldown_ms,
        unpaid_cooldown_ms: setup.unpaid_cooldown_ms,
        require_wallet_proof: setup.require_wallet_proof,
        bitcoin_gap_limit: setup.bitcoin_gap_limit,
        life_ms: 3_600_000,
        volatile_life_ms: 900_000,
        volatile_rest_ms: 3_600_000,
        select_ms: 1_800_000,
        final_above: BTreeMap::new(),
        final_depths: BTreeMap::new(),
        attempt_ms: 3 * 86_400_000,
        watched: setup.watched.clone(),
        credit_at: setup.credit_at.clone(),
        limits: setup.limits.clone(),
        dashboard: setup.dashboard.clone(),
    };
    let fixed = FixedPrices {
        test: [("BTC/USD".to_owned(), "50000".to_owned())].into(),
        live: BTreeMap::new(),
    };
    // Servers of one process must not make the same ids.
    let seed = SEED.fetch_add(1, Ordering::Relaxed) << 32 | u64::from(std::process::id());
    Engine::new(
        db,
        Arc::clone(clock) as Arc<dyn till_engine::base::clock::Clock>,
        Arc::new(CountingEntropy::seeded(seed)),
        config,
        Vault::new(&setup.keys).expect("a key"),
        Prices::new(fixed, 120_000),
    )
    .with_nodes(Some(nodes(setup, clock)))
    .with_lists(Some(lists(setup)))
    .with_mailer(setup.mail.then(|| {
        let mailer = till_engine::smtp::Mailer::new("smtp://127.0.0.1:1", "till@example.com");
        mailer.expect("a mailer")
    }))
}

fn nodes(setup: &Setup, clock: &Arc<TestClock>) -> Nodes {
    let parse = |url: &String| Endpoint::parse(url).expect("an endpoint");
    let networks = setup.rpc.iter().map(|(network, urls)| {
        let of = urls.iter().map(parse).collect();
        (network.clone(), EndpointSettings { of, quorum: None })
    });
    let clock = Arc::clone(clock) as Arc<dyn till_engine::base::clock::Clock>;
    Nodes::within(networks.collect(), None, clock, setup.lookup_time).expect("a client")
}

fn lists(setup: &Setup) -> Lists {
    let config = ListsConfig {
        lists: setup.lists.clone(),
        refresh_ms: 12 * HOUR_MS,
        max_age_ms: 48 * HOUR_MS,
        on_chain: true,
        trusted_certificates_pem: Vec::new(),
    };
    Lists::new(config).expect("a client")
}

fn sender(setup: &Setup) -> Sender {
    let config = SenderConfig {
        policy: setup.url_policy,
        trusted_certificates_pem: Vec::new(),
        own_addresses: Vec::new(),
        sockets: 256,
        deadline: PATIENCE,
    };
    Sender::new(config).expect("a sender")
}

async fn new_account(engine: &Engine, setup: &Setup) -> NewAccount {
    let destinations = setup.destinations.clone().unwrap_or_else(|| {
        let evm = till_chains::example_destination(Family::Evm).to_owned();
        vec![(Family::Evm, Mode::Live, evm)]
    });
    accounts::create_account(engine, "merchant", Modes::TestAndLive, &destinations)
        .await
        .expect("an account")
}

/// A server and the account that calls it unless a call says otherwise.
#[derive(Clone)]
pub struct Till {
    pub server: Arc<Server>,
    pub account: Arc<NewAccount>,
}

impl Till {
    pub fn engine(&self) -> &Engine {
        &self.server.engine
    }

    pub fn scope(&self) -> Scope {
        Scope::new(&self.account.id, Mode::Test)
    }

    pub fn live_scope(&self) -> Scope {
        Scope::new(&self.account.id, Mode::Live)
    }

    pub fn live_key(&self) -> &str {
        &self.account.live.as_ref().expect("live mode").secret_key
    }

    /// Another merchant on the same server.
    pub async fn another_account(&self) -> Till {
        let account = new_account(self.engine(), &Setup::default()).await;
        Till {
            server: Arc::clone(&self.server),
            account: Arc::new(account),
        }
    }

    pub fn call(&self, method: &str, path: &str) -> Call {
        Call::new(self.server.address, method, path).key(&self.account.test.secret_key)
    }

    /// A POST with a fresh idempotency key.
    pub fn posting(&self, path: &str, body: Value) -> Call {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let key = format!("key-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.call("POST", path)
            .header("idempotency-key", &key)
            .json(&body)
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call("GET", path).send().await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.posting(path, body).send().await
    }

    /// The invoice a body makes.
    pub async fn create(&self, body: Value) -> Value {
        self.post("/v1/invoices", body).await.ok(201)
    }

    /// An ordinary invoice over 25 dollars.
    pub async fn invoice(&self) -> Value {
        self.create(json!({ "amount": "25.00", "currency": "USD" }))
            .await
    }

    pub async fn retrieve(&self, id: &str) -> Value {
        self.get(&format!("/v1/invoices/{id}")).await.ok(200)
    }

    pub async fn simulate(&self, invoice: &str, body: Value) -> Value {
        let path = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
        self.post(&path, body).await.ok(200)
    }

    pub async fn advance(&self, seconds: i64) -> Value {
        let body = json!({ "advance_seconds": seconds });
        self.post("/v1/test_helpers/clock", body).await.ok(200)
    }

    pub async fn payments_of(&self, invoice: &str) -> Vec<Value> {
        let path = format!("/v1/payments?limit=100&invoice={invoice}");
        data(&self.get(&path).await.ok(200))
    }

    /// The events of an invoice in order, as its webhooks would carry them.
    pub async fn events(&self, invoice: &str) -> Vec<Value> {
        let sql = "SELECT body FROM events WHERE subject = $1 ORDER BY id";
        let mut reader = self.engine().db.read().await.unwrap();
        let rows: Vec<(String,)> = till_store::Queries::all(&mut reader, sql, &[invoice.into()])
            .await
            .unwrap();
        rows.iter()
            .map(|(body,)| serde_json::from_str(body).unwrap())
            .collect()
    }

    pub async fn event_types(&self, invoice: &str) -> Vec<String> {
        let events = self.events(invoice).await;
        events.iter().map(|event| text(&event["type"])).collect()
    }

    pub async fn set(&self, settings: Value) -> Value {
        self.post("/v1/merchant/settings", settings).await.ok(200)
    }
}

pub fn data(list: &Value) -> Vec<Value> {
    list["data"].as_array().expect("a list").clone()
}

pub fn text(value: &Value) -> String {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
        .to_owned()
}

pub fn id(object: &Value) -> String {
    text(&object["id"])
}

/// The address of an invoice's option.
pub fn address(invoice: &Value, asset: &str) -> String {
    let options = invoice["payment_options"].as_array().expect("options");
    let option = options.iter().find(|option| option["asset"] == asset);
    text(&option.expect("the option is offered")["address"])
}

/// The delivery log once it has this many attempts and all of them are over.
pub async fn finished_deliveries(till: &Till, count: usize) -> Vec<Value> {
    until("the end of the deliveries", || async {
        let log = till.get("/v1/webhook_deliveries?limit=100").await;
        let log = data(&log.ok(200));
        let over = |delivery: &&Value| delivery["status"] != "pending";
        (log.len() == count && log.iter().filter(over).count() == count).then_some(log)
    })
    .await
}

/// Asks again and again until there is an answer.
pub async fn until<T, F: Future<Output = Option<T>>>(what: &str, ask: impl Fn() -> F) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asking)
        .await
        .unwrap_or_else(|_| panic!("{what} did not happen"))
}

/// What the macro runs.
pub async fn run<F: Future<Output = ()>>(test: Option<TestDb>, body: impl FnOnce(World) -> F) {
    let Some(test) = test else { return };
    let world = World {
        db: test.db.clone(),
        config: test.config.clone(),
        clock: Arc::new(TestClock::new()),
        stops: Arc::default(),
    };
    body(world.clone()).await;
    for stop in world.stops.lock().unwrap().iter() {
        stop.send_replace(true);
    }
    test.remove().await;
}

/// Makes two tests of each function: on a SQLite file and on PostgreSQL. After `postgres`, one; after `memory`, a third on
/// SQLite in memory, which differs from a file only in that reads share the writer's connection.
macro_rules! on_every_engine {
    (@test $name:ident, $test:ident, $engine:ident) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            let db = till_store::testing::migrated(till_store::Dialect::$engine).await;
            crate::harness::run(db, super::$name).await;
        }
    };
    (postgres $(async fn $name:ident($world:ident: World) $body:block)+) => {
        $(async fn $name($world: crate::harness::World) $body
        mod $name {
            on_every_engine!(@test $name, on_postgres, Postgres);
        })+
    };
    (memory $(async fn $name:ident($world:ident: World) $body:block)+) => {
        $(async fn $name($world: crate::harness::World) $body
        mod $name {
            on_every_engine!(@test $name, on_a_sqlite_file, Sqlite);
            on_every_engine!(@test $name, on_sqlite_in_memory, SqliteMemory);
            on_every_engine!(@test $name, on_postgres, Postgres);
        })+
    };
    ($(async fn $name:ident($world:ident: World) $body:block)+) => {
        $(async fn $name($world: crate::harness::World) $body
        mod $name {
            on_every_engine!(@test $name, on_a_sqlite_file, Sqlite);
            on_every_engine!(@test $name, on_postgres, Postgres);
        })+
    };
}

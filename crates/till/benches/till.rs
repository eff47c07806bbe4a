//! `make bench`: Till beside the limits of the machine it runs on, in one run and as ratios. Absolute figures
//! move with the machine's load; ratios of medians taken by turns hold. Nothing here is a gate: a run fails
//! only when something breaks.
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what this program is for"
)]

use std::time::{Duration, Instant, SystemTime};

use bench::load::{Keep, Work, closed, paced};
use bench::receiver::Receiver;
use bench::report::{Hundredths, Report, median};
use bench::server::{Installation, Parts, free_address};
use bench::{
    CLIENTS, Engine, Postgres, Res, books, chain, door, engines, growth, quiet, raw, requests,
    rounds, timers,
};

#[path = "../tests/common/mod.rs"]
#[expect(
    dead_code,
    reason = "only what a payer and a merchant need is used here"
)]
mod common;
#[path = "../tests/chains/node.rs"]
#[expect(dead_code, reason = "only what a payer needs is used here")]
mod node;
#[path = "../tests/chains/shop.rs"]
#[expect(dead_code, reason = "only what a merchant needs is used here")]
mod shop;

mod bench {
    pub mod books;
    pub mod chain;
    pub mod door;
    pub mod growth;
    pub mod load;
    pub mod quiet;
    pub mod raw;
    pub mod receiver;
    pub mod report;
    pub mod requests;
    pub mod server;
    pub mod timers;

    use std::sync::atomic::{AtomicU64, Ordering};

    pub type Res<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

    /// Connections to the server under load.
    pub const CLIENTS: usize = 64;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Engine {
        Sqlite,
        Postgres,
    }

    impl Engine {
        pub const ALL: [Engine; 2] = [Engine::Sqlite, Engine::Postgres];

        pub fn name(self) -> &'static str {
            match self {
                Engine::Sqlite => "SQLite",
                Engine::Postgres => "PostgreSQL",
            }
        }
    }

    /// Those that are measured; `BENCH_ENGINE` names one of them.
    pub fn engines() -> impl Iterator<Item = Engine> {
        let only = std::env::var("BENCH_ENGINE").unwrap_or_default();
        let wanted =
            move |engine: &Engine| only.is_empty() || engine.name().eq_ignore_ascii_case(&only);
        Engine::ALL.into_iter().filter(wanted)
    }

    /// How often each is measured.
    pub fn rounds() -> usize {
        let rounds = std::env::var("BENCH_ROUNDS").ok();
        rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(3)
    }

    /// A server on which every measurement gets a database of its own.
    pub struct Postgres {
        url: String,
        made: AtomicU64,
    }

    impl Postgres {
        pub fn from_env() -> Res<Postgres> {
            let url = std::env::var("TILL_TEST_POSTGRES")
                .map_err(|_| "TILL_TEST_POSTGRES is not set: run `make bench`")?;
            Ok(Postgres {
                url,
                made: AtomicU64::new(0),
            })
        }

        pub async fn fresh(&self) -> Res<String> {
            let number = self.made.fetch_add(1, Ordering::Relaxed);
            let name = format!("bench_{}_{number}", std::process::id());
            raw::run_postgres(&self.url, &[format!("CREATE DATABASE {name}")]).await?;
            let (server, _) = self.url.rsplit_once('/').ok_or("a URL without a path")?;
            Ok(format!("{server}/{name}"))
        }

        pub async fn drop(&self, url: &str) -> Res<()> {
            let (_, name) = url.rsplit_once('/').ok_or("a URL without a path")?;
            let sql = format!("DROP DATABASE {name} WITH (FORCE)");
            raw::run_postgres(&self.url, &[sql]).await
        }
    }
}

const RAW_CLIENTS: usize = 32;
const WARM: Duration = Duration::from_millis(700);
const TIME: Duration = Duration::from_secs(3);
const DRAIN_TIME: Duration = Duration::from_secs(4);
const GROWTH_TIME: Duration = Duration::from_secs(1);
/// So many that what the allocator keeps for later is little beside them; a process may open 1,024 files.
const STREAMS: usize = 800;
/// Open already when the others are counted: what all streams share is not theirs.
const STREAMS_BEFORE: usize = 100;
/// Within what one payer's address and one invoice may have.
const STREAMS_PER_CLIENT: usize = 90;
const STREAMS_PER_INVOICE: usize = 150;
/// Streams of invoices that nothing happens to, and what they may ask of the database together.
const QUIET: usize = 10_000;
const QUIET_STATEMENTS_PER_S: u64 = 20;
/// What an invoice may take up with its indexes: with its event, delivery, lease, timer and key; and when it was paid, with
/// its payment and journal, too.
const BYTES_PER_INVOICE: u64 = 8 * 1024;
const BYTES_PER_PAID_INVOICE: u64 = 16 * 1024;
const SMALL: u64 = 10_000;
const WATCHED: u64 = 10_000_000;
/// More than all networks together have.
const LOGS_PER_S: u64 = 100_000;
/// Payments in one block.
const MANY: usize = 2_000;
/// Invoices that expire in one measurement, and those that a test clock is moved over.
const EXPIRING: u64 = 10_000;
const ON_THE_WAY: u64 = 100_000;
/// What Svix, a server that does nothing else, drains on a machine like CI's.
const DELIVERIES_PER_S: u64 = 2_000;

fn main() -> Res<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    // Called by itself: the bare handler is measured in a process of its own, as Till is.
    if let [_, command, address] = &arguments[..]
        && command == "bare-axum"
    {
        return runtime.block_on(raw::bare_axum(address.parse()?));
    }
    let done = runtime.block_on(run());
    runtime.shutdown_background();
    done
}

async fn run() -> Res<()> {
    let begun = Instant::now();
    let postgres = Postgres::from_env()?;
    let only = std::env::var("BENCH_ONLY").unwrap_or_default();
    let wanted = |name: &str| only.is_empty() || only.split(',').any(|part| part == name);
    let mut report = Report::default();
    if wanted("speed") {
        speed(&postgres, &mut report).await?;
    }
    if wanted("timers") {
        fall_due(&postgres, &mut report).await?;
    }
    if wanted("door") {
        come_in(&postgres, &mut report).await?;
    }
    if wanted("chain") {
        from_a_chain(&mut report)?;
    }
    if wanted("rest") {
        at_rest(&mut report).await?;
    }
    if wanted("quiet") && engines().any(|engine| engine == Engine::Postgres) {
        let url = postgres.fresh().await?;
        let asked = quiet::statements_per_s(url.clone(), QUIET).await?;
        let work = format!("statements per second for {QUIET} quiet streams, PostgreSQL");
        report.at_most(&work, asked, QUIET_STATEMENTS_PER_S, "/s");
        postgres.drop(&url).await?;
    }
    if wanted("books") {
        a_year(&postgres, &mut report).await?;
    }
    if wanted("growth") {
        grow(&postgres, &mut report).await?;
    }
    println!();
    report.print();
    println!(
        "\n{} s; medians of {} rounds, limit and Till by turns",
        begun.elapsed().as_secs(),
        rounds()
    );
    Ok(())
}

/// One round's figures for one engine.
#[derive(Default)]
struct Speeds {
    raw: Vec<u64>,
    /// What the database can do when everything about it is tuned; only SQLite's is measured.
    tuned: Vec<u64>,
    create: Vec<u64>,
    create_p50_us: Vec<u64>,
    retrieve: Vec<u64>,
    deliver: Vec<u64>,
    p99_us: Vec<u64>,
}

async fn speed(postgres: &Postgres, report: &mut Report) -> Res<()> {
    let mut bare = Vec::new();
    let mut speeds: Vec<(Engine, Speeds)> = engines()
        .map(|engine| (engine, Speeds::default()))
        .collect();
    for round in 1..=rounds() {
        bare.push(bare_axum().await?);
        for (engine, speeds) in &mut speeds {
            match engine {
                Engine::Sqlite => {
                    speeds.raw.push(raw_sqlite(raw::Sqlite::Plain).await?);
                    speeds.tuned.push(raw_sqlite(raw::Sqlite::Tuned).await?);
                }
                Engine::Postgres => speeds.raw.push(raw_postgres(postgres).await?),
            }
            one_round(*engine, postgres, speeds).await?;
            eprintln!(
                "  round {round}, {}: raw {}/s, create {}/s (p50 {} µs), retrieve {}/s of {}/s, deliver {}/s, p99 {} µs",
                engine.name(),
                last(&speeds.raw),
                last(&speeds.create),
                last(&speeds.create_p50_us),
                last(&speeds.retrieve),
                last(&bare),
                last(&speeds.deliver),
                last(&speeds.p99_us),
            );
        }
    }
    for (engine, speeds) in &speeds {
        compare(*engine, speeds, median(&bare), report);
    }
    Ok(())
}

fn compare(engine: Engine, speeds: &Speeds, bare: u64, report: &mut Report) {
    let (work, limit, target) = match engine {
        Engine::Sqlite => ("create, SQLite FULL", "raw_sqlite_grouped", 40),
        Engine::Postgres => ("create, PostgreSQL", "raw_pg_separate", 150),
    };
    let create = median(&speeds.create);
    let raw = (limit, median(&speeds.raw));
    report.at_least(work, raw, create, Hundredths(target));
    if engine == Engine::Sqlite {
        let tuned = ("raw_sqlite_grouped, tuned", median(&speeds.tuned));
        report.beside(work, tuned, create);
    }
    let work = format!("retrieve, {}", engine.name());
    let retrieve = median(&speeds.retrieve);
    report.at_least(&work, ("bare_axum", bare), retrieve, Hundredths(25));
    let work = format!("webhooks out, {}", engine.name());
    let svix = ("fixed", DELIVERIES_PER_S);
    report.at_least(&work, svix, median(&speeds.deliver), Hundredths(100));
    let work = format!("p99 of create at half rate, {}", engine.name());
    report.at_most(&work, median(&speeds.p99_us), 25_000, "µs");
}

/// Real chains: reading them, and how soon a merchant knows.
fn from_a_chain(report: &mut Report) -> Res<()> {
    let mut logs = Vec::new();
    for round in 1..=rounds() {
        logs.push(chain::matched(WATCHED)?);
        eprintln!(
            "  round {round}: {} logs/s read and looked through",
            last(&logs)
        );
    }
    let work = "logs read, 10 million addresses watched";
    let fixed = ("fixed", LOGS_PER_S);
    report.at_least(work, fixed, median(&logs), Hundredths(100));
    match chain::told(MANY)? {
        None => eprintln!("  no anvil: blocks and webhooks were not measured"),
        Some((one, many)) => {
            report.at_most("from a block to its webhook", one, 2_000, "ms");
            report.at_most(
                "2,000 payments in a block, credited and told",
                many,
                30_000,
                "ms",
            );
        }
    }
    Ok(())
}

fn last(rounds: &[u64]) -> u64 {
    rounds.last().copied().unwrap_or(0)
}

async fn bare_axum() -> Res<u64> {
    let address = free_address()?;
    let mut child = std::process::Command::new(std::env::current_exe()?)
        .args(["bare-axum", &address.to_string()])
        .spawn()?;
    let work = Work {
        address,
        write: requests::bare(),
        status: 200,
        keep: Keep::Nothing,
    };
    while tokio::net::TcpStream::connect(address).await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let done = closed(&work, CLIENTS, WARM, TIME).await;
    child.kill()?;
    child.wait()?;
    Ok(done?.per_second)
}

async fn raw_sqlite(how: raw::Sqlite) -> Res<u64> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("raw.db");
    tokio::task::spawn_blocking(move || raw::sqlite_grouped(&file, how, TIME)).await?
}

async fn raw_postgres(postgres: &Postgres) -> Res<u64> {
    let url = postgres.fresh().await?;
    let rate = raw::postgres_separate(&url, RAW_CLIENTS, TIME).await?;
    postgres.drop(&url).await?;
    Ok(rate)
}

async fn database(engine: Engine, postgres: &Postgres) -> Res<Option<String>> {
    Ok(match engine {
        Engine::Sqlite => None,
        Engine::Postgres => Some(postgres.fresh().await?),
    })
}

/// Create, retrieve what was created, create at half the rate, and deliver the events of all of it.
async fn one_round(engine: Engine, postgres: &Postgres, speeds: &mut Speeds) -> Res<()> {
    let url = database(engine, postgres).await?;
    let installation = Installation::new(url.clone())?;
    let receiver = Receiver::start().await?;
    // Deliveries are written, as the raw database writes them, but nobody sends them yet.
    let server = installation.serve(Parts::Api).await?;
    installation
        .set_webhook_url(&server, &receiver.url())
        .await?;
    let key = &installation.key;
    let mut work = Work {
        address: server.address,
        write: requests::create(key, "full"),
        status: 201,
        keep: Keep::InvoiceIds,
    };
    let mut created = closed(&work, CLIENTS, WARM, TIME).await?;
    speeds.create.push(created.per_second);
    speeds.create_p50_us.push(created.percentile_us(50));
    let events = created.ids.len();

    work.keep = Keep::Nothing;
    work.write = requests::retrieve(key, created.ids);
    work.status = 200;
    let retrieved = closed(&work, CLIENTS, WARM, TIME).await?;
    speeds.retrieve.push(retrieved.per_second);

    work.write = requests::create(key, "half");
    work.status = 201;
    let mut half = paced(&work, CLIENTS, created.per_second / 2, TIME).await?;
    speeds.p99_us.push(half.percentile_us(99));
    server.stop().await?;

    let server = installation.serve(Parts::All).await?;
    let events = events + half.latencies_us.len();
    speeds
        .deliver
        .push(receiver.drain(events, DRAIN_TIME).await);
    drop(server);
    if let Some(url) = url {
        postgres.drop(&url).await?;
    }
    Ok(())
}

/// Expiry beside the raw database, and the test clock over many timers.
async fn fall_due(postgres: &Postgres, report: &mut Report) -> Res<()> {
    for engine in engines() {
        let (mut limits, mut rates) = (Vec::new(), Vec::new());
        for round in 1..=rounds() {
            let raw = database(engine, postgres).await?;
            limits.push(timers::expired_raw(raw.clone(), EXPIRING, RAW_CLIENTS).await?);
            let till = database(engine, postgres).await?;
            rates.push(timers::expired(till.clone(), EXPIRING).await?);
            for url in [raw, till].into_iter().flatten() {
                postgres.drop(&url).await?;
            }
            let (raw, till) = (last(&limits), last(&rates));
            eprintln!(
                "  round {round}, {}: raw {raw}/s, expired {till}/s",
                engine.name()
            );
        }
        let raw = ("raw, one transaction each", median(&limits));
        let work = format!("unpaid invoices expired, {}", engine.name());
        report.at_least(&work, raw, median(&rates), Hundredths(100));
        let url = database(engine, postgres).await?;
        let moved = timers::advanced(url.clone(), ON_THE_WAY).await?;
        if let Some(url) = url {
            postgres.drop(&url).await?;
        }
        let work = format!(
            "another account held up by a clock over {ON_THE_WAY} timers, {}",
            engine.name()
        );
        report.at_most(&work, moved.held_up, 100, "ms");
        let (took, alone) = (moved.took, moved.alone);
        eprintln!(
            "  the clock took {took} ms; the longest wait with nobody moving it was {alone} ms"
        );
    }
    Ok(())
}

/// Payments through the door beside the raw database.
async fn come_in(postgres: &Postgres, report: &mut Report) -> Res<()> {
    for engine in engines() {
        let (mut limits, mut rates) = (Vec::new(), Vec::new());
        for round in 1..=rounds() {
            let raw = database(engine, postgres).await?;
            limits.push(door::settled_raw(raw.clone(), EXPIRING, RAW_CLIENTS).await?);
            let till = database(engine, postgres).await?;
            rates.push(door::settled(till.clone(), EXPIRING).await?);
            for url in [raw, till].into_iter().flatten() {
                postgres.drop(&url).await?;
            }
            let (raw, till) = (last(&limits), last(&rates));
            eprintln!(
                "  round {round}, {}: raw {raw}/s, settled {till}/s",
                engine.name()
            );
        }
        let raw = ("raw, one transaction each", median(&limits));
        let work = format!("transfers settled through the door, {}", engine.name());
        report.at_least(&work, raw, median(&rates), Hundredths(100));
    }
    Ok(())
}

/// Memory and start-up, on SQLite: what somebody with a small machine sees.
async fn at_rest(report: &mut Report) -> Res<()> {
    let installation = Installation::new(None)?;
    let first = installation.serve(Parts::All).await?;
    let mut work = Work {
        address: first.address,
        write: requests::create(&installation.key, "rest"),
        status: 201,
        keep: Keep::InvoiceIds,
    };
    let ids = closed(&work, 8, Duration::ZERO, Duration::from_millis(500))
        .await?
        .ids;
    first.stop().await?;

    let (mut starts, mut memory) = (Vec::new(), Vec::new());
    for round in 0..rounds() {
        let server = installation.serve(Parts::All).await?;
        starts.push(u64::try_from(server.start_time.as_millis())?);
        tokio::time::sleep(Duration::from_secs(1)).await;
        memory.push(server.memory_kib()?);
        if round + 1 < rounds() {
            server.stop().await?;
            continue;
        }
        work.address = server.address;
        let (mut before, mut open) = (0, Vec::new());
        for number in 0..STREAMS_BEFORE + STREAMS {
            if number == STREAMS_BEFORE {
                tokio::time::sleep(Duration::from_secs(1)).await;
                before = server.memory_kib()?;
            }
            let mut client = bench::load::Client::connect(server.address).await?;
            let id = &ids[number / STREAMS_PER_INVOICE];
            let request = requests::stream(
                &installation.publishable_key,
                id,
                number / STREAMS_PER_CLIENT + 1,
            );
            let status = client.open(&request).await?;
            if status != 200 {
                return Err(format!("a stream was answered with {status}").into());
            }
            open.push(client);
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        let each = server.memory_kib()?.saturating_sub(before) / u64::try_from(STREAMS)?;
        report.at_most("memory at rest", median(&memory) / 1024, 40, "MiB");
        report.at_most("memory per open stream", each, 20, "KiB");
        report.at_most("start on an existing database", median(&starts), 100, "ms");
        drop(open);
    }
    Ok(())
}

/// Balances and reconciliation of a year; `BENCH_INVOICES` makes it a smaller one.
async fn a_year(postgres: &Postgres, report: &mut Report) -> Res<()> {
    let invoices: u64 = match std::env::var("BENCH_INVOICES") {
        Ok(count) => count.parse()?,
        Err(_) => 1_000_000,
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let a_year_ago = i64::try_from(now.as_millis())? - 366 * till_core::time::DAY_MS + 3_600_000;
    let from = till_core::time::show(a_year_ago);
    for engine in engines() {
        let url = database(engine, postgres).await?;
        let (installation, server) = books::year(url.clone(), invoices).await?;
        for (path, target_ms) in [
            ("/v1/reconciliation/balances", 1_000),
            ("/v1/reconciliation", 10_000),
        ] {
            let path = format!("{path}?from={from}");
            let mut times = Vec::new();
            for _ in 0..rounds() {
                let (took, bytes) = books::asked(&installation, &server, &path).await?;
                eprintln!(
                    "  {}: {path} took {took} ms for {bytes} bytes",
                    engine.name()
                );
                times.push(took);
            }
            let name = path
                .split('?')
                .next()
                .and_then(|path| path.rsplit('/').next());
            let name = name.unwrap_or_default();
            let work = format!(
                "{name} of a year with {invoices} invoices, {}",
                engine.name()
            );
            report.at_most(&work, median(&times), target_ms, "ms");
        }
        let memory = server.memory_kib()? / 1024;
        report.at_most(
            &format!("memory after both, {}", engine.name()),
            memory,
            150,
            "MiB",
        );
        server.stop().await?;
        let each = growth::bytes(&installation).await? / invoices.max(1);
        let work = format!("bytes per paid invoice at rest, {}", engine.name());
        report.at_most(&work, each, BYTES_PER_PAID_INVOICE, "B");
        if let Some(url) = url {
            postgres.drop(&url).await?;
        }
    }
    Ok(())
}

async fn grow(postgres: &Postgres, report: &mut Report) -> Res<()> {
    let large = match std::env::var("BENCH_BIG") {
        Ok(_) => 1_000_000,
        Err(_) => 100_000,
    };
    for engine in engines() {
        let small = growth::grown(database(engine, postgres).await?, SMALL).await?;
        let grown = growth::grown(database(engine, postgres).await?, large).await?;
        let each = grown.bytes.saturating_sub(small.bytes) / (large - SMALL);
        let work = format!("bytes per invoice at rest, {}", engine.name());
        report.at_most(&work, each, BYTES_PER_INVOICE, "B");
        let mut rates = [[const { Vec::<u64>::new() }; 4], [const { Vec::new() }; 4]];
        for round in 0..rounds() {
            for (grown, rates) in [&small, &grown].into_iter().zip(&mut rates) {
                let measured = growth::measure(grown, round, GROWTH_TIME).await?;
                for (rates, rate) in rates.iter_mut().zip(measured) {
                    rates.push(rate);
                }
            }
        }
        for (index, kind) in growth::KINDS.into_iter().enumerate() {
            let work = format!("{kind}, {}, {large} ÷ {SMALL} invoices", engine.name());
            let [small, large] = [median(&rates[0][index]), median(&rates[1][index])];
            report.growth(&work, small, large, Hundredths(150));
        }
        for grown in [small, grown] {
            grown.server.stop().await?;
            if engine == Engine::Postgres {
                postgres.drop(&grown.installation.database).await?;
            }
        }
    }
    Ok(())
}

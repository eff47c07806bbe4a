//! `make bench`: Till beside the limits of the machine it runs on, by turns in short rounds. Absolute figures move with the
//! machine's load; the ratio of two that were measured one right after the other holds. With `BENCH_BASE` two builds of Till
//! are measured beside each other instead. Nothing here is a gate: a run fails only when something breaks.
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what this program is for"
)]

use std::time::{Duration, Instant, SystemTime};

use bench::figures::{Hundredths, Pairs};
use bench::load::{Keep, Work, closed};
use bench::report::Report;
use bench::server::{Installation, Parts, Program};
use bench::{
    Engine, Postgres, RAW_CLIENTS, Res, books, by_turns, chain, database, door, engines, growth,
    last, quiet, raw, requests, rounds, speed, timers,
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
    pub mod figures;
    pub mod growth;
    pub mod load;
    pub mod quiet;
    pub mod raw;
    pub mod receiver;
    pub mod report;
    pub mod requests;
    pub mod server;
    pub mod speed;
    pub mod timers;

    use std::sync::atomic::{AtomicU64, Ordering};

    pub type Res<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

    /// Connections to the server under load.
    pub const CLIENTS: usize = 64;
    /// Connections to a raw PostgreSQL under load.
    pub const RAW_CLIENTS: usize = 32;

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
        rounds.and_then(|rounds| rounds.parse().ok()).unwrap_or(9)
    }

    pub fn last(rounds: &[u64]) -> u64 {
        rounds.last().copied().unwrap_or(0)
    }

    /// One right after the other. Who goes first changes from round to round, so that a machine that becomes slower or
    /// faster meanwhile favours neither.
    pub async fn by_turns(
        round: usize,
        limit: impl Future<Output = Res<u64>>,
        program: impl Future<Output = Res<u64>>,
    ) -> Res<(u64, u64)> {
        if round % 2 == 1 {
            let limit = limit.await?;
            return Ok((limit, program.await?));
        }
        let program = program.await?;
        Ok((limit.await?, program))
    }

    /// A fresh one; a SQLite file is made by whoever opens it.
    pub async fn database(engine: Engine, postgres: &Postgres) -> Res<Option<String>> {
        Ok(match engine {
            Engine::Sqlite => None,
            Engine::Postgres => Some(postgres.fresh().await?),
        })
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
const EXPIRING: u64 = 5_000;
const ON_THE_WAY: u64 = 100_000;

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
    if std::env::var_os("BENCH_BASE").is_some() {
        if wanted("speed") {
            speed::compare(&postgres, &mut report).await?;
        }
        if wanted("timers") {
            fall_due_in_both(&postgres, &mut report).await?;
        }
        end(&report, begun);
        return Ok(());
    }
    if wanted("speed") {
        speed::measure(&postgres, &mut report).await?;
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
        report.at_most(&work, &[asked], QUIET_STATEMENTS_PER_S, "/s");
        postgres.drop(&url).await?;
    }
    if wanted("books") {
        a_year(&postgres, &mut report).await?;
    }
    if wanted("growth") {
        grow(&postgres, &mut report).await?;
    }
    end(&report, begun);
    Ok(())
}

fn end(report: &Report, begun: Instant) {
    println!();
    report.print();
    println!(
        "\n{} s; {} rounds, both sides by turns; ratio: the median of the pairs; spread: where the middle half of them lies",
        begun.elapsed().as_secs(),
        rounds()
    );
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
    let logs = Pairs {
        limit: vec![LOGS_PER_S; logs.len()],
        program: logs,
    };
    report.at_least(work, "fixed", &logs, Hundredths(100));
    match chain::told(MANY)? {
        None => eprintln!("  no anvil: blocks and webhooks were not measured"),
        Some((one, many)) => {
            report.at_most("from a block to its webhook", &[one], 2_000, "ms");
            report.at_most(
                "2,000 payments in a block, credited and told",
                &[many],
                30_000,
                "ms",
            );
        }
    }
    Ok(())
}

/// Expiry beside the raw database, and the test clock over many timers.
async fn fall_due(postgres: &Postgres, report: &mut Report) -> Res<()> {
    for engine in engines() {
        let mut pairs = Pairs::default();
        for round in 1..=rounds() {
            let urls = [
                database(engine, postgres).await?,
                database(engine, postgres).await?,
            ];
            let [raw, till] = urls.clone();
            let raw = timers::expired_raw(raw, EXPIRING, RAW_CLIENTS);
            let till = timers::expired(Program::This, till, EXPIRING);
            let (raw, till) = by_turns(round, raw, till).await?;
            pairs.push(raw, till);
            for url in urls.into_iter().flatten() {
                postgres.drop(&url).await?;
            }
            eprintln!(
                "  round {round}, {}: raw {raw}/s, expired {till}/s",
                engine.name()
            );
        }
        let work = format!("unpaid invoices expired, {}", engine.name());
        let limit = "raw, one transaction each";
        report.at_least(&work, limit, &pairs, Hundredths(100));
        let url = database(engine, postgres).await?;
        let moved = timers::advanced(url.clone(), ON_THE_WAY).await?;
        if let Some(url) = url {
            postgres.drop(&url).await?;
        }
        let work = format!(
            "another account held up by a clock over {ON_THE_WAY} timers, {}",
            engine.name()
        );
        report.at_most(&work, &[moved.held_up], 100, "ms");
        let (took, alone) = (moved.took, moved.alone);
        eprintln!(
            "  the clock took {took} ms; the longest wait with nobody moving it was {alone} ms"
        );
    }
    Ok(())
}

/// Expiry by this build and by the one that it is compared with.
async fn fall_due_in_both(postgres: &Postgres, report: &mut Report) -> Res<()> {
    for engine in engines() {
        let mut pairs = Pairs::default();
        for round in 1..=rounds() {
            let urls = [
                database(engine, postgres).await?,
                database(engine, postgres).await?,
            ];
            let [base, this] = urls.clone();
            let base = timers::expired(Program::Base, base, EXPIRING);
            let this = timers::expired(Program::This, this, EXPIRING);
            let (base, this) = by_turns(round, base, this).await?;
            pairs.push(base, this);
            for url in urls.into_iter().flatten() {
                postgres.drop(&url).await?;
            }
            eprintln!(
                "  round {round}, {}: base expired {base}/s, this {this}/s",
                engine.name()
            );
        }
        let work = format!("unpaid invoices expired, {}", engine.name());
        report.speed_of_two(&work, &pairs);
    }
    Ok(())
}

/// Payments through the door beside the raw database.
async fn come_in(postgres: &Postgres, report: &mut Report) -> Res<()> {
    for engine in engines() {
        let mut pairs = Pairs::default();
        for round in 1..=rounds() {
            let urls = [
                database(engine, postgres).await?,
                database(engine, postgres).await?,
            ];
            let [raw, till] = urls.clone();
            let raw = door::settled_raw(raw, EXPIRING, RAW_CLIENTS);
            let till = door::settled(till, EXPIRING);
            let (raw, till) = by_turns(round, raw, till).await?;
            pairs.push(raw, till);
            for url in urls.into_iter().flatten() {
                postgres.drop(&url).await?;
            }
            eprintln!(
                "  round {round}, {}: raw {raw}/s, settled {till}/s",
                engine.name()
            );
        }
        let work = format!("transfers settled through the door, {}", engine.name());
        let limit = "raw, one transaction each";
        report.at_least(&work, limit, &pairs, Hundredths(100));
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
        memory.push(server.memory_kib()? / 1024);
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
        report.at_most("memory at rest", &memory, 40, "MiB");
        report.at_most("memory per open stream", &[each], 20, "KiB");
        report.at_most("start on an existing database", &starts, 100, "ms");
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
            report.at_most(&work, &times, target_ms, "ms");
        }
        let memory = server.memory_kib()? / 1024;
        report.at_most(
            &format!("memory after both, {}", engine.name()),
            &[memory],
            150,
            "MiB",
        );
        server.stop().await?;
        let each = growth::bytes(&installation).await? / invoices.max(1);
        let work = format!("bytes per paid invoice at rest, {}", engine.name());
        report.at_most(&work, &[each], BYTES_PER_PAID_INVOICE, "B");
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
        report.at_most(&work, &[each], BYTES_PER_INVOICE, "B");
        let mut all = growth::KINDS.map(|_| Pairs::default());
        for round in 0..rounds() {
            let in_small = growth::measure(&small, round, GROWTH_TIME).await?;
            let in_large = growth::measure(&grown, round, GROWTH_TIME).await?;
            for (pairs, (small, large)) in all.iter_mut().zip(in_small.into_iter().zip(in_large)) {
                pairs.push(small, large);
            }
        }
        for (pairs, kind) in all.iter().zip(growth::KINDS) {
            let work = format!("{kind}, {}, {large} ÷ {SMALL} invoices", engine.name());
            report.growth(&work, pairs, Hundredths(150));
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

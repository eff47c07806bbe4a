//! Creating, retrieving and telling: Till beside its limits, or beside another build of itself.

use std::time::Duration;

use super::figures::{Hundredths, Pairs};
use super::load::{Keep, Work, closed, paced};
use super::receiver::Receiver;
use super::report::Report;
use super::server::{Installation, Parts, Program, Server, free_address};
use super::{
    CLIENTS, Engine, Postgres, RAW_CLIENTS, Res, by_turns, database, engines, last, raw, requests,
    rounds,
};

const WARM: Duration = Duration::from_millis(300);
const TIME: Duration = Duration::from_secs(1);
const DRAIN_TIME: Duration = Duration::from_secs(4);
/// What Svix, a server that does nothing else, drains on a machine like CI's.
const DELIVERIES_PER_S: u64 = 2_000;

/// All rounds of one engine.
#[derive(Default)]
struct Speeds {
    create: Pairs,
    /// Beside what the database can do when everything about it is tuned; only SQLite's is measured.
    tuned: Pairs,
    retrieve: Pairs,
    deliver: Pairs,
    p99_us: Vec<u64>,
}

/// Till and the limits by turns.
pub async fn measure(postgres: &Postgres, report: &mut Report) -> Res<()> {
    for engine in engines() {
        let mut speeds = Speeds::default();
        for round in 1..=rounds() {
            one_round(round, engine, postgres, &mut speeds).await?;
            eprintln!(
                "  round {round}, {}: raw {}/s, create {}/s, bare {}/s, retrieve {}/s, deliver {}/s, p99 {} µs",
                engine.name(),
                last(&speeds.create.limit),
                last(&speeds.create.program),
                last(&speeds.retrieve.limit),
                last(&speeds.retrieve.program),
                last(&speeds.deliver.program),
                last(&speeds.p99_us),
            );
        }
        tell(engine, &speeds, report);
    }
    Ok(())
}

async fn one_round(
    round: usize,
    engine: Engine,
    postgres: &Postgres,
    speeds: &mut Speeds,
) -> Res<()> {
    let mut shop = Shop::open(Program::This, engine, postgres).await?;
    let limit = raw_writes(engine, postgres);
    let (raw, created) = by_turns(round, limit, shop.create()).await?;
    speeds.create.push(raw, created);
    if engine == Engine::Sqlite {
        let tuned = raw_sqlite(raw::Sqlite::Tuned).await?;
        speeds.tuned.push(tuned, created);
    }
    let (bare, retrieved) = by_turns(round, bare_axum(), shop.retrieve()).await?;
    speeds.retrieve.push(bare, retrieved);
    speeds.p99_us.push(shop.p99_at(created / 2).await?);
    let delivered = shop.deliver(postgres).await?;
    speeds.deliver.push(DELIVERIES_PER_S, delivered);
    Ok(())
}

fn tell(engine: Engine, speeds: &Speeds, report: &mut Report) {
    let (work, limit, target) = match engine {
        Engine::Sqlite => ("create, SQLite FULL", "raw_sqlite_grouped", 40),
        Engine::Postgres => ("create, PostgreSQL", "raw_pg_separate", 150),
    };
    report.at_least(work, limit, &speeds.create, Hundredths(target));
    if engine == Engine::Sqlite {
        report.beside(work, "raw_sqlite_grouped, tuned", &speeds.tuned);
    }
    let work = format!("retrieve, {}", engine.name());
    report.at_least(&work, "bare_axum", &speeds.retrieve, Hundredths(25));
    let work = format!("webhooks out, {}", engine.name());
    report.at_least(&work, "fixed", &speeds.deliver, Hundredths(100));
    let work = format!("p99 of create at half rate, {}", engine.name());
    report.at_most(&work, &speeds.p99_us, 25_000, "µs");
}

/// This build and the one of `BENCH_BASE` by turns, each work right after the other's.
pub async fn compare(postgres: &Postgres, report: &mut Report) -> Res<()> {
    for engine in engines() {
        let mut all = [(); 4].map(|()| Pairs::default());
        for round in 1..=rounds() {
            let mut base = Shop::open(Program::Base, engine, postgres).await?;
            let mut this = Shop::open(Program::This, engine, postgres).await?;
            let created = by_turns(round, base.create(), this.create()).await?;
            let retrieved = by_turns(round, base.retrieve(), this.retrieve()).await?;
            // The same rate for both, or the faster one would be asked for more.
            let rate = created.0.min(created.1) / 2;
            let p99 = by_turns(round, base.p99_at(rate), this.p99_at(rate)).await?;
            let delivered = by_turns(round, base.deliver(postgres), this.deliver(postgres)).await?;
            eprintln!(
                "  round {round}, {}, base and this: create {created:?}/s, retrieve {retrieved:?}/s, p99 {p99:?} µs, deliver {delivered:?}/s",
                engine.name(),
            );
            for (pairs, (base, this)) in all.iter_mut().zip([created, retrieved, delivered, p99]) {
                pairs.push(base, this);
            }
        }
        let named = |work: &str| format!("{work}, {}", engine.name());
        let [create, retrieve, deliver, p99] = &all;
        report.speed_of_two(&named("create"), create);
        report.speed_of_two(&named("retrieve"), retrieve);
        report.speed_of_two(&named("webhooks out"), deliver);
        report.time_of_two(&named("p99 of create at half rate"), p99, "µs");
    }
    Ok(())
}

/// An installation under load, with a receiver that nobody sends anything to yet.
struct Shop {
    installation: Installation,
    server: Server,
    receiver: Receiver,
    /// A database to be thrown away.
    url: Option<String>,
    ids: Vec<String>,
    events: usize,
}

impl Shop {
    async fn open(program: Program, engine: Engine, postgres: &Postgres) -> Res<Shop> {
        let url = database(engine, postgres).await?;
        let installation = Installation::of(program, url.clone())?;
        let receiver = Receiver::start().await?;
        // Deliveries are written, as the raw database writes them, but nobody sends them yet.
        let server = installation.serve(Parts::Api).await?;
        installation
            .set_webhook_url(&server, &receiver.url())
            .await?;
        Ok(Shop {
            installation,
            server,
            receiver,
            url,
            ids: Vec::new(),
            events: 0,
        })
    }

    fn creating(&self, run: &str, keep: Keep) -> Work {
        Work {
            address: self.server.address,
            write: requests::create(&self.installation.key, run),
            status: 201,
            keep,
        }
    }

    async fn create(&mut self) -> Res<u64> {
        let work = self.creating("full", Keep::InvoiceIds);
        let created = closed(&work, CLIENTS, WARM, TIME).await?;
        self.events += created.ids.len();
        self.ids = created.ids;
        Ok(created.per_second)
    }

    /// Of what was created.
    async fn retrieve(&mut self) -> Res<u64> {
        let ids = std::mem::take(&mut self.ids);
        let work = Work {
            address: self.server.address,
            write: requests::retrieve(&self.installation.key, ids),
            status: 200,
            keep: Keep::Nothing,
        };
        Ok(closed(&work, CLIENTS, WARM, TIME).await?.per_second)
    }

    /// The p99 of creating at a rate, in microseconds.
    async fn p99_at(&mut self, rate_per_s: u64) -> Res<u64> {
        let work = self.creating("half", Keep::Nothing);
        let mut done = paced(&work, CLIENTS, rate_per_s, TIME).await?;
        self.events += done.latencies_us.len();
        Ok(done.percentile_us(99))
    }

    /// Webhooks per second, of all that was created.
    async fn deliver(self, postgres: &Postgres) -> Res<u64> {
        self.server.stop().await?;
        let server = self.installation.serve(Parts::All).await?;
        let delivered = self.receiver.drain(self.events, DRAIN_TIME).await;
        drop(server);
        if let Some(url) = self.url {
            postgres.drop(&url).await?;
        }
        Ok(delivered)
    }
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

async fn raw_writes(engine: Engine, postgres: &Postgres) -> Res<u64> {
    match engine {
        Engine::Sqlite => raw_sqlite(raw::Sqlite::Plain).await,
        Engine::Postgres => {
            let url = postgres.fresh().await?;
            let rate = raw::postgres_separate(&url, RAW_CLIENTS, TIME).await?;
            postgres.drop(&url).await?;
            Ok(rate)
        }
    }
}

async fn raw_sqlite(how: raw::Sqlite) -> Res<u64> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("raw.db");
    tokio::task::spawn_blocking(move || raw::sqlite_grouped(&file, how, TIME)).await?
}

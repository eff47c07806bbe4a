//! `make chaos`: three Till servers on a PostgreSQL cluster that is broken in turn while merchants create invoices and payers
//! pay. After each cycle nothing that was acknowledged may be lost, nothing doubled, nothing stuck. `CHAOS_CYCLES=100` for
//! more of them, `CHAOS_ONLY=kill-primary` for one kind.
#![expect(
    clippy::disallowed_methods,
    reason = "how long writing stood still is what this program is for"
)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chaos::cluster::Cluster;
use chaos::ledger::Ledger;
use chaos::probe::Probe;
use chaos::receiver;
use chaos::servers::Servers;
use chaos::table::{Cycle, Table};
use chaos::{check, merchants};
use tokio::signal::unix::{SignalKind, signal};

#[path = "bench/load.rs"]
#[expect(dead_code, reason = "only the client is used here")]
mod load;

mod chaos {
    pub mod api;
    pub mod check;
    pub mod cluster;
    pub mod ledger;
    pub mod merchants;
    pub mod probe;
    pub mod receiver;
    pub mod servers;
    pub mod table;
}

type Res<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Load before something breaks, and after it was mended.
const BEFORE: Duration = Duration::from_secs(2);
const AFTER: Duration = Duration::from_secs(2);
/// How long a primary that was killed stays away, and one that was paused stands still: longer than its lease.
const AWAY: Duration = Duration::from_secs(20);
const CYCLES: usize = 12;

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The primary's machine loses power.
    KillPrimary,
    /// The primary's machine stands still, and goes on as if nothing had happened when another leads already.
    PausePrimary,
    /// The primary's PostgreSQL dies alone.
    CrashPrimary,
    /// The primary's network is gone: packets get no answer, and it does not know that another leads.
    CutPrimary,
    /// Nothing fits on the primary's disk any more.
    FillDisk,
    /// Nobody can say who leads for a moment.
    RestartEtcd,
    RestartPooler,
    KillServer,
}

impl Fault {
    const ALL: [Fault; 8] = [
        Fault::KillPrimary,
        Fault::PausePrimary,
        Fault::CrashPrimary,
        Fault::CutPrimary,
        Fault::FillDisk,
        Fault::RestartEtcd,
        Fault::RestartPooler,
        Fault::KillServer,
    ];

    fn name(self) -> &'static str {
        match self {
            Fault::KillPrimary => "kill-primary",
            Fault::PausePrimary => "pause-primary",
            Fault::CrashPrimary => "crash-primary",
            Fault::CutPrimary => "cut-primary",
            Fault::FillDisk => "fill-disk",
            Fault::RestartEtcd => "restart-etcd",
            Fault::RestartPooler => "restart-pooler",
            Fault::KillServer => "kill-till",
        }
    }

    /// Breaks something and mends it again.
    async fn happen(self, cluster: &Cluster, servers: &mut Servers, number: usize) -> Res<()> {
        match self {
            Fault::KillPrimary => for_a_while(cluster, "kill", "start").await?,
            Fault::PausePrimary => for_a_while(cluster, "pause", "resume").await?,
            Fault::CutPrimary => for_a_while(cluster, "cut", "join").await?,
            Fault::FillDisk => for_a_while(cluster, "fill", "free").await?,
            Fault::CrashPrimary => cluster.act("crash", &cluster.primary()?)?,
            Fault::RestartEtcd => cluster.act("restart-etcd", "")?,
            Fault::RestartPooler => cluster.act("restart-pooler", "")?,
            Fault::KillServer => {
                let place = number % servers.count();
                servers.kill(place)?;
                tokio::time::sleep(BEFORE).await;
                servers.start(place).await?;
            }
        }
        cluster.wait()
    }
}

/// Breaks the primary, and mends it when another leads.
async fn for_a_while(cluster: &Cluster, breaks: &str, mends: &str) -> Res<()> {
    let node = cluster.primary()?;
    cluster.act(breaks, &node)?;
    tokio::time::sleep(AWAY).await;
    cluster.act(mends, &node)
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let ended = match runtime {
        Ok(runtime) => {
            let ended = runtime.block_on(run_unless_ended());
            runtime.shutdown_background();
            ended
        }
        Err(error) => Err(error.into()),
    };
    match ended {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("chaos: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A signal ends the servers too.
async fn run_unless_ended() -> Res<bool> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        ended = run() => ended,
        _ = terminate.recv() => Err("ended by a signal".into()),
        _ = interrupt.recv() => Err("ended by a signal".into()),
    }
}

/// Whether everything was as it must be.
async fn run() -> Res<bool> {
    let cycles = match std::env::var("CHAOS_CYCLES") {
        Ok(count) => count.parse()?,
        Err(_) => CYCLES,
    };
    let only = std::env::var("CHAOS_ONLY").unwrap_or_default();
    let wanted = |fault: &Fault| only.is_empty() || only.split(',').any(|it| it == fault.name());
    let cluster = Cluster::from_env()?;
    let is_possible =
        |fault: &Fault| cluster.is_apart || !matches!(fault, Fault::CutPrimary | Fault::FillDisk);
    let faults: Vec<Fault> = Fault::ALL.into_iter().filter(wanted).collect();
    let faults: Vec<Fault> = faults.into_iter().filter(is_possible).collect();
    if faults.is_empty() {
        return Err(format!("CHAOS_ONLY={only} names no fault that is possible here").into());
    }
    let ledger = Arc::new(Ledger::default());
    let hooks = receiver::start(Arc::clone(&ledger)).await?;
    let mut servers = Servers::start_all(&cluster).await?;
    let key = servers.account()?;
    let shop = merchants::Shop::open(&servers, key, &hooks).await?;
    let probe = Probe::start(&cluster.pooled);
    let mut table = Table::default();
    for number in 1..=cycles {
        let fault = faults[(number - 1) % faults.len()];
        let load = shop.load(number, Arc::clone(&ledger));
        tokio::time::sleep(BEFORE).await;
        ledger.begin_watching(Instant::now(), servers.count());
        probe.begin_watching();
        fault
            .happen(&cluster, &mut servers, number / faults.len())
            .await?;
        tokio::time::sleep(AFTER).await;
        let stood_still = ledger.end_watching(Instant::now());
        let database_stood_still = probe.end_watching();
        load.end().await?;
        let wrong = check::everything(&shop, &ledger, number).await?;
        let counts = ledger.counts();
        table.add(Cycle {
            number,
            fault: fault.name(),
            stood_still,
            database_stood_still,
            counts,
            wrong,
        });
    }
    servers.stop()?;
    table.print();
    Ok(table.is_all_well())
}

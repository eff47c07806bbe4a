//! A server from its first to its last breath: bind, listen, work, and an orderly end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use futures::future::join_all;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use till_api::{Api, ApiConfig};
use till_engine::Engine;
use till_engine::base::Stopping;
use till_engine::invoices::gather::Gatherer;
use till_engine::workers;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::compose;
use crate::config::{Config, Urls};
use crate::failure::Failure;
use crate::logging::Log;
use crate::pages;

/// What a process runs. Several machines on one database may share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    // No documentation on these: it would make the help longer than a screen.
    Api,
    Workers,
}

/// A worker's step is short; one that hangs is taken over by another process after its claim.
const WORKERS_END_TIME: Duration = Duration::from_secs(15);
const CLOSE_TIME: Duration = Duration::from_secs(10);
const METRICS_UPKEEP: Duration = Duration::from_secs(5);

pub async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let failure = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AddrInUse => "; choose another with --listen",
            _ => "",
        };
        Failure::new(format!("cannot listen on {address}: {error}{hint}"))
    };
    let listener = TcpListener::bind(address).await.map_err(failure)?;
    let bound = listener.local_addr().map_err(failure)?;
    Ok((listener, bound))
}

/// Groups of invoices under way at a time: while one is written, the next is worked out.
const CREATE_LANES: usize = 2;

pub fn gatherer(engine: &Arc<Engine>) -> Gatherer {
    Gatherer::start(engine, CREATE_LANES)
}

/// All that a server needs before it can answer. Without a listener it only works.
pub struct Server {
    pub engine: Arc<Engine>,
    pub listener: Option<(TcpListener, SocketAddr)>,
    pub urls: Urls,
    pub workers: bool,
}

/// Runs until a signal, and then until what was under way is done.
pub async fn run(
    server: Server,
    config: &Config,
    log: Log,
    started: impl AsyncFnOnce(&Gatherer) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Server {
        engine,
        listener,
        urls,
        workers,
    } = server;
    let mut signals = Signals::new()?;
    let own = listener.as_ref().map(|(_, bound)| *bound);
    let sender = Arc::new(compose::sender(config, own)?);
    let metrics = PrometheusBuilder::new()
        .install_recorder()
        .map_err(|error| Failure::new(format!("metrics cannot be started: {error}")))?;
    let gatherer = gatherer(&engine);
    let (stop, stopping) = watch::channel(false);

    match own {
        Some(bound) => log.open(&format!("listening on http://{bound}")),
        None => log.open("working without an API"),
    }
    let mut tasks = vec![tokio::spawn(upkeep(metrics.clone(), stopping.clone()))];
    if workers {
        tasks.extend(workers::start(&engine, Arc::clone(&sender), &stopping));
    }
    started(&gatherer).await?;

    // Streams and workers are told at once: requests under way would otherwise be waited for in vain.
    let told = async move {
        let signal = signals.next().await;
        tracing::info!(signal, "stopping; a second signal stops at once");
        stop.send_replace(true);
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(1);
        });
    };
    match listener {
        None => told.await,
        Some((listener, _)) => {
            tasks.push(workers::start_streams(&engine, &stopping));
            tasks.push(workers::start_following(&engine, &stopping));
            let render = move || metrics.render();
            let settings = ApiConfig {
                docs_url: urls.docs,
                trusted_proxies: config.limits.trusted_proxies.clone(),
                checkout_per_minute: config.limits.checkout_per_minute,
                metrics: Some(Arc::new(render)),
                pages: pages::checkout(),
            };
            let api = Api::new(Arc::clone(&engine), gatherer, sender, settings, stopping);
            till_api::serve(api, listener, told).await;
        }
    }
    end(&engine, tasks).await;
    Ok(())
}

async fn end(engine: &Engine, tasks: Vec<JoinHandle<()>>) {
    if timeout(WORKERS_END_TIME, join_all(tasks)).await.is_err() {
        tracing::warn!("a worker was cut off: its step took longer than the time to end");
    }
    if timeout(CLOSE_TIME, engine.db.clone().close())
        .await
        .is_err()
    {
        tracing::warn!("the database was left without a goodbye; nothing committed is lost");
    }
    tracing::info!("stopped");
}

/// Histograms keep every sample until somebody folds them.
async fn upkeep(metrics: PrometheusHandle, mut stopping: Stopping) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(METRICS_UPKEEP) => metrics.run_upkeep(),
            _ = stopping.wait_for(|stop| *stop) => return,
        }
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Signals, Failure> {
        let listen = |kind| {
            signal(kind)
                .map_err(|error| Failure::new(format!("signals cannot be listened for: {error}")))
        };
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

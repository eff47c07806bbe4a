//! A server from its first to its last breath: bind, listen, work, and an orderly end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use futures::future::join_all;
use metrics_exporter_prometheus::PrometheusHandle;
use till_api::{AdmissionLimits, Api, ApiConfig, LoggedAddress, Operator, ServerLimits};
use till_engine::Engine;
use till_engine::base::Stopping;
use till_engine::invoices::gather::Gatherer;
use till_engine::workers;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::compose;
use crate::config::{ClientAddress, Config, Urls};
use crate::failure::Failure;
use crate::handles;
use crate::logging::Log;
use crate::metrics;
use crate::pages;
use crate::reload::{self, ReadConfigAgain};
use crate::service_manager::ServiceManager;
use crate::tls::Tls;

/// What a process runs. Several machines on one database may share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    // No documentation on these: it would make the help longer than a screen.
    Api,
    Workers,
}

// With the default of `server.drain_s` the worst case ends within 25 seconds: 5, then 15 for workers beside the 10 for
// requests, then 3.
/// A worker's step is short; one that hangs is taken over by another process after its claim.
const WORKERS_END_TIME: Duration = Duration::from_secs(15);
const REQUESTS_END_TIME: Duration = Duration::from_secs(10);
const CLOSE_TIME: Duration = Duration::from_secs(3);
const METRICS_UPKEEP: Duration = Duration::from_secs(5);

pub async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    bind_or(address, "--listen").await
}

/// Where the operator asked for one.
pub async fn metrics_listener(
    config: &Config,
) -> Result<Option<(TcpListener, SocketAddr)>, Failure> {
    match config.metrics.listen {
        Some(address) => bind_or(address, "metrics.listen").await.map(Some),
        None => Ok(None),
    }
}

async fn bind_or(address: SocketAddr, setting: &str) -> Result<(TcpListener, SocketAddr), Failure> {
    let failure = |error: std::io::Error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AddrInUse => format!("; choose another with {setting}"),
            _ => String::new(),
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
    /// For the operator alone.
    pub metrics: Option<(TcpListener, SocketAddr)>,
    pub urls: Urls,
    pub workers: bool,
    /// How the configuration is read anew; a demo has none of its own.
    pub again: Option<ReadConfigAgain>,
    /// None where the public listener speaks plain HTTP.
    pub tls: Option<Tls>,
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
        metrics: metrics_listener,
        urls,
        workers,
        again,
        tls,
    } = server;
    let signals = Signals::new()?;
    let log = Arc::new(log);
    let own = listener.as_ref().map(|(_, bound)| *bound);
    let bound = [&listener, &metrics_listener].into_iter().flatten();
    let own_addresses = bound.map(|(_, bound)| *bound).collect();
    let sender = Arc::new(compose::sender(config, own_addresses)?);
    let metrics = metrics::start(config)?;
    let gatherer = gatherer(&engine);
    let (stop, stopping) = watch::channel(false);

    match own {
        Some(bound) => log.open(&format!("listening on {}://{bound}", config.scheme())),
        None => log.open("working without an API"),
    }
    let mut tasks = vec![
        tokio::spawn(upkeep(metrics.clone(), stopping.clone())),
        tokio::spawn(measure(
            config.clone(),
            Arc::clone(&engine),
            stopping.clone(),
        )),
    ];
    let (end_operator, operator_ends) = oneshot::channel::<()>();
    if let Some((listener, bound)) = metrics_listener {
        tracing::info!("metrics and health at http://{bound}");
        let measured = Arc::clone(&engine);
        let operator = Operator {
            engine: Arc::clone(&engine),
            stopping: stopping.clone(),
            metrics: Arc::new(move || {
                metrics::measure_process();
                metrics::measure_replicas(&measured);
                metrics.render()
            }),
        };
        let docs_url = urls.docs.clone();
        tokio::spawn(async move {
            // Until the very end: what goes on while a server stops is worth seeing.
            let ends = async { drop(operator_ends.await) };
            till_api::serve_operator(operator, &docs_url, listener, ends).await;
        });
    }
    if workers {
        tasks.extend(workers::start(&engine, Arc::clone(&sender), &stopping));
    } else {
        tasks.extend(till_engine::watch::start_looking(&engine, &stopping));
    }
    started(&gatherer).await?;

    tasks.push(workers::start_pulse(&engine, &stopping));
    if engine.feeds.is_some() {
        tasks.push(workers::start_prices(&engine, &stopping));
    }
    let drain_time = match own {
        Some(_) => Duration::from_secs(config.server.drain_s.into()),
        None => Duration::ZERO,
    };
    let reloading = tokio::spawn(reload::whenever_told(
        hangup()?,
        Arc::clone(&engine),
        Arc::clone(&log),
        config.clone(),
        again,
        tls.clone(),
    ));
    let manager = ServiceManager::of_environment();
    let alive = tokio::spawn(manager.clone().stay_alive());
    manager.ready();
    let told = told(
        signals,
        (Arc::clone(&engine), manager),
        drain_time,
        stop,
        log.ending(),
    );
    match listener {
        None => {
            told.await;
            end_workers(tasks, stopping).await;
        }
        Some((listener, _)) => {
            tasks.push(workers::start_streams(&engine, &stopping));
            tasks.push(workers::start_key_uses(&engine, &stopping));
            tasks.push(workers::start_following(&engine, &stopping));
            let certificates = tls.as_ref().map(|tls| Arc::clone(&tls.certificates));
            tasks.extend(tls.map(|tls| tokio::spawn(tls.follow(stopping.clone()))));
            let settings = ApiConfig {
                heartbeat: till_api::HEARTBEAT,
                docs_url: urls.docs,
                trusted_proxies: config.limits.trusted_proxies.clone(),
                checkout_per_minute: config.limits.checkout_per_minute,
                streams_per_client: as_size(config.limits.streams_per_client),
                server: server_limits(config),
                client_shown: client_shown(config),
                pages: pages::all(),
            };
            let ending = tokio::spawn(end_workers(tasks, stopping.clone()));
            let api = Api::new(Arc::clone(&engine), gatherer, sender, settings, stopping);
            till_api::serve(api, listener, certificates, told).await;
            drop(ending.await);
        }
    }
    // What it holds of the log goes with it, so that the last lines are written before the end.
    reloading.abort();
    drop(reloading.await);
    alive.abort();
    close(&engine).await;
    drop(end_operator);
    Ok(())
}

fn server_limits(config: &Config) -> ServerLimits {
    let budget = handles::budget(config, handles::limit());
    ServerLimits {
        admission: AdmissionLimits {
            listener: "api",
            connections: budget.connections,
            connections_per_client: budget.connections_per_client,
            trusted_proxies: config.limits.trusted_proxies.clone(),
        },
        slow_reader_time: Duration::from_secs(config.server.slow_reader_s.into()),
        drain_time: REQUESTS_END_TIME,
        ..ServerLimits::default()
    }
}

fn client_shown(config: &Config) -> LoggedAddress {
    match config.log.client_address {
        ClientAddress::Full => LoggedAddress::Full,
        ClientAddress::Prefix => LoggedAddress::Prefix,
        ClientAddress::None => LoggedAddress::Nothing,
    }
}

fn as_size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Waits for a signal. From then on the server says that it is not ready, and goes on until whoever sends it work has
/// noticed; then everybody is told. Streams and workers, too: requests under way would otherwise be waited for in vain.
async fn told(
    mut signals: Signals,
    (engine, manager): (Arc<Engine>, ServiceManager),
    drain_time: Duration,
    stop: watch::Sender<bool>,
    last_words: impl Fn() + Send + 'static,
) {
    let signal = signals.next().await;
    tracing::info!(signal, "stopping; a second signal stops at once");
    engine.readiness.leave();
    manager.stopping();
    tokio::spawn(async move {
        let signal = signals.next().await;
        tracing::warn!(
            signal,
            "a second signal came, so the server ends at once; requests under way are cut off"
        );
        last_words();
        std::process::exit(1);
    });
    // Whoever sits before it and presses a key wants it to end.
    if signal == TERMINATE {
        tokio::time::sleep(drain_time).await;
    }
    stop.send_replace(true);
}

/// Beside the requests, from the moment that everybody is told.
async fn end_workers(tasks: Vec<JoinHandle<()>>, mut stopping: Stopping) {
    // An error can only mean that nobody is left to tell us.
    drop(stopping.wait_for(|stop| *stop).await.map(drop));
    if timeout(WORKERS_END_TIME, join_all(tasks)).await.is_err() {
        tracing::warn!(
            "a worker was cut off at shutdown because it took too long; its work is done again at the next start"
        );
    }
}

async fn close(engine: &Engine) {
    if timeout(CLOSE_TIME, engine.db.clone().close())
        .await
        .is_err()
    {
        tracing::warn!(
            "the database was not closed in time at shutdown; nothing committed is lost"
        );
    }
    tracing::info!("stopped");
}

async fn measure(config: Config, engine: Arc<Engine>, mut stopping: Stopping) {
    loop {
        metrics::measure(&config, &engine);
        tokio::select! {
            () = tokio::time::sleep(METRICS_UPKEEP) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
    }
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

const TERMINATE: &str = "SIGTERM";

fn hangup() -> Result<Signal, Failure> {
    listen_for(SignalKind::hangup())
}

fn listen_for(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|error| Failure::new(format!("signals cannot be listened for: {error}")))
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Signals, Failure> {
        Ok(Signals {
            terminate: listen_for(SignalKind::terminate())?,
            interrupt: listen_for(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => TERMINATE,
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

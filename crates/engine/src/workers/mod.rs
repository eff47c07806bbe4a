//! Workers: reconcilers that look at what is committed, do the next step, and can be killed at any instant.

pub mod digests;
pub mod key_uses;
pub mod lists;
pub mod mail;
pub mod payouts;
pub mod prices;
pub mod pulse;
pub mod retention;
pub mod sums;
pub mod sweeper;
pub mod team_mail;
pub mod timers;
pub mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use crate::base::Engine;
use crate::base::supervise::supervise;
use crate::base::wake::Stopping;
use crate::checkout::stream;
use crate::outbound::Sender;
use crate::watch;

/// Starts all workers; they end when `stopping` turns true.
pub fn start(
    engine: &Arc<Engine>,
    sender: Arc<Sender>,
    stopping: &Stopping,
) -> Vec<tokio::task::JoinHandle<()>> {
    const TIMERS: Duration = Duration::from_millis(500);
    const LOOK: Duration = Duration::from_secs(60);
    const SWEEP: Duration = Duration::from_secs(600);
    const LISTS: Duration = Duration::from_secs(60);
    const FORGET: Duration = Duration::from_secs(3_600);
    const FOLD: Duration = Duration::from_secs(10);
    const DIGEST: Duration = Duration::from_secs(60);
    const PAYOUTS: Duration = Duration::from_secs(15);
    const SCREEN: Duration = Duration::from_millis(payouts::SCREEN_EVERY_MS);
    let mut workers = vec![
        deliver(engine, sender, stopping),
        send_mail(engine, stopping),
        every(engine, stopping, TIMERS, Work::Timers),
        every(engine, stopping, LOOK, Work::Look),
        every(engine, stopping, SWEEP, Work::Sweep),
        every(engine, stopping, LISTS, Work::Lists),
        every(engine, stopping, FOLD, Work::Fold),
        every(engine, stopping, DIGEST, Work::Digest),
        every(engine, stopping, FORGET, Work::Forget),
        every(engine, stopping, PAYOUTS, Work::Payouts),
        every(engine, stopping, SCREEN, Work::Screen),
    ];
    workers.extend(watch::start(engine, stopping));
    workers
}

/// The part of the workers that a process serving streams needs for itself.
pub fn start_streams(engine: &Arc<Engine>, stopping: &Stopping) -> tokio::task::JoinHandle<()> {
    // Where there is one writer it is usually this process, which tells its own streams.
    let poll = match engine.db.writers() {
        Some(_) => Duration::from_millis(500),
        None => Duration::from_secs(1),
    };
    every(engine, stopping, poll, Work::Streams)
}

/// A process that only answers requests screens addresses too: it follows what the others read.
pub fn start_following(engine: &Arc<Engine>, stopping: &Stopping) -> tokio::task::JoinHandle<()> {
    const FOLLOW: Duration = Duration::from_secs(15);
    every(engine, stopping, FOLLOW, Work::FollowLists)
}

/// Every process knows prices for itself.
pub fn start_prices(engine: &Arc<Engine>, stopping: &Stopping) -> tokio::task::JoinHandle<()> {
    const ASK: Duration = Duration::from_secs(15);
    every(engine, stopping, ASK, Work::Prices)
}

/// Every process that answers requests writes down for itself when keys were used.
pub fn start_key_uses(engine: &Arc<Engine>, stopping: &Stopping) -> tokio::task::JoinHandle<()> {
    const WRITE: Duration = Duration::from_secs(20);
    every(engine, stopping, WRITE, Work::KeyUses)
}

/// Every process finds out for itself whether it can write.
pub fn start_pulse(engine: &Arc<Engine>, stopping: &Stopping) -> tokio::task::JoinHandle<()> {
    const BEAT: Duration = Duration::from_secs(5);
    every(engine, stopping, BEAT, Work::Pulse)
}

fn deliver(
    engine: &Arc<Engine>,
    sender: Arc<Sender>,
    stopping: &Stopping,
) -> tokio::task::JoinHandle<()> {
    let engine = Arc::clone(engine);
    supervise("webhooks", stopping.clone(), move |stopping| {
        webhooks::run(Arc::clone(&engine), Arc::clone(&sender), stopping)
    })
}

fn send_mail(engine: &Arc<Engine>, stopping: &Stopping) -> tokio::task::JoinHandle<()> {
    let engine = Arc::clone(engine);
    supervise("mail", stopping.clone(), move |stopping| {
        mail::run(Arc::clone(&engine), stopping)
    })
}

fn every(
    engine: &Arc<Engine>,
    stopping: &Stopping,
    period: Duration,
    work: Work,
) -> tokio::task::JoinHandle<()> {
    let engine = Arc::clone(engine);
    supervise(work.name(), stopping.clone(), move |stopping| {
        periodic(Arc::clone(&engine), stopping, period, work)
    })
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Timers,
    Look,
    Sweep,
    Lists,
    FollowLists,
    Fold,
    Digest,
    Forget,
    Payouts,
    Screen,
    Streams,
    Pulse,
    Prices,
    KeyUses,
}

impl Work {
    fn name(self) -> &'static str {
        match self {
            Work::Timers => "timers",
            Work::Look => "look",
            Work::Sweep => "sweep",
            Work::Lists => "lists",
            Work::FollowLists => "follow_lists",
            Work::Fold => "fold",
            Work::Digest => "digest",
            Work::Forget => "forget",
            Work::Payouts => "payouts",
            Work::Screen => "screen",
            Work::Streams => "streams",
            Work::Pulse => "pulse",
            Work::Prices => "prices",
            Work::KeyUses => "key_uses",
        }
    }

    /// Whether it does something because its time has come.
    fn goes_by_the_clock(self) -> bool {
        matches!(
            self,
            Work::Timers | Work::Sweep | Work::Digest | Work::Forget | Work::Payouts
        )
    }
}

async fn periodic(engine: Arc<Engine>, mut stopping: Stopping, period: Duration, work: Work) {
    loop {
        let clock_is_off = engine.readiness.clock_off_s().is_some();
        let done = match work {
            _ if clock_is_off && work.goes_by_the_clock() => Ok(()),
            Work::Timers => timers::run_due(&engine).await.map(drop),
            Work::Look => timers::look_after(&engine).await,
            Work::Sweep => sweeper::sweep(&engine).await,
            Work::Lists => lists::refresh_due(&engine).await,
            Work::FollowLists => lists::follow(&engine).await,
            Work::Fold => sums::fold(&engine).await,
            Work::Digest => digests::make_due(&engine).await,
            Work::Forget => retention::forget(&engine).await,
            Work::Payouts => payouts::look_at_due(&engine).await,
            Work::Screen => payouts::screen(&engine).await,
            Work::Streams => stream::poll(&engine).await,
            Work::Pulse => {
                let beaten = pulse::beat(&engine).await;
                let compared = pulse::compare_clocks(&engine).await;
                beaten.and(compared)
            }
            Work::Prices => prices::observe(&engine).await,
            Work::KeyUses => key_uses::write(&engine).await,
        };
        if let Err(fail) = done {
            tracing::error!(
                ?work,
                ?fail,
                "a worker failed, for the reason in `fail`, and tries again; look at the database if this lasts"
            );
        }
        tokio::select! {
            () = tokio::time::sleep(period) => {}
            _ = stopping.wait_for(|stop| *stop) => break,
        }
    }
    // What is only in memory is written down before the process ends.
    if matches!(work, Work::KeyUses)
        && let Err(fail) = key_uses::write(&engine).await
    {
        tracing::error!(
            ?fail,
            "the last uses of keys could not be written down at shutdown, so keys may show an older last use; nothing else is lost"
        );
    }
}

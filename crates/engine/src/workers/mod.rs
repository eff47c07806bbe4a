//! Workers: reconcilers that look at what is committed, do the next step, and can be killed at any instant.

pub mod mail;
pub mod sweeper;
pub mod timers;
pub mod webhooks;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use till_core::scope::Scope;
use tokio::sync::{Notify, watch};

use crate::context::Engine;
use crate::outbound::Sender;
use crate::stream;

/// Hints that there is work; losing one costs a period, never the work.
#[derive(Debug, Default)]
pub struct Nudges {
    endpoints: Mutex<HashSet<Scope>>,
    webhooks: Notify,
    mail: Notify,
}

impl Nudges {
    pub fn webhooks(&self, scope: Scope) {
        self.endpoints
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(scope);
        self.webhooks.notify_one();
    }

    pub fn mail(&self) {
        self.mail.notify_one();
    }

    fn take_endpoints(&self) -> HashSet<Scope> {
        std::mem::take(
            &mut *self
                .endpoints
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

/// Tells every worker and stream that the server is stopping.
pub type Stopping = watch::Receiver<bool>;

/// Starts all workers; they end when `stopping` turns true.
pub fn start(
    engine: &Arc<Engine>,
    sender: Arc<Sender>,
    stopping: &Stopping,
) -> Vec<tokio::task::JoinHandle<()>> {
    const TIMERS: Duration = Duration::from_millis(500);
    const SWEEP: Duration = Duration::from_secs(600);
    vec![
        tokio::spawn(webhooks::run(Arc::clone(engine), sender, stopping.clone())),
        tokio::spawn(mail::run(Arc::clone(engine), stopping.clone())),
        tokio::spawn(periodic(
            Arc::clone(engine),
            stopping.clone(),
            TIMERS,
            Work::Timers,
        )),
        tokio::spawn(periodic(
            Arc::clone(engine),
            stopping.clone(),
            SWEEP,
            Work::Sweep,
        )),
    ]
}

/// The part of the workers that a process serving streams needs for itself.
pub fn start_streams(engine: &Arc<Engine>, stopping: &Stopping) -> tokio::task::JoinHandle<()> {
    const POLL: Duration = Duration::from_millis(500);
    tokio::spawn(periodic(
        Arc::clone(engine),
        stopping.clone(),
        POLL,
        Work::Streams,
    ))
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Timers,
    Sweep,
    Streams,
}

async fn periodic(engine: Arc<Engine>, mut stopping: Stopping, period: Duration, work: Work) {
    loop {
        let done = match work {
            Work::Timers => timers::run_due(&engine).await.map(drop),
            Work::Sweep => sweeper::sweep(&engine).await,
            Work::Streams => stream::poll(&engine).await,
        };
        if let Err(fail) = done {
            tracing::error!(?work, ?fail, "a worker's step failed; it is tried again");
        }
        tokio::select! {
            () = tokio::time::sleep(period) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
    }
}

//! Background workers that are restarted when they panic.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::task::JoinHandle;

use super::wake::Stopping;

/// The pause before a restart: what made the worker panic may be there still.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs a worker until it ends by itself, and restarts it when it panics. Nothing is lost by that: a worker reads
/// where it stands from what is committed.
pub fn supervise<F: Future<Output = ()> + Send + 'static>(
    worker: &'static str,
    mut stopping: Stopping,
    begin: impl Fn(Stopping) -> F + Send + 'static,
) -> JoinHandle<()> {
    let panics = metrics::counter!("till_worker_panics_total", "worker" => worker);
    panics.increment(0);
    tokio::spawn(async move {
        while AssertUnwindSafe(begin(stopping.clone()))
            .catch_unwind()
            .await
            .is_err()
        {
            tracing::error!(
                worker,
                "a worker panicked and was restarted; please report it with the panic message above"
            );
            panics.increment(1);
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                _ = stopping.wait_for(|stop| *stop) => return,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_worker_that_panics_is_begun_anew_until_it_ends() {
        let (_stop, stopping) = tokio::sync::watch::channel(false);
        let begun: Arc<AtomicUsize> = Arc::default();
        let count = Arc::clone(&begun);
        let worker = supervise("test", stopping, move |_| {
            let time = count.fetch_add(1, Ordering::Relaxed);
            async move { assert!(time >= 2, "for the test") }
        });
        worker.await.unwrap();
        assert_eq!(begun.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn nothing_is_begun_anew_once_the_server_stops() {
        let (_stop, stopping) = tokio::sync::watch::channel(true);
        let worker = supervise("test", stopping, |_| async { panic!("for the test") });
        worker.await.unwrap();
    }
}

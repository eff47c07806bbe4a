//! Copying SQLite's write-ahead log into the database beside the writer, which would otherwise stand still for
//! it every few dozen commits.
//!
//! A log that is written without a pause is never copied to its end and keeps growing; the writer copies what
//! is left by itself once it is too long, and by then that is little.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::task::JoinHandle;

const PERIOD: Duration = Duration::from_millis(100);
/// Copied at once after so many commits, and after a while when there were fewer.
const COMMITS_BUSY: u64 = 32;
const PERIODS_QUIET: u32 = 10;

/// Stops when dropped.
pub(crate) struct Checkpointer(Option<JoinHandle<()>>);

impl Checkpointer {
    pub(crate) fn start(options: SqliteConnectOptions, commits: Arc<AtomicU64>) -> Checkpointer {
        Checkpointer(Some(tokio::spawn(run(options, commits))))
    }

    /// Stops, and waits until nothing of it is under way any more.
    pub(crate) async fn stop(&mut self) {
        if let Some(task) = self.0.take() {
            task.abort();
            // Nobody asks how it ended: it was told to.
            task.await.ok();
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

async fn run(options: SqliteConnectOptions, commits: Arc<AtomicU64>) {
    let mut conn: Option<SqliteConnection> = None;
    let (mut copied, mut periods) = (commits.load(Ordering::Relaxed), 0);
    loop {
        tokio::time::sleep(PERIOD).await;
        let made = commits.load(Ordering::Relaxed);
        periods += 1;
        if made == copied || (made - copied < COMMITS_BUSY && periods < PERIODS_QUIET) {
            continue;
        }
        (copied, periods) = (made, 0);
        if let Err(error) = copy(&mut conn, &options).await {
            // The writer sees to it then.
            tracing::warn!(%error, "SQLite's log was not copied into its database");
            conn = None;
        }
    }
}

async fn copy(
    conn: &mut Option<SqliteConnection>,
    options: &SqliteConnectOptions,
) -> Result<(), sqlx::Error> {
    let conn = match conn {
        Some(conn) => conn,
        None => conn.insert(options.connect().await?),
    };
    sqlx::query("PRAGMA wal_checkpoint(PASSIVE)")
        .execute(conn)
        .await
        .map(drop)
}

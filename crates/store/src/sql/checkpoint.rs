//! Copying SQLite's write-ahead log into the database beside the writer, which would otherwise stand still for
//! it every few dozen commits.
//!
//! A log that is written without a pause is never copied to its end and keeps growing. Once it is long, the
//! writer is held up for the last of it, which is little by then, and begins the log anew.
//!
//! The same task lets other processes have the writer: one that waits looks only now and then whether it is free, and a
//! server that writes without a pause would keep it from them for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::sql::group::{self, Slot};

const PERIOD: Duration = Duration::from_millis(100);
/// Copied at once after so many commits, and after a while when there were fewer.
const COMMITS_BUSY: u64 = 32;
const PERIODS_QUIET: u32 = 10;
/// How much of each period in which something was written is left to other processes. They look ten times a second.
const ROOM: Duration = Duration::from_millis(3);

/// Stops when dropped.
pub(crate) struct Checkpointer(Option<JoinHandle<()>>);

impl Checkpointer {
    pub(crate) fn start(
        options: SqliteConnectOptions,
        writer: Arc<Mutex<Slot>>,
        commits: Arc<AtomicU64>,
        log_pages_max: u32,
    ) -> Checkpointer {
        let copier = Copier {
            options,
            conn: None,
            writer,
            log_pages_max,
        };
        Checkpointer(Some(tokio::spawn(run(copier, commits))))
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

async fn run(mut copier: Copier, commits: Arc<AtomicU64>) {
    let (mut copied, mut periods) = (commits.load(Ordering::Relaxed), 0);
    let mut seen = copied;
    loop {
        tokio::time::sleep(PERIOD).await;
        let made = commits.load(Ordering::Relaxed);
        if made != seen {
            seen = made;
            group::rest(&copier.writer, ROOM).await;
        }
        periods += 1;
        if made == copied || (made - copied < COMMITS_BUSY && periods < PERIODS_QUIET) {
            continue;
        }
        (copied, periods) = (made, 0);
        if let Err(error) = copier.copy().await {
            // The writer sees to it then, later.
            tracing::warn!(%error, "the SQLite checkpoint failed and its log file keeps growing; check free disk space");
            copier.conn = None;
        }
    }
}

struct Copier {
    options: SqliteConnectOptions,
    conn: Option<SqliteConnection>,
    writer: Arc<Mutex<Slot>>,
    log_pages_max: u32,
}

impl Copier {
    async fn copy(&mut self) -> Result<(), sqlx::Error> {
        let conn = match &mut self.conn {
            Some(conn) => conn,
            None => self.conn.insert(self.options.connect().await?),
        };
        if copy_once(conn).await? > i64::from(self.log_pages_max) {
            // What was written meanwhile, and then what was written during that.
            copy_once(conn).await?;
            let _nobody_writes = self.writer.lock().await;
            copy_once(conn).await?;
        }
        Ok(())
    }
}

/// Says how many pages the log has.
async fn copy_once(conn: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let (_, pages, _): (i64, i64, i64) = sqlx::query_as("PRAGMA wal_checkpoint(PASSIVE)")
        .fetch_one(conn)
        .await?;
    Ok(pages)
}

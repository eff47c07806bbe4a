//! How SQLite's connections are set.

use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use super::config::STATEMENTS_CACHED_MAX;

/// How long a reader waits while SQLite tidies up after a process that died.
const BUSY_TIMEOUT: Duration = Duration::from_millis(5_000);
/// Every commit looks through what the writer has cached: more of it does not make it faster.
const CACHE_KIB: u32 = 16_384;
/// How far the write-ahead log grows before the writer itself copies it into the database, standing still for
/// it: only if nobody else has done so long before.
const CHECKPOINT_PAGES: u32 = 32_000;
/// Readers forget what they have cached at every commit of the writer, and share the system's cache by mmap.
const READER_CACHE_KIB: u32 = 2_048;
const MMAP_BYTES: u32 = 64 * 1024 * 1024;
/// Rows that SQLite's thread reads ahead of who asked: with few of them the two wake each other all the time.
const ROWS_AHEAD_MAX: usize = 500;

/// What every connection has.
pub(super) fn options(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .pragma("cache_size", format!("-{CACHE_KIB}"))
        .pragma("temp_store", "memory")
        .pragma("mmap_size", MMAP_BYTES.to_string())
        .statement_cache_capacity(STATEMENTS_CACHED_MAX)
        .row_buffer_size(ROWS_AHEAD_MAX)
        .disable_statement_logging()
}

/// For the one connection that writes; it makes the database if there is none.
pub(super) fn writer(of: &SqliteConnectOptions, busy_timeout: Duration) -> SqliteConnectOptions {
    of.clone()
        .create_if_missing(true)
        .busy_timeout(busy_timeout)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string())
}

/// For those that only read.
pub(super) fn reader(of: SqliteConnectOptions) -> SqliteConnectOptions {
    of.pragma("cache_size", format!("-{READER_CACHE_KIB}"))
        .read_only(true)
}

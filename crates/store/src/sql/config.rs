//! What a database is opened with.

use std::time::Duration;

pub(super) const STATEMENTS_CACHED_MAX: usize = 512;

#[derive(Clone)]
pub struct DbConfig {
    /// `sqlite:PATH` (made if missing), `sqlite::memory:` or `postgres://…`
    pub url: String,
    /// PostgreSQL standbys of it, which are only read from.
    pub replicas: Vec<String>,
    pub readers_max: u32,
    /// For PostgreSQL; SQLite has one writer.
    pub writers_max: u32,
    /// How long to wait for a connection, for one's turn at SQLite's writer, and for another process that has
    /// that writer. Callers count on it: who waits for a unit of work is answered not much later.
    pub patience: Duration,
    /// For PostgreSQL: sessions are a pooler's, which gives each transaction another. Otherwise that is found out.
    pub pooled: bool,
    /// For SQLite: how many pages of 4 KiB its write-ahead log may have before it is to begin anew.
    pub log_pages_max: u32,
}

impl DbConfig {
    pub fn new(url: impl Into<String>) -> DbConfig {
        DbConfig {
            url: url.into(),
            replicas: Vec::new(),
            readers_max: 8,
            writers_max: 8,
            patience: Duration::from_secs(5),
            pooled: false,
            log_pages_max: 4_000,
        }
    }
}

//! `till screening status`: how old and large the lists are that addresses are held against.

use clap::Args;
use serde::Serialize;
use till_core::time::{self, HOUR_MS};
use till_engine::base::clock::Clock as _;
use till_engine::lists::ListConfig;
use till_store::Db;
use till_store::lists::ListRow;

use crate::compose;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::output;
use crate::system::SystemClock;

#[derive(Debug, Args)]
pub struct Status {
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
}

/// A configured list, as the servers of this database have it.
#[derive(Clone, Debug, Serialize)]
pub struct ListStatus {
    pub list: String,
    pub format: &'static str,
    /// `fresh`, `stale` or `missing`: only a fresh list clears anybody.
    pub state: &'static str,
    pub version: Option<String>,
    pub addresses: i64,
    pub bytes: i64,
    pub fetched_at: Option<String>,
    pub age_h: Option<i64>,
    /// Why it could not be read the last time.
    pub error: Option<String>,
}

pub async fn status(config: &Config, status: &Status) -> Result<(), Failure> {
    let db = database::open_existing(&config.database).await?;
    let lists = of(config, &db).await;
    db.close().await;
    let lists = lists?;
    match status.json {
        true => output::print_json(&lists),
        false => output::print(&shown(config, &lists)),
    }
}

/// Every configured list.
pub async fn of(config: &Config, db: &Db) -> Result<Vec<ListStatus>, Failure> {
    let lists = compose::lists(config)?.config;
    let mut reader = db.read().await?;
    let rows = till_store::lists::all(&mut reader).await?;
    let now = SystemClock::start().now_ms();
    let status = |list| status_of(list, &rows, lists.max_age_ms, now);
    Ok(lists.lists.iter().map(status).collect())
}

fn status_of(list: &ListConfig, rows: &[ListRow], max_age_ms: i64, now: i64) -> ListStatus {
    let digest = list.digest();
    let row = rows
        .iter()
        .find(|row| row.name == list.name && row.digest == digest);
    let fetched_at = row.and_then(|row| row.fetched_at);
    let age = fetched_at.map(|at| now.saturating_sub(at));
    ListStatus {
        list: list.name.clone(),
        format: list.format.as_str(),
        state: match age {
            None => "missing",
            Some(age) if age > max_age_ms => "stale",
            Some(_) => "fresh",
        },
        version: row.and_then(|row| row.version.clone()),
        addresses: row.map_or(0, |row| row.addresses),
        bytes: row.map_or(0, |row| row.bytes),
        fetched_at: fetched_at.map(time::show),
        age_h: age.map(|age| age / HOUR_MS),
        error: row.and_then(|row| row.error.clone()),
    }
}

fn shown(config: &Config, lists: &[ListStatus]) -> String {
    let mut text = String::new();
    for list in lists {
        text.push_str(&format!(
            "{} ({}): {}\n",
            list.list, list.format, list.state
        ));
        let (addresses, bytes) = (list.addresses.to_string(), list.bytes.to_string());
        let age = list.age_h.map(|age| format!("{age} h"));
        let mut rows = vec![
            ("version", list.version.as_deref().unwrap_or("none")),
            ("addresses", &*addresses),
            ("bytes", &*bytes),
            ("read at", list.fetched_at.as_deref().unwrap_or("never")),
            ("age", age.as_deref().unwrap_or("none")),
        ];
        if let Some(error) = &list.error {
            rows.push(("last error", error));
        }
        text.push_str(&output::columns(&rows));
    }
    if lists.is_empty() {
        text.push_str(match config.server.live_mode {
            true => "no lists are configured: in live mode every refund claim goes in_review\n",
            false => "no lists are configured: test mode has its documented addresses\n",
        });
    }
    text
}

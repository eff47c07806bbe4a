//! The limits: databases doing the writes of one invoice with nothing around them, and a handler that does
//! nothing.
//!
//! One invoice is an idempotency row, an invoice, three payment options, an address lease, an event and a
//! webhook delivery, as large as Till's own, one statement for each row.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use axum::{Json, Router, routing::post};
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use tokio::task::JoinSet;

use super::Res;
use super::load::per_second;

/// How long Till's answer is, and its event a little longer.
const BODY_BYTES: usize = 1_300;
const PER_TRANSACTION: usize = 64;

const TABLES: &str = "
CREATE TABLE raw_keys (account TEXT NOT NULL, id TEXT NOT NULL, response TEXT NOT NULL, PRIMARY KEY (account, id));
CREATE TABLE raw_invoices (account TEXT NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL, amount BIGINT NOT NULL,
    currency TEXT NOT NULL, description TEXT, created_at BIGINT NOT NULL, PRIMARY KEY (account, id));
CREATE TABLE raw_options (invoice TEXT NOT NULL, place BIGINT NOT NULL, asset TEXT NOT NULL, due TEXT NOT NULL,
    address TEXT NOT NULL, PRIMARY KEY (invoice, place));
CREATE TABLE raw_leases (account TEXT NOT NULL, number BIGINT NOT NULL, address TEXT NOT NULL, invoice TEXT NOT NULL,
    PRIMARY KEY (account, number));
CREATE TABLE raw_events (id TEXT NOT NULL PRIMARY KEY, invoice TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE raw_deliveries (account TEXT NOT NULL, id TEXT NOT NULL, event TEXT NOT NULL, due_at BIGINT,
    PRIMARY KEY (account, id));
CREATE INDEX raw_deliveries_due ON raw_deliveries (due_at) WHERE due_at IS NOT NULL;
";

const KEY: &str = "INSERT INTO raw_keys (account, id, response) VALUES ($1, $2, $3)";
const INVOICE: &str = "INSERT INTO raw_invoices (account, id, status, amount, currency, description, created_at) \
     VALUES ($1, $2, 'awaiting_payment', $3, 'USD', 'Two tickets', $4)";
const OPTION: &str = "INSERT INTO raw_options (invoice, place, asset, due, address) VALUES ($1, $2, $3, '25000000', $4)";
const LEASE: &str =
    "INSERT INTO raw_leases (account, number, address, invoice) VALUES ($1, $2, $3, $4)";
const EVENT: &str = "INSERT INTO raw_events (id, invoice, body) VALUES ($1, $2, $3)";
const DELIVERY: &str =
    "INSERT INTO raw_deliveries (account, id, event, due_at) VALUES ($1, $2, $3, $4)";

const ACCOUNT: &str = "acct_01jcnx2v9k7q3w8s5d1f6h4m2t";
const ADDRESS: &str = "0x52908400098527886E0F7030069857D2E4169EE7";
const ASSETS: [&str; 3] = [
    "USDC@eip155:84532",
    "USDC@eip155:11155111",
    "USDC@eip155:421614",
];

/// How a raw SQLite is used: as it comes, or with a large cache and statements that are prepared once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sqlite {
    Plain,
    Tuned,
}

/// Rising, like the ids of Till.
fn id(prefix: &str, number: i64) -> String {
    format!("{prefix}_{number:026}")
}

/// Invoices per second: `clients` connections, one transaction per invoice, one statement per row.
pub async fn postgres_separate(url: &str, clients: usize, time: Duration) -> Res<u64> {
    let mut conn = PgConnection::connect(url).await?;
    conn.execute(TABLES).await?;
    let shown: (String,) = sqlx::query_as("SHOW synchronous_commit")
        .fetch_one(&mut conn)
        .await?;
    if shown.0 != "on" {
        return Err("synchronous_commit must be on".into());
    }
    let number = Arc::new(AtomicI64::new(0));
    let body: Arc<str> = "x".repeat(BODY_BYTES).into();
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(PgConnection::connect(url).await?);
    }
    let until = Instant::now() + time;
    let mut tasks: JoinSet<Res<usize>> = JoinSet::new();
    for mut conn in connections {
        let (number, body) = (Arc::clone(&number), Arc::clone(&body));
        tasks.spawn(async move {
            let mut count = 0;
            while Instant::now() < until {
                let number = number.fetch_add(1, Ordering::Relaxed);
                postgres_invoice(&mut conn, number, &body).await?;
                count += 1;
            }
            Ok(count)
        });
    }
    let mut count = 0;
    while let Some(done) = tasks.join_next().await {
        count += done??;
    }
    Ok(per_second(count, time))
}

async fn postgres_invoice(conn: &mut PgConnection, number: i64, body: &str) -> Res<()> {
    let (invoice, event) = (id("inv", number), id("evt", number));
    let mut tx = conn.begin().await?;
    let key = id("key", number);
    let query = sqlx::query(KEY).bind(ACCOUNT).bind(&key).bind(body);
    query.execute(&mut *tx).await?;
    let query = sqlx::query(INVOICE).bind(ACCOUNT).bind(&invoice);
    query.bind(2500_i64).bind(number).execute(&mut *tx).await?;
    for (place, asset) in (0_i64..).zip(ASSETS) {
        let query = sqlx::query(OPTION).bind(&invoice).bind(place);
        query.bind(asset).bind(ADDRESS).execute(&mut *tx).await?;
    }
    let query = sqlx::query(LEASE).bind(ACCOUNT).bind(number);
    query.bind(ADDRESS).bind(&invoice).execute(&mut *tx).await?;
    let query = sqlx::query(EVENT).bind(&event).bind(&invoice).bind(body);
    query.execute(&mut *tx).await?;
    let delivery = id("whd", number);
    let query = sqlx::query(DELIVERY).bind(ACCOUNT).bind(&delivery);
    query.bind(&event).bind(number).execute(&mut *tx).await?;
    Ok(tx.commit().await?)
}

/// Invoices per second: one connection, 64 invoices per transaction, one statement per row.
pub fn sqlite_grouped(file: &Path, how: Sqlite, time: Duration) -> Res<u64> {
    let mut conn = rusqlite::Connection::open(file)?;
    conn.execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = full;")?;
    if how == Sqlite::Tuned {
        conn.execute_batch(
            "PRAGMA cache_size = -65536; PRAGMA temp_store = memory; PRAGMA mmap_size = 67108864;",
        )?;
    } else {
        conn.set_prepared_statement_cache_capacity(0);
    }
    conn.execute_batch(TABLES)?;
    let body = "x".repeat(BODY_BYTES);
    let until = Instant::now() + time;
    let (mut count, mut number) = (0, 0);
    while Instant::now() < until {
        let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for _ in 0..PER_TRANSACTION {
            number += 1;
            sqlite_invoice(&tx, number, &body)?;
        }
        tx.commit()?;
        count += PER_TRANSACTION;
    }
    Ok(per_second(count, time))
}

fn sqlite_invoice(tx: &rusqlite::Transaction<'_>, number: i64, body: &str) -> Res<()> {
    use rusqlite::params;
    let (invoice, event) = (id("inv", number), id("evt", number));
    tx.prepare_cached(KEY)?
        .execute(params![ACCOUNT, id("key", number), body])?;
    tx.prepare_cached(INVOICE)?
        .execute(params![ACCOUNT, invoice, 2500, number])?;
    for (place, asset) in (0_i64..).zip(ASSETS) {
        tx.prepare_cached(OPTION)?
            .execute(params![invoice, place, asset, ADDRESS])?;
    }
    tx.prepare_cached(LEASE)?
        .execute(params![ACCOUNT, number, ADDRESS, invoice])?;
    tx.prepare_cached(EVENT)?
        .execute(params![event, invoice, body])?;
    tx.prepare_cached(DELIVERY)?
        .execute(params![ACCOUNT, id("whd", number), event, number])?;
    Ok(())
}

#[derive(Deserialize)]
struct Order {
    amount: String,
    currency: String,
    assets: Vec<String>,
    description: String,
}

#[derive(Serialize)]
struct Taken {
    id: &'static str,
    amount: String,
    currency: String,
    assets: Vec<String>,
    description: String,
}

/// A server that reads JSON and writes JSON. It runs in a process of its own, as Till does.
pub async fn bare_axum(address: SocketAddr) -> Res<()> {
    let take = |Json(order): Json<Order>| async move {
        Json(Taken {
            id: "inv_01jcnx2v9k7q3w8s5d1f6h4m2t",
            amount: order.amount,
            currency: order.currency,
            assets: order.assets,
            description: order.description,
        })
    };
    let listener = tokio::net::TcpListener::bind(address).await?;
    Ok(axum::serve(listener, Router::new().route("/", post(take))).await?)
}

/// Statements of others, run on a database by its URL.
pub async fn run_postgres(url: &str, statements: &[String]) -> Res<()> {
    let mut conn = PgConnection::connect(url).await?;
    for sql in statements {
        conn.execute(AssertSqlSafe(sql.clone())).await?;
    }
    Ok(conn.close().await?)
}

/// What a question for one number is answered with.
pub async fn number_postgres(url: &str, sql: &str) -> Res<u64> {
    let mut conn = PgConnection::connect(url).await?;
    let (number,): (i64,) = sqlx::query_as(AssertSqlSafe(sql.to_owned()))
        .fetch_one(&mut conn)
        .await?;
    conn.close().await?;
    Ok(number.try_into()?)
}

pub fn run_sqlite(file: &Path, statements: &[String]) -> Res<()> {
    let conn = rusqlite::Connection::open(file)?;
    for sql in statements {
        conn.execute_batch(sql)?;
    }
    Ok(())
}

//! Transfers that pay invoices, through the door: a leader's steps with many transfers each, beside a raw database doing
//! the same writes, one transaction for each.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use till_core::chain::Block;
use till_core::money::Units;
use till_engine::Engine;
use till_engine::intake::chain::{Advanced, NetworkUpdate, SeenTransfer, Tip, advance, lead};
use tokio::task::JoinSet;

use super::Res;
use super::growth::grown;
use super::load::per_second;
use super::server::Installation;

const NETWORK: &str = "eip155:84532";
const ASSET: &str = "USDC@eip155:84532";
/// What every copy of the template costs.
const UNITS: u128 = 25_000_000;
/// Of ours in one block.
const PER_BLOCK: i64 = 500;
const BODY_BYTES: usize = 1_500;
const SENDER: &str = "0x00000000000000000000000000000000000000Aa";

/// A database with so many invoices that wait for a payment, and a webhook that nobody sends.
async fn waiting(database: Option<String>, invoices: u64) -> Res<Installation> {
    let grown = grown(database, invoices).await?;
    grown.server.stop().await?;
    Ok(grown.installation)
}

async fn engine(installation: &Installation) -> Res<Engine> {
    let flags = till::config::Flags {
        database: Some(installation.database.clone()),
        ..till::config::Flags::default()
    };
    let config = till::config::Config::load(None, std::iter::empty(), &flags)?;
    let engine = till::compose::engine_without_secrets(&config).await;
    engine.map_err(|failure| failure.to_string().into())
}

fn said(fail: till_engine::Fail) -> String {
    format!("{fail:?}")
}

/// Invoices paid in a second, each by one transfer in a final block.
pub async fn settled(database: Option<String>, invoices: u64) -> Res<u64> {
    let installation = waiting(database, invoices).await?;
    let engine = engine(&installation).await?;
    let epoch = lead(&engine, NETWORK, "bench").await;
    let epoch = epoch.map_err(said)?.ok_or("somebody else leads")?;
    let (count, time) = (i64::try_from(invoices)?, engine.clock.now_ms());
    let steps: Vec<NetworkUpdate> = (0..(count + PER_BLOCK - 1) / PER_BLOCK)
        .map(|height| step(epoch, height, count, time))
        .collect();
    let begun = Instant::now();
    for step in &steps {
        let advanced = advance(&engine, step).await.map_err(said)?;
        if advanced != Advanced::Done {
            return Err(format!("a step was {advanced:?}").into());
        }
    }
    let took = begun.elapsed();
    let paid = match installation.sqlite_file() {
        Some(file) => paid_sqlite(file)?,
        None => paid_postgres(&installation.database).await?,
    };
    match paid == count {
        true => Ok(per_second(usize::try_from(count)?, took)),
        false => Err(format!("{paid} of {count} were paid").into()),
    }
}

fn step(epoch: i64, height: i64, count: i64, time: i64) -> NetworkUpdate {
    let first = height * PER_BLOCK + 1;
    let transfers = first..(first + PER_BLOCK).min(count + 1);
    let tip = Tip {
        height,
        hash: format!("0xb{height}"),
    };
    NetworkUpdate {
        network: NETWORK.to_owned(),
        epoch,
        blocks: vec![Block {
            height,
            hash: tip.hash.clone(),
            parent: format!("0xb{}", height - 1),
            time,
        }],
        transfers: transfers
            .map(|number| SeenTransfer {
                tx_hash: format!("0x{number:064x}"),
                place: 0,
                asset: ASSET.to_owned(),
                units: Units(UNITS),
                arrived: None,
                strayed: false,
                registers: None,
                senders: vec![SENDER.to_owned()],
                recipient: format!("0x00000000000000{number:026}"),
                height: Some(height),
            })
            .collect(),
        dropped: Vec::new(),
        refuted: Vec::new(),
        safe: Some(tip.clone()),
        last_final: Some(tip),
    }
}

const PAID: &str = "SELECT count(*) FROM invoices WHERE status = 'paid'";

fn paid_sqlite(file: &Path) -> Res<i64> {
    let conn = rusqlite::Connection::open(file)?;
    Ok(conn.query_row(PAID, [], |row| row.get(0))?)
}

async fn paid_postgres(url: &str) -> Res<i64> {
    let mut conn = PgConnection::connect(url).await?;
    let (paid,): (i64,) = sqlx::query_as(PAID).fetch_one(&mut conn).await?;
    Ok(paid)
}

/// What is written when a transfer pays an invoice: the fact, the payment, its journal entry, the invoice, its address's
/// lease, two events (seen and paid) and their deliveries. `$1` is the copy's 26 digits, `$2` the account.
const WRITES: [&str; 4] = [
    "INSERT INTO transfers (network, tx_hash, place, asset, units, senders, recipient, simulated, first_seen_at, height, \
     block_hash, block_time, gone, payment) VALUES ('eip155:84532', '0x' || $1, 0, 'USDC@eip155:84532', '25000000', \
     '[\"0x00000000000000000000000000000000000000Aa\"]', '0x00000000000000' || $1, 0, 1, 1, '0xb', 1, 0, 'pay_' || $1)",
    "INSERT INTO payments (account, mode, id, invoice, status, level, first_level, credit_at, verdict, asset, network, units, \
     tx_hash, place, block_number, block_hash, block_time, senders, recipient, attributed_by, simulated, first_seen_at, \
     credited_at, credit_turn, position, entries, suffix, refunds_due, refunds_sent) VALUES ($2, 'test', 'pay_' || $1, \
     'inv_' || $1, 'credited', 'final', 'final', 'final', 'passed', 'USDC@eip155:84532', 'eip155:84532', '25000000', \
     '0x' || $1, 0, 1, '0xb', 1, '[\"0x00000000000000000000000000000000000000Aa\"]', '0x00000000000000' || $1, \
     'deposit_address', 0, 1, 1, 1, '{\"settled\":\"25000000\"}', 1, '0', '0', '0')",
    "INSERT INTO journal (entry, line, account, mode, kind, invoice, subject, step, asset, debit, credit, amount, created_at) \
     VALUES ('jrn_' || $1, 0, $2, 'test', 'receipt', 'inv_' || $1, 'pay_' || $1, 1, 'USDC@eip155:84532', 'received', \
     'settled', '25000000', 1)",
    "UPDATE invoices SET status = 'paid', paid_at = 1, closed_at = 1, stream_seq = 3 \
     WHERE account = $2 AND mode = 'test' AND id = 'inv_' || $1",
];
/// `$1` is the account, `$2` the number of the lease.
const LEASE: &str = "UPDATE leases SET free_at = 3 WHERE account = $1 AND mode = 'test' AND family = 'eip155' AND number = $2 \
     AND freed = 0";
/// `$3` is the body.
const EVENTS: [&str; 2] = [
    "INSERT INTO events (account, mode, id, type, subject, stream_seq, created_at, body) \
     VALUES ($2, 'test', 'evt_d' || $1, 'invoice.detected', 'inv_' || $1, 2, 1, $3)",
    "INSERT INTO events (account, mode, id, type, subject, stream_seq, created_at, body) \
     VALUES ($2, 'test', 'evt_p' || $1, 'invoice.paid', 'inv_' || $1, 3, 1, $3)",
];
const DELIVERIES: [&str; 2] = [
    "INSERT INTO deliveries (account, mode, id, event, event_type, subject, url, status, attempt, created_at, due_at) \
     VALUES ($2, 'test', 'whd_d' || $1, 'evt_d' || $1, 'invoice.detected', 'inv_' || $1, 'http://127.0.0.1:9/', 'pending', \
     1, 1, 1)",
    "INSERT INTO deliveries (account, mode, id, event, event_type, subject, url, status, attempt, created_at, due_at) \
     VALUES ($2, 'test', 'whd_p' || $1, 'evt_p' || $1, 'invoice.paid', 'inv_' || $1, 'http://127.0.0.1:9/', 'pending', \
     1, 1, 1)",
];

fn lease_of(number: i64) -> Res<i64> {
    Ok(number + i64::try_from(super::growth::NUMBER_FROM)?)
}

/// The same writes by the database alone, one transaction for each transfer.
pub async fn settled_raw(database: Option<String>, invoices: u64, clients: usize) -> Res<u64> {
    let installation = waiting(database, invoices).await?;
    let count = i64::try_from(invoices)?;
    match installation.sqlite_file() {
        Some(file) => {
            let file = file.to_owned();
            tokio::task::spawn_blocking(move || raw_sqlite(&file, count)).await?
        }
        None => raw_postgres(&installation.database, count, clients).await,
    }
}

/// SQLite takes `$1` for a name and counts names as they come; `?1` is the first.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}

fn raw_sqlite(file: &Path, count: i64) -> Res<u64> {
    use rusqlite::params;
    let mut conn = rusqlite::Connection::open(file)?;
    conn.execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = full;")?;
    let account: String = conn.query_row("SELECT id FROM accounts", [], |row| row.get(0))?;
    let body = "x".repeat(BODY_BYTES);
    let begun = Instant::now();
    for number in 1..=count {
        let id = format!("{number:026}");
        let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for sql in &WRITES[..1] {
            tx.prepare_cached(&numbered(sql))?.execute(params![id])?;
        }
        for sql in &WRITES[1..] {
            tx.prepare_cached(&numbered(sql))?
                .execute(params![id, account])?;
        }
        for sql in EVENTS {
            tx.prepare_cached(&numbered(sql))?
                .execute(params![id, account, body])?;
        }
        for sql in DELIVERIES {
            tx.prepare_cached(&numbered(sql))?
                .execute(params![id, account])?;
        }
        tx.prepare_cached(&numbered(LEASE))?
            .execute(params![account, lease_of(number)?])?;
        tx.commit()?;
    }
    Ok(per_second(usize::try_from(count)?, begun.elapsed()))
}

async fn raw_postgres(url: &str, count: i64, clients: usize) -> Res<u64> {
    let mut conn = PgConnection::connect(url).await?;
    let (account,): (String,) = sqlx::query_as("SELECT id FROM accounts")
        .fetch_one(&mut conn)
        .await?;
    let (account, body): (Arc<str>, Arc<str>) = (account.into(), "x".repeat(BODY_BYTES).into());
    let number = Arc::new(AtomicI64::new(1));
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(PgConnection::connect(url).await?);
    }
    let begun = Instant::now();
    let mut tasks: JoinSet<Res<()>> = JoinSet::new();
    for mut conn in connections {
        let (account, body, number) =
            (Arc::clone(&account), Arc::clone(&body), Arc::clone(&number));
        tasks.spawn(async move {
            loop {
                let number = number.fetch_add(1, Ordering::Relaxed);
                if number > count {
                    return Ok(());
                }
                postgres_settle(&mut conn, &account, number, &body).await?;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(per_second(usize::try_from(count)?, begun.elapsed()))
}

async fn postgres_settle(
    conn: &mut PgConnection,
    account: &str,
    number: i64,
    body: &str,
) -> Res<()> {
    let id = format!("{number:026}");
    let mut tx = conn.begin().await?;
    sqlx::query(WRITES[0]).bind(&id).execute(&mut *tx).await?;
    for sql in &WRITES[1..] {
        let query = sqlx::query(*sql).bind(&id).bind(account);
        query.execute(&mut *tx).await?;
    }
    for sql in EVENTS {
        let query = sqlx::query(sql).bind(&id).bind(account).bind(body);
        query.execute(&mut *tx).await?;
    }
    for sql in DELIVERIES {
        let query = sqlx::query(sql).bind(&id).bind(account);
        query.execute(&mut *tx).await?;
    }
    let query = sqlx::query(LEASE).bind(account).bind(lease_of(number)?);
    query.execute(&mut *tx).await?;
    Ok(tx.commit().await?)
}

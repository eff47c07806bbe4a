//! What falls due: unpaid invoices that expire, beside a raw database doing the same writes, and a test clock that is
//! moved over many of them while somebody else works.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use tokio::task::JoinSet;

use super::growth::{Grown, grown, grown_by};
use super::load::{Client, per_second};
use super::server::{Installation, Parts, Program};
use super::{Res, raw, requests};

const BODY_BYTES: usize = 1_300;
/// How long an account is watched before anything happens beside it.
const ALONE: Duration = Duration::from_secs(20);

/// Everything is due, and nobody is told by a webhook.
const ALL_DUE: [&str; 3] = [
    "UPDATE merchants SET webhook_url = NULL",
    "UPDATE invoices SET expires_at = 1",
    "UPDATE timers SET due_at = 1",
];

/// A database with so many invoices that are due, and nobody who looks at them.
async fn all_due(program: Program, database: Option<String>, invoices: u64) -> Res<Installation> {
    let Grown {
        installation,
        server,
        ..
    } = grown_by(program, database, invoices).await?;
    server.stop().await?;
    let statements = ALL_DUE.map(str::to_owned);
    match installation.sqlite_file() {
        Some(file) => raw::run_sqlite(file, &statements)?,
        None => raw::run_postgres(&installation.database, &statements).await?,
    }
    Ok(installation)
}

/// Invoices that Till expires in a second, out of so many that are due when it starts.
pub async fn expired(program: Program, database: Option<String>, invoices: u64) -> Res<u64> {
    let installation = all_due(program, database, invoices).await?;
    let begun = Instant::now();
    let server = installation.serve(Parts::All).await?;
    let mut client = Client::connect(server.address).await?;
    let request = requests::waiting(&installation.key);
    loop {
        let (status, body) = client.exchange(&request).await?;
        if status != 200 {
            return Err(format!("a list was answered with {status}").into());
        }
        if !body.windows(4).any(|four| four == b"inv_") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let rate = per_second(usize::try_from(invoices)?, begun.elapsed());
    server.stop().await?;
    Ok(rate)
}

/// What is written when an invoice expires: itself, its address's lease, an event, and its timer is gone.
const EXPIRE: [&str; 4] = [
    "UPDATE invoices SET status = 'expired', closed_at = 2, stream_seq = 2 WHERE account = $1 AND mode = 'test' AND id = $2",
    "UPDATE leases SET free_at = 3 WHERE account = $1 AND mode = 'test' AND family = 'eip155' AND number = $2 AND freed = 0",
    "INSERT INTO events (account, mode, id, type, subject, stream_seq, created_at, body) \
     VALUES ($1, 'test', $2, 'invoice.expired', $3, 2, 2, $4)",
    "DELETE FROM timers WHERE account = $1 AND mode = 'test' AND kind = 'expire_invoice' AND subject = $2",
];

/// The names of a copy's rows.
struct Names {
    invoice: String,
    event: String,
    number: i64,
}

impl Names {
    fn of(number: i64) -> Res<Names> {
        Ok(Names {
            invoice: format!("inv_{number:026}"),
            event: format!("evt_x{number:025}"),
            number: number + i64::try_from(super::growth::NUMBER_FROM)?,
        })
    }
}

/// The same writes by the database alone, one transaction for each invoice.
pub async fn expired_raw(database: Option<String>, invoices: u64, clients: usize) -> Res<u64> {
    let installation = all_due(Program::This, database, invoices).await?;
    let count = i64::try_from(invoices)?;
    match installation.sqlite_file() {
        Some(file) => {
            let file = file.to_owned();
            tokio::task::spawn_blocking(move || raw_sqlite(&file, count)).await?
        }
        None => raw_postgres(&installation.database, count, clients).await,
    }
}

fn raw_sqlite(file: &Path, count: i64) -> Res<u64> {
    use rusqlite::params;
    let mut conn = rusqlite::Connection::open(file)?;
    conn.execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = full;")?;
    let account: String = conn.query_row("SELECT id FROM accounts", [], |row| row.get(0))?;
    let body = "x".repeat(BODY_BYTES);
    let begun = Instant::now();
    for number in 1..=count {
        let names = Names::of(number)?;
        let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let [invoice, lease, event, timer] = EXPIRE;
        tx.prepare_cached(invoice)?
            .execute(params![account, names.invoice])?;
        tx.prepare_cached(lease)?
            .execute(params![account, names.number])?;
        tx.prepare_cached(event)?
            .execute(params![account, names.event, names.invoice, body])?;
        tx.prepare_cached(timer)?
            .execute(params![account, names.invoice])?;
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
                postgres_expire(&mut conn, &account, &Names::of(number)?, &body).await?;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(per_second(usize::try_from(count)?, begun.elapsed()))
}

async fn postgres_expire(
    conn: &mut PgConnection,
    account: &str,
    names: &Names,
    body: &str,
) -> Res<()> {
    let [invoice, lease, event, timer] = EXPIRE;
    let mut tx = conn.begin().await?;
    let query = sqlx::query(invoice).bind(account).bind(&names.invoice);
    query.execute(&mut *tx).await?;
    let query = sqlx::query(lease).bind(account).bind(names.number);
    query.execute(&mut *tx).await?;
    let query = sqlx::query(event).bind(account).bind(&names.event);
    let query = query.bind(&names.invoice).bind(body);
    query.execute(&mut *tx).await?;
    let query = sqlx::query(timer).bind(account).bind(&names.invoice);
    query.execute(&mut *tx).await?;
    Ok(tx.commit().await?)
}

/// What moving a test clock meant, in milliseconds.
pub struct Moved {
    pub took: u64,
    /// The longest that another account waited meanwhile for an invoice.
    pub held_up: u64,
    /// The longest that it waited in as long a time before, with nobody moving anything.
    pub alone: u64,
}

pub async fn advanced(database: Option<String>, invoices: u64) -> Res<Moved> {
    let grown = grown(database, invoices).await?;
    let other = grown.installation.another_account()?;
    let address = grown.server.address;
    let (alone, _) = longest_beside(address, &other, "before", async {
        tokio::time::sleep(ALONE).await;
        Ok(())
    })
    .await?;
    let key = grown.installation.key.clone();
    let moving = move_clock(address, &key);
    let (held_up, took) = longest_beside(address, &other, "beside", moving).await?;
    grown.server.stop().await?;
    Ok(Moved {
        took: u64::try_from(took.as_millis())?,
        held_up: u64::try_from(held_up.as_millis())?,
        alone: u64::try_from(alone.as_millis())?,
    })
}

/// The longest that an account waited for an invoice while something was done, and how long that took.
async fn longest_beside(
    address: SocketAddr,
    key: &str,
    name: &'static str,
    done: impl Future<Output = Res<()>>,
) -> Res<(Duration, Duration)> {
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, key) = (Arc::clone(&is_over), key.to_owned());
    let watching = tokio::spawn(async move {
        let create = requests::create(&key, name);
        let (mut client, mut longest) = (Client::connect(address).await?, Duration::ZERO);
        let mut number = 0;
        while !over.load(Ordering::Relaxed) {
            let mut request = Vec::new();
            create(number, &mut request);
            number += 1;
            let asked = Instant::now();
            let (status, _) = client.exchange(&request).await?;
            if status != 201 {
                return Err(format!("another account was answered with {status}").into());
            }
            longest = longest.max(asked.elapsed());
        }
        Res::Ok(longest)
    });
    let begun = Instant::now();
    done.await?;
    let took = begun.elapsed();
    is_over.store(true, Ordering::Relaxed);
    Ok((watching.await??, took))
}

async fn move_clock(address: SocketAddr, key: &str) -> Res<()> {
    let mut client = Client::connect(address).await?;
    let request = requests::advance_clock(key, 7_200);
    // A server gives up on a request after a while. Asked again under its key, the clock goes on.
    loop {
        match client.exchange(&request).await? {
            (200, _) => return Ok(()),
            (503, _) => {}
            (_, body) => return Err(format!("the clock: {}", String::from_utf8_lossy(body)).into()),
        }
    }
}

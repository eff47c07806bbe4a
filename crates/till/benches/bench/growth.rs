//! Databases of a given size: one invoice made by Till and then copied by SQL, row for row.

use std::time::Duration;

use super::load::{Client, Keep, Work, closed};
use super::raw;
use super::server::{Installation, Parts, Program, Server};
use super::{CLIENTS, Res, requests};

/// Rows per statement: PostgreSQL and SQLite both keep a statement's rows in one transaction.
const CHUNK: u64 = 50_000;
/// Copied leases take numbers that new ones do not reach.
pub const NUMBER_FROM: u64 = 500_000;

pub struct Grown {
    pub installation: Installation,
    pub server: Server,
    pub invoices: u64,
    /// What the database takes up.
    pub bytes: u64,
}

/// An installation with that many invoices, served.
pub async fn grown(database: Option<String>, invoices: u64) -> Res<Grown> {
    grown_by(Program::This, database, invoices).await
}

pub async fn grown_by(program: Program, database: Option<String>, invoices: u64) -> Res<Grown> {
    let installation = Installation::of(program, database)?;
    let server = installation.serve(Parts::Api).await?;
    installation
        .set_webhook_url(&server, "http://127.0.0.1:9/")
        .await?;
    let mut request = Vec::new();
    requests::create(&installation.key, "template")(0, &mut request);
    let mut client = Client::connect(server.address).await?;
    let (status, body) = client.exchange(&request).await?;
    if status != 201 {
        return Err(format!("no template: {}", String::from_utf8_lossy(body)).into());
    }
    drop(client);
    server.stop().await?;
    match installation.sqlite_file() {
        Some(file) => raw::run_sqlite(file, &copies(invoices, "printf('%026d', n)"))?,
        None => {
            let mut statements = copies(invoices, "lpad(n::text, 26, '0')");
            // What autovacuum does by itself within minutes.
            statements.push("VACUUM ANALYZE".to_owned());
            // Filling it up is not what is measured, nor is the checkpoint that follows.
            statements.push("CHECKPOINT".to_owned());
            raw::run_postgres(&installation.database, &statements).await?;
        }
    }
    let bytes = bytes(&installation).await?;
    let server = installation.serve(Parts::Api).await?;
    Ok(Grown {
        installation,
        server,
        invoices,
        bytes,
    })
}

/// What a database takes up at rest: nobody is connected to a SQLite file, so its log is empty.
pub async fn bytes(installation: &Installation) -> Res<u64> {
    match installation.sqlite_file() {
        Some(file) => Ok(std::fs::metadata(file)?.len()),
        None => {
            let sql = "SELECT pg_database_size(current_database())";
            raw::number_postgres(&installation.database, sql).await
        }
    }
}

/// `padded` makes the 26 digits of an id from the number `n`.
fn copies(invoices: u64, padded: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut from = 1;
    while from <= invoices {
        let to = (from + CHUNK - 1).min(invoices);
        let series = format!(
            "WITH RECURSIVE series (n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM series WHERE n < {to})"
        );
        let copy = |table: &str, columns: &str, values: &str, is_template: &str| {
            let values = values.replace("{id}", padded);
            format!(
                "INSERT INTO {table} ({columns}) {series} SELECT {values} FROM {table}, series WHERE {is_template}"
            )
        };
        let mine = |column: &str| format!("{column} NOT LIKE '%\\_00000000000000%' ESCAPE '\\'");
        statements.extend([
            copy(
                "invoices",
                "account, mode, id, status, amount_minor, currency, description, customer_ref, metadata, options, \
                 tolerance_bps, created_at, expires_at, summary, stream_seq",
                "account, mode, 'inv_' || {id}, status, amount_minor, currency, description, customer_ref, metadata, \
                 options, tolerance_bps, created_at, expires_at, summary, stream_seq",
                &mine("id"),
            ),
            copy(
                "leases",
                "account, mode, family, number, address, invoice, leased_at",
                &format!(
                    "account, mode, family, n + {NUMBER_FROM}, '0x00000000000000' || {{id}}, 'inv_' || {{id}}, leased_at"
                ),
                &mine("invoice"),
            ),
            copy(
                "events",
                "id, account, mode, type, subject, stream_seq, created_at, body",
                "'evt_' || {id}, account, mode, type, 'inv_' || {id}, stream_seq, created_at, body",
                &mine("id"),
            ),
            copy(
                "deliveries",
                "account, mode, id, event, event_type, subject, url, status, attempt, created_at",
                "account, mode, 'whd_' || {id}, 'evt_' || {id}, event_type, 'inv_' || {id}, url, 'succeeded', 1, created_at",
                &mine("id"),
            ),
            copy(
                "timers",
                "account, mode, kind, subject, due_at",
                "account, mode, kind, 'inv_' || {id}, due_at",
                &mine("subject"),
            ),
            copy(
                "idempotency_keys",
                "account, mode, credential, key, fingerprint, status, response, created_at",
                "account, mode, credential, 'copy-' || {id}, fingerprint, status, response, created_at",
                "key = 'template-0'",
            ),
        ]);
        from = to + 1;
    }
    statements
}

pub const KINDS: [&str; 4] = ["create", "attribute", "retrieve", "list"];

/// Requests per second of each kind.
pub async fn measure(grown: &Grown, round: usize, time: Duration) -> Res<[u64; 4]> {
    let key = &grown.installation.key;
    let ask = async |write, status, keep| {
        let address = grown.server.address;
        let work = Work {
            address,
            write,
            status,
            keep,
        };
        closed(&work, CLIENTS, time / 4, time).await
    };
    let step = (grown.invoices / 5_000).max(1);
    let ids = (1..=grown.invoices.min(5_000)).map(|n| format!("inv_{:026}", n * step));
    let retrieve = requests::retrieve(key, ids.collect());
    let retrieved = ask(retrieve, 200, Keep::Nothing).await?;
    let listed = ask(requests::list(key), 200, Keep::Nothing).await?;
    let create = requests::create(key, &format!("grown-{round}"));
    let created = ask(create, 201, Keep::InvoiceIds).await?;
    let pay = requests::pay(key, &format!("paid-{round}"), created.ids.clone());
    let paid = ask(pay, 200, Keep::Nothing).await?;
    Ok([created, paid, retrieved, listed].map(|done| done.per_second))
}

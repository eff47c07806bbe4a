//! A year of paid invoices, and what its balances and its reconciliation cost.

use std::time::Instant;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::load::Client;
use super::raw;
use super::server::{Installation, Parts, Server};
use super::{Res, requests};

const CHUNK: u64 = 50_000;
const DAY_MS: u64 = 86_400_000;
const DAYS: u64 = 365;

const PAYMENT: [&str; 3] = [
    "account, mode, id, invoice, tx_hash, first_seen_at, credited_at",
    "account, mode, 'pay_' || {id}, 'inv_' || {id}, '0x' || {id}, first_seen_at - {back}, credited_at - {back}",
    "status, level, first_level, credit_at, verdict, asset, network, units, place, block_number, block_hash, \
     block_time, senders, recipient, attributed_by, simulated, gone_at, credit_turn, position, entries, suffix, \
     refunds_due, refunds_sent",
];
const INVOICE: [&str; 3] = [
    "account, mode, id, created_at, paid_at, closed_at",
    "account, mode, 'inv_' || {id}, created_at - {back}, paid_at - {back}, closed_at - {back}",
    "status, amount_minor, currency, description, customer_ref, metadata, options, tolerance_bps, expires_at, summary, \
     stream_seq",
];
const JOURNAL: [&str; 3] = [
    "entry, invoice, subject, created_at",
    "'jrn_' || {id}, 'inv_' || {id}, 'pay_' || {id}, created_at - {back}",
    "line, account, mode, kind, step, reverses, asset, debit, credit, amount",
];
const TRANSFER: [&str; 3] = [
    "tx_hash, payment",
    "'0x' || {id}, 'pay_' || {id}",
    "network, place, asset, units, senders, recipient, simulated, first_seen_at, height, block_hash, block_time, gone, \
     reason",
];

/// One invoice is made and paid by Till; the others are copies of it, row for row, spread over a year.
pub async fn year(database: Option<String>, invoices: u64) -> Res<(Installation, Server)> {
    let installation = Installation::new(database)?;
    let server = installation.serve(Parts::Api).await?;
    let mut client = Client::connect(server.address).await?;
    let mut request = Vec::new();
    requests::create(&installation.key, "template")(0, &mut request);
    let (_, body) = client.exchange(&request).await?;
    let body = String::from_utf8_lossy(body).into_owned();
    let id = body.split('"').find(|part| part.starts_with("inv_"));
    let id = id.ok_or_else(|| format!("no template: {body}"))?.to_owned();
    request.clear();
    requests::pay(&installation.key, "template-paid", vec![id])(0, &mut request);
    let (status, _) = client.exchange(&request).await?;
    if status != 200 {
        return Err(format!("the template was not paid: {status}").into());
    }
    drop(client);
    server.stop().await?;
    match installation.sqlite_file() {
        Some(file) => raw::run_sqlite(file, &copies(invoices, "printf('%026d', n)"))?,
        None => {
            let mut statements = copies(invoices, "lpad(n::text, 26, '0')");
            // What autovacuum does by itself within minutes.
            statements.push("VACUUM ANALYZE".to_owned());
            raw::run_postgres(&installation.database, &statements).await?;
        }
    }
    let server = installation.serve(Parts::Api).await?;
    Ok((installation, server))
}

/// `padded` makes the 26 digits of an id from the number `n`.
fn copies(invoices: u64, padded: &str) -> Vec<String> {
    // Whatever is younger has a higher id, as in life.
    let back = format!("(({invoices} - n) * {} / {invoices})", DAYS * DAY_MS);
    let mut statements = Vec::new();
    let mut from = 1;
    while from <= invoices {
        let to = (from + CHUNK - 1).min(invoices);
        let series = format!(
            "WITH RECURSIVE series (n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM series WHERE n < {to})"
        );
        for (table, [changed, values, same], key) in [
            ("invoices", INVOICE, "id"),
            ("payments", PAYMENT, "id"),
            ("journal", JOURNAL, "subject"),
            ("transfers", TRANSFER, "payment"),
        ] {
            let values = values.replace("{id}", padded).replace("{back}", &back);
            statements.push(format!(
                "INSERT INTO {table} ({changed}, {same}) {series} SELECT {values}, {same} FROM {table}, series \
                 WHERE {key} NOT LIKE '%\\_00000000000000%' ESCAPE '\\'"
            ));
        }
        from = to + 1;
    }
    // As folding leaves them: all copies are of one amount.
    statements.push(
        "INSERT INTO journal_sums (account, mode, day, asset, debit, credit, entry, amount) \
         SELECT account, mode, created_at / 86400000, asset, debit, credit, '', \
         CAST(count(*) * CAST(max(amount) AS BIGINT) AS TEXT) FROM journal WHERE entry LIKE 'jrn\\_000%' ESCAPE '\\' \
         GROUP BY account, mode, created_at / 86400000, asset, debit, credit"
            .to_owned(),
    );
    statements
}

/// How long an answer takes, in milliseconds, and how many bytes it has.
pub async fn asked(installation: &Installation, server: &Server, path: &str) -> Res<(u64, usize)> {
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
        installation.key
    );
    let begun = Instant::now();
    let mut stream = TcpStream::connect(server.address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let took = u64::try_from(begun.elapsed().as_millis())?;
    if !answer.starts_with(b"HTTP/1.1 200 ") {
        let answer = String::from_utf8_lossy(&answer);
        return Err(format!("{path} was answered with {answer}").into());
    }
    let is_chunked = answer.windows(7).take(2_000).any(|at| at == b"chunked");
    if is_chunked && !answer.ends_with(b"0\r\n\r\n") {
        return Err(format!("{path} broke off").into());
    }
    Ok((took, answer.len()))
}

//! What streams cost the database while nothing happens.

use std::time::Duration;

use super::load::{Client, Keep, Work, closed};
use super::server::{Installation, Parts, Server};
use super::{CLIENTS, Res, raw, requests};

/// Within what one payer's address may have.
const PER_CLIENT: usize = 90;
/// Long enough for what is done every ten seconds, and for the server to count it.
const TIME: Duration = Duration::from_secs(20);

/// Statements per second that so many streams cost, each of an invoice of its own, besides what the server asks anyway.
pub async fn statements_per_s(database: String, streams: usize) -> Res<u64> {
    // The load has as many sockets open as the server.
    if till::handles::raise() < streams + 100 {
        return Err(format!("too few file handles for {streams} streams").into());
    }
    let installation = Installation::new(Some(database))?;
    let server = installation.serve(Parts::All).await?;
    let ids = invoices(&installation, &server, streams).await?;
    let without = statements(&installation.database).await?;
    let mut open = Vec::new();
    for (number, id) in ids.iter().enumerate() {
        let mut client = Client::connect(server.address).await?;
        let key = &installation.publishable_key;
        let request = requests::stream(key, id, number / PER_CLIENT + 1);
        let status = client.open(&request).await?;
        if status != 200 {
            return Err(format!("a stream was answered with {status}").into());
        }
        open.push(client);
    }
    let with = statements(&installation.database).await?;
    eprintln!("  {without} statements in {TIME:?} without streams, {with} with {streams}");
    drop(open);
    server.stop().await?;
    Ok(with.saturating_sub(without) / TIME.as_secs())
}

async fn invoices(installation: &Installation, server: &Server, count: usize) -> Res<Vec<String>> {
    let mut ids = Vec::new();
    for round in 0.. {
        let work = Work {
            address: server.address,
            write: requests::create(&installation.key, &format!("quiet-{round}")),
            status: 201,
            keep: Keep::InvoiceIds,
        };
        ids.extend(
            closed(&work, CLIENTS, Duration::ZERO, Duration::from_secs(2))
                .await?
                .ids,
        );
        if ids.len() >= count {
            break;
        }
    }
    ids.truncate(count);
    Ok(ids)
}

/// How many it was asked meanwhile: by itself, a statement is a transaction.
async fn statements(database: &str) -> Res<u64> {
    let (_, name) = database.rsplit_once('/').ok_or("a URL without a path")?;
    let sql = format!(
        "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = '{name}'"
    );
    // What was done before is over, and counted.
    tokio::time::sleep(TIME / 4).await;
    let before = raw::number_postgres(database, &sql).await?;
    tokio::time::sleep(TIME).await;
    let after = raw::number_postgres(database, &sql).await?;
    Ok(after.saturating_sub(before))
}

//! A database that is away for a moment, or takes nothing in.

use std::io::{Read as _, Write as _};

use serde_json::json;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _};
use till_store::testing::{Dialect, fresh};

use crate::common::{Place, text, until};

/// From another database of the same server.
async fn command(sql: &str) {
    let server = std::env::var("TILL_TEST_POSTGRES").expect("there is a server");
    let mut conn = PgConnection::connect(&server).await.expect("it answers");
    let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut conn)
        .await;
    done.expect("it obeys");
}

#[test]
fn a_stream_outlasts_a_database_that_is_away_for_a_moment() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    let place = Place::new();
    let database = ["--database", test.config.url.as_str()];
    let account = place.account(&database);
    let server = place.serve(&database);
    let client = server.client(text(&account, "/test/secret_key"));
    let body = json!({ "amount": "5", "currency": "USD", "assets": ["USDC@eip155:84532"] });
    let made = client
        .post("/v1/invoices", "one", &body)
        .unwrap()
        .expect(201);
    let id = text(&made, "/id");
    let mut stream = client.connect().unwrap();
    let ask = client.head(
        "GET",
        &format!("/v1/invoices/{id}/events"),
        "accept: text/event-stream\r\n",
    );
    stream.write_all(ask.as_bytes()).unwrap();
    let mut told = String::new();
    let mut read_until = |words: &str| {
        let mut part = [0; 4096];
        while !told.contains(words) {
            let size = stream.read(&mut part).expect("the stream goes on");
            assert!(size > 0, "the stream has ended: {told}");
            told += &String::from_utf8_lossy(&part[..size]);
        }
    };
    read_until("invoice.created");
    let (_, name) = test.config.url.rsplit_once('/').unwrap();
    // Pools first: whoever is turned away must not find a session that was spared.
    runtime.block_on(command(&format!(
        "ALTER DATABASE {name} ALLOW_CONNECTIONS false"
    )));
    runtime.block_on(command(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    )));
    until("it notices", || {
        client.get("/readyz").unwrap().status == 503
    });
    runtime.block_on(command(&format!(
        "ALTER DATABASE {name} ALLOW_CONNECTIONS true"
    )));
    until("it is back", || {
        client.get("/readyz").unwrap().status == 200
    });
    let pay = format!("/v1/test_helpers/invoices/{id}/simulate_payment");
    client.post(&pay, "pay", &json!({})).unwrap().expect(200);
    read_until("invoice.paid");
    server.stop();
    runtime.block_on(test.remove());
}

#[test]
fn a_database_that_does_not_speak_tls_is_told_with_what_to_change() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    let place = Place::new();
    let url = format!("{}?sslmode=require", test.config.url);
    let line = place.till(&["migrate", "--database", &url]).fails(1);
    assert!(line.contains("TLS is not agreed on"), "{line}");
    assert!(line.contains("sslmode"), "{line}");
    runtime.block_on(test.remove());
}

#[test]
fn a_read_only_database_is_not_ready_and_check_says_so() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    let place = Place::new();
    let database = ["--database", test.config.url.as_str()];
    place.account(&database);
    let server = place.serve(&database);
    let client = server.client("");
    let check = [&["check"], &database[..]].concat();
    place.till(&check).ok();
    let (_, name) = test.config.url.rsplit_once('/').unwrap();
    let read_only = |setting: &str| {
        runtime.block_on(command(&format!(
            "ALTER DATABASE {name} SET default_transaction_read_only = {setting}"
        )));
        // Sessions that are there already keep what they began with.
        runtime.block_on(command(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        )));
    };
    read_only("on");
    until("it says which", || {
        let ready = client.get("/readyz").unwrap();
        let said = ready.json()["error"]["message"].to_string();
        ready.status == 503 && said.contains("the database is read-only")
    });
    let checked = place.till(&check);
    assert_eq!(checked.status, Some(1), "{}", checked.stdout);
    let line = checked
        .stdout
        .lines()
        .find(|it| it.starts_with("FAIL database"));
    let line = line.expect("the database fails");
    assert!(line.contains("the database is read-only"), "{line}");
    read_only("off");
    until("it is ready again", || {
        client.get("/readyz").unwrap().status == 200
    });
    place.till(&check).ok();
    server.stop();
    runtime.block_on(test.remove());
}

//! Key files that take over, and what the command line says of them; destinations.

use std::fs;
use std::thread;

use serde_json::json;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Connection as _};
use till_store::testing::{Dialect, fresh};

use crate::common::{Place, text};

/// On the database that the arguments name.
fn a_key_takes_over_while_the_server_serves(place: &Place, database: &[&str]) {
    let account = place.account(database);
    let key = text(&account, "/test/secret_key");
    let create = ["key-file", "create", "--to", "new.key"];
    place.till(&create).ok();
    assert!(place.till(&create).fails(1).contains("there already"));
    let both = ["--set", "secrets.key_file=new.key,till.key"];
    let both = [database, &both].concat();
    let server = place.serve(&both);
    let client = server.client(key);
    let body = json!({ "email": "ada@example.com" });
    let made = client
        .post("/v1/customers", "ada", &body)
        .unwrap()
        .expect(201);
    let checked = place.till(&[&["check"], &both[..]].concat()).ok().stdout;
    assert!(checked.contains("run `till key-file rotate`"), "{checked}");
    let path = format!("/v1/customers/{}", text(&made, "/id"));
    let rotate = [&["key-file", "rotate"], &both[..]].concat();
    // Whatever moment it is: everything can be read, and what is written can be read later.
    let (said, later) = thread::scope(|scope| {
        let rotating = scope.spawn(|| place.till(&rotate).ok().stdout);
        let mut later = Vec::new();
        while !rotating.is_finished() {
            let found = client.get(&path).unwrap().expect(200);
            assert_eq!(text(&found, "/email"), "ada@example.com");
            let once = format!("later-{}", later.len());
            let made = client
                .post("/v1/customers", &once, &body)
                .unwrap()
                .expect(201);
            later.push(text(&made, "/id").to_owned());
        }
        (rotating.join().unwrap(), later)
    });
    assert!(
        said.contains("everything is encrypted with new.key"),
        "{said}"
    );
    let again = place.till(&rotate).ok().stdout;
    assert!(again.contains("0 values are encrypted anew"), "{again}");
    server.stop();
    fs::remove_file(place.path("till.key")).unwrap();
    let alone = [database, &["--set", "secrets.key_file=new.key"]].concat();
    let server = place.serve(&alone);
    let client = server.client(key);
    for id in later.iter().map(String::as_str).chain([text(&made, "/id")]) {
        let found = client
            .get(&format!("/v1/customers/{id}"))
            .unwrap()
            .expect(200);
        assert_eq!(text(&found, "/email"), "ada@example.com");
    }
    let checked = place.till(&[&["check"], &alone[..]].concat()).ok().stdout;
    assert!(checked.contains("ok the key that encrypts\n"), "{checked}");
    server.stop();
}

#[test]
fn a_key_takes_over_while_the_server_serves_on_sqlite() {
    a_key_takes_over_while_the_server_serves(&Place::new(), &[]);
}

#[test]
fn a_key_takes_over_while_the_server_serves_on_postgres() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    a_key_takes_over_while_the_server_serves(&Place::new(), &["--database", &test.config.url]);
    runtime.block_on(test.remove());
}

#[test]
fn check_says_when_the_key_is_not_the_databases_and_when_clocks_agree() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    let place = Place::new();
    let database = ["--database", test.config.url.as_str()];
    place.account(&database);
    let check = [&["check"], &database[..]].concat();
    let checked = place.till(&check).ok().stdout;
    assert!(checked.contains("ok clock\n"), "{checked}");
    assert!(checked.contains("ok the key that encrypts\n"), "{checked}");
    place.write("till.key", &"ab".repeat(32));
    let failed = place.till(&check);
    assert_eq!(failed.status, Some(1));
    assert!(
        failed.stdout.contains("FAIL the key that encrypts"),
        "{}",
        failed.stdout
    );
    runtime.block_on(test.remove());
}

#[test]
fn check_says_what_a_start_would_when_the_key_file_is_gone() {
    let place = Place::new();
    place.serve(&[]).stop();
    fs::rename(place.path("till.key"), place.path("gone.key")).unwrap();
    let failed = place.till(&["check"]);
    assert_eq!(failed.status, Some(1));
    assert!(
        failed.stdout.contains("FAIL key file till.key"),
        "{}",
        failed.stdout
    );
    assert!(!place.path("till.key").exists());
}

#[test]
fn check_finds_what_none_of_the_keys_has_encrypted() {
    let place = Place::new();
    let account = place.account(&[]);
    let server = place.serve(&[]);
    let client = server.client(text(&account, "/test/secret_key"));
    let body = json!({ "email": "ada@example.com" });
    client
        .post("/v1/customers", "ada", &body)
        .unwrap()
        .expect(201);
    server.stop();
    place.till(&["check"]).ok();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // As if a server had gone on with a key whose file was dropped.
    runtime.block_on(async {
        let url = format!("sqlite:{}", place.path("till.db").display());
        let mut conn = SqliteConnection::connect(&url).await.unwrap();
        let sql = format!("UPDATE customers SET email = x'01{}'", "41".repeat(40));
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut conn)
            .await
            .unwrap();
        conn.close().await.unwrap();
    });
    let failed = place.till(&["check"]);
    assert_eq!(failed.status, Some(1));
    let line = "1 values in customers were encrypted with the key 41414141";
    assert!(failed.stdout.contains(line), "{}", failed.stdout);
}

#[test]
fn destinations_are_added_where_there_are_none_and_shown() {
    let place = Place::new();
    let evm = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    let account = place.account(&["--live"]);
    let id = text(&account, "/account");
    let add = |mode: &str, destination: &str| {
        place.till(&[
            "account",
            "add-destination",
            "--account",
            id,
            "--mode",
            mode,
            "--destination",
            destination,
        ])
    };
    let watched = "[networks.\"eip155:8453\"]\nrpc = [\"http://127.0.0.1:9\"]\n";
    place.write(
        "live.toml",
        &format!("[server]\nlive_mode = true\n{watched}"),
    );
    let server = place.serve(&["--config", "live.toml"]);
    let client = server.client(text(&account, "/live/secret_key"));
    let body = json!({ "amount": "5", "currency": "USD", "assets": ["USDC@eip155:8453"] });
    let refused = client.post("/v1/invoices", "one", &body).unwrap().json();
    assert_eq!(text(&refused, "/error/code"), "mode_not_configured");
    let burnt = "eip155=0x000000000000000000000000000000000000dEaD";
    let line = add("live", burnt).fails(1);
    assert!(line.contains("Nobody holds the key"), "{line}");
    add("live", &format!("eip155={evm}")).ok();
    let made = client.post("/v1/invoices", "two", &body).unwrap();
    let made = made.expect(201);
    // What a payer is shown is nobody's destination.
    let ours = text(&made, "/payment_options/0/address");
    let create = ["account", "create", "--name", "B", "--destination"];
    let line = place
        .till(&[&create[..], &[&*format!("eip155={ours}")]].concat())
        .fails(1);
    assert!(line.contains("deposit address of Till"), "{line}");
    let line = add("live", &format!("eip155={evm}")).fails(1);
    assert!(line.contains("not replaced"), "{line}");
    let line = add("live", "tron=THVmXun9u721tBiYcT3VfLQKcwYBmoY1xX").fails(1);
    assert!(line.contains("documented example"), "{line}");
    let line = add("live", "tron=nonsense").fails(1);
    assert!(line.contains("--destination tron"), "{line}");
    let list = ["account", "destinations", "--account", id];
    let shown = place.till(&[&list[..], &["--json"]].concat()).json();
    let shown = shown.as_array().unwrap();
    let live: Vec<_> = shown.iter().filter(|it| it["mode"] == "live").collect();
    assert_eq!(
        live,
        [&json!({ "mode": "live", "family": "eip155", "address": evm })]
    );
    assert_eq!(shown.len(), 5, "and the four examples of test mode");
    assert!(place.till(&list).ok().stdout.contains(evm));
    server.stop();
}

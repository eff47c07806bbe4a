//! The command line as operators and scripts meet it: the real binary, its exit statuses and its output.

mod common;
mod operator;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use common::{Client, Done, Place, Server, fields, mode_of, read_reply, text, until};
use serde_json::{Value, json};
use till_core::invoice::Status;
use till_store::testing::{Dialect, fresh};

const KEYS: [&str; 3] = ["publishable_key", "secret_key", "webhook_secret"];

fn invoice() -> Value {
    json!({ "amount": "25.00", "currency": "USD" })
}

/// A request that the server is certain to be working on: it has asked for the body.
fn begin_post(client: &Client, idempotency_key: &str, body_bytes: usize) -> TcpStream {
    let mut stream = client.connect().unwrap();
    let head = client.post_head("/v1/invoices", idempotency_key, body_bytes);
    let head = head.replacen("\r\n", "\r\nexpect: 100-continue\r\n", 1);
    stream.write_all(head.as_bytes()).unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[test]
fn version_and_help_succeed_and_what_cannot_be_meant_is_a_usage_error() {
    let place = Place::new();
    let version = place.till(&["--version"]).ok();
    assert_eq!(
        version.stdout,
        format!("till {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = place.till(&["serve", "--help"]).ok();
    assert!(
        help.stdout.contains("Example: till serve"),
        "{}",
        help.stdout
    );
    for bad in [
        &[][..],
        &["nonsense"],
        &["serve", "--nonsense"],
        &["serve", "--only", "nonsense"],
        &["account", "create"],
        &["account", "create", "--name", "A", "--destination", "0x00"],
        &["key", "roll", "--account", "acct_1", "--mode", "test"],
    ] {
        let done = place.till(bad);
        assert_eq!(done.status, Some(2), "{bad:?}: {}", done.stderr);
        assert!(done.stdout.is_empty(), "{bad:?}");
    }
    for bad in [
        &["migrate", "--set", "nonsense"][..],
        &["serve", "--listen", "nowhere"],
        &["migrate", "--database", "mysql://localhost"],
        &["account", "create", "--name", "  "],
    ] {
        place.till(bad).fails(2);
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn a_wrong_configuration_is_one_line_that_names_it() {
    let place = Place::new();
    let check = |text: &str, expected: &str| {
        let file = place.write("till.toml", text);
        for command in ["serve", "migrate", "check", "demo"] {
            let line = place
                .till(&[command, "--config", file.to_str().unwrap()])
                .fails(1);
            assert!(line.contains(expected), "{command}: {line}");
        }
    };
    check("[server]\nlisten = ", "line 2");
    check("[server]\nlisen = \"x\"\n", "server.lisen");
    check("[networks.\"eip155:999999\"]\n rpc = []\n", "eip155:999999");
    check(
        "[prices]\nfixed = {\"BTC/USD\" = \"1.0000000000000000001\"}\n",
        "BTC/USD",
    );
    let line = place.till(&["serve", "--config", "missing.toml"]).fails(1);
    assert!(line.contains("missing.toml"), "{line}");
    let line = Done::of(place.command(&["migrate"]).env("TILL_LOG", "=,=")).fails(1);
    assert!(line.contains("TILL_LOG"), "{line}");
    assert_eq!(place.files(), ["till.toml"], "nothing was made");
}

#[test]
fn a_database_that_cannot_be_opened_is_one_line_that_says_why() {
    let place = Place::new();
    let line = place
        .till(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--database",
            "sqlite:no/such/till.db",
        ])
        .fails(1);
    assert!(line.contains("no folder no/such"), "{line}");
    place.write("text.db", &"this is no database. ".repeat(100));
    let line = place
        .till(&["migrate", "--database", "sqlite:text.db"])
        .fails(1);
    assert!(line.contains("not a database"), "{line}");

    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let url = format!("postgres://till:hunter2@127.0.0.1:{port}/till");
    let line = place.till(&["migrate", "--database", &url]).fails(1);
    assert!(line.contains("refused"), "{line}");
    assert!(!line.contains("hunter2"), "{line}");
}

#[test]
fn an_account_is_made_on_a_fresh_database_with_its_keys_shown_once() {
    let place = Place::new();
    let account = place.account(&[]);
    assert_eq!(
        fields(&account),
        ["account", "dashboard_link", "live", "test"]
    );
    assert_eq!(account["dashboard_link"], Value::Null);
    assert_eq!(fields(&account["test"]), KEYS);
    assert_eq!(account["live"], Value::Null);
    assert!(text(&account, "/account").starts_with("acct_"));
    assert!(text(&account, "/test/secret_key").starts_with("till_test_sk_"));
    assert!(text(&account, "/test/publishable_key").starts_with("till_test_pk_"));
    assert!(text(&account, "/test/webhook_secret").starts_with("whsec_"));
    assert_eq!(mode_of(&place.path("till.key")), 0o600);

    let live = place.account(&["--live"]);
    assert_eq!(fields(&live["live"]), KEYS);
    assert!(text(&live, "/live/secret_key").starts_with("till_live_sk_"));

    let readable = place.till(&["account", "create", "--name", "Acme"]).ok();
    assert!(
        readable.stdout.contains("Secret key"),
        "{}",
        readable.stdout
    );
    assert!(readable.stderr.is_empty(), "{}", readable.stderr);
}

#[test]
fn a_destination_that_is_no_address_is_refused_before_anything_is_made() {
    let place = Place::new();
    for bad in [
        "eip155=0x52908400098527886E0F7030069857D2E4169EE8",
        "tron=THVmXun9u721tBiYcT3VfLQKcwYBmoY1xY",
        "bip122=xpub",
        "solana=0",
    ] {
        let line = place
            .till(&["account", "create", "--name", "A", "--destination", bad])
            .fails(1);
        let (family, address) = bad.split_once('=').unwrap();
        assert!(line.contains(family), "{line}");
        assert!(address.len() < 5 || !line.contains(address), "{line}");
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn a_destination_that_loses_money_is_refused_before_anything_is_made() {
    let place = Place::new();
    let example = "eip155=0x52908400098527886E0F7030069857D2E4169EE7";
    for (bad, why) in [
        (example, "documented example"),
        (
            "solana=FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
            "documented example",
        ),
        (
            "eip155=0x000000000000000000000000000000000000dEaD",
            "Nobody holds the key",
        ),
    ] {
        let create = ["account", "create", "--name", "A", "--live"];
        let line = place
            .till(&[&create[..], &["--destination", bad]].concat())
            .fails(1);
        assert!(line.contains(why), "{line}");
    }
    assert!(place.files().is_empty(), "{:?}", place.files());
    // In test mode nothing is lost.
    place.account(&["--destination", example]);
}

#[test]
fn a_configuration_that_no_server_starts_with_is_no_right_one() {
    let place = Place::new();
    let of_base = |line: &str| format!("[networks.\"eip155:8453\"]\n{line}\n");
    let check = ["config", "--check", "till.toml"];
    let in_json = [&check[..], &["--json"]].concat();
    for (file, why) in [
        (
            of_base("esplora = [\"https://blocks.example/api\"]"),
            "asked through rpc alone",
        ),
        (
            of_base("zmq = [\"tcp://127.0.0.1:28332\"]"),
            "publish nothing",
        ),
        (
            of_base("final_depth = { \"100\" = 8 }"),
            "says itself what is final",
        ),
        (
            "[server]\ntls_certificate = \"tls.pem\"\n".to_owned(),
            "belong together",
        ),
    ] {
        place.write("till.toml", &file);
        let line = place.till(&check).fails(1);
        assert!(line.contains(why), "{line}");
        let shown = place.till(&in_json);
        assert_eq!(shown.status, Some(1), "{}", shown.stderr);
        let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
        assert_eq!(fields(&shown), ["file", "problems"]);
        assert!(text(&shown, "/problems/0").contains(why), "{shown}");
    }
    place.write("till.toml", "");
    let said = place.till(&check).ok().stdout;
    assert_eq!(said, "till.toml: no problem found\n");
    let right = json!({ "file": "till.toml", "problems": [] });
    assert_eq!(place.till(&in_json).json(), right);
}

#[test]
fn keys_are_listed_by_hints_and_belong_to_an_account_that_exists() {
    let place = Place::new();
    let missing = [
        "key",
        "list",
        "--account",
        "acct_00000000000000000000000000",
    ];
    let line = place.till(&missing).fails(1);
    assert!(line.contains("there is no database"), "{line}");
    assert!(place.files().is_empty(), "looking makes nothing");

    let account = place.account(&[]);
    let id = text(&account, "/account");
    let line = place.till(&missing).fails(1);
    assert!(line.contains("there is no account"), "{line}");
    let new = |command: &str, account: &str, mode: &str| {
        place.till(&[
            "key",
            command,
            "--account",
            account,
            "--mode",
            mode,
            "--kind",
            "secret",
            "--json",
        ])
    };
    new("create", missing[3], "test").fails(1);
    new("roll", missing[3], "test").fails(1);
    let line = new("create", id, "live").fails(1);
    assert!(line.contains("no live mode"), "{line}");

    let made = new("create", id, "test").json();
    assert_eq!(fields(&made), ["account", "key", "kind", "mode"]);
    assert_eq!(text(&made, "/account"), id);
    assert_eq!(text(&made, "/mode"), "test");
    assert_eq!(text(&made, "/kind"), "secret");

    let plain = place.till(&["key", "list", "--account", id]).ok().stdout;
    assert_eq!(plain.lines().count(), 3, "{plain}");
    let listed = place
        .till(&["key", "list", "--account", id, "--json"])
        .json();
    assert_eq!(listed["keys"].as_array().map(Vec::len), Some(3), "{listed}");
    for secret in [text(&made, "/key"), text(&account, "/test/secret_key")] {
        assert!(!plain.contains(secret) && !listed.to_string().contains(secret));
        assert!(plain.contains(&secret[secret.len() - 4..]), "{plain}");
    }
}

#[test]
fn a_rolled_key_stops_working_at_once_and_a_created_one_works_beside_it() {
    let place = Place::new();
    let account = place.account(&[]);
    let id = text(&account, "/account");
    let server = place.serve(&[]);
    let status = |key: &str| server.client(key).get("/v1/invoices").unwrap().status;
    let new = |command: &str| {
        let made = place.till(&[
            "key",
            command,
            "--account",
            id,
            "--mode",
            "test",
            "--kind",
            "secret",
            "--json",
        ]);
        text(&made.json(), "/key").to_owned()
    };
    let first = text(&account, "/test/secret_key").to_owned();
    let second = new("create");
    assert_eq!((status(&first), status(&second)), (200, 200));
    // In use until the very moment, from a second process.
    let stop = AtomicBool::new(false);
    let third = thread::scope(|scope| {
        let (client, stop) = (server.client(&first), &stop);
        scope.spawn(move || {
            for _ in 0..5_000 {
                client.get("/v1/invoices").unwrap();
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let third = new("roll");
        let statuses = (status(&first), status(&second), status(&third));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(statuses, (401, 401, 200));
        third
    });
    assert_eq!(status(&third), 200);
    server.stop();
}

#[test]
fn the_demo_prints_one_object_and_serves_what_it_printed() {
    let place = Place::new();
    let server = Server::start(&mut place.command(&["demo", "--listen", "127.0.0.1:0", "--json"]));
    let shown: Value = serde_json::from_str(&server.out_line()).unwrap();
    let mut expected = vec!["account"];
    let urls = [
        "base_url",
        "checkout_url",
        "dashboard_url",
        "docs_url",
        "health_url",
        "openapi_url",
    ];
    expected.extend(urls);
    expected.extend(KEYS);
    expected.sort_unstable();
    for url in ["/docs_url", "/health_url", "/openapi_url"] {
        let path = text(&shown, url).split_once(server.address.as_str());
        let reply = server.client("").get(path.unwrap().1).unwrap();
        assert_eq!(reply.status, 200, "{url}");
    }
    assert_eq!(fields(&shown), expected);
    assert_eq!(
        text(&shown, "/base_url"),
        format!("http://{}", server.address)
    );
    let client = server.client(text(&shown, "/secret_key"));
    let none = client.get("/v1/invoices").unwrap().expect(200);
    assert_eq!(none["data"], json!([]), "scripts start from nothing");
    let made = client
        .post("/v1/invoices", "k", &invoice())
        .unwrap()
        .expect(201);
    let link = text(&made, "/checkout_url");
    assert!(link.starts_with(text(&shown, "/base_url")), "{link}");
    server.stop();
    assert!(place.files().is_empty(), "a demo leaves nothing behind");
}

/// A shop that was open for a while: something of everything, and books that agree.
fn check_shop(shop: &Client) {
    for status in Status::ALL.map(Status::as_str) {
        let path = format!("/v1/invoices?status={status}");
        let found = shop.get(&path).unwrap().expect(200);
        assert_ne!(found["data"], json!([]), "{status}");
    }
    for (path, least) in [
        ("/v1/invoices", 100),
        ("/v1/refunds", 10),
        ("/v1/payment_links", 3),
        ("/v1/subscriptions", 4),
    ] {
        let page = format!("{path}?limit=100");
        let found = shop.get(&page).unwrap().expect(200);
        let rows = found["data"].as_array().unwrap().len();
        assert!(rows >= least, "{path}: {rows}");
    }
    let clock = shop.get("/v1/test_helpers/clock").unwrap().expect(200);
    let links = shop.get("/v1/payment_links").unwrap().expect(200);
    let (from, to) = (text(&links, "/data/0/created_at"), text(&clock, "/now"));
    assert!(from < to);
    let path = format!("/v1/reconciliation?from={from}&to={to}");
    let report = shop.get(&path).unwrap().expect(200);
    let discrepancies = report["discrepancies"].as_array().unwrap();
    let mut flagged = discrepancies
        .iter()
        .filter(|one| one["severity"] != "explained");
    assert_eq!(flagged.next(), None);
}

#[test]
fn the_demo_shows_people_a_checkout_to_try() {
    let place = Place::new();
    let mut command = place.command(&["demo", "--listen", "127.0.0.1:0"]);
    // What is configured for the real server beside it does not matter.
    command.env("TILL_DATABASE_URL", "sqlite:real.db");
    let server = Server::start(&mut command);
    let mut values = std::collections::BTreeMap::new();
    let mut request = None;
    while request.is_none() {
        let line = server.out_line();
        request = line.contains("curl ").then(|| line.trim().to_owned());
        if let Some((name, value)) = line.trim().split_once("  ") {
            values.insert(name.to_owned(), value.trim().to_owned());
        }
    }
    check_shop(&server.client(&values["Secret key"]));
    let link = &values["A checkout to try"];
    let invoice = link.split("/i/").nth(1).unwrap().split('?').next().unwrap();
    let client = server.client(&values["Secret key"]);
    let path = format!("/v1/invoices/{invoice}");
    let found = client.get(&path).unwrap().expect(200);
    assert_eq!(text(&found, "/checkout_url"), link);
    // The line is pasted as it stands.
    let pasted = std::process::Command::new("sh")
        .args(["-c", &request.unwrap()])
        .output()
        .unwrap();
    let made: Value = serde_json::from_slice(&pasted.stdout).unwrap();
    assert_eq!(text(&made, "/status"), "awaiting_payment");
    server.stop();
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn the_address_is_the_first_line_logged_whatever_the_filter() {
    let place = Place::new();
    for (filter, format) in [("info", "text"), ("error", "text"), ("warn", "json")] {
        let args = ["serve", "--listen", "127.0.0.1:0", "--log-format", format];
        let mut server = Server::spawn(place.command(&args).env("TILL_LOG", filter));
        let line = server.log_line();
        let (_, address) = line.split_once("listening on http://127.0.0.1:").unwrap();
        let port: String = address.chars().take_while(char::is_ascii_digit).collect();
        assert_ne!(port, "0");
        let health = Client::new(&format!("127.0.0.1:{port}"), "").get("/healthz");
        assert_eq!(health.unwrap().status, 200);
        server.signal("INT");
        assert!(server.wait().success());
    }
}

#[test]
fn a_port_in_use_is_one_line_and_makes_no_database() {
    let place = Place::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let line = place.till(&["serve", "--listen", &address]).fails(1);
    assert!(
        line.contains(&address) && line.contains("--listen"),
        "{line}"
    );
    assert!(place.files().is_empty(), "{:?}", place.files());
}

#[test]
fn workers_alone_listen_nowhere_and_end_when_told() {
    let place = Place::new();
    let mut server = Server::spawn(&mut place.command(&["serve", "--only", "workers"]));
    let line = server.log_line();
    assert!(line.contains("without an API"), "{line}");
    server.signal("TERM");
    assert!(server.wait().success());
}

#[test]
fn an_api_alone_takes_requests_that_workers_elsewhere_act_on() {
    let place = Place::new();
    let account = place.account(&[]);
    let api = place.serve(&["--only", "api", "--set", "invoices.life_min=1"]);
    let client = api.client(text(&account, "/test/secret_key"));
    let made = client
        .post("/v1/invoices", "k", &invoice())
        .unwrap()
        .expect(201);
    assert_eq!(text(&made, "/status"), "awaiting_payment");
    api.stop();
}

#[test]
fn a_request_under_way_is_finished_and_streams_are_ended_at_sigterm() {
    let place = Place::new();
    let account = place.account(&[]);
    let mut server = place.serve(&[]);
    let client = server.client(text(&account, "/test/secret_key"));
    let made = client
        .post("/v1/invoices", "k1", &invoice())
        .unwrap()
        .expect(201);
    let path = format!("/v1/invoices/{}/events", text(&made, "/id"));
    let mut stream = client.connect().unwrap();
    let ask = client.head("GET", &path, "accept: text/event-stream\r\n");
    stream.write_all(ask.as_bytes()).unwrap();

    let body = invoice().to_string();
    let (start, rest) = body.split_at(5);
    let mut under_way = begin_post(&client, "k2", body.len());
    under_way.write_all(start.as_bytes()).unwrap();
    server.signal("TERM");
    server.log_until("stopping");
    until("new connections are refused", || client.connect().is_err());
    under_way.write_all(rest.as_bytes()).unwrap();
    let finished = read_reply(&mut under_way).unwrap().expect(201);
    read_reply(&mut stream).expect("the stream ends in good order");
    assert!(server.wait().success());

    let again = place.serve(&[]);
    let path = format!("/v1/invoices/{}", text(&finished, "/id"));
    let client = again.client(text(&account, "/test/secret_key"));
    client.get(&path).unwrap().expect(200);
    again.stop();
}

#[test]
fn a_second_signal_stops_at_once() {
    let place = Place::new();
    let account = place.account(&[]);
    let mut server = place.serve(&[]);
    let client = server.client(text(&account, "/test/secret_key"));
    let _hanging = begin_post(&client, "k", 100);
    server.signal("INT");
    server.log_until("stopping");
    server.signal("INT");
    assert_eq!(server.wait().code(), Some(1));
}

#[test]
fn every_acknowledged_invoice_survives_kill_nine() {
    let place = Place::new();
    let account = place.account(&[]);
    let key = text(&account, "/test/secret_key").to_owned();
    let mut server = place.serve(&[]);
    let acknowledged = AtomicUsize::new(0);
    let ids: Vec<String> = thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|worker| {
                let (client, acknowledged) = (server.client(&key), &acknowledged);
                scope.spawn(move || {
                    let mut ids = Vec::new();
                    for number in 0..100_000 {
                        let once = format!("{worker}-{number}");
                        // An answer that broke off acknowledges nothing.
                        let Ok(reply) = client.post("/v1/invoices", &once, &invoice()) else {
                            break;
                        };
                        ids.push(text(&reply.expect(201), "/id").to_owned());
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                    }
                    ids
                })
            })
            .collect();
        until("there is some load", || {
            acknowledged.load(Ordering::Relaxed) >= 40
        });
        server.signal("KILL");
        let ids = clients.into_iter().map(|client| client.join().unwrap());
        ids.flatten().collect()
    });
    assert!(!server.wait().success());
    assert!(ids.len() >= 40);

    let again = place.serve(&[]);
    let client = again.client(&key);
    for id in &ids {
        let found = client.get(&format!("/v1/invoices/{id}")).unwrap();
        assert_eq!(text(&found.expect(200), "/id"), id);
    }
    client
        .post("/v1/invoices", "after", &invoice())
        .unwrap()
        .expect(201);
    again.stop();
}

#[test]
fn two_servers_started_at_once_share_one_postgres() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    let place = Place::new();
    let url = test.config.url.as_str();
    let args = ["serve", "--listen", "127.0.0.1:0", "--database", url];
    // Both migrate the same empty database and make the same key file.
    let (one, two) = thread::scope(|scope| {
        let one = scope.spawn(|| Server::start(&mut place.command(&args)));
        let two = scope.spawn(|| Server::start(&mut place.command(&args)));
        (one.join().unwrap(), two.join().unwrap())
    });
    let account = place.account(&["--database", url]);
    let key = text(&account, "/test/secret_key");
    let (at_one, at_two) = (one.client(key), two.client(key));
    let made = at_one
        .post("/v1/invoices", "k", &invoice())
        .unwrap()
        .expect(201);
    let path = format!("/v1/invoices/{}", text(&made, "/id"));
    let found = at_two.get(&path).unwrap().expect(200);
    assert_eq!(found["id"], made["id"]);
    let replayed = at_two.post("/v1/invoices", "k", &invoice()).unwrap();
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    assert_eq!(replayed.expect(201)["id"], made["id"]);

    let id = text(&account, "/account");
    let rolled = place.till(&[
        "key",
        "roll",
        "--account",
        id,
        "--mode",
        "test",
        "--kind",
        "secret",
        "--database",
        url,
    ]);
    rolled.ok();
    assert_eq!(at_one.get(&path).unwrap().status, 401);
    assert_eq!(at_two.get(&path).unwrap().status, 401);
    place.till(&["check", "--database", url]).ok();
    one.stop();
    two.stop();
    runtime.block_on(test.remove());
}

#[test]
fn a_database_without_its_key_file_is_refused_and_so_is_one_with_another() {
    let place = Place::new();
    place.account(&[]);
    let key = fs::read_to_string(place.path("till.key")).unwrap();
    fs::remove_file(place.path("till.key")).unwrap();
    let line = place.till(&["serve", "--listen", "127.0.0.1:0"]).fails(1);
    assert!(line.contains("till.key"), "{line}");
    assert!(!place.path("till.key").exists(), "no other key is made");
    assert_eq!(place.till(&["check"]).status, Some(1));

    place.write("other.key", &"ab".repeat(32));
    let other = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--set",
        "secrets.key_file=other.key",
    ];
    let line = place.till(&other).fails(1);
    assert!(line.contains("does not fit"), "{line}");

    place.write("old.key", &key);
    let both = place.serve(&["--set", "secrets.key_file=other.key,old.key"]);
    both.stop();
}

#[test]
fn check_says_what_is_wrong_and_makes_nothing() {
    let place = Place::new();
    let done = place.till(&["check"]).ok();
    let is_list = |line: &str| line.starts_with("For real") || line.starts_with("[ ] ");
    assert!(
        done.stdout
            .lines()
            .all(|line| line.starts_with("ok ") || is_list(line)),
        "{}",
        done.stdout
    );
    assert!(place.files().is_empty(), "{:?}", place.files());

    place.till(&["migrate"]).ok();
    place.till(&["check"]).ok();

    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let bad = place.write("bad.pem", "no certificate");
    let file = place.write(
        "till.toml",
        &format!(
            "[mail]\nsmtp_url = \"smtp://u:hunter2@127.0.0.1:{port}\"\nfrom = \"till@example.com\"\n\
             [webhooks]\ntrusted_certificates = [{:?}]\n\
             [networks.\"eip155:8453\"]\nrpc = [\"http://127.0.0.1:{port}/hunter2\"]\n",
            bad.to_str().unwrap()
        ),
    );
    let done = place.till(&["check", "--config", file.to_str().unwrap()]);
    assert_eq!(done.status, Some(1));
    assert_eq!(done.stderr, "till: 3 of 6 checks failed\n");
    let failed: Vec<&str> = done
        .stdout
        .lines()
        .filter(|line| line.starts_with("FAIL "))
        .collect();
    assert_eq!(failed.len(), 3, "{}", done.stdout);
    assert!(failed.iter().all(|line| line.contains(" — ")), "{failed:?}");
    assert!(!done.stdout.contains("hunter2"), "{}", done.stdout);
}

#[test]
fn check_asks_an_endpoint_which_chain_it_is_on() {
    let place = Place::new();
    let node = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", node.local_addr().unwrap());
    let answers = thread::spawn(move || {
        let (mut stream, _) = node.accept().unwrap();
        let mut asked = [0; 4096];
        let read = stream.read(&mut asked).unwrap();
        assert!(String::from_utf8_lossy(&asked[..read]).starts_with("POST "));
        let body = json!({ "jsonrpc": "2.0", "id": 1, "result": "0x2105" }).to_string();
        let reply = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(reply.as_bytes()).unwrap();
    });
    let wrong = format!("networks.eip155:1.rpc={url}");
    let done = place.till(&["check", "--set", &wrong]);
    assert_eq!(done.status, Some(1));
    assert!(
        done.stdout.contains("it is on eip155:8453"),
        "{}",
        done.stdout
    );
    answers.join().unwrap();
}

#[test]
fn completions_and_manual_pages_are_printed_for_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let printed = place.till(&["completions", shell]).ok().stdout;
        assert!(printed.contains("add-destination"), "{shell}");
    }
    assert_eq!(place.till(&["completions", "nonsense"]).status, Some(2));
    let manual = place.till(&["man"]).ok().stdout;
    assert!(manual.contains(".TH till 1"), "{manual}");
    fs::create_dir(place.path("man1")).unwrap();
    place.till(&["man", "--to", "man1"]).ok();
    for page in ["till.1", "till-backup.1", "till-account-create.1"] {
        assert!(place.path("man1").join(page).exists(), "{page}");
    }
}

#[test]
fn openapi_prints_the_document() {
    let place = Place::new();
    let document = place.till(&["openapi"]).json();
    assert!(text(&document, "/openapi").starts_with("3.1"));
    assert!(document.pointer("/paths/~1v1~1invoices/post").is_some());
}

#[test]
fn lists_are_checked_read_and_shown_with_their_age_and_size() {
    let place = Place::new();
    let list = place.write(
        "own.txt",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed # somebody\n",
    );
    let config = place.write(
        "till.toml",
        &format!(
            "[[screening.lists]]\nname = \"own\"\nsource = {:?}\nformat = \"plain\"\n",
            list.to_str().unwrap()
        ),
    );
    let config = ["--config", config.to_str().unwrap()];
    let till = |args: &[&str]| place.till(&[args, &config[..]].concat());
    till(&["migrate"]).ok();
    let status = || till(&["screening", "status", "--json"]).json();
    assert_eq!(text(&status(), "/0/state"), "missing");
    let checked = till(&["check"]).ok().stdout;
    assert!(
        checked.contains("1 addresses; no server has read it yet"),
        "{checked}"
    );
    let listen = ["--set", "metrics.listen=127.0.0.1:0"];
    let server = place.serve(&[&config[..], &listen].concat());
    let operator = server.operator();
    let metrics = || String::from_utf8(operator.get("/metrics").unwrap().body).unwrap();
    until("the list is read", || {
        metrics().contains("till_screening_list_addresses{list=\"own\"} 1")
    });
    assert!(metrics().contains("till_screening_list_age_seconds{list=\"own\"}"));
    assert_eq!(text(&status(), "/0/state"), "fresh");
    assert_eq!(status().pointer("/0/addresses").unwrap(), 1);
    server.stop();
    place.write("own.txt", "no address at all");
    let done = till(&["check"]);
    assert_eq!(done.status, Some(1));
    assert!(
        done.stdout.contains("FAIL screening list own"),
        "{}",
        done.stdout
    );
    assert!(
        till(&["screening", "status"])
            .ok()
            .stdout
            .contains("own (plain): fresh")
    );
}

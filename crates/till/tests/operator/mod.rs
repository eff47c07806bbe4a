//! What an operator sees of the real program, and what others do not.

mod asked;
mod books;
mod canary;
mod copies;
mod endings;
mod failover;
mod keys;
mod live;
mod outage;
mod people;
mod replicas;
mod shards;
mod tls;
mod told;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::common::{Done, Place, Server, mode_of, text, until};

#[test]
fn metrics_have_a_listener_of_their_own_and_none_on_the_public_one() {
    let place = Place::new();
    let server = place.serve(&["--set", "metrics.listen=127.0.0.1:0"]);
    let operator = server.operator();
    let shown = operator.get("/metrics").unwrap();
    assert_eq!(shown.status, 200);
    assert!(
        shown
            .header("content-type")
            .is_some_and(|kind| kind.starts_with("text/plain"))
    );
    for path in ["/healthz", "/readyz"] {
        assert_eq!(operator.get(path).unwrap().status, 200, "{path}");
        assert_eq!(server.client("").get(path).unwrap().status, 200, "{path}");
    }
    assert_eq!(operator.get("/v1/invoices").unwrap().status, 404);
    let public = server.client("").get("/metrics").unwrap();
    assert_eq!(
        (public.status, &public.json()["error"]["code"]),
        (404, &"route_not_found".into())
    );
    server.stop();
}

#[test]
fn a_process_that_only_works_has_health_and_metrics_too() {
    let place = Place::new();
    let mut command = place.command(&[
        "serve",
        "--only",
        "workers",
        "--set",
        "metrics.listen=127.0.0.1:0",
    ]);
    let server = Server::spawn(&mut command);
    let operator = server.operator();
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(operator.get(path).unwrap().status, 200, "{path}");
    }
    server.stop();
}

#[test]
fn the_database_is_its_owners_alone() {
    let place = Place::new();
    let server = place.serve(&[]);
    for name in ["till.db", "till.db-wal", "till.db-shm", "till.key"] {
        assert_eq!(mode_of(&place.path(name)), 0o600, "{name}");
    }
    server.stop();
    let checked = place.till(&["check"]).ok().stdout;
    assert!(!checked.contains("can be read by others"), "{checked}");
    fs::set_permissions(place.path("till.db"), fs::Permissions::from_mode(0o644)).unwrap();
    let checked = place.till(&["check"]).ok().stdout;
    assert!(
        checked.contains("warn files") && checked.contains("chmod 600"),
        "{checked}"
    );
}

#[test]
fn a_proxy_that_is_not_told_of_is_named_at_the_start_and_by_check() {
    let place = Place::new();
    let https = ["--set", "server.public_url=https://pay.example"];
    let server = place.serve(&https);
    server.log_until("limits.trusted_proxies");
    server.stop();
    let check = [&["check"], &https[..]].concat();
    assert!(place.till(&check).ok().stdout.contains("warn proxies"));
    let told = [&check[..], &["--set", "limits.trusted_proxies=10.0.0.0/8"]].concat();
    assert!(!place.till(&told).ok().stdout.contains("warn proxies"));
}

#[test]
fn a_server_that_is_told_to_stop_is_unready_at_once_and_answers_until_others_have_noticed() {
    let place = Place::new();
    let account = place.account(&[]);
    let key = text(&account, "/test/secret_key").to_owned();
    let mut server = place.serve(&["--set", "server.drain_s=3"]);
    let client = server.client(&key);
    assert_eq!(client.get("/readyz").unwrap().status, 200);
    server.signal("TERM");
    until("it says that it is not ready", || {
        client.get("/readyz").unwrap().status == 503
    });
    assert_eq!(client.get("/healthz").unwrap().status, 200);
    let body = json!({ "amount": "5", "currency": "USD" });
    client
        .post("/v1/invoices", "late", &body)
        .unwrap()
        .expect(201);
    assert!(server.wait().success());
    assert!(client.get("/healthz").is_err(), "it is gone");
}

#[test]
fn a_server_that_cannot_write_says_that_it_is_not_ready() {
    let place = Place::new();
    let account = place.account(&[]);
    let key = text(&account, "/test/secret_key").to_owned();
    // No file may grow beyond this, as on a disk that is full.
    let till = env!("CARGO_BIN_EXE_till");
    let script = format!("trap '' XFSZ; ulimit -f 4000; exec {till} serve --listen 127.0.0.1:0");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(place.path(""));
    let server = Server::start(&mut command);
    let client = server.client(&key);
    assert_eq!(client.get("/readyz").unwrap().status, 200);
    let filler = "x".repeat(400);
    let metadata: serde_json::Map<_, _> = (0..20).map(|n| (n.to_string(), json!(filler))).collect();
    let body = json!({ "amount": "5", "currency": "USD", "metadata": metadata });
    let mut number = 0;
    let mut write = || {
        number += 1;
        let made = client.post("/v1/invoices", &number.to_string(), &body);
        made.unwrap().status
    };
    until("something cannot be written", || write() >= 500);
    // No later than whoever wrote is told, although a little still fits into the log.
    let says_why = || {
        let ready = client.get("/readyz").unwrap();
        assert_eq!(ready.status, 503);
        let message = ready.json()["error"]["message"].to_string();
        assert!(message.contains("is it full or failing"), "{message}");
    };
    says_why();
    // The log is copied into the database now and then and begins anew, until that cannot grow either.
    let mut failed_in_a_row = 0;
    until("nothing can be written any more", || {
        failed_in_a_row = match write() >= 500 {
            true => failed_in_a_row + 1,
            false => 0,
        };
        failed_in_a_row == 50
    });
    says_why();
    assert_eq!(client.get("/healthz").unwrap().status, 200);
    assert_eq!(
        client.get("/v1/invoices").unwrap().status,
        200,
        "reading goes on"
    );
}

#[test]
fn connections_that_do_nothing_leave_handles_for_everything_else() {
    let place = Place::new();
    let account = place.account(&[]);
    let key = text(&account, "/test/secret_key").to_owned();
    let till = env!("CARGO_BIN_EXE_till");
    let script = format!("ulimit -n 256; exec {till} serve --listen 127.0.0.1:0");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(place.path(""));
    let server = Server::start(&mut command);
    let client = server.client(&key);
    let mut idle = Vec::new();
    while idle.len() < 300 {
        let mut socket = client.connect().unwrap();
        // Those that are turned away are told so; the others are kept.
        std::io::Write::write_all(&mut socket, b"GET /healthz HTTP/1.1\r\nhost: x\r\n").ok();
        idle.push(socket);
    }
    until("it says how it is", || {
        client.get("/readyz").is_ok_and(|ready| ready.status == 200)
    });
    drop(idle);
    until("there is room again", || {
        client
            .get("/v1/invoices")
            .is_ok_and(|listed| listed.status == 200)
    });
}

#[test]
fn a_server_with_another_key_than_the_databases_refuses_with_one_line() {
    let place = Place::new();
    place.serve(&[]).stop();
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--set",
        "secrets.key_file=other.key",
    ];
    let line = place.till(&serve).fails(1);
    assert!(
        line.contains("other.key") && line.contains("restore it"),
        "{line}"
    );
    assert!(
        !place.path("other.key").exists(),
        "no key is invented beside another's"
    );
    place.write("other.key", &"ab".repeat(32));
    let line = place.till(&serve).fails(1);
    assert!(line.contains("is encrypted with the key"), "{line}");
    // Beside its successor the right one is enough.
    let both = ["--set", "secrets.key_file=other.key,till.key"];
    place.serve(&both).stop();
}

#[test]
fn an_account_is_listed_disabled_and_enabled_while_the_server_runs() {
    let place = Place::new();
    let account = place.account(&[]);
    let (id, key) = (
        text(&account, "/account"),
        text(&account, "/test/secret_key"),
    );
    let server = place.serve(&[]);
    let client = server.client(key);
    let listed = || place.till(&["account", "list", "--json"]).json();
    assert_eq!(text(&listed(), "/0/account"), id);
    assert_eq!(text(&listed(), "/0/name"), "Acme");
    assert!(listed().pointer("/0/disabled_at").unwrap().is_null());
    client.get("/v1/invoices").unwrap().expect(200);
    place.till(&["account", "disable", "--account", id]).ok();
    let refused = client.get("/v1/invoices").unwrap().expect(401);
    assert_eq!(text(&refused, "/error/code"), "api_key_invalid");
    assert!(!listed().pointer("/0/disabled_at").unwrap().is_null());
    assert!(
        place
            .till(&["account", "list"])
            .ok()
            .stdout
            .contains("DISABLED")
    );
    place.till(&["account", "enable", "--account", id]).ok();
    client.get("/v1/invoices").unwrap().expect(200);
    let line = place
        .till(&["account", "disable", "--account", "acct_x"])
        .fails(1);
    assert!(line.contains("there is no account"), "{line}");
    server.stop();
}

#[test]
fn a_backup_of_a_running_server_is_restored_with_everything_in_it() {
    let place = Place::new();
    let account = place.account(&[]);
    let key = text(&account, "/test/secret_key");
    let server = place.serve(&[]);
    let body = json!({ "amount": "5", "currency": "USD" });
    let made = server
        .client(key)
        .post("/v1/invoices", "one", &body)
        .unwrap()
        .expect(201);
    let done = place.till(&["backup", "--to", "copy.db"]).ok().stdout;
    assert!(done.contains("till.key"), "{done}");
    assert_eq!(mode_of(&place.path("copy.db")), 0o600);
    let refused = place.till(&["backup", "--to", "copy.db"]).fails(1);
    assert!(refused.contains("there already"), "{refused}");
    server.stop();
    let restored = [
        "--database",
        "sqlite:restored.db",
        "--set",
        "secrets.key_file=till.key",
    ];
    let restore = [&["restore", "--from", "copy.db"], &restored[..]].concat();
    assert!(
        place
            .till(&restore)
            .ok()
            .stdout
            .contains("asks the chains again")
    );
    let server = place.serve(&restored);
    let path = format!("/v1/invoices/{}", text(&made, "/id"));
    let found = server.client(key).get(&path).unwrap().expect(200);
    for field in ["id", "created_at", "payment_options"] {
        assert_eq!(found[field], made[field], "{field}");
    }
    server.stop();
}

#[test]
fn no_address_that_was_shown_since_the_copy_is_shown_to_another_after_it_is_restored() {
    let place = Place::new();
    let account = place.account(&[]);
    let key = text(&account, "/test/secret_key");
    let assets = [
        "USDC@eip155:84532",
        "USDT@tron:3448148188",
        "BTC@bip122:00000000da84f2bafbbc53dee25a72ae",
    ];
    let shown = |server: &Server, name: &str| -> Vec<String> {
        let body = json!({ "amount": "5", "currency": "USD", "assets": assets });
        let made = server.client(key).post("/v1/invoices", name, &body);
        let made = made.unwrap().expect(201);
        let options = made["payment_options"].as_array().expect("a list").iter();
        options.map(|it| text(it, "/address").to_owned()).collect()
    };
    let server = place.serve(&[]);
    shown(&server, "before");
    place.till(&["backup", "--to", "copy.db"]).ok();
    let since = shown(&server, "since");
    server.stop();
    let restored = [
        "--database",
        "sqlite:restored.db",
        "--set",
        "secrets.key_file=till.key",
        "--set",
        "addresses.bitcoin_gap_limit=20",
    ];
    let restore = [&["restore", "--from", "copy.db"], &restored[..]].concat();
    let said = place.till(&restore).ok().stdout;
    assert!(said.contains("not handed out again"), "{said}");
    // Wallets look so far ahead for Bitcoin and no further; the operator may let them look further.
    let wider = [&restored[..5], &["addresses.bitcoin_gap_limit=40"]].concat();
    let server = place.serve(&wider);
    let after = shown(&server, "after");
    assert_eq!(after.len(), assets.len());
    assert!(after.iter().all(|it| !since.contains(it)), "{after:?}");
    server.stop();
}

#[test]
fn metrics_answer_the_questions_that_the_documentation_says_they_do() {
    let place = Place::new();
    let account = place.account(&[]);
    let server = place.serve(&["--set", "metrics.listen=127.0.0.1:0"]);
    let operator = server.operator();
    let client = server.client(text(&account, "/test/secret_key"));
    let body = json!({ "amount": "5", "currency": "USD" });
    client
        .post("/v1/invoices", "one", &body)
        .unwrap()
        .expect(201);
    client.get("/v1/invoices/inv_x").unwrap().expect(404);
    client.get("/nowhere").unwrap().expect(404);
    let shown = || String::from_utf8(operator.get("/metrics").unwrap().body).unwrap();
    let expected = [
        "till_http_requests_total{route=\"/v1/invoices\",status=\"201\"} 1",
        "till_http_requests_total{route=\"/v1/invoices/{id}\",status=\"404\"} 1",
        "till_http_requests_total{route=\"none\",status=\"404\"} 1",
        "till_http_request_seconds_bucket{route=\"/v1/invoices\",le=\"+Inf\"} 1",
        "till_http_connections_open{listener=\"api\"}",
        "till_http_connections_open{listener=\"operator\"} 1",
        "till_refusals_total{code=\"resource_missing\"} 1",
        "till_ready 1",
        "till_invoice_group_size_bucket",
        "till_invoices_created_total 1",
        "till_lag_seconds{work=\"webhooks\"} 0",
        "till_lag_seconds{work=\"timers\"} 0",
        "till_lag_seconds{work=\"mail\"} 0",
        "till_write_seconds_bucket",
        "till_database_connections{pool=\"readers\"}",
    ];
    for line in expected {
        until(line, || shown().contains(line));
    }
    server.stop();
}

#[test]
fn what_alerts_ask_for_is_there_before_anything_has_happened() {
    let place = Place::new();
    let server = place.serve(&["--set", "metrics.listen=127.0.0.1:0"]);
    let shown = server.operator().get("/metrics").unwrap().body;
    let shown = String::from_utf8(shown).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for line in [
        &*format!("till_build_info{{version=\"{version}\"}} 1"),
        "till_timer_failures_total{kind=\"expire_invoice\"} 0",
        "till_mails_total{sent=\"no\"} 0",
        "till_webhook_attempts_total{delivered=\"no\"} 0",
        "till_exposed_keys_total 0",
        "till_log_lines_lost_total 0",
        "till_refusals_total{code=\"payment_link_busy\"} 0",
        "till_clock_jumps_total{direction=\"back\"} 0",
        "till_write_seconds_count",
        "till_disk_free_bytes ",
        "process_cpu_seconds_total ",
        "process_resident_memory_bytes ",
        "process_open_fds ",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let described: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next())
        .collect();
    for line in shown.lines() {
        if let Some(name) = line.strip_prefix("# TYPE ") {
            let name = name.split(' ').next().unwrap();
            assert!(described.contains(&name), "{name} has no HELP");
        }
    }
    let alerts = fs::read_to_string("../../docs/alerts.yml").unwrap();
    // Those of networks exist for networks that are watched, those of lists for lists, those of replicas for replicas.
    let of_others = [
        "till_network_",
        "till_endpoint_",
        "till_screening_",
        "till_replica_",
    ];
    for rule in alerts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expr: "))
    {
        let words = rule.split(|c: char| !c.is_ascii_lowercase() && c != '_');
        for name in words.filter(|word| word.starts_with("till_")) {
            let is_others = of_others.iter().any(|prefix| name.starts_with(prefix));
            // Routes are known when somebody asks for them.
            let name = name.strip_suffix("_bucket").unwrap_or(name);
            let is_there = shown.contains(&format!("# TYPE {name} "));
            assert!(
                is_others || is_there || name == "till_http_request_seconds",
                "{name}"
            );
        }
    }
    server.stop();
}

#[test]
fn a_variable_that_is_no_setting_is_only_warned_about() {
    let place = Place::new();
    let variables = [
        ("TILL_SERVICE_HOST", "10.0.0.1"),
        ("TILL_SERVER_LISEN", "x"),
    ];
    let mut check = place.command(&["check"]);
    let checked = Done::of(check.envs(variables)).ok().stdout;
    assert!(
        checked.contains("TILL_SERVICE_HOST is no setting"),
        "{checked}"
    );
    assert!(
        checked.contains("did you mean TILL_SERVER_LISTEN?"),
        "{checked}"
    );
    let mut serve = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    let server = Server::start(serve.envs(variables));
    server.log_until("did you mean TILL_SERVER_LISTEN?");
}

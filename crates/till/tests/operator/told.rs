//! What a server logs and tells whoever keeps it running, who can hold it up, and what it does when it is told to look at its
//! files again.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{Client, Place, Server, comes_true, text, until};

#[test]
fn which_providers_are_asked_is_told_to_the_operator_alone() {
    let place = Place::new();
    let server = place.serve(&[
        "--set",
        "networks.\"eip155:84532\".rpc=http://127.0.0.1:1/secret",
        "--set",
        "metrics.listen=127.0.0.1:0",
    ]);
    let operator = server.operator();
    let network = |client: &Client| client.get("/readyz").unwrap().json()["networks"][0].clone();
    until("the endpoint is set aside", || {
        network(&operator)["endpoints_set_aside"][0]["endpoint"] == "http://127.0.0.1:1"
    });
    let public = network(&server.client(""));
    let set_aside = json!({
        "endpoint": "endpoint 1", "state": "failing", "reason": "it does not answer as it should",
    });
    assert_eq!(public["endpoints_set_aside"], json!([set_aside]));
    assert_eq!(public["reason"], "no endpoint answers");
    assert!(!public.to_string().contains("127.0.0.1"), "{public}");
    server.stop();
}

#[test]
fn a_log_that_nobody_reads_holds_nothing_up_and_its_lost_lines_are_counted() {
    let place = Place::new();
    let port = free_port();
    let listen = format!("127.0.0.1:{port}");
    let metrics = free_port();
    let operator = format!("127.0.0.1:{metrics}");
    let mut command = place.command(&["serve", "--listen", &listen]);
    command.args(["--set", &format!("metrics.listen={operator}")]);
    // Nobody ever reads the pipe.
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let client = Client::new(&listen, "");
    assert!(comes_true(|| client.get("/healthz").is_ok()));
    let operator = Client::new(&operator, "");
    let lost = || {
        let shown = operator.get("/metrics").unwrap().body;
        let shown = String::from_utf8(shown).unwrap();
        let mut lines = shown.lines();
        let line = lines.find_map(|it| it.strip_prefix("till_log_lines_lost_total "));
        line.map_or(0, |count| count.parse().unwrap())
    };
    let path = format!("/{}", "x".repeat(6_000));
    until("lines are lost, and everything is answered", || {
        for _ in 0..100 {
            assert_eq!(client.get(&path).unwrap().status, 404);
        }
        lost() > 0
    });
    assert_eq!(client.get("/readyz").unwrap().status, 200);
    child.kill().unwrap();
    child.wait().unwrap();
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn line_of(server: &Server, words: &str) -> Value {
    serde_json::from_str(&server.log_until(words)).unwrap()
}

#[test]
fn every_request_is_a_line_with_its_account_its_client_and_how_it_went() {
    let place = Place::new();
    let account = place.account(&[]);
    let shown = |how: &str| {
        let server = place.serve(&["--set", &format!("log.client_address={how}")]);
        let client = server.client(text(&account, "/test/secret_key"));
        let body = json!({ "amount": "5", "currency": "USD" });
        let made = client.post("/v1/invoices", how, &body).unwrap();
        let id = made.header("x-request-id").unwrap().to_owned();
        let line = line_of(&server, &id);
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["method"], "POST");
        assert_eq!(line["route"], "/v1/invoices");
        assert_eq!(line["status"], 201);
        assert_eq!(line["account"], account["account"]);
        assert!(
            line["duration_us"].as_u64().is_some_and(|us| us > 0),
            "{line}"
        );
        let nobodys = client.get("/nowhere").unwrap();
        let id = nobodys.header("x-request-id").unwrap().to_owned();
        let none = line_of(&server, &id);
        assert_eq!(
            (&none["route"], none.get("account")),
            (&json!("none"), None)
        );
        server.stop();
        line.get("client").cloned()
    };
    assert_eq!(shown("prefix"), Some(json!("127.0.0.0/24")));
    assert_eq!(shown("full"), Some(json!("127.0.0.1")));
    assert_eq!(shown("none"), None);
}

#[test]
fn a_server_that_is_told_to_reload_does_and_says_so() {
    let place = Place::new();
    let list = place.write("list.txt", "# none yet\n");
    let settings = |level: &str, drain_s: u32| {
        let lists = format!(
            "lists = [{{name = \"ours\", source = {:?}, format = \"plain\"}}]",
            list.display().to_string()
        );
        let file = format!(
            "[log]\nlevel = \"{level}\"\n[screening]\n{lists}\n[server]\ndrain_s = {drain_s}\n"
        );
        place.write("till.toml", &file);
    };
    settings("warn", 0);
    let args = ["serve", "--listen", "127.0.0.1:0", "--config", "till.toml"];
    let mut server = Server::start(&mut place.command(&args));
    let client = server.client("");
    client.get("/nowhere").unwrap().expect(404);
    settings("info", 0);
    fs::write(&list, "0x52908400098527886E0F7030069857D2E4169EE7\n").unwrap();
    server.signal("HUP");
    let line = line_of(&server, "reloaded as told (SIGHUP)");
    assert_eq!(
        (&line["log_level"], &line["screening_lists"]),
        (&json!("info"), &json!(1))
    );
    // Requests are logged from now on, and what was asked before was not.
    let asked = client.get("/healthz").unwrap();
    server.log_until(asked.header("x-request-id").unwrap());
    let status = place.till(&["screening", "status", "--config", "till.toml", "--json"]);
    assert_eq!(status.json().pointer("/0/addresses"), Some(&json!(1)));
    settings("info", 1);
    server.signal("HUP");
    server.log_until("restart the server to apply them");
    place.write("till.toml", "[log]\nlevel = \"loud\"\n");
    server.signal("HUP");
    let line = server.log_until("everything stays as it is");
    assert!(line.contains("log.level"), "{line}");
    assert!(!server.has_ended());
    assert_eq!(client.get("/readyz").unwrap().status, 200);
    server.stop();
}

#[test]
fn a_service_manager_is_told_when_the_server_is_ready_alive_and_stopping() {
    let place = Place::new();
    let socket = std::os::unix::net::UnixDatagram::bind(place.path("notify")).unwrap();
    socket
        .set_read_timeout(Some(crate::common::PATIENCE))
        .unwrap();
    let next = || {
        let mut bytes = [0; 512];
        let size = socket.recv(&mut bytes).expect("it is told");
        String::from_utf8_lossy(&bytes[..size]).into_owned()
    };
    let wait_for = |words: &str| {
        while !next().lines().any(|line| line == words) {}
    };
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.args(["--set", "server.drain_s=0"]);
    command
        .env("NOTIFY_SOCKET", place.path("notify"))
        .env("WATCHDOG_USEC", "200000");
    let mut server = Server::start(&mut command);
    wait_for("READY=1");
    assert_eq!(server.client("").get("/healthz").unwrap().status, 200);
    wait_for("WATCHDOG=1");
    wait_for("WATCHDOG=1");
    server.signal("TERM");
    wait_for("STOPPING=1");
    assert!(server.wait().success());
}

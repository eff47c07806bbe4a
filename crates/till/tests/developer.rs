//! The commands for those who build on the API, against a real server.

#[expect(dead_code, reason = "shared with suites that use more of it")]
mod common;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use common::{Client, Done, PATIENCE, Place, Server, text};
use serde_json::{Value, json};
use till_core::event::EventType;
use till_core::webhook::{sign, verify};

/// What a receiver of webhooks was sent.
struct Hook {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Hook {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        &found.unwrap_or_else(|| panic!("no {name}")).1
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

struct Hooks {
    url: String,
    sent: Receiver<Hook>,
}

impl Hooks {
    /// A receiver that is content with everything.
    fn start() -> Hooks {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hooks", listener.local_addr().unwrap());
        let (send, sent) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let send = send.clone();
                thread::spawn(
                    move || while receive(&stream).map(|hook| send.send(hook)).is_some() {},
                );
            }
        });
        Hooks { url, sent }
    }

    fn next(&self) -> Hook {
        self.sent.recv_timeout(PATIENCE).expect("a webhook")
    }
}

fn receive(stream: &TcpStream) -> Option<Hook> {
    let mut lines = BufReader::new(stream);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None if line.trim_end().is_empty() => break,
            None => {}
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length?.1.parse().ok()?];
    lines.read_exact(&mut body).ok()?;
    let mut answer = stream;
    answer
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        .ok()?;
    Some(Hook { headers, body })
}

#[expect(
    clippy::disallowed_methods,
    reason = "webhooks are signed and judged by the real clock"
)]
fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

/// A server with an account, and its clients.
struct Shop {
    place: Place,
    key: String,
    server: Server,
}

impl Shop {
    fn open() -> Shop {
        let place = Place::new();
        let account = place.account(&[]);
        let key = text(&account, "/test/secret_key").to_owned();
        let server = place.serve(&["--set", "webhooks.allow_private_addresses=true"]);
        Shop { place, key, server }
    }

    fn api(&self) -> Client {
        self.server.client(&self.key)
    }

    fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.place.command(args);
        command.env("TILL_URL", self.url());
        command.env("TILL_SECRET_KEY", &self.key);
        command
    }

    fn till(&self, args: &[&str]) -> Done {
        Done::of(&mut self.command(args))
    }

    fn invoice(&self, once: &str) -> String {
        let body = json!({ "amount": "25.00", "currency": "USD" });
        let made = self.api().post("/v1/invoices", once, &body).unwrap();
        text(&made.expect(201), "/id").to_owned()
    }
}

#[test]
fn every_event_of_the_contract_is_triggered_by_real_calls_but_one_that_test_mode_cannot_cause() {
    let shop = Shop::open();
    for event in EventType::WEBHOOKS {
        let name = event.as_str();
        let done = shop.till(&["trigger", name, "--advance-clock"]);
        if event == EventType::InvoiceWrongAsset {
            assert!(done.fails(1).contains("cannot be made to happen"));
            continue;
        }
        let shown = done.ok().stdout;
        assert!(shown.starts_with(&format!("{name}  evt_")), "{shown}");
    }
    let log = shop
        .till(&["events", "list", "--limit", "100", "--json"])
        .ok();
    let types: BTreeSet<String> = log
        .stdout
        .lines()
        .map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            text(&event, "/type").to_owned()
        })
        .collect();
    for event in EventType::WEBHOOKS {
        let is_there = types.contains(event.as_str());
        assert_eq!(is_there, event != EventType::InvoiceWrongAsset, "{event:?}");
    }
}

#[test]
fn a_trigger_that_moves_the_clock_or_is_unknown_is_refused_before_anything_happens() {
    let shop = Shop::open();
    let refused = shop.till(&["trigger", "invoice.expired"]).fails(2);
    assert!(refused.contains("--advance-clock"), "{refused}");
    let unknown = shop.till(&["trigger", "invoice.opened"]);
    assert_eq!(unknown.status, Some(2));
    assert!(
        unknown.stderr.contains("invoice.paid"),
        "{}",
        unknown.stderr
    );
    assert!(shop.till(&["events", "list"]).ok().stdout.is_empty());
    let key = shop.key.replace("_test_", "_live_");
    for command in [
        &["trigger", "invoice.paid"][..],
        &["listen", "--forward-to", "http://127.0.0.1:1"],
    ] {
        let live = Done::of(shop.command(command).env("TILL_SECRET_KEY", &key));
        assert!(live.fails(2).contains("test mode"));
    }
    let other = key.replace("_live_", "_test_").replace("_sk_", "_sk_0");
    let other = Done::of(
        shop.command(&["events", "list"])
            .env("TILL_SECRET_KEY", &other),
    );
    assert!(other.fails(1).contains("api_key_invalid"));
}

#[test]
fn events_are_forwarded_once_and_signed_and_go_on_after_a_break() {
    let mut shop = Shop::open();
    let hooks = Hooks::start();
    shop.invoice("before");
    let listen = ["listen", "--forward-to", &hooks.url];
    let listener = Server::spawn(&mut shop.command(&listen));
    let first_line = listener.out_line();
    let secret = first_line.rsplit(' ').next().unwrap().to_owned();
    assert!(secret.starts_with("whsec_"), "{first_line}");
    listener.out_line();
    let first = shop.invoice("first");
    let hook = hooks.next();
    let event = hook.json();
    assert_eq!(
        event["invoice_id"],
        first.as_str(),
        "not what happened before"
    );
    assert_eq!(
        hook.header("x-service-event-id"),
        event["id"].as_str().unwrap()
    );
    assert_eq!(hook.header("x-service-event-type"), "invoice.created");
    let signature = hook.header("x-service-signature");
    assert_eq!(verify(signature, &hook.body, &secret, now_s(), 300), Ok(()));

    let address = shop.server.address.clone();
    shop.server.signal("TERM");
    shop.server.wait();
    assert!(listener.log_line().contains("trying again"));
    let mut serve = shop.place.command(&["serve", "--listen", &address]);
    shop.server = Server::start(serve.args(["--set", "server.drain_s=0"]));
    let second = shop.invoice("second");
    assert_eq!(hooks.next().json()["invoice_id"], second.as_str());
    drop(listener);

    let third = shop.invoice("third");
    let after = event["id"].as_str().unwrap();
    let again = ["listen", "--forward-to", &hooks.url, "--after", after];
    let again = Server::spawn(&mut shop.command(&again));
    assert_eq!(again.out_line(), first_line, "the same secret");
    for invoice in [second, third] {
        assert_eq!(
            hooks.next().json()["invoice_id"],
            invoice.as_str(),
            "in order, and once"
        );
    }
}

#[test]
fn a_delivery_is_seen_in_the_log_and_an_event_is_sent_again() {
    let shop = Shop::open();
    let hooks = Hooks::start();
    shop.invoice("undelivered");
    let undelivered = shop.till(&["events", "list", "--limit", "1"]).ok().stdout;
    let undelivered = undelivered.split("  ").nth(2).unwrap().trim().to_owned();
    let never = shop.till(&["events", "resend", &undelivered]).fails(1);
    assert!(never.contains("was never delivered"), "{never}");

    let settings = json!({ "webhook_url": hooks.url });
    let set = shop.api().post("/v1/merchant/settings", "set", &settings);
    set.unwrap().expect(200);
    let tail = Server::spawn(&mut shop.command(&["logs", "tail"]));
    tail.log_until("waiting for deliveries");
    shop.invoice("delivered");
    let event = hooks.next().json();
    let id = text(&event, "/id");
    let line = tail.out_line();
    assert!(
        line.contains(&format!("invoice.created  {id}  attempt 1: 200")),
        "{line}"
    );
    let sent = shop.till(&["events", "resend", id]).ok().stdout;
    assert!(
        sent.starts_with("whd_") && sent.contains(&hooks.url),
        "{sent}"
    );
    assert_eq!(hooks.next().json()["id"], event["id"]);
    assert!(tail.out_line().contains(id));
}

#[test]
fn events_are_listed_page_by_page_with_the_cursor_on_standard_error() {
    let shop = Shop::open();
    let mut made: Vec<String> = (0..5)
        .map(|n| shop.invoice(&format!("order-{n}")))
        .collect();
    made.reverse();
    let (mut listed, mut pages) = (Vec::new(), 0);
    let mut cursor: Option<String> = None;
    loop {
        let mut args = vec!["events", "list", "--limit", "2", "--json"];
        args.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor]));
        let page = shop.till(&args).ok();
        listed.extend(page.stdout.lines().map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            text(&event, "/invoice_id").to_owned()
        }));
        pages += 1;
        if page.stderr.is_empty() {
            break;
        }
        let next: Value = serde_json::from_str(&page.stderr).unwrap();
        cursor = Some(text(&next, "/next_cursor").to_owned());
    }
    assert_eq!((listed, pages), (made, 3));

    let first = shop.till(&["events", "list", "--limit", "4"]).ok();
    let (words, cursor) = first.stderr.trim_end().rsplit_once(' ').unwrap();
    assert_eq!(words, "till: there are more: add --cursor");
    let rest = ["events", "list", "--limit", "4", "--cursor", cursor];
    let rest = shop.till(&rest).ok();
    assert_eq!((rest.stdout.lines().count(), rest.stderr.as_str()), (1, ""));
    let bad = shop.till(&["events", "list", "--cursor", "nonsense"]);
    assert!(bad.fails(1).contains("parameter_invalid"));
}

#[test]
fn a_signature_is_judged_by_file_and_by_standard_input() {
    let place = Place::new();
    let body = b"{\"id\":\"evt_1\"}";
    let secret = "whsec_1";
    let signature = sign(&[secret], now_s(), body);
    let file = place.path("body.json");
    std::fs::write(&file, body).unwrap();
    let verify = |secret: &str, file: Option<&str>| {
        let mut args = vec!["verify-signature", "--signature", &*signature];
        args.extend(file.iter().flat_map(|file| ["--body", *file]));
        let mut command = place.command(&args);
        command.env("TILL_WEBHOOK_SECRET", secret);
        command
    };
    let right = Done::of(&mut verify(secret, file.to_str())).ok();
    assert_eq!(right.stdout, "the signature is right\n");
    let wrong = Done::of(&mut verify("whsec_2", file.to_str()));
    assert!(wrong.fails(1).contains("no signature matches"));
    let mut piped = verify(secret, None);
    let mut child = piped
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(body).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}

/// A session with `till mcp`, as a program that uses its tools holds one.
struct McpSession {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    last_id: u64,
}

impl McpSession {
    fn open(shop: &Shop, key: &str) -> McpSession {
        let mut command = shop.command(&["mcp"]);
        command.env("TILL_SECRET_KEY", key);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut session = McpSession {
            to: process.stdin.take(),
            from: BufReader::new(process.stdout.take().unwrap()),
            process,
            last_id: 0,
        };
        let begin = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        let begun = session.ask("initialize", &begin);
        assert_eq!(text(&begun, "/result/serverInfo/name"), "till");
        assert_eq!(text(&begun, "/result/protocolVersion"), "2025-06-18");
        assert!(text(&begun, "/result/instructions").contains("never instructions"));
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn send(&mut self, message: &Value) {
        let to = self.to.as_mut().unwrap();
        writeln!(to, "{message}").unwrap();
        to.flush().unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn tools(&mut self) -> BTreeSet<String> {
        let listed = self.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| text(tool, "/name").to_owned()).collect()
    }

    /// What a tool says, and whether it failed.
    fn call(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.ask("tools/call", &params);
        let said = text(&answer, "/result/content/0/text").to_owned();
        (answer["result"]["isError"] == true, said)
    }

    fn answer(&mut self, tool: &str, arguments: &Value) -> Value {
        let (has_failed, said) = self.call(tool, arguments);
        assert!(!has_failed, "{tool}: {said}");
        serde_json::from_str(&said).unwrap()
    }

    /// It ends by itself when its user leaves.
    fn close(mut self) {
        drop(self.to.take());
        assert!(self.process.wait().unwrap().success());
    }
}

#[test]
fn a_language_model_reads_and_acts_in_test_mode() {
    let shop = Shop::open();
    let mut session = McpSession::open(&shop, &shop.key);
    let tools = session.tools();
    for tool in ["list_invoices", "create_invoice", "simulate_payment"] {
        assert!(tools.contains(tool), "{tool}");
    }
    let body = json!({ "amount": "25.00", "currency": "USD" });
    let made = session.answer("create_invoice", &json!({ "body": body }));
    let id = text(&made, "/id");
    session.answer("simulate_payment", &json!({ "id": id }));
    let read = session.answer("retrieve_invoice", &json!({ "id": id }));
    assert_eq!(text(&read, "/status"), "paid");
    let listed = session.answer("list_invoices", &json!({ "limit": 5, "status": "paid" }));
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!(text(&listed, "/data/0/id"), id);

    let (has_failed, said) = session.call("retrieve_invoice", &json!({ "id": "inv_none" }));
    assert!(
        has_failed && said.starts_with("resource_missing: "),
        "{said}"
    );
    let (has_failed, said) = session.call("retrieve_invoice", &json!({ "id": "../events" }));
    assert!(has_failed && said.contains("`id`"), "{said}");
    let unknown = session.ask("tools/call", &json!({ "name": "sign_out" }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    session.close();
}

#[test]
fn a_language_model_only_reads_in_live_mode() {
    let place = Place::new();
    let destination = "eip155=0x8617E340B3D01FA5F11F306F4090FD50E238070D";
    let account = place.account(&["--live", "--destination", destination]);
    let key = text(&account, "/live/secret_key").to_owned();
    let server = place.serve(&["--set", "server.live_mode=true"]);
    let shop = Shop { place, key, server };
    let mut session = McpSession::open(&shop, &shop.key);
    let tools = session.tools();
    assert!(tools.contains("list_invoices") && tools.contains("retrieve_settings"));
    for tool in ["create_invoice", "update_settings", "simulate_payment"] {
        assert!(!tools.contains(tool), "{tool}");
    }
    let settings = session.answer("retrieve_settings", &json!({}));
    assert_eq!(settings["livemode"], true, "{settings}");
    let body = json!({ "amount": "25.00", "currency": "USD" });
    let (has_failed, said) = session.call("create_invoice", &json!({ "body": body }));
    assert!(has_failed && said.contains("test mode only"), "{said}");
    let listed = session.answer("list_invoices", &json!({}));
    assert_eq!(listed["data"], json!([]), "nothing was made");
    session.close();
}

//! A primary, a standby that follows it, and which of the two a server reads what from.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::failover::{Cluster, folder};
use crate::common::browser::Browser;
use crate::common::{Client, Place, Reply, Server, comes_true_within, read_reply, text, until};

const USED: &str = "a replica answers lists and reports from now on";
const PASSED_OVER: &str = "a replica is passed over";

/// Every list that a replica may answer.
const LISTS: [&str; 9] = [
    "/v1/invoices",
    "/v1/payments",
    "/v1/refunds",
    "/v1/payment_links",
    "/v1/customers",
    "/v1/plans",
    "/v1/subscriptions",
    "/v1/events",
    "/v1/webhook_deliveries",
];

const BALANCES: &str = "/v1/reconciliation/balances";

fn url(cluster: &Cluster) -> String {
    format!("postgres://postgres@127.0.0.1:{}/postgres", cluster.port)
}

/// A server with a replica, and an account whose lists are empty.
struct Shop<'c> {
    place: Place,
    standby: &'c Cluster,
    server: Server,
    operator: Client,
    client: Client,
    /// By which the owner comes in.
    link: String,
    settings: Vec<String>,
}

impl<'c> Shop<'c> {
    fn open(primary: &Cluster, standby: &'c Cluster) -> Shop<'c> {
        Shop::open_with(primary, standby, &[])
    }

    fn open_with(primary: &Cluster, standby: &'c Cluster, more: &[&str]) -> Shop<'c> {
        let place = Place::new();
        let settings = vec![
            "--database".to_owned(),
            url(primary),
            "--set".to_owned(),
            format!("database.replicas={}", url(standby)),
        ];
        let words: Vec<&str> = settings.iter().map(String::as_str).collect();
        let owner = ["--owner", "ada@example.com"];
        let account = place.account(&[&words[..], &owner].concat());
        let own = [
            "--set",
            "metrics.listen=127.0.0.1:0",
            "--set",
            "webhooks.allow_private_addresses=true",
        ];
        let server = place.serve(&[&words[..], &own, more].concat());
        Shop {
            operator: server.operator(),
            client: server.client(text(&account, "/test/secret_key")),
            link: text(&account, "/dashboard_link").to_owned(),
            place,
            standby,
            server,
            settings,
        }
    }

    /// What a command says with the server's settings, or these in their place.
    fn till(&self, command: &str, more: &[&str]) -> String {
        let settings = self.settings.iter().map(String::as_str);
        let args: Vec<&str> = [command].into_iter().chain(settings).collect();
        let done = self.place.till(&[&args[..], more].concat());
        done.stdout + &done.stderr
    }

    /// What an answer to a POST shows, and its position.
    fn post(&self, path: &str, name: &str, body: &Value) -> (Value, String) {
        let reply = self.client.post(path, name, body).unwrap();
        let position = reply.header("till-min-seq").unwrap_or_default().to_owned();
        let shown = reply.json();
        assert!((200..300).contains(&reply.status), "{path}: {shown}");
        assert!(position.parse::<u64>().is_ok_and(|it| it > 0), "{position}");
        (shown, position)
    }

    fn invoice(&self, name: &str) -> (String, String) {
        let body = json!({ "amount": "5", "currency": "USD", "assets": ["USDC@eip155:84532"] });
        let (made, position) = self.post("/v1/invoices", name, &body);
        (text(&made, "/id").to_owned(), position)
    }

    fn get_with(&self, path: &str, position: &str) -> Reply {
        let mut stream = self.client.connect().unwrap();
        let header = format!("till-min-seq: {position}\r\n");
        let head = self.client.head("GET", path, &header);
        stream.write_all(head.as_bytes()).unwrap();
        read_reply(&mut stream).unwrap()
    }

    /// How many items a list has; with a position, at least as of that.
    fn count(&self, path: &str, position: Option<&str>) -> usize {
        let reply = match position {
            None => self.client.get(path).unwrap(),
            Some(position) => self.get_with(path, position),
        };
        let field = if path == BALANCES { "balances" } else { "data" };
        reply.expect(200)[field].as_array().unwrap().len()
    }

    fn metric(&self, name: &str) -> f64 {
        let shown = self.operator.get("/metrics").unwrap();
        let shown = String::from_utf8_lossy(&shown.body).into_owned();
        let mut lines = shown.lines().filter(|line| !line.starts_with('#'));
        let line = lines.find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.rsplit(' ').next()?.parse().ok());
        value.unwrap_or_else(|| panic!("{name} in {shown}"))
    }

    /// Its lines of the log may have been read before the operator's address was found there.
    fn until_used(&self) {
        until("a replica is used", || {
            self.metric("till_replica_usable") > 0.5
        });
    }

    /// The standby replays nothing from now on, and what it has is what the primary has.
    fn pause(&self) -> Paused<'c> {
        self.standby.ask("SELECT pg_wal_replay_pause()");
        until("replaying is paused", || {
            let sql = "SELECT pg_get_wal_replay_pause_state()";
            self.standby.tells(sql) == "paused"
        });
        Paused(self.standby)
    }
}

struct Paused<'c>(&'c Cluster);

impl Paused<'_> {
    fn end(self) {
        self.0.ask("SELECT pg_wal_replay_resume()");
    }
}

fn pair(folder: &Path) -> Option<(Cluster, Cluster)> {
    let primary = Cluster::new(folder)?;
    primary.start("");
    let standby = primary.standby();
    standby.start("");
    Some((primary, standby))
}

#[test]
fn lists_are_read_at_a_replica_and_whoever_wrote_sees_it_by_asking() {
    let folder = folder();
    let Some((primary, standby)) = pair(folder.path()) else {
        return;
    };
    let shop = Shop::open(&primary, &standby);
    shop.until_used();
    let (_, first) = shop.invoice("one");
    let with = |position: &str| shop.count("/v1/invoices", Some(position));
    assert_eq!(with(&first), 1);
    until("the replica has it", || {
        shop.count("/v1/invoices", None) == 1
    });
    let paused = shop.pause();
    let (two, second) = shop.invoice("two");
    assert!(second.parse::<u64>().unwrap() > first.parse().unwrap());
    assert_eq!(shop.count("/v1/invoices", None), 1, "of the replica");
    assert_eq!(with(&first), 1, "the replica is as far as that");
    assert_eq!(with(&second), 2, "of the primary");
    let found = shop.client.get(&format!("/v1/invoices/{two}")).unwrap();
    found.expect(200);
    // People who are signed in see what was done without asking for it.
    let mut browser = Browser::new(&shop.server, "ada");
    browser.enter("invites/accept", &shop.link);
    browser.set_mode("test");
    let seen = browser.get("/v1/invoices");
    assert_eq!(seen["data"].as_array().unwrap().len(), 2);
    for wrong in ["", "-1", "soon", "0/16B3748", "1, 2", "9223372036854775808"] {
        for path in ["/v1/invoices", BALANCES] {
            let refused = shop.get_with(path, wrong).expect(400);
            let told = (
                text(&refused, "/error/code"),
                text(&refused, "/error/param"),
            );
            assert_eq!(told, ("parameter_invalid", "Till-Min-Seq"), "{wrong}");
        }
    }
    // The pages after one that was read at the primary are read there, too.
    shop.invoice("three");
    let (_, fourth) = shop.invoice("four");
    let mut seen = 0;
    let mut page = shop.get_with("/v1/invoices?limit=1", &fourth).expect(200);
    loop {
        seen += 1;
        let Some(cursor) = page["next_cursor"].as_str() else {
            break;
        };
        let next = format!("/v1/invoices?limit=1&cursor={cursor}");
        page = shop.client.get(&next).unwrap().expect(200);
    }
    assert_eq!(seen, 4);
    // Ten seconds late is too late.
    let late = || shop.count("/v1/invoices", None) == 4;
    assert!(comes_true_within(Duration::from_secs(30), late));
    shop.server.log_until("s behind");
    assert!(shop.metric("till_replica_lag_seconds") > 9.0);
    paused.end();
    shop.server.log_until(USED);
    let read = shop.metric("till_replica_reads_total");
    assert_eq!(with(&fourth), 4);
    until("the replica is asked", || {
        shop.metric("till_replica_reads_total") > read
    });
    // A number that no answer ever had asks for no more than the primary has.
    until("the replica has what the primary has", || {
        let read = shop.metric("till_replica_reads_total");
        with("9223372036854775807") == 4 && shop.metric("till_replica_reads_total") > read
    });
    // A page of the replica leads to the next.
    let page = shop.client.get("/v1/invoices?limit=3").unwrap().expect(200);
    let cursor = text(&page, "/next_cursor");
    assert_eq!(
        shop.count(&format!("/v1/invoices?cursor={cursor}"), None),
        1
    );
    shop.server.stop();
}

#[test]
fn what_decides_is_never_read_at_a_replica() {
    let folder = folder();
    let Some((primary, standby)) = pair(folder.path()) else {
        return;
    };
    let shop = Shop::open(&primary, &standby);
    shop.until_used();
    let (_, position) = shop.post(
        "/v1/merchant/settings",
        "url",
        &json!({ "webhook_url": "http://127.0.0.1:1/" }),
    );
    assert_eq!(shop.count("/v1/events", Some(&position)), 0);
    until("the replica has it", || {
        let behind = "SELECT count(*) FROM merchants WHERE webhook_url IS NOT NULL";
        standby.tells(behind) == "1"
    });
    let _paused = shop.pause();
    let read = shop.metric("till_replica_reads_total");
    // Nothing of all this is known to the replica, and each step depends on the one before.
    let (invoice, _) = shop.invoice("one");
    let pay = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
    let over = json!({ "amount": "7" });
    shop.post(&pay, "pay", &over);
    let at = format!("/v1/invoices/{invoice}");
    let paid = || shop.client.get(&at).unwrap().expect(200);
    until("it is overpaid", || text(&paid(), "/status") == "overpaid");
    let path = format!("{at}/refunds");
    let (refund, _) = shop.post(&path, "refund", &json!({ "amount": "2" }));
    let refused = shop.client.post(&path, "more", &json!({ "amount": "6" }));
    assert_eq!(refused.unwrap().status, 409, "it exceeds what is left");
    let cancel = format!("/v1/refunds/{}/cancel", text(&refund, "/id"));
    shop.post(&cancel, "cancel", &json!({}));
    let again = shop.client.post(&path, "refund", &json!({ "amount": "2" }));
    let again = again.unwrap();
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let customer = json!({ "name": "Ada" });
    let (customer, _) = shop.post("/v1/customers", "customer", &customer);
    let plan = json!({ "name": "P", "amount": "5", "currency": "USD", "interval": "month" });
    let (plan, _) = shop.post("/v1/plans", "plan", &plan);
    let subscription = json!({ "customer": customer["id"], "plan": plan["id"] });
    shop.post("/v1/subscriptions", "subscription", &subscription);
    let link = json!({ "amount_type": "fixed", "amount": "5", "currency": "USD" });
    let (_, last) = shop.post("/v1/payment_links", "link", &link);
    // All the while the replica was asked for nothing.
    assert!(shop.metric("till_replica_reads_total") <= read);
    for path in LISTS.into_iter().chain([BALANCES]) {
        assert_eq!(shop.count(path, None), 0, "{path} of the replica");
        assert_ne!(shop.count(path, Some(&last)), 0, "{path} of the primary");
    }
    for path in ["/v1/reconciliation", "/v1/reconciliation/export"] {
        let bytes = |reply: Reply| {
            assert_eq!(reply.status, 200, "{path}");
            reply.body.len()
        };
        let stale = bytes(shop.client.get(path).unwrap());
        let fresh = bytes(shop.get_with(path, &last));
        assert!(fresh > stale + 100, "{path}: {stale} and {fresh}");
    }
    shop.server.stop();
}

/// A server all of whose processes stand still, until dropped.
struct Frozen<'c>(&'c Cluster);

impl<'c> Frozen<'c> {
    fn freeze(cluster: &'c Cluster) -> Frozen<'c> {
        cluster.signal("STOP");
        Frozen(cluster)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        self.0.signal("CONT");
    }
}

#[test]
fn a_replica_that_is_gone_or_silent_is_passed_over_and_used_again_when_it_is_back() {
    let folder = folder();
    let Some(primary) = Cluster::new(folder.path()) else {
        return;
    };
    primary.start("");
    let standby = primary.standby();
    // It is not there when the server starts.
    let shop = Shop::open(&primary, &standby);
    let count = || shop.count("/v1/invoices", None);
    shop.invoice("one");
    assert_eq!(count(), 1);
    assert!(shop.metric("till_replica_fallbacks_total{reason=\"unusable\"}") > 0.5);
    standby.start("");
    shop.server.log_until(USED);
    until("it says so", || shop.metric("till_replica_usable") > 0.5);
    let read = shop.metric("till_replica_reads_total");
    assert_eq!(count(), 1);
    until("it is read from", || {
        shop.metric("till_replica_reads_total") > read
    });
    // It falls silent with a connection that was good.
    let frozen = Frozen::freeze(&standby);
    let (_, position) = shop.invoice("two");
    assert_eq!(count(), 2, "the primary answers in its place");
    assert_eq!(shop.count("/v1/invoices", Some(&position)), 2);
    shop.server.log_until(PASSED_OVER);
    drop(frozen);
    shop.server.log_until(USED);
    // It dies, and nobody notices.
    standby.control(&["-m", "immediate", "stop"]);
    for name in ["three", "four", "five"] {
        shop.invoice(name);
        count();
    }
    assert_eq!(count(), 5);
    shop.server.log_until(PASSED_OVER);
    until("it says so", || shop.metric("till_replica_usable") < 0.5);
    standby.start("");
    shop.server.log_until(USED);
    // A promoted one is somebody else's database.
    standby.control(&["promote"]);
    shop.server.log_until("it is not a standby");
    shop.invoice("six");
    assert_eq!(count(), 6);
    shop.server.stop();
}

/// Else all that replicas have taken off a busy primary would fall back on it.
#[test]
fn a_replica_of_a_busy_primary_is_read_from() {
    let folder = folder();
    let Some((primary, standby)) = pair(folder.path()) else {
        return;
    };
    let shop = Shop::open_with(&primary, &standby, &["--set", "database.readers=2"]);
    shop.until_used();
    let (invoice, _) = shop.invoice("one");
    let at = format!("/v1/invoices/{invoice}");
    let busy = Duration::from_secs(8);
    let lock = format!(
        "BEGIN; LOCK TABLE invoices; SELECT pg_sleep({}); COMMIT",
        busy.as_secs()
    );
    let is_over = AtomicBool::new(false);
    let passed_over = thread::scope(|scope| {
        // Whoever reads this table at the primary waits, and others wait for their connections.
        scope.spawn(|| primary.ask(&lock));
        for _ in 0..8 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    shop.client.get(&at).ok();
                }
            });
        }
        let passed_over = || shop.metric("till_replica_usable") < 0.5;
        let passed_over = comes_true_within(busy, passed_over);
        is_over.store(true, Ordering::Relaxed);
        passed_over
    });
    assert!(!passed_over);
    shop.server.stop();
}

#[test]
fn check_says_how_each_replica_stands() {
    let folder = folder();
    let Some((primary, standby)) = pair(folder.path()) else {
        return;
    };
    let shop = Shop::open(&primary, &standby);
    let checked = shop.till("check", &[]);
    let name = format!("ok replica 127.0.0.1:{}/postgres — a standby", standby.port);
    assert!(checked.contains(&name), "{checked}");
    let but = |url: &str| {
        let replicas = format!("database.replicas={url}");
        shop.till("check", &["--set", &replicas])
    };
    let checked = but(&url(&primary));
    let line = format!("FAIL replica 127.0.0.1:{}/postgres — ", primary.port);
    assert!(checked.contains(&line), "{checked}");
    assert!(checked.contains("it is not a standby"), "{checked}");
    let checked = but("postgres://postgres:hunter2@127.0.0.1:1/postgres");
    let line = "FAIL replica 127.0.0.1:1/postgres — ";
    assert!(
        checked.contains(line) && checked.contains("refused"),
        "{checked}"
    );
    assert!(!checked.contains("hunter2"), "{checked}");
    let shown = shop.till("config", &[]);
    assert!(shown.contains("database.replicas"), "{shown}");
    assert!(!shown.contains(&format!(":{}", standby.port)), "{shown}");
    shop.server.stop();
}

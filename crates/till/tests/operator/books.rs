//! Signed books at the command line: listing, exporting and verifying, with the server, beside it and with files alone.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use till_store::testing::{Dialect, fresh};
use till_store::{Db, DbConfig, Queries as _};

use crate::common::{Place, Server, text, until};

const JOURNAL: &str = "journal.jsonl";
const DIGESTS: &str = "digests.json";

/// Somebody at the tables themselves.
fn by_hand(url: &str, statements: &[&str]) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let db = Db::open(&DbConfig::new(url.to_owned())).await.unwrap();
        let mut tx = db.begin().await.unwrap();
        for sql in statements {
            tx.run(sql, &[]).await.unwrap();
        }
        tx.commit().await.unwrap();
        db.close().await;
    });
}

fn without_triggers(url: &str) {
    match url.starts_with("sqlite:") {
        true => by_hand(
            url,
            &[
                "DROP TRIGGER journal_no_update",
                "DROP TRIGGER journal_no_delete",
            ],
        ),
        false => by_hand(url, &["DROP TRIGGER journal_no_update ON journal"]),
    }
}

fn pay(server: &Server, key: &str, name: &str) {
    let client = server.client(key);
    let body = json!({ "amount": "5", "currency": "USD", "assets": ["USDC@eip155:84532"] });
    let made = client.post("/v1/invoices", name, &body).unwrap();
    let made = made.expect(201);
    let pay = format!(
        "/v1/test_helpers/invoices/{}/simulate_payment",
        text(&made, "/id")
    );
    let paid = client.post(&pay, &format!("pay-{name}"), &json!({}));
    paid.unwrap().expect(200);
}

/// A shop with three payments on three days that are over, and a digest of each.
struct Shop<'p> {
    place: &'p Place,
    database: [&'p str; 2],
    account: String,
    public_key: String,
    days: Vec<String>,
}

impl<'p> Shop<'p> {
    fn open(place: &'p Place, url: &'p str) -> Shop<'p> {
        let database = ["--database", url];
        let account = place.account(&database);
        let key = text(&account, "/test/secret_key");
        let server = place.serve(&database);
        for name in ["one", "two", "three"] {
            pay(&server, key, name);
        }
        server.stop();
        without_triggers(url);
        by_hand(
            url,
            &[
                "UPDATE journal SET created_at = created_at - 86400000 * \
                 (SELECT COUNT(DISTINCT o.entry) FROM journal o WHERE o.entry >= journal.entry)",
                "UPDATE undigested_entries SET day = day - \
                 (SELECT COUNT(*) FROM undigested_entries o WHERE o.entry >= undigested_entries.entry)",
            ],
        );
        let server = place.serve(&database);
        let mut shop = Shop {
            place,
            database,
            account: text(&account, "/account").to_owned(),
            public_key: String::new(),
            days: Vec::new(),
        };
        until("three digests", || shop.digests().len() == 3);
        let keys = server.client("").get("/.well-known/till-ledger.json");
        let keys = keys.unwrap().expect(200);
        server.stop();
        shop.public_key = text(&keys, "/keys/0/public_key").to_owned();
        let days = shop.digests();
        shop.days = days.iter().map(|it| text(it, "/day").to_owned()).collect();
        shop
    }

    fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let of = ["--account", &*self.account, "--mode", "test"];
        [args, &of, &self.database].concat()
    }

    fn digests(&self) -> Vec<Value> {
        let listed = self.place.till(&self.args(&["digest", "list", "--json"]));
        listed.json().as_array().unwrap().clone()
    }

    /// The journal of all days as lines.
    fn journal(&self) -> Vec<String> {
        let (from, to) = (&*self.days[0], &*self.days[2]);
        let export = ["journal", "export", "--from", from, "--to", to];
        let printed = self.place.till(&self.args(&export)).ok().stdout;
        printed.lines().map(str::to_owned).collect()
    }

    /// Checks files in a folder that has nothing else: no database, no key file, no configuration.
    fn verify(&self, journal: &[String], more: &[&str]) -> crate::common::Done {
        let elsewhere = Place::new();
        let text: String = journal.iter().flat_map(|line| [&**line, "\n"]).collect();
        elsewhere.write(JOURNAL, &text);
        elsewhere.write(DIGESTS, &Value::from(self.digests()).to_string());
        let key = ["--public-key", &*self.public_key];
        let key = if more.is_empty() { &key } else { more };
        let verify = [
            "digest",
            "verify",
            "--journal",
            JOURNAL,
            "--digests",
            DIGESTS,
        ];
        let done = elsewhere.till(&[&verify, key].concat());
        assert_eq!(elsewhere.files(), [DIGESTS, JOURNAL], "nothing is made");
        done
    }

    #[track_caller]
    fn names(&self, done: crate::common::Done, day: usize) {
        let line = done.fails(1);
        let expected = format!("till: {} does not fit: ", self.days[day]);
        assert!(line.starts_with(&expected), "{line}");
    }
}

fn history_is_proven_and_every_change_is_named(place: &Place, url: &str) {
    let shop = Shop::open(place, url);
    let days: BTreeSet<&String> = shop.days.iter().collect();
    assert_eq!(days.len(), 3);
    let listed = place.till(&shop.args(&["digest", "list"])).ok().stdout;
    assert_eq!(listed.lines().count(), 3);
    assert!(listed.starts_with(&shop.days[0]), "{listed}");
    let one = [
        "digest",
        "list",
        "--json",
        "--from",
        &shop.days[1],
        "--to",
        &shop.days[1],
    ];
    assert_eq!(
        place
            .till(&shop.args(&one))
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let verify = shop.args(&["digest", "verify"]);
    let said = place.till(&verify).ok().stdout;
    assert!(said.starts_with("all 3 digests from "), "{said}");

    let journal = shop.journal();
    assert_eq!(journal.len(), 3);
    let said = shop.verify(&journal, &[]).ok().stdout;
    assert!(said.starts_with("all 3 digests from "), "{said}");
    // Altered, removed, put in at each place, and in another order.
    let mut altered = journal.clone();
    altered[1] = altered[1].replace("5000000", "5000001");
    assert_ne!(altered, journal);
    shop.names(shop.verify(&altered, &[]), 1);
    for at in 0..3 {
        let mut removed = journal.clone();
        removed.remove(at);
        shop.names(shop.verify(&removed, &[]), at);
        let mut put_in = journal.clone();
        put_in.insert(at + 1, journal[at].clone());
        shop.names(shop.verify(&put_in, &[]), at);
    }
    shop.names(
        shop.verify(&[&journal[1..], &journal[..1]].concat(), &[]),
        0,
    );
    // Another key, and none.
    let other = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";
    shop.names(shop.verify(&journal, &["--public-key", other]), 0);
    shop.verify(&journal, &["--public-key", "abc"]).fails(2);

    // A list of the API does not say whose they are.
    let elsewhere = Place::new();
    elsewhere.write(JOURNAL, &(journal.join("\n") + "\n"));
    let mut listed = shop.digests();
    for digest in &mut listed {
        let fields = digest.as_object_mut().unwrap();
        fields.remove("account");
        fields.remove("mode");
    }
    listed.reverse();
    elsewhere.write(
        DIGESTS,
        &json!({ "object": "list", "data": listed }).to_string(),
    );
    let files = [
        "digest",
        "verify",
        "--journal",
        JOURNAL,
        "--digests",
        DIGESTS,
        "--public-key",
        &shop.public_key,
    ];
    elsewhere.till(&files).fails(2);
    let mine = ["--account", &*shop.account, "--mode", "test"];
    elsewhere.till(&[&files, &mine[..]].concat()).ok();
    let others = ["--account", "acct_x", "--mode", "test"];
    shop.names(elsewhere.till(&[&files, &others[..]].concat()), 0);

    // The database itself: what was changed is named beside it, and in what it prints.
    by_hand(
        url,
        &["UPDATE journal SET amount = '1' WHERE entry = (SELECT MAX(entry) FROM journal)"],
    );
    shop.names(place.till(&verify), 2);
    shop.names(shop.verify(&shop.journal(), &[]), 2);
    let until_then = shop.args(&["digest", "verify", "--to", &shop.days[1]]);
    place.till(&until_then).ok();
    by_hand(
        url,
        &["DELETE FROM journal WHERE entry = (SELECT MIN(entry) FROM journal)"],
    );
    shop.names(place.till(&verify), 0);
    shop.names(shop.verify(&shop.journal(), &[]), 0);
}

#[test]
fn history_is_proven_and_every_change_is_named_on_sqlite() {
    let place = Place::new();
    let url = format!("sqlite:{}", place.path("shop.db").display());
    history_is_proven_and_every_change_is_named(&place, &url);
}

#[test]
fn history_is_proven_and_every_change_is_named_on_postgres() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    history_is_proven_and_every_change_is_named(&Place::new(), &test.config.url);
    runtime.block_on(test.remove());
}

#[test]
fn the_key_that_signs_is_made_with_the_key_file_and_can_be_renewed() {
    let place = Place::new();
    place.account(&[]);
    let show = |place: &Place| place.till(&["key-file", "show", "--json"]).json();
    let before = show(&place);
    assert_eq!(before["files"][0]["encrypts"], true);
    let keys = before["ledger_keys"].as_array().unwrap();
    assert_eq!(keys.len(), 1);
    let said = place.till(&["key-file", "show"]).ok().stdout;
    assert!(said.contains(text(&keys[0], "/public_key")), "{said}");
    let secret = fs::read_to_string(place.path("till.key")).unwrap();
    assert!(!said.contains(secret.trim()));
    let said = place.till(&["key-file", "renew-ledger-key"]).ok().stdout;
    let after = show(&place);
    assert_eq!(after["ledger_keys"][0], keys[0]);
    assert!(
        said.contains(text(&after, "/ledger_keys/1/public_key")),
        "{said}"
    );
}

#[test]
fn what_is_typed_wrong_about_the_books_is_a_usage_error() {
    let place = Place::new();
    place.account(&[]);
    let of = ["--account", "acct_x", "--mode", "test"];
    let list = [&["digest", "list"], &of[..]].concat();
    assert!(place.till(&list).fails(1).contains("there is no account"));
    let days = [
        "journal",
        "export",
        "--from",
        "2026-02-02",
        "--to",
        "2026-02-01",
    ];
    place.till(&[&days, &of[..]].concat()).fails(2);
    for args in [
        &["digest", "verify"][..],
        &["digest", "verify", "--journal", "x"],
        &[
            "journal",
            "export",
            "--account",
            "x",
            "--mode",
            "test",
            "--from",
            "today",
            "--to",
            "2026-01-01",
        ],
    ] {
        assert_eq!(place.till(args).status, Some(2), "{args:?}");
    }
}

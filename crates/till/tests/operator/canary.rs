//! Secrets, tokens, cookies and addresses of people, planted and made on a tour through the dashboard: none of them is in
//! a line of the log, in the audit log, or in the part of a link that servers and proxies see.

use serde_json::{Value, json};
use till_store::testing::{Dialect, fresh};

use crate::common::browser::Browser;
use crate::common::{Client, Place, Server, text};

/// What must be nowhere, each with what it is.
#[derive(Default)]
struct Planted(Vec<(&'static str, String)>);

impl Planted {
    fn add(&mut self, what: &'static str, secret: &str) {
        assert!(secret.len() >= 8, "{what}: {secret}");
        self.0.push((what, secret.to_owned()));
    }

    /// A link whose secret stands behind the `#`.
    fn add_link(&mut self, what: &'static str, link: &str) {
        let (seen, fragment) = link.split_once('#').expect("a fragment");
        assert!(!seen.contains('?') && !seen.contains('='), "{seen}");
        let (_, token) = fragment.split_once('=').expect("a token");
        self.add(what, token);
    }

    fn add_session(&mut self, browser: &Browser) {
        let (_, token) = browser.cookie.split_once('=').expect("a cookie");
        self.add("a session's cookie", token);
        self.add("a CSRF token", &browser.csrf);
    }

    #[track_caller]
    fn check(&self, place: &str, said: &str) {
        for (what, secret) in &self.0 {
            assert!(
                !said.contains(secret.as_str()),
                "{what} is in {place}: {said}"
            );
        }
    }
}

const OWNER: &str = "canary.owner@example.com";
const INVITED: &str = "canary.invited@example.com";
const CONTACT: &str = "canary.contact@example.com";

/// Whoever owns the account comes in, and sets everything up.
fn settle_in(server: &Server, account: &Value, planted: &mut Planted) -> Browser {
    let mut owner = Browser::new(server, "owner");
    owner.enter("invites/accept", text(account, "/dashboard_link"));
    planted.add_session(&owner);
    owner.register_passkey();
    let totp = owner.confirmed("totp/setup", &Value::Null).expect(200);
    planted.add("a seed of codes", text(&totp, "/secret"));
    planted.add_session(&owner);
    let wrong = owner.post("totp/confirm", &json!({ "code": "canary-code" }));
    planted.add("a code", "canary-code");
    wrong.expect(400);
    let application = json!({ "contact_email": CONTACT, "business_name": "Corner shop" });
    owner.post("application", &application).expect(200);
    owner.set_mode("test");
    owner
}

/// Changes, keys and an invitation.
fn change_things(server: &Server, owner: &mut Browser, planted: &mut Planted) {
    let url = "https://example.com/hooks/canary-url-token?key=canary-url-token";
    planted.add("a webhook URL's token", "canary-url-token");
    let change = json!({ "kind": "webhook_url", "webhook_url": url, "delay_seconds": 600 });
    owner.post("changes", &change);
    let secret = json!({ "kind": "webhook_secret", "delay_seconds": 600 });
    let secret = owner.post("changes", &secret).expect(201);
    planted.add("a webhook secret", text(&secret, "/secret"));
    let key = json!({ "kind": "secret", "name": "Shop" });
    let key = owner.post("api_keys", &key).expect(201);
    planted.add("an API key", text(&key, "/key"));
    let rolled = owner.post(
        &format!("api_keys/{}/roll", text(&key, "/id")),
        &Value::Null,
    );
    planted.add("a rolled API key", text(&rolled.expect(200), "/key"));
    let invite = json!({ "email": INVITED, "role": "viewer" });
    let invite = owner.post("invites", &invite).expect(201);
    planted.add_link("an invitation", text(&invite, "/link"));
    let mut invited = Browser::new(server, "invited");
    invited.enter("invites/accept", text(&invite, "/link"));
    planted.add_session(&invited);
    invited.post("sign_out", &Value::Null).expect(200);
}

/// A customer and a refund whose claim is opened by its token.
fn sell(client: &Client, owner: &mut Browser, planted: &mut Planted) {
    let customer = json!({ "email": "canary.customer@example.com" });
    planted.add("a customer's address", "canary.customer@example.com");
    client.post("/v1/customers", "customer", &customer).unwrap();
    let body = json!({ "amount": "25.00", "currency": "USD" });
    let invoice = owner.post("/v1/invoices", &body).expect(201);
    let id = text(&invoice, "/id");
    let pay = format!("/v1/test_helpers/invoices/{id}/simulate_payment");
    owner.post(&pay, &json!({})).expect(200);
    let path = format!("/v1/invoices/{id}/refunds");
    let refund = owner.post(&path, &json!({ "amount": "5" })).expect(201);
    let token = text(&refund, "/claim_token");
    planted.add("a refund's claim token", token);
    client.get(&format!("/v1/refund_claims/{token}")).unwrap();
}

/// Everything that is refused says nothing of what was sent either.
fn be_refused(server: &Server, secret_key: &str, planted: &mut Planted) {
    let mut stranger = Browser::new(server, "stranger");
    planted.add("a wrong token", "canary-wrong-token");
    for path in [
        "sign_in/link/confirm",
        "sign_up/confirm",
        "invites/open",
        "invites/accept",
    ] {
        let body = json!({ "token": "canary-wrong-token" });
        stranger.post(path, &body).expect(401);
        stranger
            .post(&format!("{path}?token=canary-wrong-token"), &body)
            .expect(400);
    }
    planted.add("an unknown address", "canary.nobody@example.com");
    let asked = json!({ "email": "canary.nobody@example.com" });
    stranger.post("sign_in/link", &asked).expect(409);
    stranger.cookie = "till_session=canary-stale-cookie".to_owned();
    planted.add("a stale cookie", "canary-stale-cookie");
    stranger.post("sign_out", &Value::Null).expect(401);
    let client = server.client("");
    let in_url = client
        .get(&format!("/v1/invoices?key={secret_key}"))
        .unwrap();
    in_url.expect(400);
    client.get("/v1/dashboard/canary-path-token").unwrap();
    planted.add("a token in a path that is no route's", "canary-path-token");
}

/// What the audit log has, without the labels that are looked up when it is read.
fn audit_log(owner: &Browser) -> Vec<Value> {
    let mut all = Vec::new();
    let mut path = "audit_events?limit=100".to_owned();
    loop {
        let page = owner.get(&path);
        for event in page["data"].as_array().expect("a list") {
            let mut event = event.clone();
            event["actor"]["label"] = Value::Null;
            all.push(event);
        }
        let Some(cursor) = page["next_cursor"].as_str() else {
            return all;
        };
        path = format!("audit_events?limit=100&cursor={cursor}");
    }
}

fn no_secret_is_told_on_a_tour(place: &Place, database: &[&str]) {
    let owner = ["--owner", OWNER, "--operator"];
    let account = place.account(&[&owner[..], database].concat());
    let mut planted = Planted::default();
    for (what, email) in [
        ("the owner's", OWNER),
        ("the invited's", INVITED),
        ("the contact's", CONTACT),
    ] {
        planted.add(what, email);
    }
    planted.add_link("the owner's invitation", text(&account, "/dashboard_link"));
    for name in ["/test/secret_key", "/test/webhook_secret"] {
        planted.add("what the account was made with", text(&account, name));
    }
    let server = place.serve(&[&["--set", "log.level=debug"], database].concat());
    let mut owner = settle_in(&server, &account, &mut planted);
    change_things(&server, &mut owner, &mut planted);
    let secret_key = text(&account, "/test/secret_key");
    let client = server.client(secret_key);
    sell(&client, &mut owner, &mut planted);
    be_refused(&server, secret_key, &mut planted);
    let link = ["user", "link", "--email", OWNER, "--json"];
    let link = place.till(&[&link[..], database].concat()).json();
    planted.add_link("a link of the command line", text(&link, "/link"));
    let mut again = Browser::new(&server, "again");
    again.enter("sign_in/link/confirm", text(&link, "/link"));
    planted.add_session(&again);

    let events = audit_log(&owner);
    assert!(events.len() >= 10, "{}", events.len());
    for event in &events {
        planted.check("the audit log", &event.to_string());
    }
    let lines = server.stop_and_read();
    let requests = lines.iter().filter(|line| line.contains("/v1/"));
    assert!(requests.count() >= 20, "{lines:?}");
    for line in &lines {
        planted.check("the log", line);
    }
}

#[test]
fn no_secret_is_told_on_a_tour_on_sqlite() {
    no_secret_is_told_on_a_tour(&Place::new(), &[]);
}

#[test]
fn no_secret_is_told_on_a_tour_on_postgres() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    no_secret_is_told_on_a_tour(&Place::new(), &["--database", &test.config.url]);
    runtime.block_on(test.remove());
}

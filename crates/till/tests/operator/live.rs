//! What live mode asks a person for, done at the shell.

use serde_json::json;
use till_store::testing::{Dialect, fresh};

use crate::common::{Place, text};

fn live_mode_is_served_from_the_shell(place: &Place, database: &[&str]) {
    let destination = "eip155=0x52908400098527886E0F7030069857D2E4169EE7";
    let more = [&["--live", "--destination", destination], database].concat();
    let account = place.account(&more);
    let id = text(&account, "/account");
    let serve = [&["--set", "server.live_mode=true"], database].concat();
    let server = place.serve(&serve);
    let client = server.client(text(&account, "/live/secret_key"));
    let settings = || client.get("/v1/merchant/settings").unwrap().expect(200);
    let url = "https://shop.example/till";
    let refused = client.post(
        "/v1/merchant/settings",
        "url",
        &json!({ "webhook_url": url }),
    );
    refused.unwrap().expect(403);

    let till = |args: &[&str]| place.till(&[args, database].concat());
    let of_live = ["--account", id, "--mode", "live"];
    let set = |url: &str| till(&[&["account", "set-webhook", "--url", url], &of_live[..]].concat());
    set(url).ok();
    assert_eq!(text(&settings(), "/webhook_url"), url);
    let line = set("http://127.0.0.1/").fails(1);
    assert!(line.contains("webhook_url is refused"), "{line}");
    assert_eq!(text(&settings(), "/webhook_url"), url);

    let roll = [&["account", "roll-webhook-secret", "--json"], &of_live[..]].concat();
    let rolled = till(&roll).json();
    let before = text(&account, "/live/webhook_secret");
    assert!(text(&rolled, "/webhook_secret").starts_with("whsec_"));
    assert_ne!(text(&rolled, "/webhook_secret"), before);

    // A payment that is held: in test mode, where it can be simulated.
    let client = server.client(text(&account, "/test/secret_key"));
    let limit = json!({ "manual_review_amount": "1.00" });
    let set = client
        .post("/v1/merchant/settings", "limit", &limit)
        .unwrap();
    set.expect(200);
    let held = |name: &str| {
        let body = json!({ "amount": "5", "currency": "USD", "assets": ["USDC@eip155:84532"] });
        let made = client
            .post("/v1/invoices", name, &body)
            .unwrap()
            .expect(201);
        let id = text(&made, "/id").to_owned();
        let pay = format!("/v1/test_helpers/invoices/{id}/simulate_payment");
        let paid = client.post(&pay, &format!("pay-{name}"), &json!({}));
        paid.unwrap().expect(200);
        id
    };
    let status = |id: &str| {
        let found = client
            .get(&format!("/v1/invoices/{id}"))
            .unwrap()
            .expect(200);
        text(&found, "/status").to_owned()
    };
    let (one, two) = (held("one"), held("two"));
    assert_eq!(status(&one), "under_review");
    till(&["review", "accept", &one, "--reason", "Known customer"]).ok();
    assert_eq!(status(&one), "paid");
    till(&["review", "reject", &two, "--reason", "Unknown sender"]).ok();
    assert_eq!(status(&two), "cancelled");
    let line = till(&["review", "accept", &two, "--reason", "Again"]).fails(1);
    assert!(line.starts_with("till: "), "{line}");
    let line = till(&["review", "accept", "inv_x", "--reason", "Why"]).fails(1);
    assert!(line.contains("there is no invoice"), "{line}");
    till(&["review", "accept", &one, "--reason", " "]).fails(2);
    server.stop();
}

#[test]
fn live_mode_is_served_from_the_shell_on_sqlite() {
    live_mode_is_served_from_the_shell(&Place::new(), &[]);
}

#[test]
fn live_mode_is_served_from_the_shell_on_postgres() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    live_mode_is_served_from_the_shell(&Place::new(), &["--database", &test.config.url]);
    runtime.block_on(test.remove());
}

//! What live mode asks a person for, done at the shell.

use serde_json::json;
use till_store::testing::{Dialect, fresh};

use crate::common::{Place, text, until};

fn live_mode_is_served_from_the_shell(place: &Place, database: &[&str]) {
    let destination = "eip155=0x8617E340B3D01FA5F11F306F4090FD50E238070D";
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

fn a_destination_is_changed_after_a_delay_and_what_was_shown_stays(
    place: &Place,
    database: &[&str],
) {
    let (old, new, third) = (
        "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    );
    let destination = format!("eip155={old}");
    let more = [&["--live", "--destination", &destination], database].concat();
    let account = place.account(&more);
    let id = text(&account, "/account");
    let rpc = ["--set", "networks.\"eip155:8453\".rpc=http://127.0.0.1:1"];
    let set = [&["--set", "server.live_mode=true"], &rpc[..], database].concat();
    let server = place.serve(&set);
    let client = server.client(text(&account, "/live/secret_key"));
    let settings = || client.get("/v1/merchant/settings").unwrap().expect(200);
    let in_use = || text(&settings(), "/registered_destinations/eip155").to_owned();
    let change = |mode: &str, delay: &str, more: &[&str]| {
        let delay = format!("dashboard.change_delay_s={delay}");
        let change = [
            "account",
            "change-destination",
            "--account",
            id,
            "--mode",
            mode,
        ];
        place.till(&[&change, more, &["--set", &delay], &rpc, database].concat())
    };
    let to = |address: &str| format!("eip155={address}");
    let shown = |name: &str| {
        let body = json!({ "amount": "5", "currency": "USD", "assets": ["USDC@eip155:8453"] });
        let made = client.post("/v1/invoices", name, &body).unwrap();
        let id = text(&made.expect(201), "/id").to_owned();
        let payer = server.client(text(&account, "/live/publishable_key"));
        let seen = payer.get(&format!("/v1/checkout/invoices/{id}")).unwrap();
        let option = seen.expect(200)["payment_options"][0].clone();
        let destination = option["address_derivation"]["destination"].clone();
        (option["address"].clone(), destination, id)
    };

    // Nobody was shown anything yet.
    let said = change("live", "86400", &["--destination", &to(third)]);
    let said = said.ok().stdout;
    for part in [old, third, "at once"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert_eq!(in_use(), third);
    change("live", "86400", &["--destination", &to(old)]).ok();
    let before = shown("before");
    assert_eq!(before.1, old);

    let said = change("live", "86400", &["--destination", &to(new)]);
    let said = said.ok().stdout;
    for part in [old, new, "takes effect at 20", "--cancel eip155"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    change("live", "86400", &["--destination", &to(third)]).fails(1);
    assert_eq!(shown("waiting").1, old);
    let list = ["account", "destinations", "--account", id];
    let listed = place.till(&[&list, database].concat()).ok().stdout;
    let line = listed.lines().find(|it| it.starts_with("live  eip155"));
    assert!(line.is_some_and(|it| it.contains(new)), "{listed}");
    let said = change("live", "86400", &["--cancel", "eip155"]).ok().stdout;
    assert!(said.contains(new), "{said}");
    change("live", "86400", &["--cancel", "eip155"]).fails(1);
    change("live", "86400", &["--destination", &to(old)]).fails(1);
    assert_eq!(change("live", "86400", &[]).status, Some(2));

    change("live", "1", &["--destination", &to(new)]).ok();
    until("it is in effect", || in_use() == new);
    let after = shown("after");
    assert_eq!(after.1, new);
    assert_ne!(after.0, before.0);
    let kept = client.get(&format!("/v1/invoices/{}", before.2)).unwrap();
    assert_eq!(kept.expect(200)["payment_options"][0]["address"], before.0);

    // In test mode there is nothing to wait for.
    let said = change("test", "86400", &["--destination", &to(new)]);
    assert!(said.ok().stdout.contains("at once"));
    let line = change("live", "1", &["--destination", "eip155=0x12"]).fails(1);
    assert!(line.starts_with("till: "), "{line}");
    server.stop();
}

#[test]
fn a_destination_is_changed_after_a_delay_and_what_was_shown_stays_on_sqlite() {
    a_destination_is_changed_after_a_delay_and_what_was_shown_stays(&Place::new(), &[]);
}

#[test]
fn a_destination_is_changed_after_a_delay_and_what_was_shown_stays_on_postgres() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let Some(test) = runtime.block_on(fresh(Dialect::Postgres)) else {
        return;
    };
    let database = ["--database", &test.config.url];
    a_destination_is_changed_after_a_delay_and_what_was_shown_stays(&Place::new(), &database);
    runtime.block_on(test.remove());
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

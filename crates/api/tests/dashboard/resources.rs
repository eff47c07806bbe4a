//! The API's resources by session: a mode and a cookie in the place of a key.

use std::time::Duration;

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::actor::{Actor, Origin};
use till_core::error::Code;
use till_core::money::Units;
use till_core::payment::Level;
use till_core::role::{Permission, Role};
use till_core::scope::Credential;
use till_engine::base::Asker;
use till_engine::base::asker::{Means, Member};
use till_engine::intake::{Door, Observation, Sighting, TransferOrigin, take_in};
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::gather::create_all;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::once::Once;
use till_engine::{Answer, Fail};
use tokio::io::AsyncReadExt as _;

use crate::browser::{Browser, member, owner};
use crate::given::{confirmed, give_passkey, set_role, user_of};
use crate::harness::{LIVE_USDC, Setup, Till, address, data, id, live, text};

fn order() -> Value {
    json!({ "amount": "25.00", "currency": "USD" })
}

async fn audit(till: &Till, action: &str) -> till_store::audit::AuditRow {
    let mut reader = till.engine().db.read().await.unwrap();
    let rows = till_store::audit::list(&mut reader, &till.scope(), 100)
        .await
        .unwrap();
    rows.into_iter()
        .find(|row| row.action.as_str() == action)
        .unwrap()
}

fn refusal(fail: Fail) -> Code {
    match fail {
        Fail::Refused(refusal) => refusal.code,
        other => panic!("{other:?}"),
    }
}

/// A secret key that this member made while they could.
async fn leaving_key(till: &Till, browser: &Browser) -> String {
    set_role(till, browser, Some(Role::Developer)).await;
    let made = browser
        .post("api_keys", json!({ "kind": "secret", "name": "x" }))
        .await;
    text(&made.ok(201)["key"])
}

/// An invoice of live mode, with a payment of it that waits for a decision about its amount.
pub async fn held_in_live(till: &Till, n: u8) -> Value {
    let live_post = |path: &str, body: Value| till.posting(path, body).key(till.live_key()).send();
    live_post(
        "/v1/merchant/settings",
        json!({ "manual_review_amount": "25" }),
    )
    .await
    .ok(200);
    let body = json!({ "amount": "25.00", "currency": "USD", "assets": [LIVE_USDC] });
    let invoice = live_post("/v1/invoices", body).await.ok(201);
    hold_another(till, &invoice, n).await;
    invoice
}

/// A payment of the invoice arrives, and is held.
async fn hold_another(till: &Till, invoice: &Value, n: u8) {
    let seen = [Observation {
        network: LIVE_USDC.split_once('@').unwrap().1.to_owned(),
        tx_hash: format!("0x{n:064x}"),
        place: 0,
        asset: LIVE_USDC.to_owned(),
        units: Units(25_000_000),
        arrived: None,
        registers: None,
        senders: Vec::new(),
        recipient: address(invoice, LIVE_USDC),
        sighting: Sighting::InBlock {
            level: Level::Final,
            number: 7,
            hash: "0xb".to_owned(),
            time: till_core::time::parse(&text(&invoice["created_at"])).unwrap(),
        },
        source: TransferOrigin::Chain,
    }];
    let seen = &seen[..];
    let scope = till.live_scope();
    let taken = till.engine().unit(&scope, |tx, context| {
        async move {
            let door = Door {
                engine: context.engine,
                effects: context.effects,
                only: Some(&context.scope),
            };
            take_in(tx, door, seen).await.map(drop)
        }
        .scope_boxed()
    });
    taken.await.unwrap();
}

on_every_engine! {
    async fn a_session_stands_in_for_a_key_where_a_mode_is_named(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        owner.get("/v1/invoices").await.refused(401, "api_key_missing", None);
        let browser = owner.in_mode("test");
        let made = browser.post("/v1/invoices", order()).await.ok(201);
        assert_eq!(till.retrieve(&id(&made)).await["id"], made["id"]);
        assert_eq!(data(&browser.get("/v1/invoices").await.ok(200)).len(), 1);
        assert!(text(&made["checkout_url"]).contains("pk"), "{made}");
        let with_key = browser.call("GET", "/v1/invoices").key(&till.account.test.secret_key);
        with_key.send().await.refused(400, "parameter_invalid", "Till-Mode");
        owner.in_mode("fast").get("/v1/invoices").await.refused(400, "parameter_invalid", "Till-Mode");
        browser.at("acct_other").get("/v1/invoices").await.refused(404, "resource_missing", "Till-Account");
        let checkout = browser.get(&format!("/v1/checkout/invoices/{}", id(&made))).await;
        checkout.refused(401, "api_key_missing", None);
    }

    async fn a_post_by_session_needs_origin_and_csrf_token(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let post = || browser.call("POST", "/v1/invoices").json(&order());
        post().without("origin").send().await.refused(403, "origin_not_allowed", None);
        post().without("cookie").send().await.refused(401, "session_missing", None);
        post().without("till-csrf").send().await.refused(403, "csrf_failed", None);
        post().without("idempotency-key").send().await.refused(400, "idempotency_key_required", "Idempotency-Key");
        browser.call("GET", "/v1/invoices").header("sec-fetch-site", "cross-site").send().await
            .refused(403, "origin_not_allowed", None);
        post().send().await.ok(201);
    }

    async fn a_session_and_a_key_of_the_account_share_their_idempotency_keys(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let first = browser.call("POST", "/v1/invoices").once("same").json(&order()).send().await.ok(201);
        let again = till.call("POST", "/v1/invoices").once("same").json(&order()).send().await;
        assert!(again.is_replay());
        assert_eq!(again.ok(201)["id"], first["id"]);
    }

    async fn live_mode_needs_a_server_an_approval_and_a_passkey(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("live");
        browser.get("/v1/invoices").await.refused(409, "livemode_disabled", None);
        browser.post("/v1/test_helpers/clock", json!({})).await.refused(403, "test_mode_only", None);
        let till = world.till_with(live()).await;
        let browser = member(&till, "second@example.com", Role::Owner).await.in_mode("live");
        browser.get("/v1/invoices").await.refused(409, "passkey_required", None);
        give_passkey(&till, &browser).await;
        browser.get("/v1/invoices").await.ok(200);
        let evm = till_chains::example_destination(till_core::asset::Family::Evm).to_owned();
        let setup = Setup { destinations: Some(vec![(till_core::asset::Family::Evm, till_core::asset::Mode::Test, evm)]), ..live() };
        let till = world.till_with(setup).await;
        let browser = member(&till, "third@example.com", Role::Owner).await.in_mode("live");
        give_passkey(&till, &browser).await;
        browser.get("/v1/invoices").await.refused(409, "mode_not_configured", None);
    }

    async fn the_audit_log_tells_who_and_from_where(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        browser.post("/v1/merchant/settings", json!({ "display_name": "Anna's" })).await.ok(200);
        let row = audit(&till, "settings.updated").await;
        assert_eq!(row.actor, Actor::member(&user_of(&browser).await));
        assert_eq!(row.user_agent.as_deref(), Some("Browser/1"));
        assert!(row.ip.is_some() && row.session_id.is_some() && row.request_id.is_some());
        let call = till.posting("/v1/merchant/settings", json!({ "display_name": "Bob's" })).header("user-agent", "Shop/2");
        call.send().await.ok(200);
        let row = audit(&till, "settings.updated").await;
        assert_eq!(row.user_agent.as_deref(), Some("Shop/2"));
        assert!(row.ip.is_some() && row.request_id.is_some() && row.session_id.is_none());
    }

    async fn support_rejects_and_an_admin_accepts(world: World) {
        let till = world.till().await;
        let support = member(&till, "s@example.com", Role::Support).await.in_mode("test");
        let admin = member(&till, "a@example.com", Role::Admin).await.in_mode("test");
        till.set(json!({ "manual_review_amount": "25" })).await;
        let mut held = Vec::new();
        for _ in 0..2 {
            let invoice = id(&till.invoice().await);
            till.simulate(&invoice, json!({})).await;
            held.push(invoice);
        }
        let decide = |by: &Browser, invoice: &str, decision: &str| {
            let (by, path) = (by.clone(), format!("/v1/invoices/{invoice}/resolve_review"));
            let body = json!({ "decision": decision, "reason": "r" });
            async move { by.post(&path, body).await }
        };
        decide(&support, &held[0], "accept").await.refused(403, "permission_denied", None);
        decide(&support, "inv_x", "accept").await.refused(403, "permission_denied", None);
        assert_eq!(decide(&support, &held[0], "reject").await.ok(200)["status"], "cancelled");
        assert_eq!(decide(&admin, &held[1], "accept").await.ok(200)["status"], "paid");
        let events = till.events(&held[1]).await;
        let resolved = events.iter().find(|event| event["type"] == "invoice.review_resolved").unwrap();
        assert_eq!(resolved["data"]["review"]["via"], "dashboard");
    }

    async fn accepting_in_live_mode_takes_a_passkey_s_yes(world: World) {
        let till = world.till_with(live()).await;
        let browser = owner(&till).await.in_mode("live");
        give_passkey(&till, &browser).await;
        let invoice = id(&held_in_live(&till, 1).await);
        let path = format!("/v1/invoices/{invoice}/resolve_review");
        let accept = json!({ "decision": "accept", "reason": "known" });
        browser.post(&path, accept.clone()).await.refused(403, "step_up_required", None);
        let body = accept.to_string();
        let other = confirmed(&till, &browser, &path, b"something else").await;
        let post = |confirmation: &str| browser.call("POST", &path).bytes(body.as_bytes()).header("content-type", "application/json").header("till-confirmation", confirmation);
        post(&other).send().await.refused(403, "step_up_required", None);
        let yes = confirmed(&till, &browser, &path, body.as_bytes()).await;
        assert_eq!(post(&yes).once("accept").send().await.ok(200)["status"], "paid");
        assert!(post("cnf_none").once("accept").send().await.is_replay());
        post(&yes).send().await.refused(409, "review_not_open", None);
    }

    async fn a_yes_to_accepting_is_none_to_what_is_held_later(world: World) {
        let till = world.till_with(live()).await;
        let browser = owner(&till).await.in_mode("live");
        give_passkey(&till, &browser).await;
        let invoice = held_in_live(&till, 1).await;
        let path = format!("/v1/invoices/{}/resolve_review", id(&invoice));
        let body = json!({ "decision": "accept", "reason": "known" }).to_string();
        let post = |confirmation: &str| browser.call("POST", &path).bytes(body.as_bytes()).header("content-type", "application/json").header("till-confirmation", confirmation);
        let yes = confirmed(&till, &browser, &path, body.as_bytes()).await;
        hold_another(&till, &invoice, 2).await;
        post(&yes).send().await.refused(403, "step_up_required", None);
        let to_both = confirmed(&till, &browser, &path, body.as_bytes()).await;
        assert_eq!(post(&to_both).send().await.ok(200)["status"], "overpaid");
    }

    async fn rights_are_those_at_commit(world: World) {
        let till = world.till().await;
        let browser = member(&till, "d@example.com", Role::Developer).await.in_mode("test");
        let user = user_of(&browser).await;
        let engine = till.engine();
        let asker = |by: Means| Asker {
            actor: Actor::member(&user),
            origin: Origin::default(),
            key: None,
            member: Some(Member { user: user.as_str().into(), needs: Some(Permission::SalesWrite), by }),
        };
        // The request was let in while its member had the right.
        set_role(&till, &browser, Some(Role::Viewer)).await;
        let once = |key: &str, by: Means| Once::new(asker(by), Credential::Merchant, key.to_owned(), "POST", "/v1/invoices", b"{}");
        let create = |key: &str, by: Means| CreateInvoice {
            scope: till.scope(),
            once: once(key, by),
            request: NewInvoice { amount: "25.00".to_owned(), currency: "USD".to_owned(), assets: None, description: None, customer_ref: None, return_url: None, metadata: Default::default() },
            wanted: PendingRequest::default(),
        };
        let mut allowed = create("allowed", Means::Key);
        allowed.once.asker = Actor::key("key_of_the_command_line").into();
        let answers = create_all(engine, &[create("denied", Means::Key), allowed]).await;
        assert_eq!(refusal(answers[0].clone().unwrap_err()), Code::ApiKeyPermissionDenied);
        assert_eq!(answers[1].clone().unwrap().status, 201);
        let session = text(&browser.get("session").await.ok(200)["id"]);
        let confirmation = till_engine::team::unit::Confirmation { id: None, path: String::new(), body_hash: [0; 32] };
        let by_session = || Means::Session { id: session.as_str().into(), confirmation: confirmation.clone() };
        let once = once("unit", by_session());
        let scope = till.scope();
        let work = engine.once(&scope, &once, |_, _| async move { Ok(Answer::new(200, "{}".to_owned())) }.scope_boxed());
        assert_eq!(refusal(work.await.unwrap_err()), Code::PermissionDenied);
        set_role(&till, &browser, Some(Role::Support)).await;
        let work = || engine.once(&scope, &once, |_, _| async move { Ok(Answer::new(200, "{}".to_owned())) }.scope_boxed());
        browser.act("sign_out").await.ok(200);
        assert_eq!(refusal(work().await.unwrap_err()), Code::SessionExpired);
    }

    async fn a_stream_read_by_session_ends_with_the_right_to_read_it(world: World) {
        let till = world.till_with(Setup { heartbeat: Duration::from_millis(50), ..Setup::default() }).await;
        let browser = member(&till, "v@example.com", Role::Viewer).await.in_mode("test");
        let leaving = member(&till, "l@example.com", Role::Viewer).await.in_mode("test");
        let invoice = id(&till.invoice().await);
        let path = format!("/v1/invoices/{invoice}/events");
        let key = leaving_key(&till, &leaving).await;
        let by_key = till.call("GET", &path).key(&key);
        let mut streams = Vec::new();
        for call in [browser.call("GET", &path), leaving.call("GET", &path), by_key] {
            let mut socket = call.open().await;
            let mut first = [0; 12];
            socket.read_exact(&mut first).await.unwrap();
            assert_eq!(&first, b"HTTP/1.1 200");
            streams.push(socket);
        }
        browser.act("sign_out").await.ok(200);
        set_role(&till, &leaving, None).await;
        for mut socket in streams {
            let mut rest = Vec::new();
            let ended = tokio::time::timeout(Duration::from_secs(10), socket.read_to_end(&mut rest)).await;
            ended.expect("the stream ends").unwrap();
        }
    }
}

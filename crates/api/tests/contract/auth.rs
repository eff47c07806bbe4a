//! Who may call: keys and where they are carried, modes, rights.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::asset::{Family, Mode};
use till_engine::merchants::accounts::KeyKind;
use till_engine::shell;
use till_store::StoreError;

use crate::harness::{Call, LIVE_USDC, Reply, Setup, Till, id, live, text, until};

/// Every endpoint that takes a secret key only.
const SECRET_ONLY: &[(&str, &str)] = &[
    ("GET", "/v1/invoices"),
    ("POST", "/v1/invoices"),
    ("GET", "/v1/invoices/inv_x"),
    ("POST", "/v1/invoices/inv_x/cancel"),
    ("POST", "/v1/invoices/inv_x/resolve_review"),
    ("GET", "/v1/payments"),
    ("GET", "/v1/events"),
    ("GET", "/v1/events/evt_x"),
    ("GET", "/v1/webhook_deliveries"),
    ("POST", "/v1/webhook_deliveries/whd_x/replay"),
    ("GET", "/v1/merchant/settings"),
    ("POST", "/v1/merchant/settings"),
    ("POST", "/v1/merchant/webhook_secret/roll"),
];

const HELPERS: &[(&str, &str)] = &[
    ("POST", "/v1/test_helpers/invoices/inv_x/simulate_payment"),
    ("GET", "/v1/test_helpers/clock"),
    ("POST", "/v1/test_helpers/clock"),
    ("POST", "/v1/test_helpers/payments/pay_x/reverse"),
];

const OPEN: &[(&str, &str)] = &[
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/.well-known/till-ledger.json"),
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/nowhere"),
    ("PUT", "/v1/invoices"),
];

fn basic(pair: &str) -> String {
    format!("Basic {}", STANDARD.encode(pair))
}

async fn authorized(till: &Till, header: &str) -> crate::harness::Reply {
    let call = till.call("GET", "/v1/invoices");
    call.header("authorization", header).send().await
}

on_every_engine! {
    async fn a_secret_key_is_taken_as_bearer_and_as_basic_user_name(world: World) {
        let till = world.till().await;
        let key = &till.account.test.secret_key;
        assert!(key.starts_with("till_test_sk_"), "{key}");
        // At least 160 random bits: 32 characters of five.
        assert!(key.len() >= "till_test_sk_".len() + 32, "{key}");
        for header in [
            format!("Bearer {key}"),
            format!("bearer {key}"),
            basic(&format!("{key}:")),
        ] {
            authorized(&till, &header).await.ok(200);
        }
    }

    async fn basic_takes_a_key_and_never_a_password(world: World) {
        let till = world.till().await;
        let key = &till.account.test.secret_key;
        let param = "Authorization";
        let password = authorized(&till, &basic(&format!("{key}:secret"))).await;
        password.refused(401, "authorization_header_invalid", param);
        let person = authorized(&till, &basic("owner@shop.example:secret")).await;
        person.refused(401, "api_key_invalid", None);
    }

    async fn no_key_is_missing_on_every_endpoint_that_needs_one(world: World) {
        let till = world.till().await;
        let stream = ("GET", "/v1/invoices/inv_x/events");
        for (method, path) in SECRET_ONLY.iter().chain(HELPERS).chain([&stream]) {
            let reply = till.call(method, path).no_key().send().await;
            reply.refused(401, "api_key_missing", None);
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"), "{path}");
        }
    }

    async fn a_publishable_key_in_the_query_is_for_what_payers_read(world: World) {
        let till = world.till().await;
        let query = format!("?key={}", till.account.test.publishable_key);
        for (method, path) in [("GET", "/v1/invoices"), ("POST", "/v1/invoices")] {
            let reply = till.call(method, &format!("{path}{query}")).no_key().send().await;
            reply.refused(403, "publishable_key_not_allowed", None);
        }
        let unknown = till.call("GET", "/v1/invoices?key=till_test_pk_wrong").no_key();
        unknown.send().await.refused(401, "api_key_invalid", None);
        // Beside a good header it is a parameter that nobody knows.
        till.get(&format!("/v1/invoices{query}")).await.refused(400, "parameter_unknown", "key");
        let pick = format!("/v1/checkout/invoices/inv_x/payment_option{query}");
        let body = json!({ "asset": "USDC@eip155:84532" });
        till.posting(&pick, body.clone()).no_key().send().await.refused(401, "api_key_missing", None);
        till.post(&pick, body).await.refused(400, "parameter_unknown", "key");
    }

    async fn unknown_mistyped_and_rolled_keys_are_all_invalid(world: World) {
        let till = world.till().await;
        let key = till.account.test.secret_key.clone();
        let mistyped = key.to_uppercase();
        for wrong in ["till_test_sk_0000", "sk_test_123", mistyped.as_str(), &key[..key.len() - 1]] {
            authorized(&till, &format!("Bearer {wrong}")).await.refused(401, "api_key_invalid", None);
        }
        authorized(&till, &format!("Bearer {key}")).await.ok(200);
        let new = shell::roll_key(till.engine(), &till.scope(), KeyKind::Secret).await.unwrap();
        let refused = until("the end of the rolled key", || async {
            let reply = authorized(&till, &format!("Bearer {key}")).await;
            (reply.status != 200).then_some(reply)
        });
        refused.await.refused(401, "api_key_invalid", None);
        authorized(&till, &format!("Bearer {new}")).await.ok(200);
        shell::roll_key(till.engine(), &till.scope(), KeyKind::Publishable).await.unwrap();
        authorized(&till, &format!("Bearer {new}")).await.ok(200);
    }

    async fn a_malformed_header_is_named(world: World) {
        let till = world.till().await;
        let key = &till.account.test.secret_key;
        for header in [
            key.clone(),
            "Bearer".to_owned(),
            format!("Token {key}"),
            format!("Digest username=\"{key}\""),
            "Basic !!!".to_owned(),
            basic("no-colon"),
            format!("Bearer {key} {key}"),
        ] {
            let reply = authorized(&till, &header).await;
            reply.refused(401, "authorization_header_invalid", "Authorization");
        }
        let twice = till.call("GET", "/v1/invoices").and_header("authorization", &format!("Bearer {key}"));
        twice.send().await.refused(401, "authorization_header_invalid", "Authorization");
    }

    async fn a_secret_key_in_a_url_wins_over_every_other_answer(world: World) {
        let till = world.till().await;
        let key = &till.account.test.secret_key;
        let stream = ("GET", "/v1/invoices/inv_x/events");
        for (method, path) in SECRET_ONLY.iter().chain(HELPERS).chain(OPEN).chain([&stream]) {
            let path = format!("{path}?key={key}");
            for call in [till.call(method, &path), till.call(method, &path).no_key()] {
                call.send().await.refused(400, "secret_key_in_url", None);
            }
            let nonsense = till.call(method, &path).header("authorization", "nonsense");
            nonsense.send().await.refused(400, "secret_key_in_url", None);
        }
        let unknown = "till_live_sk_never_issued";
        for path in [
            format!("/v1/invoices/{key}"),
            format!("/{unknown}"),
            format!("/v1/invoices?cursor={}", unknown.replace('_', "%5F")),
            format!("/v1/invoices?limit=0&limit=0&x={unknown}"),
        ] {
            till.get(&path).await.refused(400, "secret_key_in_url", None);
        }
    }

    async fn a_key_seen_in_a_url_is_noted_as_exposed(world: World) {
        let till = world.till().await;
        let path = format!("/v1/invoices?key={}", till.account.test.secret_key);
        till.get(&path).await.refused(400, "secret_key_in_url", None);
        until("the note", || async {
            let mut reader = till.engine().db.read().await.unwrap();
            let keys = till_store::keys::keys_of(&mut reader, &till.account.id).await.unwrap();
            let exposed: Vec<_> = keys.iter().filter(|key| key.exposed_at.is_some()).collect();
            (exposed.len() == 1 && exposed[0].kind == "secret" && exposed[0].mode == "test").then_some(())
        }).await;
    }

    async fn a_publishable_key_is_kept_from_what_is_the_merchants(world: World) {
        let till = world.till().await;
        let key = &till.account.test.publishable_key;
        assert!(key.starts_with("till_test_pk_"), "{key}");
        for (method, path) in SECRET_ONLY {
            let reply = till.call(method, path).key(key).send().await;
            reply.refused(403, "publishable_key_not_allowed", None);
        }
        for (method, path) in HELPERS {
            till.call(method, path).key(key).send().await.refused(403, "test_mode_only", None);
        }
    }

    async fn a_key_whose_creator_lost_the_right_is_refused(world: World) {
        let till = world.till().await;
        till.get("/v1/invoices").await.ok(200);
        let scope = till.scope();
        let mut reader = till.engine().db.read().await.unwrap();
        let keys = till_store::keys::keys_of(&mut reader, &till.account.id).await.unwrap();
        drop(reader);
        let secret = keys.iter().find(|key| key.kind == "secret" && key.mode == "test").unwrap();
        let (scope, secret) = (&scope, secret.id.as_str());
        let lost: Result<(), StoreError> = till.engine().db.write(|tx| {
            async move { till_store::keys::set_creator(tx, scope, secret, "usr_who_left").await }.scope_boxed()
        }).await;
        lost.unwrap();
        let refused = until("the refusal", || async {
            let reply = till.get("/v1/invoices").await;
            (reply.status != 200).then_some(reply)
        });
        refused.await.refused(403, "api_key_permission_denied", None);
        // The other keys of the account are not concerned.
        let stream = till.call("GET", "/v1/invoices/inv_x/events").key(&till.account.test.publishable_key);
        stream.send().await.refused(404, "resource_missing", None);
    }

    async fn a_live_key_on_a_test_only_server_is_told_so(world: World) {
        let till = world.till().await;
        let live = till.account.live.as_ref().unwrap();
        till.call("GET", "/v1/invoices").key(&live.secret_key).send().await
            .refused(409, "livemode_disabled", None);
        let helper = till.call("GET", "/v1/test_helpers/clock").key(&live.secret_key);
        helper.send().await.refused(409, "livemode_disabled", None);
        let stream = till.call("GET", &format!("/v1/invoices/inv_x/events?key={}", live.publishable_key));
        stream.no_key().send().await.refused(409, "livemode_disabled", None);
        // Such a server knows no live keys: it need not have heard of this one to say so.
        till.call("GET", "/v1/invoices").key("till_live_sk_0123456789abcdefghijkmnpqrstvwxyz").send().await
            .refused(409, "livemode_disabled", None);
    }

    async fn an_account_not_set_up_in_the_keys_mode_is_told_so(world: World) {
        let evm = till_chains::example_destination(Family::Evm).to_owned();
        let setup = Setup { destinations: Some(vec![(Family::Evm, Mode::Test, evm)]), ..live() };
        let till = world.till_with(setup).await;
        till.get("/v1/invoices").await.ok(200);
        let reply = till.call("GET", "/v1/invoices").key(till.live_key()).send().await;
        reply.refused(409, "mode_not_configured", None);
    }

    async fn an_id_of_the_other_mode_is_missing_and_the_message_says_where_it_is(world: World) {
        let till = world.till_with(live()).await;
        let test = id(&till.invoice().await);
        let body = json!({ "amount": "25.00", "currency": "USD", "assets": [LIVE_USDC] });
        let made = till.posting("/v1/invoices", body).key(till.live_key()).send().await.ok(201);
        assert_eq!(made["livemode"], true);
        let live = id(&made);
        for (key, own, other, mode, other_mode) in [
            (till.account.test.secret_key.as_str(), &test, &live, "test", "live"),
            (till.live_key(), &live, &test, "live", "test"),
        ] {
            let get = |id: &str| till.call("GET", &format!("/v1/invoices/{id}")).key(key).send();
            get(own).await.ok(200);
            let message = get(other).await.refused(404, "resource_missing", None);
            assert!(message.contains(&format!("in {mode} mode")), "{message}");
            assert!(message.contains(&format!("{other_mode} mode")), "{message}");
            for path in [format!("/v1/invoices/{other}/cancel")] {
                let reply = till.posting(&path, json!({})).key(key).send().await;
                assert!(reply.refused(404, "resource_missing", None).contains(other_mode));
            }
            let stream = till.call("GET", &format!("/v1/invoices/{other}/events")).key(key).send().await;
            assert!(stream.refused(404, "resource_missing", None).contains(other_mode));
            let listed = till.call("GET", "/v1/invoices").key(key).send().await.ok(200);
            assert_eq!(listed["data"].as_array().unwrap().len(), 1);
            assert_eq!(listed["data"][0]["id"], own.as_str());
        }
    }

    async fn every_kind_of_object_says_that_it_is_of_the_other_mode(world: World) {
        let till = world.till_with(live()).await;
        let link = till.post("/v1/payment_links", crate::links::fixed()).await.ok(201);
        let customer = id(&till.post("/v1/customers", json!({ "name": "Ada" })).await.ok(201));
        let plan = crate::subscriptions::plan(&till, json!({})).await;
        let subscription = id(&crate::subscriptions::subscribe(&till, &customer, &plan).await);
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({})).await;
        let refund = till.post(&format!("/v1/invoices/{invoice}/refunds"), json!({ "amount": "5" })).await.ok(201);
        let (slug, link, refund) = (text(&link["slug"]), id(&link), id(&refund));
        let told = |reply: Reply, status: u16, param: Option<&'static str>| {
            let message = reply.refused(status, "resource_missing", param);
            assert!(message.contains("in live mode") && message.contains("exists in test mode"), "{message}");
        };
        for path in [
            format!("/v1/invoices/{invoice}"), format!("/v1/payment_links/{link}"), format!("/v1/checkout/links/{slug}"),
            format!("/v1/customers/{customer}"), format!("/v1/plans/{plan}"), format!("/v1/subscriptions/{subscription}"),
            format!("/v1/refunds/{refund}"), format!("/v1/checkout/invoices/{invoice}"),
        ] {
            told(till.call("GET", &path).key(till.live_key()).send().await, 404, None);
        }
        for path in [
            format!("/v1/payment_links/{link}"), format!("/v1/checkout/links/{slug}/invoices"), format!("/v1/plans/{plan}/archive"),
            format!("/v1/subscriptions/{subscription}/pause"), format!("/v1/refunds/{refund}/cancel"),
        ] {
            told(till.posting(&path, json!({})).key(till.live_key()).send().await, 404, None);
        }
        let subscribe = |customer: String, plan: String| {
            let body = json!({ "customer": customer, "plan": plan });
            till.posting("/v1/subscriptions", body).key(till.live_key()).send()
        };
        told(subscribe(customer, plan.clone()).await, 400, Some("customer"));
        let own = till.posting("/v1/customers", json!({ "name": "Ada" })).key(till.live_key()).send().await.ok(201);
        told(subscribe(id(&own), plan).await, 400, Some("plan"));
    }

    async fn another_accounts_ids_are_simply_missing(world: World) {
        let till = world.till().await;
        let other = till.another_account().await;
        let invoice = id(&other.invoice().await);
        for reply in [
            till.get(&format!("/v1/invoices/{invoice}")).await,
            till.post(&format!("/v1/invoices/{invoice}/cancel"), json!({})).await,
            till.get(&format!("/v1/invoices/{invoice}/events")).await,
            till.post(&format!("/v1/test_helpers/invoices/{invoice}/simulate_payment"), json!({})).await,
        ] {
            let message = reply.refused(404, "resource_missing", None);
            assert!(!message.contains("mode"), "{message}");
        }
        assert_eq!(till.get("/v1/invoices").await.ok(200)["data"], json!([]));
        assert_eq!(other.get("/v1/invoices").await.ok(200)["data"].as_array().unwrap().len(), 1);
    }

    async fn the_test_helpers_are_closed_to_live_keys(world: World) {
        let till = world.till_with(live()).await;
        for (method, path) in HELPERS {
            let reply = till.call(method, path).key(till.live_key()).send().await;
            reply.refused(403, "test_mode_only", None);
        }
    }

    async fn the_demo_server_closes_its_helpers_with_a_conflict(world: World) {
        let till = world.till_with(Setup { demo: true, ..Setup::default() }).await;
        let key = &till.account.test.publishable_key;
        let reply = till.call("GET", "/v1/test_helpers/clock").key(key).send().await;
        reply.refused(403, "test_mode_only", None);
        let live = "till_live_sk_0123456789abcdefghijkmnpqrstvwxyz";
        for (method, path) in HELPERS {
            let reply = till.call(method, path).key(live).send().await;
            reply.refused(409, "test_mode_only", None);
            assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
        }
        till.call("GET", "/v1/invoices").key(live).send().await.refused(409, "livemode_disabled", None);
    }

    async fn health_and_documentation_need_no_key(world: World) {
        let till = world.till().await;
        for path in ["/healthz", "/readyz", "/openapi.json"] {
            Call::new(till.server.address, "GET", path).send().await.ok(200);
        }
        for path in ["/docs", "/docs/errors", "/docs/webhooks", "/docs/testing"] {
            let reply = Call::new(till.server.address, "GET", path).send().await;
            assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/html; charset=utf-8")), "{path}");
        }
    }
}

//! API keys, made and ended by members, and what the role of whoever made them allows.

use serde_json::{Value, json};
use till_core::role::Role;

use crate::browser::{Browser, member, owner};
use crate::given::{confirmed, give_passkey, set_role, user_of};
use crate::harness::{Reply, Setup, Till, data, id, live, text, until};

async fn create(browser: &Browser, kind: &str) -> Value {
    browser
        .post("api_keys", json!({ "kind": kind, "name": "shop" }))
        .await
        .ok(201)
}

async fn order(till: &Till, key: &str) -> Reply {
    let body = json!({ "amount": "25.00", "currency": "USD" });
    till.posting("/v1/invoices", body).key(key).send().await
}

/// What a POST answers with a confirmation of exactly itself.
async fn confirm_and_post(till: &Till, browser: &Browser, path: &str, body: &str) -> Reply {
    let path = format!("/v1/dashboard/{path}");
    let yes = confirmed(till, browser, &path, body.as_bytes()).await;
    let call = browser
        .call("POST", &path)
        .header("till-confirmation", &yes);
    match body.is_empty() {
        true => call.send().await,
        false => {
            call.header("content-type", "application/json")
                .bytes(body.as_bytes())
                .send()
                .await
        }
    }
}

on_every_engine! {
    async fn a_key_is_shown_whole_only_when_it_is_made(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let user = user_of(&browser).await;
        let secret = create(&browser, "secret").await;
        assert_eq!((&secret["object"], &secret["kind"], &secret["name"], &secret["livemode"]), (&json!("api_key"), &json!("secret"), &json!("shop"), &json!(false)));
        assert_eq!(secret["created_by"], json!({ "type": "user", "id": &user, "email": "owner@example.com" }));
        assert!(text(&secret["key"]).starts_with("till_test_sk_"));
        order(&till, &text(&secret["key"])).await.ok(201);
        let public = create(&browser, "publishable").await;
        let all = data(&browser.get("api_keys").await.ok(200));
        assert_eq!(all.len(), 4);
        assert_eq!((&all[0]["id"], &all[0]["key"]), (&public["id"], &public["key"]));
        assert_eq!((&all[1]["id"], &all[1]["key"], &all[1]["revoked_at"]), (&secret["id"], &json!(null), &json!(null)));
        assert!(all[1]["last_used_at"].is_string());
        assert_eq!(all[2]["created_by"], json!({ "type": "cli", "id": null, "email": null }));
        let page = browser.get("api_keys?limit=1").await.ok(200);
        let next = browser.get(&format!("api_keys?limit=1&cursor={}", text(&page["next_cursor"]))).await.ok(200);
        assert_eq!(data(&next)[0]["id"], secret["id"]);
        browser.post("api_keys", json!({ "kind": "root", "name": "x" })).await.refused(400, "parameter_invalid", "kind");
        browser.post("api_keys", json!({ "kind": "secret", "name": "" })).await.refused(400, "parameter_invalid", "name");
        browser.post("api_keys", json!({ "kind": "secret" })).await.refused(400, "parameter_missing", "name");
    }

    async fn a_replayed_answer_shows_the_key_again(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let call = || browser.call("POST", "api_keys").once("k").json(&json!({ "kind": "secret", "name": "x" }));
        let first = call().send().await.ok(201);
        let again = call().send().await;
        assert!(again.is_replay());
        assert_eq!(again.ok(201)["key"], first["key"]);
    }

    // Who has a refund's link says where the money goes.
    async fn the_link_of_a_refund_is_shown_to_those_alone_who_may_make_one(world: World) {
        let till = world.till().await;
        let boss = owner(&till).await.in_mode("test");
        let viewer = member(&till, "viewer@example.com", Role::Viewer).await.in_mode("test");
        let maker = member(&till, "maker@example.com", Role::Admin).await.in_mode("test");
        let key = text(&create(&maker, "secret").await["key"]);
        let invoice = till.invoice().await;
        till.simulate(&id(&invoice), json!({ "amount": "40" })).await;
        let made = boss.post(&format!("/v1/invoices/{}/refunds", id(&invoice)), json!({})).await.ok(201);
        let one = format!("/v1/refunds/{}", id(&made));
        let link = |seen: &Value| (seen["claim_token"].clone(), seen["claim_url"].clone());
        let (whole, none) = (link(&made), (Value::Null, Value::Null));
        assert!(whole.0.is_string() && whole.1.is_string());
        assert_eq!(link(&boss.get(&one).await.ok(200)), whole);
        assert_eq!(link(&till.get(&one).await.ok(200)), whole, "a key of the command line");
        let by_key = async |path: &str| till.call("GET", path).key(&key).send().await.ok(200);
        assert_eq!(link(&by_key(&one).await), whole);
        assert_eq!(link(&viewer.get(&one).await.ok(200)), none);
        assert_eq!(link(&data(&viewer.get("/v1/refunds").await.ok(200))[0]), none);
        set_role(&till, &maker, Some(Role::Viewer)).await;
        let is_hidden = || async { (link(&by_key(&one).await) == none).then_some(()) };
        until("the key shows no link", is_hidden).await;
        assert_eq!(link(&data(&by_key("/v1/refunds").await)[0]), none);
    }

    async fn rolling_ends_one_key_and_revoking_ends_it_once(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let (first, other) = (create(&browser, "secret").await, create(&browser, "secret").await);
        let roll = format!("api_keys/{}/roll", id(&first));
        let new = browser.act(&roll).await.ok(200);
        assert_ne!(new["id"], first["id"]);
        assert_eq!(new["name"], "shop");
        let rolled = data(&browser.get("audit_events?action=api_key.rolled").await.ok(200));
        assert_eq!((&rolled[0]["target"]["id"], &rolled[0]["details"]["from"]), (&new["id"], &first["id"]));
        order(&till, &text(&new["key"])).await.ok(201);
        order(&till, &text(&other["key"])).await.ok(201);
        let refused = until("the end of the key", || async {
            let reply = order(&till, &text(&first["key"])).await;
            (reply.status != 201).then_some(reply)
        });
        refused.await.refused(401, "api_key_invalid", None);
        browser.act(&roll).await.refused(404, "resource_missing", "id");
        let revoke = format!("api_keys/{}/revoke", id(&new));
        let ended = browser.act(&revoke).await.ok(200);
        assert!(ended["revoked_at"].is_string());
        assert_eq!(browser.act(&revoke).await.ok(200), ended);
        browser.act(&format!("api_keys/{}/take_over", id(&new))).await.refused(404, "resource_missing", "id");
        browser.act("api_keys/key_x/revoke").await.refused(404, "resource_missing", "id");
        let stranger = till.another_account().await;
        let stranger = member(&stranger, "x@example.com", Role::Owner).await.in_mode("test");
        stranger.act(&format!("api_keys/{}/revoke", id(&other))).await.refused(404, "resource_missing", "id");
    }

    async fn two_who_roll_one_key_at_once_get_one_new_key(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let roll = format!("api_keys/{}/roll", id(&create(&browser, "secret").await));
        let (one, two) = tokio::join!(browser.act(&roll), browser.act(&roll));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404]);
    }

    async fn a_mode_has_fifty_keys_that_work(world: World) {
        let till = world.till().await;
        let browser = owner(&till).await.in_mode("test");
        let mut last = Value::Null;
        for _ in 0..47 {
            last = create(&browser, "publishable").await;
        }
        let new = || browser.post("api_keys", json!({ "kind": "secret", "name": "x" }));
        let (one, two) = tokio::join!(new(), new());
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 400]);
        new().await.refused(400, "parameter_invalid", None);
        browser.act(&format!("api_keys/{}/roll", id(&last))).await.ok(200);
        new().await.refused(400, "parameter_invalid", None);
    }

    async fn a_key_may_do_what_the_role_of_its_maker_allows_now(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let maker = member(&till, "d@example.com", Role::Developer).await.in_mode("test");
        let made = create(&maker, "secret").await;
        let key = text(&made["key"]);
        order(&till, &key).await.ok(201);
        set_role(&till, &maker, Some(Role::Viewer)).await;
        let denied = until("the refusal", || async {
            let reply = order(&till, &key).await;
            (reply.status != 201).then_some(reply)
        });
        denied.await.refused(403, "api_key_permission_denied", None);
        let read = || till.call("GET", "/v1/invoices").key(&key).send();
        read().await.ok(200);
        set_role(&till, &maker, None).await;
        let denied = until("the refusal", || async {
            let reply = read().await;
            (reply.status != 200).then_some(reply)
        });
        denied.await.refused(403, "api_key_permission_denied", None);
        let taken = owner.act(&format!("api_keys/{}/take_over", id(&made))).await.ok(200);
        assert_eq!(taken["created_by"]["email"], "owner@example.com");
        assert_eq!(taken["key"], Value::Null);
        until("the key to work again", || async { (order(&till, &key).await.status == 201).then_some(()) }).await;
    }

    async fn a_live_secret_key_takes_a_passkey_s_yes_and_is_told_to_the_managers(world: World) {
        let till = world.till_with(live()).await;
        let browser = owner(&till).await.in_mode("live");
        browser.get("api_keys").await.refused(409, "passkey_required", None);
        give_passkey(&till, &browser).await;
        let body = json!({ "kind": "secret", "name": "shop" });
        browser.post("api_keys", body.clone()).await.refused(403, "step_up_required", None);
        let made = confirm_and_post(&till, &browser, "api_keys", &body.to_string()).await.ok(201);
        assert_eq!(made["livemode"], true);
        create(&browser, "publishable").await;
        for act in ["roll", "take_over"] {
            browser.act(&format!("api_keys/{}/{act}", id(&made))).await.refused(403, "step_up_required", None);
        }
        let rolled = confirm_and_post(&till, &browser, &format!("api_keys/{}/roll", id(&made)), "").await.ok(200);
        let path = format!("api_keys/{}/take_over", id(&rolled));
        confirm_and_post(&till, &browser, &path, "").await.ok(200);
        browser.act(&format!("api_keys/{}/revoke", id(&rolled))).await.ok(200);
        let mut reader = till.engine().db.read().await.unwrap();
        let told = till_store::member_notices::of_user(&mut reader, &user_of(&browser).await, None, 10).await.unwrap();
        let told: Vec<(&str, &str)> = told.iter().map(|notice| (&*notice.kind, &*notice.target)).collect();
        assert_eq!(told[..2], [("api_key.created", &*id(&rolled)), ("api_key.created", &*id(&made))]);
        assert!(told[2..].iter().all(|(kind, _)| *kind == "member.joined"), "{told:?}");
    }

    async fn a_live_key_needs_a_live_destination(world: World) {
        let evm = till_chains::example_destination(till_core::asset::Family::Evm).to_owned();
        let setup = Setup { destinations: Some(vec![(till_core::asset::Family::Evm, till_core::asset::Mode::Test, evm)]), ..live() };
        let till = world.till_with(setup).await;
        let browser = owner(&till).await.in_mode("live");
        give_passkey(&till, &browser).await;
        for kind in ["secret", "publishable"] {
            browser.post("api_keys", json!({ "kind": kind, "name": "x" })).await.refused(409, "destinations_not_ready", None);
        }
    }

    async fn when_a_key_was_used_is_written_down(world: World) {
        let till = world.till().await;
        till.get("/v1/invoices").await.ok(200);
        let engine = till.engine();
        assert!(!engine.key_uses.all().is_empty());
        till_engine::workers::key_uses::write(engine).await.unwrap();
        assert!(engine.key_uses.all().is_empty());
        let browser = owner(&till).await.in_mode("test");
        let all = data(&browser.get("api_keys").await.ok(200));
        let used = all.iter().filter(|key| key["last_used_at"].is_string()).count();
        assert_eq!(used, 1);
    }
}

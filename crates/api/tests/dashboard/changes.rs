//! Changes of destinations, of the webhook URL and of its secret: asked for, stopped, in effect.

use std::time::Duration;

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::asset::Family;
use till_core::role::Role;
use till_engine::base::fail::Fail;
use till_engine::shell;
use till_engine::team::changes;
use till_engine::workers::pulse;
use till_store::Tx;

use crate::browser::{Browser, member, owner};
use crate::given::{confirmed, give_passkey, user_of};
use crate::harness::{BASE, LIVE_USDC, Reply, Setup, Till, data, id, live, text, until};

pub const FIRST: &str = "0x1111111111111111111111111111111111111111";
pub const SECOND: &str = "0x2222222222222222222222222222222222222222";
const DAY_S: i64 = 86_400;

pub fn destination(address: &str) -> Value {
    json!({ "kind": "destination", "family": "eip155", "address": address })
}

pub fn later(mut change: Value, seconds: i64) -> Value {
    change["delay_seconds"] = json!(seconds);
    change
}

/// Where the test's account is paid on the networks of Ethereum's family.
pub async fn paid_to(browser: &Browser) -> Value {
    let all = data(&browser.get("destinations").await.ok(200));
    let evm = all.into_iter().find(|of| of["family"] == "eip155");
    evm.unwrap()["address"].clone()
}

/// The kinds of the notices that a user has about this, the oldest first.
pub async fn told(till: &Till, browser: &Browser, target: &str) -> Vec<String> {
    let mut reader = till.engine().db.read().await.unwrap();
    let user = user_of(browser).await;
    let all = till_store::member_notices::of_user(&mut reader, &user, None, 100)
        .await
        .unwrap();
    let about = all
        .into_iter()
        .rev()
        .filter(|notice| notice.target == target);
    about.map(|notice| notice.kind).collect()
}

/// Asks for a change of live mode with a passkey's yes.
pub async fn ask_live(till: &Till, browser: &Browser, body: &Value) -> Reply {
    let path = "/v1/dashboard/changes";
    let body = body.to_string();
    let yes = confirmed(till, browser, path, body.as_bytes()).await;
    let call = browser
        .call("POST", path)
        .header("content-type", "application/json");
    call.header("till-confirmation", &yes)
        .bytes(body.as_bytes())
        .send()
        .await
}

async fn is_effective(browser: &Browser, change: &Value) {
    let path = format!("changes/{}", id(change));
    until("the change to take effect", || async {
        let now = browser.get(&path).await.ok(200);
        (now["status"] == "effective").then_some(())
    })
    .await;
}

on_every_engine! {
    async fn a_test_destination_changes_at_once_and_new_invoices_use_it(world: World) {
        let till = world.till().await;
        let (owner, viewer) = (owner(&till).await.in_mode("test"), member(&till, "v@example.com", Role::Viewer).await);
        let before = till.invoice().await;
        let was = paid_to(&owner).await;
        let change = owner.post("changes", destination(FIRST)).await.ok(201);
        assert_eq!((&change["object"], &change["kind"], &change["family"], &change["livemode"]), (&json!("change"), &json!("destination"), &json!("eip155"), &json!(false)));
        assert_eq!((&change["from"], &change["to"], &change["status"]), (&was, &json!(FIRST), &json!("effective")));
        assert_eq!(change["effective_at"], change["requested_at"]);
        assert_eq!(change["requested_by"], json!({ "id": user_of(&owner).await, "email": "owner@example.com" }));
        assert_eq!((&change["cancelled_by"], &change["cancelled_at"], &change["secret"]), (&Value::Null, &Value::Null, &Value::Null));
        assert_eq!(paid_to(&owner).await, FIRST);
        let after = till.invoice().await;
        let destination_of = |invoice: &Value| -> Value {
            let options = invoice["payment_options"].as_array().unwrap();
            let option = options.iter().find(|option| option["asset"] == BASE).unwrap();
            option["address_derivation"]["destination"].clone()
        };
        let old = till.retrieve(&id(&before)).await;
        assert_eq!(old["payment_options"], before["payment_options"], "a leased address keeps what it follows from");
        if destination_of(&after) != Value::Null {
            assert_eq!(destination_of(&after), FIRST);
        }
        assert_eq!(told(&till, &owner, &id(&change)).await, ["change.effective"]);
        assert!(told(&till, &viewer, &id(&change)).await.is_empty());
        let config = owner.get("checkout_config").await.ok(200);
        assert_eq!(config["destinations"]["eip155"], FIRST);
        owner.post("changes", destination(FIRST)).await.refused(400, "no_change", None);
        // Back to what it was, and away altogether.
        owner.post("changes", destination(&text(&was))).await.ok(201);
        let none = owner.post("changes", json!({ "kind": "destination", "family": "eip155", "address": null })).await.ok(201);
        assert_eq!(none["to"], Value::Null);
        assert_eq!(paid_to(&owner).await, Value::Null);
    }

    async fn a_change_is_in_effect_at_its_time_though_no_worker_runs(world: World) {
        let till = world.till_with(Setup { workers: false, ..Setup::default() }).await;
        let owner = owner(&till).await.in_mode("test");
        let url = "https://example.com/new";
        let changes = [destination(FIRST), json!({ "kind": "webhook_url", "webhook_url": url })];
        let mut asked = Vec::new();
        for change in changes {
            asked.push(owner.post("changes", later(change, 60)).await.ok(201));
        }
        let settings = async || till.get("/v1/merchant/settings").await.ok(200);
        assert_eq!(settings().await["webhook_url"], Value::Null);
        world.clock.advance_s(61);
        world.clock.age_s(1);
        // Whoever comes first: here a payer's page, which shows what the address follows from.
        let body = json!({ "amount": "5.00", "currency": "USD", "assets": [BASE] });
        let invoice = id(&till.create(body).await);
        let payer = till.call("GET", &format!("/v1/checkout/invoices/{invoice}")).key(&till.account.test.publishable_key);
        let option = payer.send().await.ok(200)["payment_options"][0].clone();
        assert_eq!(option["address_derivation"]["destination"], FIRST);
        assert_eq!(settings().await["webhook_url"], url);
        for change in &asked {
            assert_eq!(owner.get(&format!("changes/{}", id(change))).await.ok(200)["status"], "effective");
            assert_eq!(told(&till, &owner, &id(change)).await, ["change.requested", "change.effective"]);
            owner.act(&format!("changes/{}/cancel", id(change))).await.refused(409, "change_not_pending", None);
        }
        // And here the dashboard.
        owner.post("changes", later(destination(SECOND), 60)).await.ok(201);
        assert_eq!(paid_to(&owner).await, FIRST);
        world.clock.advance_s(61);
        assert_eq!(paid_to(&owner).await, SECOND);
    }

    async fn a_change_whose_time_has_come_outlives_the_rights_of_who_asked(world: World) {
        let till = world.till_with(Setup { workers: false, ..Setup::default() }).await;
        let owner = owner(&till).await.in_mode("test");
        let asking = member(&till, "d@example.com", Role::Developer).await.in_mode("test");
        let change = asking.post("changes", later(destination(FIRST), 60)).await.ok(201);
        world.clock.advance_s(61);
        let user = user_of(&asking).await;
        // The members' page has no mode: nothing of one is put in effect there.
        owner.post(&format!("members/{user}"), json!({ "role": "viewer" })).await.ok(200);
        assert_eq!(paid_to(&owner).await, FIRST);
        assert_eq!(owner.get(&format!("changes/{}", id(&change))).await.ok(200)["status"], "effective");
    }

    async fn who_took_every_destination_away_still_reads_what_there_is(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let invoice = id(&till.invoice().await);
        // Of Solana nothing is offered, and what was set once can be taken away all the same.
        for family in ["eip155", "tron", "bip122", "solana"] {
            owner.post("changes", json!({ "kind": "destination", "family": family, "address": null })).await.ok(201);
        }
        let path = format!("/v1/invoices/{invoice}");
        till.get(&path).await.ok(200);
        for path in [&*path, "/v1/payments", "/v1/reconciliation?from=2026-01-01&to=2026-12-31", "/v1/merchant/settings"] {
            owner.get(path).await.ok(200);
        }
        let payer = till.call("GET", &format!("/v1/checkout/invoices/{invoice}"));
        payer.key(&till.account.test.publishable_key).send().await.ok(200);
        till.simulate(&invoice, json!({})).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "paid");
        let refused = till.post("/v1/invoices", json!({ "amount": "5.00", "currency": "USD" })).await;
        assert_eq!(refused.status, 400, "{refused:?}");
        owner.post("changes", destination(FIRST)).await.ok(201);
        till.create(json!({ "amount": "5.00", "currency": "USD", "assets": [BASE] })).await;
    }

    async fn a_bitcoin_key_that_was_never_in_effect_can_be_another_s(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let other = till.another_account().await;
        let owner_of_other = member(&other, "other@example.com", Role::Owner).await.in_mode("test");
        let key = till_chains::example_destination_of(Family::Bitcoin, "somebody").unwrap();
        let change = json!({ "kind": "destination", "family": "bip122", "address": key });
        let waiting = owner_of_other.post("changes", later(change.clone(), DAY_S)).await.ok(201);
        let taken = owner.post("changes", change.clone()).await;
        taken.refused(400, "destination_invalid", "address");
        owner_of_other.act(&format!("changes/{}/cancel", id(&waiting))).await.ok(200);
        owner.post("changes", change.clone()).await.ok(201);
        // Once it was in effect it stays whose it was.
        let back = owner.post("changes", json!({ "kind": "destination", "family": "bip122", "address": null })).await.ok(201);
        assert_eq!(back["from"], key.as_str());
        let again = owner.post("changes", later(change.clone(), DAY_S)).await.ok(201);
        owner.act(&format!("changes/{}/cancel", id(&again))).await.ok(200);
        owner_of_other.post("changes", change).await.refused(400, "destination_invalid", "address");
    }

    async fn destinations_are_a_list_as_all_others(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let all = data(&owner.get("destinations").await.ok(200));
        assert_eq!(all.len(), 4);
        let first = owner.get("destinations?limit=3").await.ok(200);
        assert_eq!(data(&first), all[..3]);
        let rest = owner.get(&format!("destinations?limit=3&cursor={}", text(&first["next_cursor"]))).await.ok(200);
        assert_eq!((data(&rest), &rest["next_cursor"]), (all[3..].to_vec(), &Value::Null));
        owner.get("destinations?limit=0").await.refused(400, "parameter_invalid", "limit");
    }

    async fn the_operator_does_nothing_that_a_change_which_waits_would_undo(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let (engine, scope) = (till.engine(), till.scope());
        let refused = |fail: Fail| match fail {
            Fail::Refused(refusal) => refusal.code.as_str(),
            other => panic!("{other:?}"),
        };
        let url = json!({ "kind": "webhook_url", "webhook_url": "https://example.com/later" });
        let waits = owner.post("changes", later(url, DAY_S)).await.ok(201);
        let set = shell::set_webhook(engine, &scope, "https://example.com/now").await;
        assert_eq!(set.map_err(refused), Err("change_pending"));
        shell::roll_webhook_secret(engine, &scope).await.unwrap();
        owner.act(&format!("changes/{}/cancel", id(&waits))).await.ok(200);
        shell::set_webhook(engine, &scope, "https://example.com/now").await.unwrap();
        owner.post("changes", later(json!({ "kind": "webhook_secret" }), DAY_S)).await.ok(201);
        let rolled = shell::roll_webhook_secret(engine, &scope).await;
        assert_eq!(rolled.map_err(refused), Err("change_pending"));
    }

    async fn a_change_waits_on_the_test_clock_and_can_be_stopped(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let was = paid_to(&owner).await;
        let first = owner.post("changes", later(destination(FIRST), DAY_S)).await.ok(201);
        assert_eq!(first["status"], "pending");
        let waiting = data(&owner.get("destinations").await.ok(200));
        let evm = waiting.iter().find(|of| of["family"] == "eip155").unwrap();
        assert_eq!((&evm["pending_change"], &evm["address"]), (&first["id"], &was));
        owner.post("changes", destination(SECOND)).await.refused(409, "change_pending", None);
        let cancel = format!("changes/{}/cancel", id(&first));
        let stopped = owner.act(&cancel).await.ok(200);
        assert_eq!((&stopped["status"], &stopped["cancelled_by"]["email"]), (&json!("cancelled"), &json!("owner@example.com")));
        owner.act(&cancel).await.refused(409, "change_not_pending", None);
        owner.act("changes/chg_x/cancel").await.refused(404, "resource_missing", "id");
        let second = owner.post("changes", later(destination(SECOND), DAY_S)).await.ok(201);
        till.advance(DAY_S - 1).await;
        assert_eq!(paid_to(&owner).await, was);
        till.advance(1).await;
        let effective = owner.get(&format!("changes/{}", id(&second))).await.ok(200);
        assert_eq!(effective["status"], "effective");
        assert_eq!(paid_to(&owner).await, SECOND);
        owner.act(&format!("changes/{}/cancel", id(&second))).await.refused(409, "change_not_pending", None);
        assert_eq!(told(&till, &owner, &id(&first)).await, ["change.requested", "change.cancelled"]);
        assert_eq!(told(&till, &owner, &id(&second)).await, ["change.requested", "change.effective"]);
        let listed = |query: &str| { let (owner, path) = (owner.clone(), format!("changes{query}")); async move { data(&owner.get(&path).await.ok(200)).len() } };
        assert_eq!(listed("").await, 2);
        assert_eq!(listed("?status=cancelled").await, 1);
        assert_eq!(listed("?kind=webhook_url").await, 0);
        owner.get("changes?status=done").await.refused(400, "parameter_invalid", "status");
        owner.get("changes/chg_x").await.refused(404, "resource_missing", "id");
    }

    async fn the_first_live_changes_are_at_once_and_later_ones_wait(world: World) {
        let till = world.till_with(live()).await;
        let owner = owner(&till).await.in_mode("live");
        give_passkey(&till, &owner).await;
        owner.post("changes", destination(FIRST)).await.refused(403, "step_up_required", None);
        owner.post("changes", later(destination(FIRST), 0)).await.refused(400, "parameter_unknown", "delay_seconds");
        let first = ask_live(&till, &owner, &destination(FIRST)).await.ok(201);
        assert_eq!((&first["status"], &first["livemode"]), (&json!("effective"), &json!(true)));
        assert_eq!(paid_to(&owner).await, FIRST);
        let body = json!({ "amount": "25.00", "currency": "USD", "assets": [LIVE_USDC] });
        till.posting("/v1/invoices", body).key(till.live_key()).send().await.ok(201);
        let second = ask_live(&till, &owner, &destination(SECOND)).await.ok(201);
        assert_eq!(second["status"], "pending");
        assert_eq!(paid_to(&owner).await, FIRST);
        world.clock.advance_s(DAY_S);
        let owner = member(&till, "later@example.com", Role::Owner).await.in_mode("live");
        give_passkey(&till, &owner).await;
        is_effective(&owner, &second).await;
        assert_eq!(paid_to(&owner).await, SECOND);
    }

    async fn by_a_clock_that_is_wrong_no_change_s_time_has_come(world: World) {
        let till = world.till_with(Setup { workers: false, ..Setup::default() }).await;
        let owner = owner(&till).await.in_mode("test");
        let change = owner.post("changes", later(destination(FIRST), 600)).await.ok(201);
        let engine = till.engine();
        // Ten minutes ahead of PostgreSQL's; SQLite has none of its own.
        world.clock.advance_s(600);
        pulse::compare_clocks(engine).await.unwrap();
        let is_shared = engine.db.clock_ms().await.unwrap().is_some();
        assert_eq!(engine.readiness.clock_off_s().is_some(), is_shared);
        if is_shared {
            let refused = till.get("/readyz").await.refused(503, "service_unavailable", None);
            assert!(refused.to_string().contains("set both by NTP"), "{refused}");
            assert_ne!(paid_to(&owner).await, FIRST);
            assert_eq!(owner.get(&format!("changes/{}", id(&change))).await.ok(200)["status"], "pending");
            engine.readiness.clock_is_off_by(60_000);
        }
        assert_eq!(paid_to(&owner).await, FIRST);
        till.get("/readyz").await.ok(200);
    }

    async fn a_machine_s_clock_that_jumps_ends_no_delay_and_dates_nothing(world: World) {
        world.clock.let_follow();
        let till = world.till_with(Setup { workers: false, ..Setup::default() }).await;
        let engine = till.engine();
        pulse::compare_clocks(engine).await.unwrap();
        let owner = owner(&till).await.in_mode("test");
        let change = owner.post("changes", later(destination(FIRST), 600)).await.ok(201);
        // Before the next look at PostgreSQL's clock, and after it. SQLite has no other.
        world.clock.advance_s(700);
        if engine.db.clock_ms().await.unwrap().is_none() {
            assert_eq!(paid_to(&owner).await, FIRST);
            return;
        }
        for _ in 0..2 {
            assert_ne!(paid_to(&owner).await, FIRST);
            let now = owner.get(&format!("changes/{}", id(&change))).await.ok(200);
            assert_eq!(now["status"], "pending");
            pulse::compare_clocks(engine).await.unwrap();
        }
        till.get("/readyz").await.refused(503, "service_unavailable", None);
        let url = json!({ "kind": "webhook_url", "webhook_url": "https://example.com/later" });
        let second = owner.post("changes", later(url, 600)).await.ok(201);
        let ends = till_core::time::parse(second["effective_at"].as_str().unwrap()).unwrap();
        let shared = engine.db.clock_ms().await.unwrap().unwrap();
        assert!((shared..=shared + 600_000).contains(&ends), "{second}");
    }

    async fn a_server_that_was_paused_asks_for_the_time_before_it_dates_a_change(world: World) {
        world.clock.let_follow();
        let till = world.till_with(Setup { workers: false, ..Setup::default() }).await;
        let engine = till.engine();
        let owner = owner(&till).await.in_mode("test");
        let Some(shared) = engine.db.clock_ms().await.unwrap() else {
            return;
        };
        // All that the machine knows is ten minutes old.
        engine.clock.follow(shared - 600_000);
        let change = owner.post("changes", later(destination(FIRST), 60)).await.ok(201);
        let ends = till_core::time::parse(change["effective_at"].as_str().unwrap()).unwrap();
        assert!((shared + 60_000..shared + 120_000).contains(&ends), "{change}");
    }

    async fn while_nothing_falls_due_a_change_can_be_stopped_whatever_the_time(world: World) {
        let till = world.till_with(Setup { workers: false, ..Setup::default() }).await;
        let engine = till.engine();
        let owner = owner(&till).await.in_mode("test");
        let change = owner.post("changes", later(destination(FIRST), 600)).await.ok(201);
        world.clock.advance_s(601);
        engine.readiness.clock_is_off_by(601_000);
        assert_ne!(paid_to(&owner).await, FIRST);
        let ended = owner.act(&format!("changes/{}/cancel", id(&change))).await.ok(200);
        assert_eq!(ended["status"], "cancelled");
        engine.readiness.clock_is_off_by(0);
        assert_ne!(paid_to(&owner).await, FIRST);
    }

    async fn whoever_loses_the_right_loses_the_change(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let developer = member(&till, "d@example.com", Role::Developer).await.in_mode("test");
        let change = developer.post("changes", later(destination(FIRST), DAY_S)).await.ok(201);
        let user = user_of(&developer).await;
        for (role, status) in [(Some(Role::Admin), "pending"), (Some(Role::Support), "cancelled")] {
            let (engine, account, user) = (till.engine(), &*till.account.id, &*user);
            let ended = engine.db.write(move |tx: &mut Tx| {
                async move { changes::end_of_member(tx, engine, account, user, role).await }.scope_boxed()
            });
            ended.await.unwrap();
            let now = owner.get(&format!("changes/{}", id(&change))).await.ok(200);
            assert_eq!(now["status"], status);
            assert_eq!(now["cancelled_by"], Value::Null);
        }
        till.advance(DAY_S).await;
        assert_ne!(paid_to(&owner).await, FIRST);
    }

    async fn who_stops_a_change_waits_for_whoever_is_at_the_changes(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let change = owner.post("changes", later(destination(FIRST), 600)).await.ok(201);
        let path = format!("changes/{}/cancel", id(&change));
        let mut tx = till.engine().db.begin().await.unwrap();
        till_store::accounts::merchant_for_update(&mut tx, &till.scope()).await.unwrap();
        let mut cancel = Box::pin(owner.act(&path));
        assert!(tokio::time::timeout(Duration::from_millis(300), &mut cancel).await.is_err(), "it did not wait");
        tx.commit().await.unwrap();
        assert_eq!(cancel.await.ok(200)["status"], "cancelled");
    }

    async fn two_who_ask_for_the_same_at_once_get_one_change(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await.in_mode("test");
        let (one, two) = tokio::join!(
            owner.post("changes", later(destination(FIRST), DAY_S)),
            owner.post("changes", later(destination(SECOND), DAY_S)),
        );
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409]);
        let pending = data(&owner.get("changes?status=pending").await.ok(200)).remove(0);
        let cancel = format!("changes/{}/cancel", id(&pending));
        let (one, two) = tokio::join!(owner.act(&cancel), owner.act(&cancel));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
    }

    async fn who_may_ask_depends_on_what_is_asked(world: World) {
        let till = world.till_with(live()).await;
        let admin = member(&till, "a@example.com", Role::Admin).await;
        give_passkey(&till, &admin).await;
        let support = member(&till, "s@example.com", Role::Support).await.in_mode("test");
        support.post("changes", destination(FIRST)).await.refused(403, "permission_denied", None);
        support.post("changes", json!({ "kind": "webhook_secret" })).await.refused(403, "permission_denied", None);
        admin.in_mode("live").post("changes", destination(FIRST)).await.refused(403, "permission_denied", None);
        ask_live(&till, &admin.in_mode("live"), &json!({ "kind": "webhook_secret" })).await.ok(201);
        admin.in_mode("test").post("changes", destination(FIRST)).await.ok(201);
    }

    async fn webhooks_go_elsewhere_and_are_signed_anew(world: World) {
        let setup = Setup { url_policy: till_core::webhook::UrlPolicy::PrivateAllowed, ..Setup::default() };
        let till = world.till_with(setup).await;
        let owner = owner(&till).await.in_mode("test");
        let url = "http://127.0.0.1:9/hooks";
        let set = owner.post("changes", json!({ "kind": "webhook_url", "webhook_url": url })).await.ok(201);
        assert_eq!((&set["from"], &set["to"]), (&Value::Null, &json!(url)));
        assert_eq!(till.get("/v1/merchant/settings").await.ok(200)["webhook_url"], url);
        owner.post("changes", json!({ "kind": "webhook_url", "webhook_url": url })).await.refused(400, "no_change", None);
        owner.post("changes", json!({ "kind": "webhook_url", "webhook_url": null })).await.ok(201);
        owner.post("changes", json!({ "kind": "webhook_url", "webhook_url": "ftp://x" })).await.refused(400, "webhook_url_forbidden", "webhook_url");
        let secrets = async || {
            let mut reader = till.engine().db.read().await.unwrap();
            till_engine::merchants::secrets::current(&mut reader, till.engine(), &till.scope()).await.unwrap()
        };
        let before = secrets().await;
        let call = || owner.call("POST", "changes").once("s").json(&json!({ "kind": "webhook_secret", "delay_seconds": 60 }));
        let change = call().send().await.ok(201);
        let secret = text(&change["secret"]);
        assert_eq!(call().send().await.ok(201)["secret"], secret, "kept with its key");
        assert_eq!(owner.get(&format!("changes/{}", id(&change))).await.ok(200)["secret"], Value::Null);
        assert_eq!(secrets().await, before);
        till.advance(60).await;
        assert_eq!(secrets().await, [vec![secret], before].concat());
    }

    async fn a_change_that_the_command_line_asked_for_is_everybody_s_to_stop(world: World) {
        let till = world.till_with(live()).await;
        let owner = owner(&till).await.in_mode("live");
        give_passkey(&till, &owner).await;
        let (engine, scope) = (till.engine(), till.live_scope());
        let ask = |address: &'static str| changes::request_at_command_line(engine, &scope, Family::Evm, address);
        assert!(ask(FIRST).await.unwrap().is_effective, "nobody was shown anything yet");
        let body = json!({ "amount": "25.00", "currency": "USD", "assets": [LIVE_USDC] });
        till.posting("/v1/invoices", body).key(till.live_key()).send().await.ok(201);
        let asked = ask(SECOND).await.unwrap();
        assert_eq!((asked.from.as_deref(), &*asked.to, asked.is_effective), (Some(FIRST), SECOND, false));
        assert!(ask(FIRST).await.is_err() && ask(SECOND).await.is_err());
        let change = data(&owner.get("changes?status=pending").await.ok(200)).remove(0);
        assert_eq!(change["requested_by"], json!({ "id": "cli", "email": "" }));
        assert_eq!(told(&till, &owner, &id(&change)).await, ["change.requested"]);
        let path = format!("audit_events?target={}", id(&change));
        assert_eq!(data(&owner.get(&path).await.ok(200))[0]["actor"]["type"], "cli");
        owner.act(&format!("changes/{}/cancel", id(&change))).await.ok(200);
        ask(SECOND).await.unwrap();
        let cancel = || changes::cancel_at_command_line(engine, &scope, Family::Evm);
        assert_eq!(cancel().await.unwrap().as_deref(), Some(SECOND));
        assert!(cancel().await.is_err());
        let ended = data(&owner.get("changes?status=cancelled").await.ok(200)).remove(0);
        assert_eq!(ended["cancelled_by"]["id"], "cli");
        ask(SECOND).await.unwrap();
        world.clock.advance_s(DAY_S);
        until("the destination", || async {
            let mut reader = engine.db.read().await.unwrap();
            let merchant = till_store::accounts::merchant(&mut reader, &till.live_scope()).await.unwrap().unwrap();
            (merchant.destinations["eip155"] == SECOND).then_some(())
        })
        .await;
        till_engine::team::operator::set_disabled_at_command_line(engine, &till.account.id, true).await.unwrap();
        assert!(ask(FIRST).await.is_err(), "nothing of a disabled organisation changes");
    }

    async fn values_that_cannot_serve_are_refused(world: World) {
        let till = world.till_with(live()).await;
        let owner = owner(&till).await;
        give_passkey(&till, &owner).await;
        let (test, live) = (owner.in_mode("test"), owner.in_mode("live"));
        let ask = |family: &str, address: &str| {
            let (test, body) = (test.clone(), json!({ "kind": "destination", "family": family, "address": address }));
            async move { test.post("changes", body).await }
        };
        ask("ethereum", FIRST).await.refused(400, "network_invalid", "family");
        for wrong in ["", "0x12", "0x52908400098527886E0F7030069857D2E4169ee7", "xprv9s21ZrQH143K"] {
            ask("eip155", wrong).await.refused(400, "address_invalid", "address");
        }
        for lost in ["0x0000000000000000000000000000000000000000", "0x000000000000000000000000000000000000dEaD",
            "0x0000000000000000000000000000000000000009", "0x4200000000000000000000000000000000000006",
            "0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead", "0xdead0000000000000000000000000000dead0000", "0xcA11bde05977b3631167028862bE2a173976CA11", "0x3A91A31cB3dC49b4db9Ce721F50a9D076c8D739B"] {
            ask("eip155", lost).await.refused(400, "destination_invalid", "address");
        }
        let invoice = till.invoice().await;
        let ours = crate::harness::address(&invoice, BASE);
        ask("eip155", &ours).await.refused(400, "destination_invalid", "address");
        let token = till_core::asset::Registry::builtin().asset(BASE).unwrap().contract.clone().unwrap();
        ask("eip155", &token).await.refused(400, "destination_invalid", "address");
        let example = till_chains::example_destination(Family::Evm);
        ask_live(&till, &live, &destination(example)).await.refused(400, "destination_invalid", "address");
        let body = json!({ "kind": "destination", "family": "tron", "address": "TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf" });
        ask_live(&till, &live, &body).await.refused(400, "network_not_enabled", "family");
        test.post("changes", json!({ "kind": "destination", "family": "eip155" })).await.refused(400, "parameter_missing", "address");
        test.post("changes", json!({ "kind": "destination", "address": FIRST })).await.refused(400, "parameter_missing", "family");
        test.post("changes", json!({ "kind": "webhook_secret", "address": FIRST })).await.refused(400, "parameter_unknown", "address");
        test.post("changes", json!({ "kind": "name" })).await.refused(400, "parameter_invalid", "kind");
        test.post("changes", later(destination(FIRST), 604_801)).await.refused(400, "parameter_invalid", "delay_seconds");
    }
}

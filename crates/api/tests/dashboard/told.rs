//! What a team is told without having asked: keys that were seen in URLs, reviews that open, webhooks that fail, what the
//! operator does at the shell.

use serde_json::json;
use till_core::asset::Family;
use till_core::invoice::Decision;
use till_core::role::Role;
use till_engine::merchants::accounts::KeyKind;
use till_engine::shell;
use till_store::Queries as _;

use crate::browser::{member, owner};
use crate::changes::told;
use crate::given::{give_passkey, user_of};
use crate::harness::{Setup, Till, data, id, live, until};
use crate::members::noticed;
use crate::resources::held_in_live;

const HOUR_S: i64 = 3_600;

/// How often a user was told of a kind.
async fn count(till: &Till, user: &str, kind: &str) -> usize {
    let told = noticed(till, user).await;
    told.iter().filter(|of| *of == kind).count()
}

async fn until_told(till: &Till, user: &str, kind: &str) {
    until(kind, || async {
        (count(till, user, kind).await > 0).then_some(())
    })
    .await;
}

/// How many attempts at events have failed for good or for now.
async fn failed_attempts(till: &Till) -> i64 {
    let mut reader = till.engine().db.read().await.unwrap();
    let sql = "SELECT COALESCE(MAX(attempt), 0) FROM deliveries WHERE status = 'failed'";
    let found: Option<(i64,)> = reader.one(sql, &[]).await.unwrap();
    found.unwrap().0
}

on_every_engine! {
    async fn who_can_roll_a_key_hears_that_it_was_in_a_url(world: World) {
        let till = world.till().await;
        let owner = user_of(&owner(&till).await).await;
        let admin = user_of(&member(&till, "a@example.com", Role::Admin).await).await;
        let developer = user_of(&member(&till, "d@example.com", Role::Developer).await).await;
        let path = format!("/v1/invoices?key={}", till.account.test.secret_key);
        for _ in 0..2 {
            till.get(&path).await.refused(400, "secret_key_in_url", None);
        }
        until_told(&till, &owner, "key.exposed").await;
        assert_eq!(count(&till, &owner, "key.exposed").await, 1, "it is told once");
        assert_eq!(count(&till, &admin, "key.exposed").await, 1);
        assert_eq!(count(&till, &developer, "key.exposed").await, 0);
        let mut reader = till.engine().db.read().await.unwrap();
        let told = till_store::member_notices::of_user(&mut reader, &owner, None, 10).await.unwrap();
        let exposed = told.iter().find(|notice| notice.kind == "key.exposed").unwrap();
        assert!(exposed.target.starts_with("key_"), "{}", exposed.target);
    }

    async fn a_review_that_opens_in_live_mode_is_told(world: World) {
        let till = world.till_with(live()).await;
        let owner = user_of(&owner(&till).await).await;
        till.set(json!({ "manual_review_amount": "25" })).await;
        let in_test = crate::harness::id(&till.invoice().await);
        till.simulate(&in_test, json!({})).await;
        let held = crate::harness::id(&held_in_live(&till, 1).await);
        until_told(&till, &owner, "review.opened").await;
        let mut reader = till.engine().db.read().await.unwrap();
        let told = till_store::member_notices::of_user(&mut reader, &owner, None, 10).await.unwrap();
        let about: Vec<&str> = told.iter().filter(|notice| notice.kind == "review.opened").map(|notice| &*notice.target).collect();
        assert_eq!(about, [held]);
    }

    async fn what_the_operator_does_at_the_shell_is_told_to_those_who_manage(world: World) {
        let till = world.till_with(Setup { workers: false, ..live() }).await;
        let owner = owner(&till).await.in_mode("live");
        give_passkey(&till, &owner).await;
        let viewer = user_of(&member(&till, "v@example.com", Role::Viewer).await).await;
        let (engine, scope, url) = (till.engine(), till.live_scope(), "https://example.com/till");
        shell::set_webhook(engine, &scope, url).await.unwrap();
        shell::roll_webhook_secret(engine, &scope).await.unwrap();
        let tron = till_chains::raw::shown(Family::Tron, &[0x22; 20]);
        shell::add_destinations(engine, &scope, &[(Family::Tron, tron.clone())]).await.unwrap();
        let changes = data(&owner.get("changes").await.ok(200));
        assert_eq!(changes.len(), 3);
        let of_kind = [("webhook_url", json!(url)), ("webhook_secret", json!(null)), ("destination", json!(tron))];
        for (kind, to) in of_kind {
            let change = changes.iter().find(|change| change["kind"] == kind).unwrap();
            assert_eq!((&change["to"], &change["status"], &change["requested_by"]["id"]), (&to, &json!("effective"), &json!("cli")));
            assert_eq!(told(&till, &owner, &id(change)).await, ["change.effective"]);
        }
        assert_eq!(count(&till, &viewer, "change.effective").await, 0);

        let held = id(&held_in_live(&till, 1).await);
        let decided = shell::decide_review(engine, &held, Decision::Reject, "Unknown sender").await;
        assert!(decided.unwrap().is_some());
        assert_eq!(told(&till, &owner, &held).await, ["review.resolved"]);
        assert_eq!(count(&till, &viewer, "review.resolved").await, 0);

        // Only a live secret key is worth a notice.
        let kinds = [(&scope, KeyKind::Secret), (&scope, KeyKind::Publishable), (&till.scope(), KeyKind::Secret)];
        let owner = user_of(&owner).await;
        let known = count(&till, &owner, "api_key.created").await;
        for (scope, kind) in kinds {
            shell::create_key(engine, scope, kind).await.unwrap();
        }
        assert_eq!(count(&till, &owner, "api_key.created").await, known + 1);
        shell::roll_key(engine, &scope, KeyKind::Secret).await.unwrap();
        assert_eq!(count(&till, &owner, "api_key.created").await, known + 2);
        assert_eq!(count(&till, &viewer, "api_key.created").await, 0);
    }

    async fn an_endpoint_that_fails_for_a_day_is_told_once(world: World) {
        let setup = Setup { url_policy: till_core::webhook::UrlPolicy::PrivateAllowed, ..Setup::default() };
        let till = world.till_with(setup).await;
        let owner = user_of(&owner(&till).await).await;
        till.set(json!({ "webhook_url": "http://127.0.0.1:9/" })).await;
        for _ in 0..2 {
            till.invoice().await;
        }
        for attempt in 1..=12 {
            assert_eq!(count(&till, &owner, "webhook.failing").await, 0, "before attempt {attempt}");
            until("the next attempt fails", || async { (failed_attempts(&till).await >= attempt).then_some(()) }).await;
            if attempt < 12 {
                world.clock.advance_s(9 * HOUR_S);
            }
        }
        until_told(&till, &owner, "webhook.failing").await;
        assert_eq!(count(&till, &owner, "webhook.failing").await, 1, "of two events that fail");
    }
}

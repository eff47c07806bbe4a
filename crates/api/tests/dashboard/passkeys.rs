//! Passkeys: registered, listed, named and removed by their own user.

use serde_json::{Value, json};
use till_core::role::Role;
use till_store::Queries as _;

use crate::authenticator::Authenticator;
use crate::browser::{Browser, invite, member, owner};
use crate::harness::{data, id, text};
use crate::totp::code;

const MINUTE_S: i64 = 60;

async fn begun(browser: &Browser) -> Value {
    browser.act("passkeys/begin").await.ok(200)
}

fn answer(begun: &Value, credential: Value) -> Value {
    json!({ "ceremony": begun["id"], "credential": credential, "name": "Laptop" })
}

on_every_engine! {
    async fn a_passkey_is_registered_listed_renamed_and_removed(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        let begun = begun(&owner).await;
        let options = &begun["options"];
        assert_eq!(begun["object"], "ceremony");
        assert_eq!(options["rp"]["id"], "localhost");
        assert_eq!(options["attestation"], "none");
        assert_eq!(options["authenticatorSelection"]["residentKey"], "required");
        assert_eq!(options["authenticatorSelection"]["userVerification"], "required");
        assert_eq!(options["user"]["name"], "owner@example.com");
        let credential = owner.authenticator.create(options);
        let passkey = owner.post("passkeys", answer(&begun, credential)).await.ok(201);
        assert_eq!((&passkey["object"], &passkey["name"], &passkey["backed_up"]), (&json!("passkey"), &json!("Laptop"), &json!(true)));
        assert_eq!(passkey["last_used_at"], Value::Null);
        let path = format!("passkeys/{}", id(&passkey));
        let renamed = owner.post(&path, json!({ "name": "Phone" })).await.ok(200);
        assert_eq!(renamed["name"], "Phone");
        owner.post(&path, json!({ "name": "" })).await.refused(400, "parameter_invalid", "name");
        let stranger = member(&till, "b@example.com", Role::Viewer).await;
        stranger.post(&path, json!({ "name": "Mine" })).await.refused(404, "resource_missing", "id");
        stranger.act(&format!("{path}/remove")).await.refused(404, "resource_missing", "id");
        assert_eq!(owner.get("session").await.ok(200)["second_factors"], json!(["passkey"]));
        owner.act(&format!("{path}/remove")).await.refused(403, "step_up_required", None);
        owner.act("passkeys/begin").await.refused(403, "step_up_required", None);
        let removed = owner.confirmed(&format!("{path}/remove"), Value::Null).await.ok(200);
        assert_eq!(removed["id"], passkey["id"]);
        assert_eq!(data(&owner.get("passkeys").await.ok(200)).len(), 0);
        owner.act("passkeys/begin").await.ok(200);
    }

    async fn a_ceremony_is_answered_once_in_time_by_its_own_session(world: World) {
        let till = world.till().await;
        let (owner, stranger) = (owner(&till).await, member(&till, "b@example.com", Role::Viewer).await);
        let mut device = Authenticator::new();
        let first = begun(&owner).await;
        let body = answer(&first, device.create(&first["options"]));
        stranger.post("passkeys", body.clone()).await.refused(401, "ceremony_expired", None);
        let key = "register-once";
        let register = || owner.call("POST", "passkeys").once(key).json(&body);
        let passkey = register().send().await.ok(201);
        assert_eq!(register().send().await.ok(201), passkey);
        owner.post("passkeys", body.clone()).await.refused(401, "ceremony_expired", None);
        owner.post("passkeys", json!({ "ceremony": "cer_0", "credential": {}, "name": "x" })).await.refused(401, "ceremony_expired", None);
        owner.post("passkeys", json!({ "ceremony": "cer_0", "credential": "x", "name": "x" })).await.refused(400, "parameter_invalid", "credential");
        let late = begun(&stranger).await;
        let body = answer(&late, device.create(&late["options"]));
        world.clock.advance_s(5 * MINUTE_S);
        stranger.post("passkeys", body).await.refused(401, "ceremony_expired", None);
    }

    async fn a_failed_answer_uses_the_ceremony_up(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        let mut elsewhere = Authenticator::new();
        elsewhere.origin = "https://evil.example".to_owned();
        let mut careless = Authenticator::new();
        careless.verifies = false;
        let mut embedded = Authenticator::new();
        embedded.is_embedded = true;
        for mut device in [elsewhere, careless, embedded] {
            let begun = begun(&owner).await;
            let body = answer(&begun, device.create(&begun["options"]));
            owner.post("passkeys", body).await.refused(401, "passkey_failed", None);
            let body = answer(&begun, Authenticator::new().create(&begun["options"]));
            owner.post("passkeys", body).await.refused(401, "ceremony_expired", None);
        }
        let (first, second) = (begun(&owner).await, begun(&owner).await);
        let body = answer(&first, Authenticator::new().create(&second["options"]));
        owner.post("passkeys", body).await.refused(401, "passkey_failed", None);
        let begun = begun(&owner).await;
        let broken = json!({ "ceremony": begun["id"], "credential": { "id": 1.5 }, "name": "x" });
        owner.post("passkeys", broken).await.refused(401, "passkey_failed", None);
    }

    async fn a_credential_is_registered_once_whoever_has_it(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        owner.register_passkey().await;
        let stranger = member(&till, "b@example.com", Role::Viewer).await;
        let begun = begun(&stranger).await;
        let body = answer(&begun, owner.authenticator.create_again(&begun["options"]));
        stranger.post("passkeys", body).await.refused(409, "passkey_already_registered", None);
        let ceremony = owner.confirmed("passkeys/begin", Value::Null).await.ok(200);
        let body = answer(&ceremony, owner.authenticator.create_again(&ceremony["options"]));
        owner.post("passkeys", body).await.refused(409, "passkey_already_registered", None);
    }

    async fn what_was_begun_before_the_first_passkey_ends_with_it(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        // Somebody who has the cookie begins, and waits.
        let theirs = begun(&owner).await;
        let seed = owner.act("totp/setup").await.ok(200);
        owner.register_passkey().await;
        let body = answer(&theirs, Authenticator::new().create(&theirs["options"]));
        owner.post("passkeys", body).await.refused(401, "ceremony_expired", None);
        let code = code(&world, &text(&seed["secret"]), 0);
        owner.post("totp/confirm", json!({ "code": code })).await.refused(409, "totp_not_set_up", None);
        assert_eq!(data(&owner.get("passkeys").await.ok(200)).len(), 1);
    }

    async fn what_was_begun_with_a_passkey_ends_when_it_is_removed(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        let stolen = id(&owner.register_passkey().await);
        owner.register_passkey().await;
        let theirs = owner.confirmed("passkeys/begin", Value::Null).await.ok(200);
        let seed = owner.confirmed("totp/setup", Value::Null).await.ok(200);
        owner.confirmed(&format!("passkeys/{stolen}/remove"), Value::Null).await.ok(200);
        let body = answer(&theirs, Authenticator::new().create(&theirs["options"]));
        owner.post("passkeys", body).await.refused(401, "ceremony_expired", None);
        let code = code(&world, &text(&seed["secret"]), 0);
        owner.post("totp/confirm", json!({ "code": code })).await.refused(409, "totp_not_set_up", None);
        assert_eq!(data(&owner.get("passkeys").await.ok(200)).len(), 1);
    }

    async fn one_ceremony_makes_one_passkey_under_concurrency(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        let begun = begun(&owner).await;
        let (one, two) = (Authenticator::new().create(&begun["options"]), Authenticator::new().create(&begun["options"]));
        let (one, two) = tokio::join!(owner.post("passkeys", answer(&begun, one)), owner.post("passkeys", answer(&begun, two)));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 401]);
        assert_eq!(data(&owner.get("passkeys").await.ok(200)).len(), 1);
    }

    async fn a_user_has_at_most_twenty(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        owner.register_passkey().await;
        let spare = owner.confirmed("passkeys/begin", Value::Null).await.ok(200);
        for _ in 1..20 {
            owner.register_passkey().await;
        }
        owner.confirmed("passkeys/begin", Value::Null).await.refused(400, "parameter_invalid", None);
        let body = answer(&spare, Authenticator::new().create(&spare["options"]));
        owner.post("passkeys", body).await.refused(400, "parameter_invalid", None);
        let page = owner.get("passkeys?limit=15").await.ok(200);
        assert_eq!(data(&page).len(), 15);
        let next = crate::harness::text(&page["next_cursor"]);
        assert_eq!(data(&owner.get(&format!("passkeys?limit=15&cursor={next}")).await.ok(200)).len(), 5);
    }

    async fn what_is_done_with_passkeys_is_in_the_log_of_every_organization(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        let other = till.another_account().await;
        let token = invite(&other, "owner@example.com", Role::Viewer, false).await;
        owner.post("invites/accept", json!({ "token": token })).await.ok(200);
        let passkey = owner.register_passkey().await;
        let sql = "SELECT COALESCE(account, ''), COALESCE(user_id, ''), target FROM audit_events WHERE action = 'passkey.added' ORDER BY id";
        let mut reader = till.engine().db.read().await.unwrap();
        let rows: Vec<(String, String, String)> = reader.all(sql, &[]).await.unwrap();
        let accounts: Vec<&str> = rows.iter().map(|row| &*row.0).collect();
        assert_eq!(accounts, ["", &*till.account.id, &*other.account.id]);
        let user = id(&owner.get("user").await.ok(200));
        assert_eq!(rows.iter().map(|row| &*row.1).collect::<Vec<_>>(), [&*user, "", ""]);
        assert!(rows.iter().all(|row| row.2 == id(&passkey)));
    }

    async fn many_failures_lock_the_client_out_for_a_while(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        for _ in 0..20 {
            let begun = begun(&owner).await;
            let broken = json!({ "ceremony": begun["id"], "credential": {}, "name": "x" });
            owner.post("passkeys", broken).await.refused(401, "passkey_failed", None);
        }
        let begun = begun(&owner).await;
        let body = answer(&begun, Authenticator::new().create(&begun["options"]));
        let reply = owner.post("passkeys", body).await;
        reply.refused(429, "too_many_attempts", None);
        let wait: i64 = reply.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=15 * MINUTE_S).contains(&wait), "{wait}");
        world.clock.advance_s(15 * MINUTE_S);
        let begun = crate::passkeys::begun(&owner).await;
        let body = answer(&begun, Authenticator::new().create(&begun["options"]));
        owner.post("passkeys", body).await.ok(201);
    }
}

//! A passkey's yes is for one request: its session, account, mode, path and body, once, within five minutes.

use futures::future::join_all;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use till_core::role::Role;

use crate::browser::{Browser, member, owner};
use crate::harness::{Till, data, id};

const MINUTE_S: i64 = 60;

fn hash(body: &str) -> String {
    hex::encode(Sha256::digest(body))
}

fn asked(path: &str) -> Value {
    json!({ "path": path, "body_sha256": hash("") })
}

async fn with_passkey(till: &Till) -> Browser {
    let mut owner = owner(till).await;
    owner.register_passkey().await;
    owner
}

const BEGIN: &str = "/v1/dashboard/passkeys/begin";

on_every_engine! {
    async fn a_confirmation_is_asked_for_and_given(world: World) {
        let till = world.till().await;
        let mut owner = with_passkey(&till).await;
        let begun = owner.post("confirmations", asked(BEGIN)).await.ok(201);
        assert_eq!((&begun["object"], &begun["status"], &begun["path"]), (&json!("confirmation"), &json!("pending"), &json!(BEGIN)));
        assert_eq!(begun["options"]["userVerification"], "required");
        assert_eq!(begun["options"]["allowCredentials"].as_array().unwrap().len(), 1);
        let path = format!("confirmations/{}", id(&begun));
        let body = json!({ "credential": owner.authenticator.get(&begun["options"]) });
        let before = owner.clone();
        let reply = owner.post(&path, body.clone()).await;
        let confirmed = reply.ok(200);
        assert_eq!((&confirmed["status"], &confirmed["options"]), (&json!("confirmed"), &Value::Null));
        owner.take_cookie(&reply);
        assert_ne!(owner.cookie, before.cookie);
        before.get("session").await.refused(401, "session_expired", None);
        owner.get("session").await.ok(200);
        owner.post(&path, body).await.refused(401, "ceremony_expired", None);
        let begin = || owner.call("POST", "passkeys/begin").header("till-confirmation", &id(&begun));
        let first = begin().once("begin-once");
        first.clone().send().await.ok(200);
        begin().send().await.refused(403, "step_up_required", None);
        // A replay needs none.
        first.send().await.ok(200);
        owner.call("POST", "passkeys/begin").once("begin-once").send().await.ok(200);
        assert!(data(&owner.get("passkeys").await.ok(200))[0]["last_used_at"].is_string());
    }

    async fn of_answers_at_once_one_counts_and_none_waits_for_another_in_turn(world: World) {
        let till = world.till().await;
        let mut owner = with_passkey(&till).await;
        let begun = owner.post("confirmations", asked(BEGIN)).await.ok(201);
        let path = format!("confirmations/{}", id(&begun));
        let body = json!({ "credential": owner.authenticator.get(&begun["options"]) });
        let answers = join_all((0..6).map(|_| owner.post(&path, body.clone()))).await;
        let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401, 401, 401, 401, 401]);
    }

    async fn a_confirmation_is_for_its_own_path_body_and_session(world: World) {
        let till = world.till().await;
        let mut owner = with_passkey(&till).await;
        let passkey = id(&data(&owner.get("passkeys").await.ok(200))[0]);
        let remove = format!("passkeys/{passkey}/remove");
        let confirmation = owner.confirm("passkeys/begin", &Value::Null).await;
        let with = |browser: &Browser, path: &str| browser.call("POST", path).header("till-confirmation", &confirmation);
        with(&owner, &remove).send().await.refused(403, "step_up_required", None);
        with(&owner, "passkeys/begin").json(&json!({})).send().await.refused(403, "step_up_required", None);
        with(&owner, "passkeys/begin").header("till-confirmation", "cnf_0").send().await.refused(403, "step_up_required", None);
        // A request that fails otherwise leaves it as it is.
        with(&owner, "passkeys/psk_00000000000000000000000000/remove").send().await.refused(404, "resource_missing", "id");
        with(&owner, "passkeys/begin").send().await.ok(200);
        let confirmation = owner.confirm("passkeys/begin", &Value::Null).await;
        world.clock.advance_s(5 * MINUTE_S);
        owner.call("POST", "passkeys/begin").header("till-confirmation", &confirmation).send().await.refused(403, "step_up_required", None);
    }

    async fn one_confirmation_counts_once_under_concurrency(world: World) {
        let till = world.till().await;
        let mut owner = with_passkey(&till).await;
        let confirmation = owner.confirm("passkeys/begin", &Value::Null).await;
        let begin = || owner.call("POST", "passkeys/begin").header("till-confirmation", &confirmation).send();
        let (one, two) = tokio::join!(begin(), begin());
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 403]);
    }

    async fn a_wrong_answer_is_the_only_one(world: World) {
        let till = world.till().await;
        let mut owner = with_passkey(&till).await;
        let mut stranger = member(&till, "b@example.com", Role::Viewer).await;
        let begun = owner.post("confirmations", asked(BEGIN)).await.ok(201);
        let path = format!("confirmations/{}", id(&begun));
        let right = json!({ "credential": owner.authenticator.get(&begun["options"]) });
        stranger.register_passkey().await;
        stranger.post(&path, right.clone()).await.refused(401, "ceremony_expired", None);
        let mut others = begun["options"].clone();
        others.as_object_mut().unwrap().remove("allowCredentials");
        let wrong = json!({ "credential": stranger.authenticator.get(&others) });
        owner.post(&path, wrong).await.refused(401, "passkey_failed", None);
        owner.post(&path, right).await.refused(401, "ceremony_expired", None);
        let begun = owner.post("confirmations", asked(BEGIN)).await.ok(201);
        let late = json!({ "credential": owner.authenticator.get(&begun["options"]) });
        world.clock.advance_s(5 * MINUTE_S);
        owner.post(&format!("confirmations/{}", id(&begun)), late).await.refused(401, "ceremony_expired", None);
    }

    async fn a_counter_that_runs_backwards_is_refused(world: World) {
        let till = world.till().await;
        let mut owner = with_passkey(&till).await;
        owner.confirm("passkeys/begin", &Value::Null).await;
        let begun = owner.post("confirmations", asked(BEGIN)).await.ok(201);
        owner.authenticator.counter = 0;
        let copied = json!({ "credential": owner.authenticator.get(&begun["options"]) });
        owner.post(&format!("confirmations/{}", id(&begun)), copied).await.refused(401, "passkey_failed", None);
        let notices = data(&owner.get("notices").await.ok(200));
        assert_eq!(notices[0]["kind"], "passkey.suspicious");
        assert_eq!(notices.iter().filter(|one| one["kind"] == "passkey.suspicious").count(), 1);
    }

    async fn two_confirmations_of_one_session_are_answered_at_once(world: World) {
        let till = world.till().await;
        let mut owner = with_passkey(&till).await;
        let first = owner.post("confirmations", asked(BEGIN)).await.ok(201);
        let second = owner.post("confirmations", asked(BEGIN)).await.ok(201);
        let mut answer = |begun: &Value| {
            let body = json!({ "credential": owner.authenticator.get(&begun["options"]) });
            (format!("confirmations/{}", id(begun)), body)
        };
        // Each from an authenticator of its own would count for itself; here the later answer is the higher one.
        let (first, second) = (answer(&first), answer(&second));
        let (one, two) = tokio::join!(owner.post(&first.0, first.1), owner.post(&second.0, second.1));
        assert!(two.status == 200 || one.status == 200, "{} {}", one.status, two.status);
        for reply in [&one, &two] {
            assert!([200, 401].contains(&reply.status), "{}", reply.status);
        }
    }

    async fn what_is_asked_must_make_sense(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        owner.post("confirmations", asked(BEGIN)).await.refused(409, "passkey_required", None);
        owner.post("confirmations", json!({})).await.refused(409, "passkey_required", None);
        owner.register_passkey().await;
        owner.post("confirmations", asked("/v1/dashboard/nothing")).await.refused(400, "parameter_invalid", "path");
        owner.post("confirmations", asked("/v1/dashboard/sign_in/link")).await.refused(400, "parameter_invalid", "path");
        owner.post("confirmations", json!({ "path": BEGIN, "body_sha256": "00" })).await.refused(400, "parameter_invalid", "body_sha256");
        let changes = || asked("/v1/dashboard/changes");
        owner.post("confirmations", changes()).await.refused(400, "parameter_missing", "Till-Mode");
        owner.in_mode("test").post("confirmations", changes()).await.ok(201);
        owner.at("acct_0").in_mode("test").post("confirmations", changes()).await.refused(404, "resource_missing", "Till-Account");
        owner.at("acct_0").post("confirmations", asked(BEGIN)).await.ok(201);
        owner.in_mode("live").post("confirmations", asked("/v1/invoices/inv_0/resolve_review")).await.ok(201);
    }
}

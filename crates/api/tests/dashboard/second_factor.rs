//! The second factor of whoever came by a link: a passkey or a code.

use serde_json::{Value, json};

use crate::browser::{Browser, owner};
use crate::harness::{Setup, Till, World};
use crate::links::link_for;
use crate::totp::{code, enable};

const MINUTE_S: i64 = 60;

async fn till_with_mail(world: &World) -> Till {
    let setup = Setup {
        mail: true,
        ..Setup::default()
    };
    world.till_with(setup).await
}

/// A browser whose user came by a link and must still give the second factor.
async fn pending(till: &Till) -> Browser {
    let mut fresh = Browser::new(till);
    let token = link_for(till, &mut fresh, "owner@example.com").await;
    let reply = fresh
        .post("sign_in/link/confirm", json!({ "token": token }))
        .await;
    let session = fresh.take_session(&reply);
    assert_eq!(session["state"], "second_factor_pending");
    assert_eq!(
        (&session["user"], &session["organizations"]),
        (&Value::Null, &json!([]))
    );
    fresh
}

on_every_engine! {
    async fn a_pending_session_can_do_little(world: World) {
        let till = till_with_mail(&world).await;
        let mut owner = owner(&till).await;
        owner.act("sign_in/second_factor/begin").await.refused(409, "mfa_not_pending", None);
        owner.register_passkey().await;
        let fresh = pending(&till).await;
        fresh.get("session").await.ok(200);
        for path in ["sessions", "user", "passkeys"] {
            assert_eq!(fresh.get(path).await.json()["error"]["code"], "second_factor_required", "{path}");
        }
        fresh.act("passkeys/begin").await.refused(403, "second_factor_required", None);
        fresh.post("invites/accept", json!({ "token": "x" })).await.refused(403, "second_factor_required", None);
        fresh.post("sign_in/second_factor", json!({})).await.refused(400, "parameter_missing", "code");
        fresh.post("sign_in/second_factor", json!({ "ceremony": "cer_0" })).await.refused(400, "parameter_missing", "credential");
        fresh.post("sign_in/second_factor", json!({ "ceremony": "cer_0", "code": "1" })).await.refused(400, "parameter_invalid", "code");
        fresh.post("sign_in/second_factor", json!({ "code": "123456" })).await.refused(409, "totp_not_set_up", None);
        fresh.call("POST", "sign_in/second_factor/begin").without("till-csrf").send().await.refused(403, "csrf_failed", None);
        world.clock.advance_s(10 * MINUTE_S);
        fresh.get("session").await.refused(401, "session_expired", None);
    }

    async fn a_passkey_completes_the_session(world: World) {
        let till = till_with_mail(&world).await;
        let mut owner = owner(&till).await;
        owner.register_passkey().await;
        let mut fresh = pending(&till).await;
        let begun = fresh.act("sign_in/second_factor/begin").await.ok(200);
        assert_eq!(begun["options"]["allowCredentials"].as_array().unwrap().len(), 1);
        let mut wrong = owner.authenticator.get(&begun["options"]);
        wrong["response"]["signature"] = json!("AAAA");
        fresh.post("sign_in/second_factor", json!({ "ceremony": begun["id"], "credential": wrong })).await.refused(401, "passkey_failed", None);
        let begun = fresh.act("sign_in/second_factor/begin").await.ok(200);
        let right = json!({ "ceremony": begun["id"], "credential": owner.authenticator.get(&begun["options"]) });
        let before = fresh.clone();
        let reply = fresh.post("sign_in/second_factor", right.clone()).await;
        let session = fresh.take_session(&reply);
        assert_eq!((&session["state"], &session["method"]), (&json!("active"), &json!("link_passkey")));
        assert_eq!(fresh.csrf, before.csrf);
        before.get("session").await.refused(401, "session_expired", None);
        fresh.post("sign_in/second_factor", right).await.refused(409, "mfa_not_pending", None);
    }

    async fn a_code_completes_the_session(world: World) {
        let till = till_with_mail(&world).await;
        // Codes change every half minute: none may become another on the way.
        world.clock.stop();
        let owner = owner(&till).await;
        let secret = enable(&world, &owner).await;
        let mut fresh = pending(&till).await;
        fresh.act("sign_in/second_factor/begin").await.refused(409, "passkey_required", None);
        // The code that switched them on is used.
        let used = json!({ "code": code(&world, &secret, 0) });
        fresh.post("sign_in/second_factor", used).await.refused(400, "parameter_invalid", "code");
        world.clock.advance_s(90);
        let body = json!({ "code": code(&world, &secret, 1) });
        let reply = fresh.post("sign_in/second_factor", body.clone()).await;
        let session = fresh.take_session(&reply);
        assert_eq!((&session["state"], &session["method"]), (&json!("active"), &json!("link_totp")));
        let second = pending(&till).await;
        second.post("sign_in/second_factor", body).await.refused(400, "parameter_invalid", "code");
        world.clock.advance_s(90);
        second.post("sign_in/second_factor", json!({ "code": code(&world, &secret, -2) })).await.refused(400, "parameter_invalid", "code");
        second.post("sign_in/second_factor", json!({ "code": code(&world, &secret, -1) })).await.ok(200);
    }

    async fn a_code_counts_once_under_concurrency(world: World) {
        let till = till_with_mail(&world).await;
        let owner = owner(&till).await;
        let secret = enable(&world, &owner).await;
        world.clock.advance_s(90);
        let (one, two) = (pending(&till).await, pending(&till).await);
        let body = || json!({ "code": code(&world, &secret, 0) });
        let (one, two) = tokio::join!(one.post("sign_in/second_factor", body()), two.post("sign_in/second_factor", body()));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400]);
    }

    async fn wrong_codes_lock_codes_and_not_passkeys(world: World) {
        let till = till_with_mail(&world).await;
        let mut owner = owner(&till).await;
        let secret = enable(&world, &owner).await;
        owner.register_passkey().await;
        world.clock.advance_s(90);
        let fresh = pending(&till).await;
        for _ in 0..5 {
            fresh.post("sign_in/second_factor", json!({ "code": "000000" })).await.refused(400, "parameter_invalid", "code");
        }
        let right = json!({ "code": code(&world, &secret, 0) });
        let reply = fresh.post("sign_in/second_factor", right).await;
        reply.refused(429, "too_many_attempts", None);
        assert!(reply.header("retry-after").is_some());
        let begun = fresh.act("sign_in/second_factor/begin").await.ok(200);
        let passkey = json!({ "ceremony": begun["id"], "credential": owner.authenticator.get(&begun["options"]) });
        fresh.post("sign_in/second_factor", passkey).await.ok(200);
    }
}

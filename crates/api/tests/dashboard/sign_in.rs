//! Signing in by passkey, signing up, the demo.

use serde_json::{Value, json};
use till_core::role::Role;
use till_engine::{DashboardConfig, Signup};

use crate::browser::{Browser, member, owner};
use crate::harness::{Setup, data, id};
use crate::links::{mailed, token_of};

const MINUTE_S: i64 = 60;

fn open() -> Setup {
    Setup {
        mail: true,
        dashboard: DashboardConfig {
            signup: Signup::Open,
            ..DashboardConfig::default()
        },
        ..Setup::default()
    }
}

on_every_engine! {
    async fn a_passkey_signs_in_by_itself(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        owner.register_passkey().await;
        let mut fresh = Browser::new(&till);
        let begun = fresh.act("sign_in/passkey/begin").await.ok(200);
        assert_eq!(begun["options"]["userVerification"], "required");
        assert_eq!(begun["options"]["allowCredentials"], Value::Null);
        let body = json!({ "ceremony": begun["id"], "credential": owner.authenticator.get(&begun["options"]) });
        let reply = fresh.post("sign_in/passkey", body.clone()).await;
        let session = fresh.take_session(&reply);
        assert_eq!((&session["state"], &session["method"]), (&json!("active"), &json!("passkey")));
        assert_eq!(session["user"]["email"], "owner@example.com");
        Browser::new(&till).post("sign_in/passkey", body).await.refused(401, "ceremony_expired", None);
        // Signing in over a session ends it.
        let before = fresh.clone();
        let begun = fresh.act("sign_in/passkey/begin").await.ok(200);
        let body = json!({ "ceremony": begun["id"], "credential": owner.authenticator.get(&begun["options"]) });
        let reply = fresh.post("sign_in/passkey", body).await;
        fresh.take_session(&reply);
        before.get("session").await.refused(401, "session_expired", None);
        let sign_ins = data(&fresh.get("sign_ins").await.ok(200));
        assert_eq!((&sign_ins[0]["action"], &sign_ins[0]["details"]["method"]), (&json!("sign_in.succeeded"), &json!("passkey")));
        assert_eq!(sign_ins[0]["actor"]["label"], "owner@example.com");
    }

    async fn the_oldest_of_too_many_sessions_ends(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        owner.register_passkey().await;
        let mut last = owner.clone();
        for _ in 0..20 {
            let mut fresh = Browser::new(&till);
            let begun = fresh.act("sign_in/passkey/begin").await.ok(200);
            let body = json!({ "ceremony": begun["id"], "credential": owner.authenticator.get(&begun["options"]) });
            let reply = fresh.post("sign_in/passkey", body).await;
            fresh.take_session(&reply);
            last = fresh;
        }
        owner.get("session").await.refused(401, "session_expired", None);
        assert_eq!(data(&last.get("sessions?limit=100").await.ok(200)).len(), 20);
    }

    async fn a_wrong_passkey_does_not_sign_in(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        owner.register_passkey().await;
        let fresh = Browser::new(&till);
        let begun = fresh.act("sign_in/passkey/begin").await.ok(200);
        let mut answer = owner.authenticator.get(&begun["options"]);
        answer["response"]["userHandle"] = json!("AAAA");
        let body = json!({ "ceremony": begun["id"], "credential": answer });
        fresh.post("sign_in/passkey", body).await.refused(401, "passkey_failed", None);
        let sign_ins = data(&owner.get("sign_ins").await.ok(200));
        assert_eq!((&sign_ins[0]["action"], &sign_ins[0]["details"]["method"]), (&json!("sign_in.failed"), &json!("passkey")));
        let body = json!({ "ceremony": begun["id"], "credential": owner.authenticator.get(&begun["options"]) });
        fresh.post("sign_in/passkey", body).await.refused(401, "ceremony_expired", None);
        let begun = fresh.act("sign_in/passkey/begin").await.ok(200);
        owner.authenticator.is_embedded = true;
        let embedded = json!({ "ceremony": begun["id"], "credential": owner.authenticator.get(&begun["options"]) });
        fresh.post("sign_in/passkey", embedded).await.refused(401, "passkey_failed", None);
        owner.authenticator.is_embedded = false;
        let begun = fresh.act("sign_in/passkey/begin").await.ok(200);
        let late = json!({ "ceremony": begun["id"], "credential": owner.authenticator.get(&begun["options"]) });
        world.clock.advance_s(5 * MINUTE_S);
        fresh.post("sign_in/passkey", late).await.refused(401, "ceremony_expired", None);
        // A ceremony of another kind is none of this.
        let begun = owner.confirmed("passkeys/begin", Value::Null).await.ok(200);
        let body = json!({ "ceremony": begun["id"], "credential": {} });
        fresh.post("sign_in/passkey", body).await.refused(401, "ceremony_expired", None);
    }

    async fn a_copied_passkey_is_refused_and_its_owner_told(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        let passkey = owner.register_passkey().await;
        owner.confirm("passkeys/begin", &Value::Null).await;
        owner.authenticator.counter = 0;
        let fresh = Browser::new(&till);
        let begun = fresh.act("sign_in/passkey/begin").await.ok(200);
        let copied = json!({ "ceremony": begun["id"], "credential": owner.authenticator.get(&begun["options"]) });
        fresh.post("sign_in/passkey", copied).await.refused(401, "passkey_failed", None);
        let notices = data(&owner.get("notices").await.ok(200));
        assert_eq!((&notices[0]["kind"], &notices[0]["target"]), (&json!("passkey.suspicious"), &passkey["id"]));
        let sign_ins = data(&owner.get("sign_ins").await.ok(200));
        assert_eq!(sign_ins[0]["action"], "sign_in.failed");
    }

    async fn two_answers_at_once_make_one_session(world: World) {
        let till = world.till().await;
        let mut owner = owner(&till).await;
        owner.register_passkey().await;
        let fresh = Browser::new(&till);
        let begun = fresh.act("sign_in/passkey/begin").await.ok(200);
        let answer = |browser: &mut Browser| json!({ "ceremony": begun["id"], "credential": browser.authenticator.get(&begun["options"]) });
        let (one, two) = (answer(&mut owner), answer(&mut owner));
        let (one, two) = tokio::join!(fresh.post("sign_in/passkey", one), fresh.post("sign_in/passkey", two));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401]);
    }

    async fn anybody_signs_up_where_that_is_open(world: World) {
        let till = world.till_with(open()).await;
        let mut fresh = Browser::new(&till);
        fresh.post("sign_up", json!({ "email": "nobody" })).await.refused(400, "email_invalid", "email");
        let reply = fresh.post("sign_up", json!({ "email": "new@example.com" })).await;
        assert_eq!(reply.ok(200), json!({ "object": "link_request", "status": "accepted" }));
        fresh.take_cookie(&reply);
        let (kind, to, link) = mailed(&till).await.pop().unwrap();
        assert_eq!((&*kind, &*to), ("sign_up", "new@example.com"));
        let token = token_of(&link, "sign_up");
        Browser::new(&till).post("sign_up/confirm", json!({ "token": token })).await.refused(401, "signup_link_invalid", None);
        fresh.post("sign_in/link/confirm", json!({ "token": token })).await.refused(401, "magic_link_invalid", None);
        let reply = fresh.post("sign_up/confirm", json!({ "token": token })).await;
        let session = fresh.take_session(&reply);
        assert_eq!((&session["method"], &session["organizations"]), (&json!("sign_up"), &json!([])));
        assert_eq!(session["user"]["email_verified"], true);
        fresh.post("sign_up/confirm", json!({ "token": token })).await.refused(401, "signup_link_invalid", None);
        // A known address is mailed a link to sign in.
        let reply = Browser::new(&till).post("sign_up", json!({ "email": "NEW@example.com" })).await;
        assert_eq!(reply.ok(200), json!({ "object": "link_request", "status": "accepted" }));
        assert_eq!(mailed(&till).await.pop().unwrap().0, "sign_in");
    }

    async fn sign_ups_are_limited_and_may_be_closed(world: World) {
        let till = world.till_with(open()).await;
        let fresh = Browser::new(&till);
        for n in 0..5 {
            fresh.post("sign_up", json!({ "email": format!("n{n}@example.com") })).await.ok(200);
        }
        let reply = fresh.post("sign_up", json!({ "email": "n6@example.com" })).await;
        reply.refused(429, "too_many_signups", None);
        assert!(reply.header("retry-after").is_some());
        let invited = world.beside(&till, Setup { mail: true, ..Setup::default() }).await;
        Browser::new(&invited).post("sign_up", json!({ "email": "a@example.com" })).await.refused(409, "feature_unavailable", None);
        let silent = world.beside(&till, Setup { mail: false, ..open() }).await;
        Browser::new(&silent).post("sign_up", json!({ "email": "a@example.com" })).await.refused(409, "feature_unavailable", None);
        world.clock.advance_s(61 * MINUTE_S);
        fresh.post("sign_up", json!({ "email": "n6@example.com" })).await.ok(200);
    }

    async fn the_demo_signs_its_owner_in(world: World) {
        let till = world.till_with(Setup { demo: true, ..Setup::default() }).await;
        let mut fresh = Browser::new(&till);
        let reply = fresh.act("sign_in/demo").await;
        let session = fresh.take_session(&reply);
        assert_eq!((&session["method"], &session["organizations"][0]["role"]), (&json!("demo"), &json!("owner")));
        assert_eq!(fresh.get("session").await.ok(200)["id"], json!(id(&session)));
        // As with a live key: there is no other mode that it could be in conflict with.
        let live = fresh.in_mode("live");
        live.post("/v1/test_helpers/clock", json!({ "advance_seconds": 1 })).await.refused(409, "test_mode_only", None);
        live.get("/v1/test_helpers/clock").await.refused(409, "livemode_disabled", None);
        fresh.call("POST", "sign_in/demo").without("origin").send().await.refused(403, "origin_not_allowed", None);
    }

    async fn only_the_demo_does(world: World) {
        let till = world.till().await;
        Browser::new(&till).act("sign_in/demo").await.refused(404, "route_not_found", None);
        Browser::new(&till).call("POST", "sign_in/demo").without("origin").send().await.refused(404, "route_not_found", None);
        member(&till, "b@example.com", Role::Viewer).await;
    }
}

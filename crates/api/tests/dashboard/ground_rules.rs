//! Origins, CSRF tokens, cookies, and which mistake is told first.

use serde_json::json;
use till_core::role::Role;
use till_engine::DashboardConfig;

use crate::browser::{Browser, ORIGIN, member, owner};
use crate::harness::Setup;

on_every_engine! {
    async fn a_post_needs_the_dashboard_s_own_origin(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        let refused = |call: crate::harness::Call| async move {
            call.send().await.refused(403, "origin_not_allowed", None);
        };
        let post = || owner.call("POST", "sessions/revoke_others");
        refused(post().without("origin")).await;
        refused(post().header("origin", "http://localhost:4243")).await;
        refused(post().header("origin", "https://localhost:4242")).await;
        refused(post().header("origin", "null")).await;
        refused(post().and_header("origin", "https://evil.example")).await;
        for site in ["cross-site", "same-site", "none"] {
            refused(post().header("sec-fetch-site", site)).await;
        }
        post().header("sec-fetch-site", "same-origin").send().await.ok(200);
        post().send().await.ok(200);
        let get = || owner.call("GET", "session");
        for site in ["cross-site", "same-site"] {
            refused(get().header("sec-fetch-site", site)).await;
        }
        refused(get().header("origin", "https://evil.example")).await;
        for site in ["none", "same-origin"] {
            get().header("sec-fetch-site", site).send().await.ok(200);
        }
        get().header("origin", ORIGIN).send().await.ok(200);
        let nobody = Browser::new(&till);
        refused(nobody.call("POST", "invites/open").header("origin", "https://evil.example").json(&json!({ "token": "x" }))).await;
    }

    async fn a_post_repeats_the_session_s_csrf_token(world: World) {
        let till = world.till().await;
        let (first, second) = (owner(&till).await, member(&till, "b@example.com", Role::Viewer).await);
        let post = || first.call("POST", "sessions/revoke_others");
        post().without("till-csrf").send().await.refused(403, "csrf_failed", None);
        post().header("till-csrf", second.csrf.as_deref().unwrap()).send().await.refused(403, "csrf_failed", None);
        post().and_header("till-csrf", first.csrf.as_deref().unwrap()).send().await.refused(403, "csrf_failed", None);
        post().send().await.ok(200);
    }

    async fn mistakes_are_told_in_one_order(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        let call = || owner.call("POST", "sessions/revoke_others");
        call().header("origin", "https://evil.example").without("cookie").send().await.refused(403, "origin_not_allowed", None);
        call().without("cookie").without("till-csrf").send().await.refused(401, "session_missing", None);
        call().header("cookie", "till_session=").send().await.refused(401, "session_missing", None);
        call().header("cookie", "till_session=unknown").without("till-csrf").send().await.refused(401, "session_expired", None);
        call().without("till-csrf").without("idempotency-key").send().await.refused(403, "csrf_failed", None);
        call().without("idempotency-key").json(&json!({ "x": 1 })).send().await.refused(400, "idempotency_key_required", "Idempotency-Key");
        call().json(&json!({ "x": 1 })).send().await.refused(400, "parameter_unknown", "x");
        // A key that another request has used is told before what is wrong with this one.
        let again = |path: &str| owner.call("POST", path).header("idempotency-key", "once");
        again("sessions/revoke_others").send().await.ok(200);
        again("sign_out").send().await.refused(409, "idempotency_key_reused", "Idempotency-Key");
        again("sessions/revoke_others?x=1").json(&json!({ "x": 1 })).send().await.refused(409, "idempotency_key_reused", "Idempotency-Key");
        again("sign_out").json(&json!({})).header("content-type", "text/plain").send().await.refused(409, "idempotency_key_reused", "Idempotency-Key");
        call().json(&json!({})).header("content-type", "text/plain").send().await.refused(415, "content_type_invalid", "Content-Type");
        till.call("GET", "/v1/dashboard/session").send().await.refused(401, "session_missing", None);
        owner.call("OPTIONS", "session").send().await.refused(405, "method_not_allowed", None);
        for (browser, status) in [(&owner, 200), (&Browser::new(&till), 401)] {
            assert_eq!(browser.call("HEAD", "session").send().await.status, status);
        }
        owner.get("nothing").await.refused(404, "route_not_found", None);
        let reply = owner.get("session").await;
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }

    async fn plain_http_is_for_the_own_machine(world: World) {
        let dashboard = DashboardConfig { url: "http://pay.example.com/dashboard".to_owned(), ..DashboardConfig::default() };
        let till = world.till_with(Setup { dashboard, ..Setup::default() }).await;
        Browser::new(&till).get("session").await.refused(409, "feature_unavailable", None);
        Browser::new(&till).post("invites/open", json!({ "token": "x" })).await.refused(409, "feature_unavailable", None);
    }
}

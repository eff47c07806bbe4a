//! Every endpoint of the dashboard, as the OpenAPI document describes them: none forgets who may call it.

use serde_json::json;

use crate::browser::{Browser, owner};
use crate::harness::described::{Endpoint, endpoints};

/// Whether a session is the only way to it.
fn wants_a_session(endpoint: &Endpoint) -> bool {
    endpoint.takes(|one| one.get("session").is_some()) && !endpoint.wants_a_key()
}

on_every_engine! {
    async fn every_endpoint_with_a_session_wants_one(world: World) {
        let till = world.till().await;
        let owner = owner(&till).await;
        let nobody = Browser::new(&till);
        let posts: Vec<_> = endpoints("post").into_iter().filter(wants_a_session).collect();
        assert!(posts.len() > 10, "the document was read");
        for path in posts.iter().map(|of| &*of.path) {
            owner.call("POST", path).header("origin", "https://evil.example").send().await.refused(403, "origin_not_allowed", None);
            nobody.act(path).await.refused(401, "session_missing", None);
            owner.call("POST", path).without("till-csrf").send().await.refused(403, "csrf_failed", None);
        }
        for of in endpoints("get").into_iter().filter(wants_a_session) {
            owner.call("GET", &of.path).header("origin", "https://evil.example").send().await.refused(403, "origin_not_allowed", None);
            nobody.get(&of.path).await.refused(401, "session_missing", None);
        }
    }

    async fn every_endpoint_without_one_wants_the_right_origin_and_a_key(world: World) {
        let till = world.till().await;
        let nobody = Browser::new(&till);
        let is_open = |path: &str| path.starts_with("/v1/dashboard/") && !path.ends_with("/demo");
        let open: Vec<_> = endpoints("post").into_iter().filter(|of| is_open(&of.path) && !wants_a_session(of)).collect();
        assert!(open.len() > 5, "the document was read");
        for path in open.iter().map(|of| &*of.path) {
            nobody.call("POST", path).without("origin").send().await.refused(403, "origin_not_allowed", None);
            nobody.call("POST", path).without("idempotency-key").send().await.refused(400, "idempotency_key_required", "Idempotency-Key");
            nobody.post(path, json!({ "no_such_field": 1 })).await.refused(400, "parameter_unknown", "no_such_field");
        }
    }
}

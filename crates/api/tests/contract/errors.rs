//! Every refusal has one shape, wherever in the server it comes from.

use serde_json::{Value, json};
use till_core::error::Code;
use till_core::limits::{BODY_BYTES_MAX, HEADER_BYTES_MAX};

use crate::harness::{Call, Reply, id, raw};

on_every_engine! {
    async fn text_that_payers_see_cannot_deceive_them(world: World) {
        let till = world.till().await;
        let link = till.post("/v1/payment_links", json!({ "amount_type": "fixed", "currency": "USD", "amount": "5" })).await.ok(201);
        let change = format!("/v1/payment_links/{}", id(&link));
        let plan = json!({ "amount": "5", "currency": "USD", "interval": "month" });
        for (path, field, mut body) in [
            ("/v1/invoices", "description", json!({ "amount": "5", "currency": "USD" })),
            ("/v1/payment_links", "description", json!({ "amount_type": "fixed", "currency": "USD", "amount": "5" })),
            (change.as_str(), "description", json!({})),
            ("/v1/customers", "name", json!({})),
            ("/v1/plans", "name", plan),
            ("/v1/merchant/settings", "display_name", json!({})),
        ] {
            for deceptive in ["\u{202e}fdp.eciovni", "a\u{1b}[2Jb", "a\rb", "a\u{2067}b", "a\u{9b}b"] {
                body[field] = json!(deceptive);
                till.post(path, body.clone()).await.refused(400, "parameter_invalid", field);
            }
            body[field] = json!("שני קפה");
            assert!(till.post(path, body.clone()).await.status < 300, "{path}");
        }
        let lines = json!({ "amount": "5", "currency": "USD", "description": "two\n\tlines" });
        assert_eq!(till.create(lines).await["description"], "two\n\tlines");
    }

    async fn every_code_of_the_catalogue_is_documented_where_doc_url_says(world: World) {
        let till = world.till().await;
        let refusal = till.get("/v1/invoices/inv_x").await;
        refusal.refused(404, "resource_missing", None);
        let doc_url = refusal.json()["error"]["doc_url"].as_str().unwrap().to_owned();
        let base = format!("http://{}", till.server.address);
        let path = doc_url.strip_prefix(&base).expect("documentation is on this server");
        let prefix = path.strip_suffix("resource_missing").unwrap();
        for code in Code::ALL {
            let path = format!("{prefix}{}", code.as_str());
            let page = Call::new(till.server.address, "GET", &path).send().await;
            assert_eq!(page.status, 200, "{path}");
            assert!(String::from_utf8_lossy(&page.body).contains(code.as_str()), "{path}");
        }
    }

    async fn an_unknown_path_and_an_unknown_method_are_told_apart(world: World) {
        let till = world.till().await;
        for path in ["/v1", "/v1/nothing", "/v1/invoices/", "/v2/invoices", "/V1/invoices", "/v1/invoices/a/b/c"] {
            for method in ["GET", "POST", "BREW"] {
                till.call(method, path).no_key().send().await.refused(404, "route_not_found", None);
            }
        }
        for (method, path, allow) in [
            ("PUT", "/v1/invoices", "GET,HEAD,POST"),
            ("DELETE", "/v1/invoices/inv_x", "GET,HEAD"),
            ("GET", "/v1/invoices/inv_x/cancel", "POST"),
            ("POST", "/v1/payments", "GET,HEAD"),
            ("PATCH", "/v1/merchant/settings", "GET,HEAD,POST"),
            ("POST", "/healthz", "GET,HEAD"),
            ("POST", "/", "GET,HEAD"),
        ] {
            let reply = till.call(method, path).no_key().send().await;
            reply.refused(405, "method_not_allowed", None);
            assert_eq!(reply.header("allow"), Some(allow), "{path}");
        }
    }

    async fn a_body_must_be_json_by_name_and_by_nature(world: World) {
        let till = world.till().await;
        let body = json!({ "amount": "25.00", "currency": "USD" });
        for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"] {
            let call = till.posting("/v1/invoices", body.clone()).header("content-type", content_type);
            call.send().await.refused(415, "content_type_invalid", "Content-Type");
        }
        let unnamed = till.posting("/v1/invoices", body.clone()).without("content-type");
        unnamed.send().await.refused(415, "content_type_invalid", "Content-Type");
        for bytes in [
            &b"{"[..],
            b"null",
            b"[]",
            b"\"text\"",
            b"{\"amount\":\"1\",\"amount\":\"2\",\"currency\":\"USD\"}",
            b"{\"metadata\":{\"a\":\"1\",\"a\":\"2\"}}",
            b"{} {}",
            b"\xff\xfe",
            b"{\"amount\":\"\\ud800\"}",
        ] {
            let call = till.posting("/v1/invoices", json!({})).bytes(bytes);
            call.send().await.refused(400, "body_invalid_json", None);
        }
        let named = till.posting("/v1/invoices", body).header("content-type", "application/json; charset=utf-8");
        named.send().await.ok(201);
    }

    async fn where_nothing_is_required_no_body_is_an_empty_one(world: World) {
        let till = world.till().await;
        let settings = till.posting("/v1/merchant/settings", json!({})).no_body().send().await.ok(200);
        assert_eq!(settings["object"], "merchant_settings");
        let missing = till.posting("/v1/invoices", json!({})).no_body().send().await;
        missing.refused(400, "parameter_missing", "amount");
        let invoice = id(&till.invoice().await);
        let path = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
        assert_eq!(till.posting(&path, json!({})).no_body().send().await.ok(200)["status"], "paid");
        let invoice = id(&till.invoice().await);
        let path = format!("/v1/invoices/{invoice}/cancel");
        till.post(&path, json!({ "reason": "x" })).await.refused(400, "parameter_unknown", "reason");
        till.posting(&path, json!({})).bytes(b"[]").send().await.refused(400, "body_invalid_json", None);
        assert_eq!(till.posting(&path, json!({})).no_body().send().await.ok(200)["status"], "cancelled");
        let roll = "/v1/merchant/webhook_secret/roll";
        till.post(roll, json!({ "now": true })).await.refused(400, "parameter_unknown", "now");
        till.posting(roll, json!({})).no_body().send().await.ok(200);
    }

    async fn a_body_or_a_head_too_large_is_refused_in_the_one_shape(world: World) {
        let till = world.till().await;
        let description = "x".repeat(BODY_BYTES_MAX);
        let body = json!({ "amount": "1", "currency": "USD", "description": description });
        till.post("/v1/invoices", body).await.refused(413, "body_too_large", None);
        let wide = till.call("GET", "/v1/invoices").header("x-wide", &"x".repeat(HEADER_BYTES_MAX));
        wide.send().await.refused(431, "parameter_invalid", None);
        let long = till.get(&format!("/v1/invoices?cursor={}", "x".repeat(HEADER_BYTES_MAX))).await;
        long.refused(431, "parameter_invalid", None);
        let mut many = till.call("GET", "/v1/invoices");
        for n in 0..120 {
            many = many.header(&format!("x-{n}"), "1");
        }
        many.send().await.refused(431, "parameter_invalid", None);
    }

    async fn what_is_not_http_is_refused_in_the_one_shape(world: World) {
        let till = world.till().await;
        for bytes in [
            &b"nonsense\r\n\r\n"[..],
            b"GET  / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
            b"POST /v1/invoices HTTP/1.1\r\nhost: x\r\ncontent-length: x\r\n\r\n",
        ] {
            let said = raw(till.server.address, bytes).await;
            Reply::parse(&said, "raw").refused(400, "parameter_invalid", None);
        }
    }

    async fn unknown_parameters_are_refused_everywhere(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        for path in [
            "/v1/invoices?offset=1".to_owned(),
            format!("/v1/invoices/{invoice}?expand=payments"),
            "/v1/payments?from=x".to_owned(),
            "/v1/events?url=x".to_owned(),
            "/v1/webhook_deliveries?url=x".to_owned(),
            "/v1/merchant/settings?mode=test".to_owned(),
            "/v1/test_helpers/clock?now".to_owned(),
            format!("/v1/invoices/{invoice}/events?since=1"),
        ] {
            let reply = till.get(&path).await;
            assert_eq!((reply.status, reply.code().as_str()), (400, "parameter_unknown"), "{path}");
            let name = path.split_once('?').unwrap().1.split('=').next().unwrap();
            assert_eq!(reply.json()["error"]["param"], name, "{path}");
        }
        let path = format!("/v1/invoices/{invoice}/cancel?force=1");
        till.post(&path, json!({})).await.refused(400, "parameter_unknown", "force");
        till.post("/v1/invoices?dry_run=1", json!({})).await.refused(400, "parameter_unknown", "dry_run");
        assert_eq!(till.retrieve(&invoice).await["status"], "awaiting_payment");
    }

    async fn errors_win_in_one_order(world: World) {
        let till = world.till().await;
        let path = "/v1/invoices/inv_x/resolve_review";
        let all_wrong = |call: Call| call.bytes(b"{\"x\":1,\"decision\":7}");
        // Authentication, then idempotency, then shape, then values, then lookups, then state.
        let call = all_wrong(till.call("POST", path));
        call.clone().no_key().send().await.refused(401, "api_key_missing", None);
        call.send().await.refused(400, "idempotency_key_required", "Idempotency-Key");
        let post = |body: Value| till.post(path, body);
        post(json!({ "x": 1, "decision": 7 })).await.refused(400, "parameter_unknown", "x");
        post(json!({ "decision": 7 })).await.refused(400, "parameter_missing", "reason");
        post(json!({ "decision": 7, "reason": 8 })).await.refused(400, "parameter_invalid", "decision");
        post(json!({ "decision": "maybe", "reason": "" })).await.refused(400, "parameter_invalid", "decision");
        post(json!({ "decision": "accept", "reason": "" })).await.refused(400, "parameter_invalid", "reason");
        post(json!({ "decision": "accept", "reason": "ok" })).await.refused(404, "resource_missing", None);
        let open = id(&till.invoice().await);
        let path = format!("/v1/invoices/{open}/resolve_review");
        let state = till.post(&path, json!({ "decision": "accept", "reason": "ok" })).await;
        state.refused(409, "review_not_open", None);
    }

    async fn an_id_that_is_no_id_is_missing(world: World) {
        let till = world.till().await;
        for odd in ["inv_", "x", "pay_01jcnx2v9k7q3w8s5d1f6h4m2t", "inv_01jcnx2v9k7q3w8s5d1f6h4m2t", "%00", "%FF", "..%2F..", "INV_01JCNX"] {
            till.get(&format!("/v1/invoices/{odd}")).await.refused(404, "resource_missing", None);
            till.post(&format!("/v1/invoices/{odd}/cancel"), json!({})).await.refused(404, "resource_missing", None);
            till.get(&format!("/v1/invoices/{odd}/events")).await.refused(404, "resource_missing", None);
            till.post(&format!("/v1/webhook_deliveries/{odd}/replay"), json!({})).await.refused(404, "resource_missing", None);
            till.post(&format!("/v1/test_helpers/payments/{odd}/reverse"), json!({})).await.refused(404, "resource_missing", None);
        }
        let keyless = till.posting("/v1/invoices/%FF/cancel", json!({})).no_key().send().await;
        keyless.refused(401, "api_key_missing", None);
    }

    async fn answers_are_marked_as_private_and_plain(world: World) {
        let till = world.till().await;
        let reply = till.get("/v1/invoices").await;
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
    }

    async fn a_server_that_is_stopping_is_not_ready(world: World) {
        let till = world.till().await;
        till.get("/readyz").await.ok(200);
        till.server.begin_to_stop();
        till.get("/readyz").await.refused(503, "service_unavailable", None);
        till.get("/healthz").await.ok(200);
    }

    async fn a_database_that_is_silent_is_said_to_be_before_anybody_gives_up(world: World) {
        // Only there does a reader wait for whoever writes, and for as long as it takes.
        if !world.is_in_memory() {
            return;
        }
        let till = world.till().await;
        let held = world.db.begin().await.unwrap();
        let (ready, healthy) = futures::join!(till.get("/readyz"), till.get("/healthz"));
        ready.refused(503, "service_unavailable", None);
        assert_eq!(ready.json()["error"]["message"], "The database does not answer; check that it runs and can be reached.");
        healthy.ok(200);
        drop(held);
        till.get("/readyz").await.ok(200);
    }
}

//! The helpers of test mode: what they take, the clock, and the demo server's own codes.

use serde_json::{Value, json};

use crate::harness::{BASE, BTC, LIVE_USDC, NILE, Setup, Till, address, id, live, text, until};

async fn simulate(till: &Till, invoice: &str, body: Value) -> crate::harness::Reply {
    till.post(
        &format!("/v1/test_helpers/invoices/{invoice}/simulate_payment"),
        body,
    )
    .await
}

fn ms(clock: &Value) -> i64 {
    till_core::time::parse(&text(&clock["now"])).unwrap()
}

on_every_engine! {
    memory

    async fn what_cannot_be_simulated_is_named(world: World) {
        let till = world.till().await;
        let body = json!({ "amount": "25.00", "currency": "USD", "assets": [BASE, NILE] });
        let invoice = id(&till.create(body).await);
        for (body, param) in [
            (json!({ "asset": BTC }), "asset"),
            (json!({ "asset": "USDC@eip155:11155111" }), "asset"),
            (json!({ "asset": "EURC@eip155:84532" }), "asset"),
            (json!({ "asset": LIVE_USDC }), "asset"),
            (json!({ "asset": "NOPE@eip155:84532" }), "asset"),
            (json!({ "asset": "USDC" }), "asset"),
            (json!({ "asset": "USDT", "network": "eip155:84532" }), "asset"),
            (json!({ "network": "eip155:8453" }), "network"),
            (json!({ "network": "eip155:1", "asset": "USDC" }), "network"),
            (json!({ "network": "nowhere" }), "network"),
            (json!({ "network": "eip155:11155111" }), "network"),
            (json!({ "asset": BASE, "network": "tron:3448148188" }), "network"),
            (json!({ "amount": "0" }), "amount"),
            (json!({ "amount": "0.000000" }), "amount"),
            (json!({ "amount": "-1" }), "amount"),
            (json!({ "amount": "1e3" }), "amount"),
            (json!({ "amount": "0.0000001" }), "amount"),
            (json!({ "amount": "" }), "amount"),
            (json!({ "amount": 5 }), "amount"),
            // 2^112 base units, and more than any number of ours holds.
            (json!({ "amount": "5192296858534827628530496329.220096" }), "amount"),
            (json!({ "amount": "340282366920938463463374607431768" }), "amount"),
            (json!({ "finality_steps": [] }), "finality_steps"),
            (json!({ "finality_steps": ["final", "included"] }), "finality_steps"),
            (json!({ "finality_steps": ["included", "included"] }), "finality_steps"),
            (json!({ "finality_steps": ["pending", "included", "safe", "final", "final"] }), "finality_steps"),
            (json!({ "finality_steps": "final" }), "finality_steps"),
            (json!({ "sender": "nobody" }), "sender"),
        ] {
            let reply = simulate(&till, &invoice, body.clone()).await;
            assert_eq!((reply.status, reply.code().as_str()), (400, "parameter_invalid"), "{body}: {}", reply.json());
            reply.refused(400, "parameter_invalid", param);
        }
        let step = simulate(&till, &invoice, json!({ "finality_steps": ["final", 7] })).await;
        step.refused(400, "parameter_invalid", "finality_steps[1]");
        let word = simulate(&till, &invoice, json!({ "finality_steps": ["included", "finalized"] })).await;
        assert_eq!(word.code(), "parameter_invalid");
        assert!(text(&word.json()["error"]["param"]).starts_with("finality_steps"));
        simulate(&till, &invoice, json!({ "fee": "1" })).await.refused(400, "parameter_unknown", "fee");
        simulate(&till, "inv_01jcnx2v9k7q3w8s5d1f6h4m2t", json!({})).await.refused(404, "resource_missing", None);
        assert!(till.payments_of(&invoice).await.is_empty());
        assert_eq!(till.retrieve(&invoice).await["status"], "awaiting_payment");
    }

    async fn each_call_is_one_payment(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let path = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
        let call = till.posting(&path, json!({ "amount": "5" }));
        let first = call.clone().send().await;
        assert_eq!(call.send().await.body, first.body);
        till.simulate(&invoice, json!({ "amount": "5" })).await;
        let payments = till.payments_of(&invoice).await;
        assert_eq!(payments.len(), 2);
        assert_ne!(payments[0]["tx_hash"], payments[1]["tx_hash"]);
        assert_eq!(payments[0]["to"], till.retrieve(&invoice).await["payment_options"][0]["address"]);
    }

    async fn the_clock_moves_forward_and_is_read_back(world: World) {
        let till = world.till().await;
        let start = till.get("/v1/test_helpers/clock").await.ok(200);
        assert_eq!(start["object"], "test_clock");
        assert_eq!(start.as_object().unwrap().len(), 2);
        let moved = till.advance(86_400).await;
        assert!(ms(&moved) - ms(&start) >= 86_400_000);
        assert!(ms(&moved) - ms(&start) < 86_400_000 + 60_000);
        let to = till_core::time::show(ms(&moved) + 1_000_000);
        let body = json!({ "advance_to": to });
        assert_eq!(till.post("/v1/test_helpers/clock", body).await.ok(200)["now"], to.as_str());
        assert!(ms(&till.get("/v1/test_helpers/clock").await.ok(200)) >= ms(&moved) + 1_000_000);
        let invoice = till.invoice().await;
        assert!(till_core::time::parse(&text(&invoice["created_at"])).unwrap() >= ms(&moved), "business time is the account's");
        // Another account's clock stands where it stood.
        let other = till.another_account().await;
        let theirs = other.get("/v1/test_helpers/clock").await.ok(200);
        assert!(ms(&theirs) < ms(&moved));
        till.advance(0).await;
    }

    async fn the_clock_takes_one_sensible_way_to_move(world: World) {
        let till = world.till().await;
        let post = |body: Value| till.post("/v1/test_helpers/clock", body);
        post(json!({})).await.refused(400, "parameter_missing", "advance_seconds");
        post(json!({ "advance_seconds": -1 })).await.refused(400, "parameter_invalid", "advance_seconds");
        post(json!({ "advance_seconds": 1.5 })).await.refused(400, "parameter_invalid", "advance_seconds");
        post(json!({ "advance_seconds": "60" })).await.refused(400, "parameter_invalid", "advance_seconds");
        post(json!({ "advance_seconds": 9_000_000_000_000_000_000_i64 })).await.refused(400, "parameter_invalid", "advance_seconds");
        post(json!({ "advance_to": "yesterday" })).await.refused(400, "parameter_invalid", "advance_to");
        post(json!({ "advance_to": "2020-01-01T00:00:00Z" })).await.refused(400, "parameter_invalid", "advance_to");
        let both = json!({ "advance_seconds": 1, "advance_to": "2099-01-01T00:00:00Z" });
        post(both).await.refused(400, "parameter_invalid", "advance_to");
        post(json!({ "set_to": "x" })).await.refused(400, "parameter_unknown", "set_to");
        post(json!({ "advance_to": "2099-01-01T00:00:00+02:00" })).await.ok(200);
        post(json!({ "advance_to": "2098-12-31T00:00:00Z" })).await.refused(400, "parameter_invalid", "advance_to");
    }

    async fn when_the_clock_answers_everything_due_has_happened_in_order(world: World) {
        let till = world.till().await;
        let body = json!({ "amount": "5.00", "currency": "USD", "assets": [BTC] });
        let long = till.invoice().await;
        let short = till.create(body).await;
        till.advance(7 * 86_400).await;
        let (long, short) = (till.retrieve(&id(&long)).await, till.retrieve(&id(&short)).await);
        assert_eq!((&long["status"], &short["status"]), (&json!("expired"), &json!("expired")));
        assert_eq!((&long["closed_at"], &short["closed_at"]), (&long["expires_at"], &short["expires_at"]));
        let first = &till.events(&id(&short)).await[1];
        let second = &till.events(&id(&long)).await[1];
        assert!(text(&first["id"]) < text(&second["id"]), "the earlier came first");
        assert_eq!(first["created_at"], short["expires_at"]);
    }

    async fn real_time_expires_invoices_by_itself(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        world.clock.advance_s(3_601);
        until("the expiry", || async {
            (till.retrieve(&invoice).await["status"] == "expired").then_some(())
        }).await;
    }

    async fn only_simulated_payments_of_this_account_can_be_reversed(world: World) {
        let till = world.till_with(live()).await;
        let missing = "/v1/test_helpers/payments/pay_01jcnx2v9k7q3w8s5d1f6h4m2t/reverse";
        till.post(missing, json!({})).await.refused(404, "resource_missing", None);
        let other = till.another_account().await;
        let invoice = id(&other.invoice().await);
        other.simulate(&invoice, json!({})).await;
        let payment = id(&other.payments_of(&invoice).await[0]);
        let path = format!("/v1/test_helpers/payments/{payment}/reverse");
        till.post(&path, json!({})).await.refused(404, "resource_missing", None);
        other.post(&path, json!({ "x": 1 })).await.refused(400, "parameter_unknown", "x");
        let own = till.invoice().await;
        let now = till_core::time::parse(&text(&own["created_at"])).unwrap();
        let real = crate::statuses::transfer(&own, BASE, 5_000_000, "0xaa", 0, till_core::payment::Level::Final, now);
        let real = crate::statuses::observe(&till, &till.scope(), &[real]).await.remove(0).unwrap();
        let reply = till.post(&format!("/v1/test_helpers/payments/{real}/reverse"), json!({})).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "parameter_invalid"));
        let body = json!({ "amount": "5.00", "currency": "USD", "assets": [LIVE_USDC] });
        let live = till.posting("/v1/invoices", body).key(till.live_key()).send().await.ok(201);
        let mut paid = crate::statuses::transfer(&own, LIVE_USDC, 5_000_000, "0xbb", 0, till_core::payment::Level::Final, now);
        paid.recipient = address(&live, LIVE_USDC);
        let paid = crate::statuses::observe(&till, &till.live_scope(), &[paid]).await.remove(0).unwrap();
        let reply = till.post(&format!("/v1/test_helpers/payments/{paid}/reverse"), json!({})).await;
        let message = reply.refused(404, "resource_missing", None);
        assert!(message.contains("live mode"), "{message}");
    }

    async fn the_demo_server_has_codes_of_its_own(world: World) {
        let till = world.till_with(Setup { demo: true, ..Setup::default() }).await;
        let paid = id(&till.invoice().await);
        till.simulate(&paid, json!({})).await;
        simulate(&till, &paid, json!({})).await.refused(409, "already_paid", None);
        let cancelled = id(&till.invoice().await);
        till.post(&format!("/v1/invoices/{cancelled}/cancel"), json!({})).await.ok(200);
        simulate(&till, &cancelled, json!({})).await.refused(409, "invoice_cancelled", None);
    }
}

//! Webhook deliveries: what is sent, how it is signed, retried, logged and replayed.

use serde_json::{Value, json};
use till_core::webhook::{VerifyError, verify};

use crate::harness::{Receiver, Till, World, data, finished_deliveries, id, live, text, until};

async fn with_receiver(world: &World) -> (Till, Receiver) {
    let till = world.till().await;
    world.clock.stop();
    let receiver = Receiver::start().await;
    till.set(json!({ "webhook_url": receiver.url() })).await;
    (till, receiver)
}

async fn deliveries(till: &Till, query: &str) -> Vec<Value> {
    data(
        &till
            .get(&format!("/v1/webhook_deliveries?limit=100{query}"))
            .await
            .ok(200),
    )
}

on_every_engine! {
    async fn a_server_that_stops_finishes_what_it_is_sending(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        receiver.hold();
        till.invoice().await;
        receiver.wait_for(1).await;
        let released = async {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            receiver.release();
        };
        futures::join!(till.server.shut_down(), released);
        let mut reader = till.engine().db.read().await.unwrap();
        let sql = "SELECT status FROM deliveries";
        let rows: Vec<(String,)> = till_store::Queries::all(&mut reader, sql, &[]).await.unwrap();
        assert_eq!(rows, [("succeeded".to_owned(),)], "sent once and known to be sent");
    }

    async fn what_happened_to_an_invoice_is_told_in_its_order(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        receiver.hold();
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({})).await;
        receiver.wait_for(1).await;
        // The others wait for their turn; those of another invoice do not.
        let other = id(&till.invoice().await);
        let two = receiver.wait_for(2).await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        assert_eq!(receiver.received().len(), 2);
        assert_eq!((&two[0].json()["invoice_id"], &two[1].json()["invoice_id"]), (&json!(invoice), &json!(other)));
        receiver.release();
        let received = receiver.wait_for(4).await;
        let of_invoice = received.iter().filter(|one| one.json()["invoice_id"] == invoice.as_str());
        let types: Vec<_> = of_invoice.map(|one| one.event_type()).collect();
        assert_eq!(types, ["invoice.created", "invoice.detected", "invoice.paid"]);
    }

    async fn every_event_is_delivered_signed_and_logged(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        let invoice = id(&till.invoice().await);
        receiver.wait_for(1).await;
        till.simulate(&invoice, json!({ "finality_steps": ["pending", "included", "safe", "final"] })).await;
        let received = receiver.wait_for(3).await;
        let log = finished_deliveries(&till, 3).await;
        let events = till.events(&invoice).await;
        let types: Vec<_> = received.iter().map(|one| one.event_type()).collect();
        assert_eq!(types, ["invoice.created", "invoice.detected", "invoice.paid"], "confirming is never delivered");
        for one in &received {
            let body = one.json();
            assert_eq!(one.header("x-service-event-id"), text(&body["id"]));
            assert_eq!(one.header("x-service-event-type"), text(&body["type"]));
            assert_eq!(one.header("content-type"), "application/json");
            assert!(events.contains(&body), "the body is the event as it was committed");
            assert!(text(&body["id"]).starts_with("evt_"));
            let signature = one.header("x-service-signature");
            let now = world.clock.now_s();
            let secret = &till.account.test.webhook_secret;
            assert_eq!(verify(signature, &one.body, secret, now, 300), Ok(()));
            assert_eq!(verify(signature, b"{}", secret, now, 300), Err(VerifyError::Mismatch));
            assert_eq!(verify(signature, &one.body, "whsec_other", now, 300), Err(VerifyError::Mismatch));
            assert_eq!(signature.matches("v1=").count(), 1);
        }
        let paid = log.iter().find(|delivery| delivery["event_type"] == "invoice.paid").unwrap();
        let mut names: Vec<_> = paid.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, [
            "attempt", "attempted_at", "created_at", "error", "event", "event_type", "id", "invoice", "latency_ms", "livemode",
            "next_attempt_at", "object", "response_body", "status", "status_code", "url",
        ]);
        let expected = json!({
            "object": "webhook_delivery", "livemode": false, "invoice": invoice, "url": receiver.url(), "status": "succeeded",
            "attempt": 1, "status_code": 200, "error": null, "response_body": "ok", "next_attempt_at": null,
        });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&paid[name], value, "{name}");
        }
        assert!(id(paid).starts_with("whd_") && paid["attempted_at"].is_string() && paid["latency_ms"].is_i64());
        let ids: Vec<_> = log.iter().map(id).collect();
        assert!(ids.is_sorted_by(|a, b| a > b), "newest first");
    }

    async fn a_failure_is_retried_as_an_object_of_its_own(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        receiver.answer(500, b"broken");
        till.invoice().await;
        let first = finished_deliveries(&till, 1).await.remove(0);
        assert_eq!((&first["status"], &first["status_code"], &first["attempt"]), (&json!("failed"), &json!(500), &json!(1)));
        assert_eq!(first["response_body"], "broken");
        let next = till_core::time::parse(&text(&first["next_attempt_at"])).unwrap();
        let made = till_core::time::parse(&text(&first["attempted_at"])).unwrap();
        assert!((4_000..=8_000).contains(&(next - made)), "{}", next - made);
        assert_eq!(receiver.received().len(), 1, "not before its time");
        world.clock.advance_s(10);
        till.engine().nudges.webhooks(till.scope());
        receiver.wait_for(2).await;
        let log = finished_deliveries(&till, 2).await;
        assert_eq!((&log[0]["attempt"], &log[0]["status"]), (&json!(2), &json!("failed")));
        assert_eq!(log[0]["event"], log[1]["event"]);
        assert_ne!(log[0]["id"], log[1]["id"]);
        assert!(log[1]["next_attempt_at"].is_null() && log[0]["next_attempt_at"].is_string());
        receiver.answer(204, b"");
        world.clock.advance_s(120);
        till.engine().nudges.webhooks(till.scope());
        let received = receiver.wait_for(3).await;
        assert_eq!(received[0].body, received[2].body);
        let now = world.clock.now_s();
        let secret = &till.account.test.webhook_secret;
        assert_eq!(verify(received[2].header("x-service-signature"), &received[2].body, secret, now, 300), Ok(()), "signed anew");
        let log = finished_deliveries(&till, 3).await;
        assert_eq!((&log[0]["attempt"], &log[0]["status"], &log[0]["status_code"]), (&json!(3), &json!("succeeded"), &json!(204)));
        assert!(log.iter().all(|delivery| delivery["next_attempt_at"].is_null()));
    }

    async fn a_redirect_is_a_failure_and_is_not_followed(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        receiver.answer(302, b"");
        till.invoice().await;
        let log = finished_deliveries(&till, 1).await;
        assert_eq!((&log[0]["status"], &log[0]["status_code"]), (&json!("failed"), &json!(302)));
        assert_eq!(receiver.received().len(), 1);
    }

    async fn an_endpoint_that_is_not_there_is_a_failure_without_a_status(world: World) {
        let till = world.till().await;
        world.clock.stop();
        till.set(json!({ "webhook_url": "http://127.0.0.1:9/hooks" })).await;
        till.invoice().await;
        let log = finished_deliveries(&till, 1).await;
        assert_eq!((&log[0]["status"], &log[0]["status_code"], &log[0]["response_body"]), (&json!("failed"), &Value::Null, &Value::Null));
        assert!(log[0]["error"].is_string() && log[0]["next_attempt_at"].is_string());
    }

    async fn a_delivery_is_given_up_after_about_72_hours(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        receiver.answer(503, b"");
        let invoice = id(&till.invoice().await);
        let started = world.clock.now_s();
        let mut attempt = 1;
        loop {
            // The invoice expires meanwhile, which is told by deliveries of their own.
            let newest = until("the attempt", || async {
                let newest = deliveries(&till, "&event_type=invoice.created").await.remove(0);
                (newest["attempt"] == attempt && newest["status"] == "failed").then_some(newest)
            }).await;
            let Some(next) = newest["next_attempt_at"].as_str() else { break };
            let wait_s = till_core::time::parse(next).unwrap() / 1_000 - world.clock.now_s() + 1;
            world.clock.advance_s(wait_s);
            if world.clock.now_s() - started > 3_600 {
                until("the end of the invoice", || async { (till.retrieve(&invoice).await["status"] == "expired").then_some(()) }).await;
            }
            till.engine().nudges.webhooks(till.scope());
            attempt += 1;
        }
        assert!(attempt > 10, "{attempt}");
        let hours = (world.clock.now_s() - started) / 3_600;
        assert!((66..=78).contains(&hours), "{hours}");
        let received = receiver.received();
        let sent: Vec<_> = received.iter().filter(|one| one.event_type() == "invoice.created").collect();
        assert_eq!(sent.len(), attempt);
        // The same event each time, without the addresses that its invoice has lost by then.
        let without = |mut body: Value| {
            let options = body["data"]["object"]["payment_options"].as_array_mut().unwrap();
            options.iter_mut().for_each(|option| option["address"] = Value::Null);
            body
        };
        let first = sent[0].json();
        assert!(sent.iter().all(|one| without(one.json()) == without(first.clone())));
        assert_eq!(sent[sent.len() - 1].json(), without(first.clone()));
        assert_ne!(without(first.clone()), first);
    }

    async fn the_first_kibibyte_of_the_answer_is_kept(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        receiver.answer(200, "x".repeat(5_000).as_bytes());
        till.invoice().await;
        let log = finished_deliveries(&till, 1).await;
        assert_eq!(text(&log[0]["response_body"]), "x".repeat(1_024));
        receiver.answer(200, b"\xff\x00binary");
        till.invoice().await;
        finished_deliveries(&till, 2).await;
    }

    async fn a_delivery_can_be_replayed_to_the_url_of_today(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        till.invoice().await;
        let first = finished_deliveries(&till, 1).await.remove(0);
        let path = format!("/v1/webhook_deliveries/{}/replay", id(&first));
        let elsewhere = Receiver::start().await;
        till.set(json!({ "webhook_url": elsewhere.url() })).await;
        let call = till.posting(&path, json!({}));
        let replayed = call.clone().send().await.ok(200);
        assert_eq!((&replayed["object"], &replayed["status"], &replayed["attempt"]), (&json!("webhook_delivery"), &json!("pending"), &json!(1)));
        assert_eq!((&replayed["event"], &replayed["url"]), (&first["event"], &json!(elsewhere.url())));
        assert_ne!(replayed["id"], first["id"]);
        assert_eq!(call.send().await.ok(200), replayed);
        let again = elsewhere.wait_for(1).await;
        assert_eq!(again[0].body, receiver.received()[0].body, "the same event, byte for byte");
        assert_eq!(again[0].header("x-service-event-id"), text(&first["event"]));
        assert_eq!(finished_deliveries(&till, 2).await[0]["status"], "succeeded");
        till.set(json!({ "webhook_url": null })).await;
        till.post(&path, json!({})).await.refused(409, "webhook_url_missing", None);
        assert_eq!(elsewhere.received().len(), 1);
    }

    async fn a_replay_asks_for_nothing_at_an_address_that_its_invoice_has_lost(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        let made = till.invoice().await;
        let first = finished_deliveries(&till, 1).await.remove(0);
        till.post(&format!("/v1/invoices/{}/cancel", id(&made)), json!({})).await.ok(200);
        receiver.wait_for(2).await;
        till.advance(2 * 3_600).await;
        till.post(&format!("/v1/webhook_deliveries/{}/replay", id(&first)), json!({})).await.ok(200);
        let told = receiver.wait_for(3).await;
        let body = |at: usize| serde_json::from_slice::<Value>(&told[at].body).unwrap();
        assert_eq!(body(2)["id"], body(0)["id"]);
        let addresses = |body: Value| -> Vec<bool> {
            let options = body["data"]["object"]["payment_options"].as_array().unwrap().clone();
            options.iter().map(|option| option["address"].is_string()).collect()
        };
        assert!(addresses(body(0)).iter().all(|shown| *shown));
        assert!(addresses(body(2)).iter().all(|shown| !*shown));
    }

    async fn a_retry_asks_for_nothing_at_an_address_that_its_invoice_has_lost(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        receiver.answer(500, b"");
        let made = till.invoice().await;
        finished_deliveries(&till, 1).await;
        till.post(&format!("/v1/invoices/{}/cancel", id(&made)), json!({})).await.ok(200);
        finished_deliveries(&till, 2).await;
        till.advance(2 * 3_600).await;
        receiver.answer(200, b"");
        world.clock.advance_s(10);
        let told = receiver.wait_for(4).await;
        let created = told.iter().filter(|it| it.event_type() == "invoice.created");
        let addresses: Vec<Vec<Value>> = created
            .map(|it| {
                let options = it.json()["data"]["object"]["payment_options"].as_array().unwrap().clone();
                options.iter().map(|option| option["address"].clone()).collect()
            })
            .collect();
        let [first, again] = &addresses[..] else { panic!("{addresses:?}") };
        assert!(first.iter().all(Value::is_string), "{first:?}");
        assert!(again.iter().all(Value::is_null), "{again:?}");
    }

    async fn without_a_url_nothing_is_delivered_and_retries_stop(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        receiver.answer(500, b"");
        till.invoice().await;
        finished_deliveries(&till, 1).await;
        till.set(json!({ "webhook_url": null })).await;
        let silent = id(&till.invoice().await);
        assert!(deliveries(&till, &format!("&invoice={silent}")).await.is_empty());
        world.clock.advance_s(3_600);
        till.engine().nudges.webhooks(till.scope());
        until("the end of the retries", || async {
            let log = deliveries(&till, "").await;
            log.iter().all(|delivery| delivery["next_attempt_at"].is_null()).then_some(())
        }).await;
        assert_eq!(receiver.received().len(), 1);
    }

    async fn after_a_roll_both_secrets_sign_for_a_day_the_new_one_first(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        let old = till.account.test.webhook_secret.clone();
        let rolled = till.post("/v1/merchant/webhook_secret/roll", json!({})).await.ok(200);
        let new = text(&rolled["secret"]);
        till.invoice().await;
        let received = receiver.wait_for(1).await;
        let (header, body) = (received[0].header("x-service-signature"), &received[0].body);
        let now = world.clock.now_s();
        assert_eq!(header.matches("v1=").count(), 2);
        for secret in [&old, &new] {
            assert_eq!(verify(header, body, secret, now, 300), Ok(()));
        }
        let (time, signatures) = header.split_once(',').unwrap();
        let first = format!("{time},{}", signatures.split(',').next().unwrap());
        assert_eq!(verify(&first, body, &new, now, 300), Ok(()), "the new one signs first");
        world.clock.advance_s(24 * 3_600 + 60);
        till.invoice().await;
        let received = receiver.wait_for(2).await;
        let header = received[1].header("x-service-signature");
        assert_eq!(header.matches("v1=").count(), 1);
        assert_eq!(verify(header, &received[1].body, &new, world.clock.now_s(), 300), Ok(()));
    }

    async fn rolled_twice_within_a_day_every_secret_signs_its_own_day(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        let oldest = till.account.test.webhook_secret.clone();
        till.post("/v1/merchant/webhook_secret/roll", json!({})).await.ok(200);
        world.clock.advance_s(3_600);
        till.post("/v1/merchant/webhook_secret/roll", json!({})).await.ok(200);
        till.invoice().await;
        let received = receiver.wait_for(1).await;
        let header = received[0].header("x-service-signature");
        assert_eq!(header.matches("v1=").count(), 3);
        assert_eq!(verify(header, &received[0].body, &oldest, world.clock.now_s(), 300), Ok(()));
        world.clock.advance_s(23 * 3_600 + 60);
        till.invoice().await;
        let received = receiver.wait_for(2).await;
        let header = received[1].header("x-service-signature");
        assert_eq!(header.matches("v1=").count(), 2);
        assert!(verify(header, &received[1].body, &oldest, world.clock.now_s(), 300).is_err());
    }

    async fn a_slow_endpoint_delays_nobody_else(world: World) {
        let (slow, slow_receiver) = with_receiver(&world).await;
        slow_receiver.hold();
        for _ in 0..40 {
            slow.invoice().await;
        }
        slow_receiver.wait_for(1).await;
        let quick = slow.another_account().await;
        let receiver = Receiver::start().await;
        quick.set(json!({ "webhook_url": receiver.url() })).await;
        quick.invoice().await;
        receiver.wait_for(1).await;
        finished_deliveries(&quick, 1).await;
        let stuck = deliveries(&slow, "").await;
        assert!(stuck.iter().all(|delivery| delivery["status"] == "pending"), "the slow one has not answered yet");
        slow_receiver.release();
        slow_receiver.wait_for(40).await;
        finished_deliveries(&slow, 40).await;
    }

    async fn the_log_is_filtered_and_scoped(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        let first = id(&till.invoice().await);
        till.simulate(&first, json!({})).await;
        receiver.wait_for(3).await;
        finished_deliveries(&till, 3).await;
        receiver.answer(400, b"");
        let second = id(&till.invoice().await);
        let log = finished_deliveries(&till, 4).await;
        assert_eq!(deliveries(&till, "&status=failed").await, [log[0].clone()]);
        assert_eq!(deliveries(&till, "&status=succeeded").await.len(), 3);
        assert!(deliveries(&till, "&status=pending").await.is_empty());
        assert_eq!(deliveries(&till, "&event_type=invoice.created").await.len(), 2);
        assert_eq!(deliveries(&till, &format!("&invoice={second}")).await, [log[0].clone()]);
        assert_eq!(deliveries(&till, &format!("&event={}", text(&log[3]["event"]))).await, [log[3].clone()]);
        till.get("/v1/webhook_deliveries?status=done").await.refused(400, "parameter_invalid", "status");
        let page = till.get("/v1/webhook_deliveries?limit=2").await.ok(200);
        assert_eq!(data(&page), log[..2]);
        let rest = till.get(&format!("/v1/webhook_deliveries?cursor={}", text(&page["next_cursor"]))).await.ok(200);
        assert_eq!(data(&rest), log[2..]);
        let other = till.another_account().await;
        assert!(deliveries(&other, "").await.is_empty());
        let replay = format!("/v1/webhook_deliveries/{}/replay", id(&log[0]));
        other.post(&replay, json!({})).await.refused(404, "resource_missing", None);
        till.post("/v1/webhook_deliveries/whd_01jcnx2v9k7q3w8s5d1f6h4m2t/replay", json!({})).await.refused(404, "resource_missing", None);
    }

    async fn a_delivery_of_the_other_mode_is_missing_and_the_message_says_so(world: World) {
        let till = world.till_with(live()).await;
        let receiver = Receiver::start().await;
        till.set(json!({ "webhook_url": receiver.url() })).await;
        till.invoice().await;
        let delivery = id(&finished_deliveries(&till, 1).await[0]);
        let path = format!("/v1/webhook_deliveries/{delivery}/replay");
        let reply = till.posting(&path, json!({})).key(till.live_key()).send().await;
        let message = reply.refused(404, "resource_missing", None);
        assert!(message.contains("test mode"), "{message}");
    }

    async fn events_say_what_they_are_about(world: World) {
        let (till, receiver) = with_receiver(&world).await;
        let invoice = id(&till.invoice().await);
        till.post(&format!("/v1/invoices/{invoice}/cancel"), json!({})).await.ok(200);
        till.simulate(&invoice, json!({})).await;
        let late = receiver.wait_for_type("invoice.late_payment").await.json();
        let mut names: Vec<_> = late.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["created_at", "data", "id", "invoice_id", "livemode", "object", "type"]);
        assert_eq!((&late["object"], &late["invoice_id"], &late["livemode"]), (&json!("event"), &json!(invoice), &json!(false)));
        assert_eq!(late["data"]["object"]["object"], "invoice");
        assert_eq!(late["data"]["payment"]["object"], "payment");
        receiver.wait_for_type("invoice.cancelled").await;
    }
}

//! The log of events: what webhooks deliver, as a list.

use serde_json::{Value, json};

use crate::harness::described::check_webhook;
use crate::harness::{Receiver, Till, data, id, live, text};

async fn listed(till: &Till, query: &str) -> Vec<Value> {
    data(&till.get(&format!("/v1/events?{query}")).await.ok(200))
}

fn types(events: &[Value]) -> Vec<String> {
    events.iter().map(|event| text(&event["type"])).collect()
}

fn shows_addresses(event: &Value) -> Vec<bool> {
    let options = event["data"]["object"]["payment_options"].as_array();
    let shown = options.unwrap().iter();
    shown.map(|option| option["address"].is_string()).collect()
}

on_every_engine! {
    async fn the_log_has_what_webhooks_deliver_newest_first(world: World) {
        let till = world.till().await;
        let receiver = Receiver::start().await;
        till.set(json!({ "webhook_url": receiver.url() })).await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({ "finality_steps": ["included", "safe", "final"] })).await;
        till.post("/v1/payment_links", json!({ "amount_type": "fixed", "currency": "USD", "amount": "5.00" })).await.ok(201);
        let told = receiver.wait_for(4).await;
        let log = listed(&till, "").await;
        assert_eq!(types(&log), ["payment_link.created", "invoice.paid", "invoice.detected", "invoice.created"]);
        assert!(log.iter().map(id).is_sorted_by(|a, b| a > b), "newest first");
        for event in &log {
            check_webhook(event);
            assert!(told.iter().any(|one| one.json() == *event), "the webhook's own body: {event}");
        }
        assert!(log[0]["invoice_id"].is_null() && log[1]["invoice_id"] == invoice.as_str());
        assert!(till.event_types(&invoice).await.contains(&"invoice.confirming".to_owned()), "kept for the stream, and no event of the log");
    }

    async fn events_are_logged_while_no_webhook_url_is_set(world: World) {
        let till = world.till().await;
        till.invoice().await;
        assert_eq!(types(&listed(&till, "").await), ["invoice.created"]);
        assert!(data(&till.get("/v1/webhook_deliveries").await.ok(200)).is_empty());
    }

    async fn an_event_is_retrieved_as_it_is_listed_and_by_its_owner_alone(world: World) {
        let till = world.till_with(live()).await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({ "finality_steps": ["included", "safe", "final"] })).await;
        let log = listed(&till, "").await;
        for event in &log {
            assert_eq!(till.get(&format!("/v1/events/{}", id(event))).await.ok(200), *event);
        }
        let path = format!("/v1/events/{}", id(&log[0]));
        let other = till.another_account().await;
        other.get(&path).await.refused(404, "resource_missing", None);
        let elsewhere = till.call("GET", &path).key(till.live_key()).send().await;
        assert!(elsewhere.refused(404, "resource_missing", None).contains("in test mode"));
        for id in ["evt_x", &invoice, "evt_01m7nswtnre00vfz5qfg5pjatk"] {
            till.get(&format!("/v1/events/{id}")).await.refused(404, "resource_missing", None);
        }
    }

    async fn the_log_of_another_account_or_mode_is_not_seen(world: World) {
        let till = world.till_with(live()).await;
        till.invoice().await;
        let other = till.another_account().await;
        assert!(listed(&other, "").await.is_empty());
        let live = till.call("GET", "/v1/events").key(till.live_key()).send().await.ok(200);
        assert!(data(&live).is_empty());
        assert_eq!(listed(&till, "").await.len(), 1);
    }

    async fn events_are_filtered_by_type_and_by_when_they_happened(world: World) {
        let till = world.till().await;
        world.clock.stop();
        let first = id(&till.invoice().await);
        till.simulate(&first, json!({})).await;
        till.advance(3_600).await;
        till.invoice().await;
        let all = listed(&till, "").await;
        assert_eq!(types(&all), ["invoice.created", "invoice.paid", "invoice.detected", "invoice.created"]);
        let created = listed(&till, "type=invoice.created").await;
        assert_eq!(created, [all[0].clone(), all[3].clone()]);
        let (newest, oldest) = (text(&all[0]["created_at"]), text(&all[3]["created_at"]));
        assert_eq!(listed(&till, &format!("from={newest}")).await, all[..1]);
        assert_eq!(listed(&till, &format!("to={newest}")).await, all[1..]);
        assert_eq!(listed(&till, &format!("from={oldest}&to={newest}&type=invoice.paid")).await, all[1..2]);
        assert!(listed(&till, &format!("to={oldest}")).await.is_empty());
        assert_eq!(listed(&till, "from=2020-01-01&to=2999-01-01").await.len(), 4);
        for (query, param) in [
            ("type=invoice.opened", "type"), ("type=invoice.confirming", "type"), ("type=", "type"),
            ("from=yesterday", "from"), ("to=1", "to"),
        ] {
            till.get(&format!("/v1/events?{query}")).await.refused(400, "parameter_invalid", param);
        }
        let page = till.get("/v1/events?type=invoice.created&limit=1").await.ok(200);
        let next = format!("type=invoice.created&limit=1&cursor={}", text(&page["next_cursor"]));
        assert_eq!(listed(&till, &next).await, created[1..]);
    }

    async fn the_log_asks_for_nothing_at_an_address_that_an_invoice_has_lost(world: World) {
        let till = world.till().await;
        let lost = id(&till.invoice().await);
        till.post(&format!("/v1/invoices/{lost}/cancel"), json!({})).await.ok(200);
        let before = listed(&till, "").await;
        assert!(before.iter().flat_map(shows_addresses).all(|shown| shown), "cooling down, the address is still the invoice's");
        till.advance(2 * 3_600).await;
        let held = id(&till.invoice().await);
        for event in listed(&till, "").await {
            let is_held = event["invoice_id"] == held.as_str();
            let shown = shows_addresses(&event);
            assert!(!shown.is_empty() && shown.iter().all(|shown| *shown == is_held), "{event}");
        }
    }
}

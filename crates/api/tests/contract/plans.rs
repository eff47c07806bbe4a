//! Plans: every bound, every default, archived once and for all.

use serde_json::{Value, json};

use crate::harness::{BASE, EURC, data, id};

fn monthly() -> Value {
    json!({ "name": "Tea club", "amount": "25", "currency": "USD", "interval": "month" })
}

fn with(name: &str, value: Value) -> Value {
    let mut body = monthly();
    body[name] = value;
    body
}

fn every(interval: &str, count: i64) -> Value {
    let mut body = with("interval", json!(interval));
    body["interval_count"] = json!(count);
    body
}

on_every_engine! {
    async fn a_plan_reads_back_with_its_defaults(world: World) {
        let till = world.till().await;
        let made = till.post("/v1/plans", monthly()).await.ok(201);
        let expected = json!({
            "id": made["id"], "object": "plan", "livemode": false, "status": "active", "name": "Tea club",
            "amount": "25.00", "currency": "USD", "interval": "month", "interval_count": 1, "trial_days": 0,
            "grace_days": 3, "max_attempts": 4, "assets": null, "billing_timezone": "UTC",
            "created_at": made["created_at"],
        });
        assert_eq!(made, expected);
        assert!(id(&made).starts_with("plan_"));
        let nulls = json!({
            "name": "Tea club", "amount": "25.00", "currency": "USD", "interval": "month", "interval_count": null,
            "trial_days": null, "grace_days": null, "max_attempts": null, "assets": null, "billing_timezone": null,
        });
        let same = till.post("/v1/plans", nulls).await.ok(201);
        assert_eq!((&same["interval_count"], &same["trial_days"]), (&json!(1), &json!(0)));
        let mut full = every("day", 365);
        full["trial_days"] = json!(365);
        full["grace_days"] = json!(30);
        full["max_attempts"] = json!(7);
        full["assets"] = json!([BASE]);
        full["billing_timezone"] = json!("America/New_York");
        let full = till.post("/v1/plans", full).await.ok(201);
        assert_eq!((&full["assets"], &full["billing_timezone"]), (&json!([BASE]), &json!("America/New_York")));
        assert_eq!(till.get(&format!("/v1/plans/{}", id(&full))).await.ok(200), full);
        assert_eq!(data(&till.get("/v1/plans").await.ok(200)), [full, same, made]);
    }

    async fn every_bound_of_a_plan_is_held(world: World) {
        let till = world.till().await;
        let check = |body: Value, code: &'static str, param: &'static str| {
            let till = till.clone();
            async move { till.post("/v1/plans", body).await.refused(400, code, param); }
        };
        for (interval, most) in [("day", 365), ("week", 52), ("month", 12), ("year", 1)] {
            till.post("/v1/plans", every(interval, most)).await.ok(201);
            check(every(interval, most + 1), "parameter_invalid", "interval_count").await;
            check(every(interval, 0), "parameter_invalid", "interval_count").await;
        }
        for (name, least, most) in [("trial_days", 0, 365), ("grace_days", 0, 30), ("max_attempts", 1, 7)] {
            for within in [least, most] {
                till.post("/v1/plans", with(name, json!(within))).await.ok(201);
            }
            for beyond in [least - 1, most + 1] {
                check(with(name, json!(beyond)), "parameter_invalid", name).await;
            }
            check(with(name, json!("1")), "parameter_invalid", name).await;
        }
        for name in ["name", "amount", "currency", "interval"] {
            check(with(name, Value::Null), "parameter_missing", name).await;
        }
        check(with("name", json!("")), "parameter_invalid", "name").await;
        check(with("name", json!("x".repeat(201))), "parameter_invalid", "name").await;
        check(with("amount", json!("0")), "parameter_invalid", "amount").await;
        check(with("amount", json!("1.001")), "parameter_invalid", "amount").await;
        check(with("currency", json!("usd")), "currency_unsupported", "currency").await;
        check(with("currency", json!("GBP")), "currency_unsupported", "currency").await;
        check(with("interval", json!("months")), "parameter_invalid", "interval").await;
        check(with("assets", json!([BASE, EURC])), "currency_unsupported", "assets[1]").await;
        check(with("assets", json!(["USDC@eip155:999"])), "asset_unavailable", "assets[0]").await;
        check(with("billing_timezone", json!("Berlin")), "parameter_invalid", "billing_timezone").await;
        check(with("metadata", json!({})), "parameter_unknown", "metadata").await;
    }

    async fn an_archived_plan_stays_archived(world: World) {
        let till = world.till().await;
        let made = till.post("/v1/plans", monthly()).await.ok(201);
        let path = format!("/v1/plans/{}/archive", id(&made));
        till.post(&path, json!({ "now": true })).await.refused(400, "parameter_unknown", "now");
        let archived = till.post(&path, json!({})).await.ok(200);
        assert_eq!(archived["status"], "archived");
        assert_eq!(till.post(&path, json!({})).await.ok(200), archived);
        assert_eq!(till.get(&format!("/v1/plans/{}", id(&made))).await.ok(200), archived);
        till.post("/v1/plans/plan_nothing/archive", json!({})).await.refused(404, "resource_missing", None);
        till.get("/v1/plans/plan_nothing").await.refused(404, "resource_missing", None);
    }
}

//! A year by the test clock: days that prepaid credit pays, months that are invoiced and paid, a year after its trial, weeks
//! that nobody pays. Everything that is told, in order, is in a file.

use serde_json::json;

use crate::credit::looked;
use crate::harness::{BASE, id, text};
use crate::statuses::{balances, books};
use crate::subscriptions::{assert_told, begin, look, pay, plan, subscribe, to, told};

on_every_engine! {
    async fn a_year_of_days_weeks_months_and_years_tells_exactly_what_happened(world: World) {
        let (till, ada) = begin(&world).await;
        let ben = id(&till.post("/v1/customers", json!({ "name": "Ben" })).await.ok(201));
        let top_up = json!({ "amount": "367.00", "currency": "USD" });
        let top_up = till.post(&format!("/v1/customers/{ada}/top_up"), top_up).await.ok(201);
        till.simulate(&id(&top_up), json!({})).await;
        looked(&till, &ada).await;
        let daily = plan(&till, json!({ "amount": "1.00", "interval": "day" })).await;
        let weekly = plan(&till, json!({ "interval": "week", "trial_days": 7, "grace_days": 2, "max_attempts": 2 })).await;
        let monthly = plan(&till, json!({ "billing_timezone": "America/New_York" })).await;
        let yearly = plan(&till, json!({ "amount": "250.00", "interval": "year", "trial_days": 30 })).await;
        let days = subscribe(&till, &ada, &daily).await;
        let weeks = subscribe(&till, &ben, &weekly).await;
        let months = subscribe(&till, &ben, &monthly).await;
        let years = subscribe(&till, &ben, &yearly).await;
        let mut now = pay(&till, &months).await;
        for _ in 1..=12 {
            to(&till, &text(&now["next_invoice_at"])).await;
            now = pay(&till, &months).await;
            if now["current_period_end"] == "2095-03-31T11:00:00Z" {
                to(&till, "2095-03-01T12:00:00Z").await;
                pay(&till, &years).await;
            }
        }
        to(&till, "2096-01-31T12:00:00Z").await;
        assert_eq!(now["current_period_end"], "2096-02-29T12:00:00Z", "a leap year");
        let days = look(&till, &days).await;
        assert_eq!((&days["status"], &days["current_period_end"]), (&json!("active"), &json!("2096-02-02T12:00:00Z")));
        assert_eq!(look(&till, &weeks).await["cancellation_reason"], "unpaid");
        assert_eq!(look(&till, &years).await["current_period_end"], "2096-03-02T12:00:00Z");
        let paid = 367_000_000 + 13 * 25_000_000 + 250_000_000;
        assert_eq!(balances(&till).await, books(&[("received", BASE, -paid), ("settled", BASE, paid)]));
        assert_told(&told(&till).await, include_str!("snapshots/a_year.txt"));
    }
}

//! Periods follow each other from the first payment on: a reversal makes one owed and moves none, and only a pause does.

use serde_json::{Value, json};

use crate::attempts::{payable, reverse};
use crate::credit::{asked, assert_conserved, credit, top_up, undo};
use crate::harness::{BASE, Setup, Till, address, id, text};
use crate::reviews::{decide, listed};
use crate::statuses::tokens;
use crate::subscriptions::{START, act, begin, look, pay, plan, subscribe, to};

pub async fn weekly(till: &Till, more: Value) -> String {
    let mut body = json!({ "amount": "10.00", "interval": "week" });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    plan(till, body).await
}

pub fn period(subscription: &Value) -> (String, String) {
    let day = |field: &str| text(&subscription[field])[..10].to_owned();
    (day("current_period_start"), day("current_period_end"))
}

pub fn days(start: &str, end: &str) -> (String, String) {
    (start.to_owned(), end.to_owned())
}

/// Whatever is due now is done.
pub async fn settle(till: &Till) {
    till.advance(1).await;
}

/// A weekly subscription of which an invoice paid the first period, by two transfers, and credit the two that followed. The
/// paid time ends on 2095-02-21.
pub async fn three_weeks(till: &Till, customer: &str) -> (Value, String) {
    let plan = weekly(till, json!({ "grace_days": 30 })).await;
    let made = subscribe(till, customer, &plan).await;
    let first = text(&made["latest_invoice"]);
    for _ in 0..2 {
        till.simulate(&first, json!({ "amount": "5" })).await;
    }
    top_up(till, customer, "20.00", BASE).await;
    to(till, "2095-02-15T12:00:00Z").await;
    assert_eq!(
        period(&look(till, &made).await),
        days("2095-02-14", "2095-02-21")
    );
    (made, first)
}

on_every_engine! {
    async fn an_end_with_the_period_waits_for_it_though_an_earlier_one_is_owed(world: World) {
        let (till, _) = begin(&world).await;
        for is_set_first in [true, false] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 10 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let first = text(&made["latest_invoice"]);
            pay(&till, &made).await;
            to(&till, "2095-02-06T18:00:00Z").await;
            pay(&till, &made).await;
            to(&till, "2095-02-08T12:00:00Z").await;
            let cancel = || act(&till, &made, "cancel", json!({ "at_period_end": true }));
            if is_set_first {
                cancel().await.ok(200);
            }
            reverse(&till, &till.payments_of(&first).await[0]).await;
            settle(&till).await;
            if !is_set_first {
                cancel().await.ok(200);
            }
            settle(&till).await;
            let waits = look(&till, &made).await;
            assert_eq!((&waits["cancelled_at"], period(&waits)), (&Value::Null, days("2095-02-07", "2095-02-14")), "set first: {is_set_first}");
            to(&till, "2095-02-14T12:00:01Z").await;
            let ended = look(&till, &made).await;
            assert_eq!((&ended["status"], &ended["cancellation_reason"]), (&json!("cancelled"), &json!("requested")));
            assert!(text(&ended["cancelled_at"]).starts_with("2095-02-14T12:00:00"), "{ended}");
        }
    }

    async fn an_end_with_the_period_waits_for_it_though_its_payment_leaves_and_comes_back(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 3 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        act(&till, &made, "cancel", json!({ "at_period_end": true })).await.ok(200);
        reverse(&till, &till.payments_of(&invoice).await[0]).await;
        settle(&till).await;
        let waits = look(&till, &made).await;
        assert_eq!((&waits["status"], &waits["cancelled_at"]), (&json!("active"), &Value::Null), "{waits}");
        crate::attempts::comes_back(&till, &invoice).await;
        settle(&till).await;
        assert_eq!((&look(&till, &made).await["status"], &till.retrieve(&invoice).await["status"]), (&json!("active"), &json!("paid")));
        till.advance(7 * crate::subscriptions::DAY_S + 1).await;
        let ended = look(&till, &made).await;
        assert_eq!((&ended["status"], &ended["cancellation_reason"]), (&json!("cancelled"), &json!("requested")));
        assert_conserved(&till).await;
    }

    async fn what_is_owed_since_a_pause_is_asked_for_beside_the_period_that_begins_anew(world: World) {
        let (till, customer) = begin(&world).await;
        let (made, first) = three_weeks(&till, &customer).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        reverse(&till, &till.payments_of(&first).await[0]).await;
        settle(&till).await;
        assert_eq!(till.retrieve(&first).await["status"], "partially_paid");
        to(&till, "2095-02-22T12:00:00Z").await;
        let resumed = act(&till, &made, "resume", json!({})).await.ok(200);
        assert_eq!(period(&resumed), days("2095-02-22", "2095-03-01"));
        assert_eq!(payable(&till, &made).await, [first.as_str()]);
        till.simulate(&first, json!({ "amount": "5" })).await;
        settle(&till).await;
        let owed = look(&till, &made).await;
        assert_ne!(owed["latest_invoice"], json!(first), "the period that began anew is charged now");
        assert_eq!(period(&owed), days("2095-02-22", "2095-03-01"));
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["status"], &paid["next_invoice_at"]), (&json!("active"), &json!("2095-02-28T12:00:00Z")));
        assert_eq!(payable(&till, &made).await, [""; 0]);
        assert_conserved(&till).await;
    }

    async fn what_nobody_has_paid_of_since_a_pause_is_asked_for_as_well(world: World) {
        let (till, customer) = begin(&world).await;
        let (made, first) = three_weeks(&till, &customer).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        for payment in till.payments_of(&first).await {
            reverse(&till, &payment).await;
        }
        settle(&till).await;
        assert_eq!(payable(&till, &made).await, [""; 0], "nothing is asked for while it is paused");
        to(&till, "2095-02-22T12:00:00Z").await;
        act(&till, &made, "resume", json!({})).await.ok(200);
        for _ in 0..2 {
            settle(&till).await;
            assert_eq!(payable(&till, &made).await.len(), 1);
            pay(&till, &made).await;
        }
        settle(&till).await;
        let paid = look(&till, &made).await;
        assert_eq!((period(&paid), &paid["next_invoice_at"]), (days("2095-02-22", "2095-03-01"), &json!("2095-02-28T12:00:00Z")));
    }

    async fn what_was_owed_when_a_pause_began_and_cancelled_by_it_is_forgiven(world: World) {
        let (till, customer) = begin(&world).await;
        let (made, first) = three_weeks(&till, &customer).await;
        for payment in till.payments_of(&first).await {
            reverse(&till, &payment).await;
        }
        settle(&till).await;
        assert_eq!(payable(&till, &made).await, [first.as_str()]);
        act(&till, &made, "pause", json!({})).await.ok(200);
        to(&till, "2095-02-22T12:00:00Z").await;
        act(&till, &made, "resume", json!({})).await.ok(200);
        settle(&till).await;
        assert_eq!(payable(&till, &made).await.len(), 1);
        let paid = pay(&till, &made).await;
        assert_eq!((period(&paid), &paid["next_invoice_at"]), (days("2095-02-22", "2095-03-01"), &json!("2095-02-28T12:00:00Z")));
        settle(&till).await;
        assert_eq!(payable(&till, &made).await, [""; 0]);
    }

    async fn the_first_period_begins_when_it_is_paid(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!(period(&made), days("2095-01-31", "2095-02-07"), "as if it were paid at once");
        to(&till, "2095-02-11T15:00:00Z").await;
        assert_eq!(look(&till, &made).await["status"], "incomplete");
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["current_period_start"], &paid["current_period_end"]), (&json!("2095-02-11T15:00:00Z"), &json!("2095-02-18T15:00:00Z")));
        assert_eq!(paid["next_invoice_at"], "2095-02-17T15:00:00Z");
        // Reversed and made again it is where it was.
        to(&till, "2095-02-12T00:00:00Z").await;
        undo(&till, &text(&paid["latest_invoice"])).await;
        to(&till, "2095-02-12T06:00:00Z").await;
        assert_eq!(pay(&till, &made).await["current_period_start"], "2095-02-11T15:00:00Z");
        // Credit pays when it comes.
        let other = subscribe(&till, &customer, &plan).await;
        top_up(&till, &customer, "10.00", BASE).await;
        to(&till, "2095-02-16T00:00:00Z").await;
        let paid = look(&till, &other).await;
        assert_eq!((&paid["status"], &paid["current_period_start"]), (&json!("active"), &json!("2095-02-12T06:00:00Z")));
    }

    async fn what_was_active_once_is_past_due_and_never_incomplete(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 2 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        to(&till, "2095-02-01T00:00:00Z").await;
        pay(&till, &made).await;
        undo(&till, &invoice).await;
        let owed = look(&till, &made).await;
        assert_eq!((&owed["status"], payable(&till, &made).await), (&json!("active"), vec![invoice.clone()]));
        to(&till, "2095-02-02T23:59:59Z").await;
        assert_eq!(look(&till, &made).await["status"], "active");
        to(&till, "2095-02-03T00:00:00Z").await;
        let late = look(&till, &made).await;
        assert_eq!((&late["status"], &late["past_due_since"]), (&json!("past_due"), &json!("2095-02-03T00:00:00Z")));
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["status"], &paid["current_period_start"]), (&json!("active"), &json!("2095-02-01T00:00:00Z")));
        // Where grace is over already it is so at once.
        to(&till, "2095-02-04T00:00:00Z").await;
        undo(&till, &text(&paid["latest_invoice"])).await;
        assert_eq!(look(&till, &made).await["status"], "past_due");
        let told = till.event_types(&id(&made)).await;
        assert_eq!(told.iter().filter(|event| *event == "subscription.past_due").count(), 2);
    }

    async fn what_credit_leaves_within_the_tolerance_is_not_asked_for(world: World) {
        let (till, customer) = begin(&world).await;
        till.set(json!({ "underpay_tolerance_bps": 30 })).await;
        let short = id(&asked(&till, &customer, "10.00").await);
        till.simulate(&short, json!({ "amount": "9.97" })).await;
        assert_eq!(till.retrieve(&short).await["status"], "paid");
        let plan = weekly(&till, json!({ "max_attempts": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!((&made["status"], &made["latest_invoice"]), (&json!("active"), &Value::Null));
        assert_eq!(credit(&till, &customer).await, json!([]));
        till.set(json!({ "underpay_tolerance_bps": 0 })).await;
        let less = id(&asked(&till, &customer, "9.99").await);
        till.simulate(&less, json!({ "amount": "9.990001" })).await;
        let dust = subscribe(&till, &customer, &plan).await;
        assert_eq!((&dust["status"], credit(&till, &customer).await), (&json!("active"), json!([])), "less than a cent is left");
        let more = top_up(&till, &customer, "9.99", BASE).await;
        let asks = subscribe(&till, &customer, &plan).await;
        assert_eq!(asks["status"], "incomplete", "a cent is asked for: {more}");
    }

    async fn an_attempt_that_the_merchant_cancels_is_skipped(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "max_attempts": 2 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        top_up(&till, &customer, "4.00", BASE).await;
        to(&till, "2095-02-06T18:00:00Z").await;
        let cancel = async || {
            let invoice = text(&look(&till, &made).await["latest_invoice"]);
            till.post(&format!("/v1/invoices/{invoice}/cancel"), json!({})).await.ok(200);
            settle(&till).await;
            invoice
        };
        let first = cancel().await;
        let skipped = look(&till, &made).await;
        assert_eq!((&skipped["status"], &skipped["latest_invoice"]), (&json!("active"), &json!(first)));
        assert_eq!(credit(&till, &customer).await, json!([tokens("4.00", BASE)]), "and what it had set aside is returned");
        to(&till, "2095-02-10T11:59:59Z").await;
        assert_eq!((&look(&till, &made).await["status"], payable(&till, &made).await), (&json!("active"), Vec::new()));
        to(&till, "2095-02-10T12:00:00Z").await;
        let second = look(&till, &made).await;
        assert_eq!((&second["status"], &second["attempt"]), (&json!("past_due"), &json!(2)));
        cancel().await;
        to(&till, "2095-02-13T11:59:59Z").await;
        assert_eq!(look(&till, &made).await["status"], "past_due");
        to(&till, "2095-02-13T12:00:00Z").await;
        let ended = look(&till, &made).await;
        assert_eq!((&ended["status"], &ended["cancellation_reason"]), (&json!("cancelled"), &json!("unpaid")));
        assert_eq!(credit(&till, &customer).await, json!([tokens("4.00", BASE)]));
    }
}

on_every_engine! {
    async fn an_invoice_that_lost_its_credit_asks_at_an_address_of_its_own(world: World) {
        let till = world.till_with(Setup { cooldown_ms: 60_000, pool_max: 4, ..Setup::default() }).await;
        till.set(json!({ "default_assets": [BASE] })).await;
        let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
        let credit = top_up(&till, &customer, "4.00", BASE).await;
        let plan = weekly(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&made["latest_invoice"]);
        let had = address(&till.retrieve(&first).await, BASE);
        pay(&till, &made).await;
        till.advance(61).await;
        let mut strangers = Vec::new();
        for _ in 0..4 {
            strangers.push(till.create(json!({ "amount": "9.00", "currency": "USD" })).await);
        }
        let free: Vec<Value> = strangers.drain(..2).collect();
        for free in &free {
            till.post(&format!("/v1/invoices/{}/cancel", id(free)), json!({})).await.ok(200);
        }
        till.advance(61).await;
        assert!(strangers.iter().any(|other| address(other, BASE) == had), "its address is another's by now");
        undo(&till, &credit).await;
        settle(&till).await;
        let told = till.events(&first).await;
        let last = &told.last().unwrap();
        assert_eq!((&last["type"], &last["data"]["object"]["amount_remaining"]), (&json!("invoice.partially_paid"), &tokens("4.00", BASE)));
        for shown in [&last["data"]["object"], &till.retrieve(&first).await] {
            let is_its_own = free.iter().any(|free| address(free, BASE) == address(shown, BASE));
            assert!(is_its_own, "{shown}");
        }
    }
}

on_every_engine! {
    async fn a_closed_invoice_of_what_has_ended_shows_no_address(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        assert!(till.retrieve(&first).await["payment_options"][0]["address"].is_string(), "it cools down");
        to(&till, "2095-02-06T12:00:00Z").await;
        let second = text(&look(&till, &made).await["latest_invoice"]);
        act(&till, &made, "cancel", json!({})).await.ok(200);
        for invoice in [&first, &second] {
            assert_eq!(till.retrieve(invoice).await["payment_options"][0]["address"], Value::Null);
        }
        for listed in till.get("/v1/invoices").await.ok(200)["data"].as_array().unwrap() {
            assert_eq!(listed["payment_options"][0]["address"], Value::Null);
        }
        settle(&till).await;
        till.simulate(&second, json!({})).await;
        for (event, told) in [("invoice.cancelled", 1), ("invoice.late_payment", 0)] {
            let events = till.events(&second).await;
            let last = events.iter().rev().nth(told).unwrap();
            assert_eq!((&last["type"], &last["data"]["object"]["payment_options"][0]["address"]), (&json!(event), &Value::Null));
        }
    }
}

on_every_engine! {
    async fn the_latest_invoice_is_the_one_that_is_asked_for(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 30 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&pay(&till, &made).await["latest_invoice"]);
        to(&till, "2095-02-06T12:00:00Z").await;
        let second = text(&pay(&till, &made).await["latest_invoice"]);
        assert_ne!(first, second);
        undo(&till, &first).await;
        for _ in 0..2 {
            assert_eq!(look(&till, &made).await["latest_invoice"], json!(first));
            assert_eq!(payable(&till, &made).await, [first.as_str()]);
            settle(&till).await;
        }
    }

    async fn what_is_tolerated_is_a_part_of_the_price_whatever_credit_pays_of_it(world: World) {
        let (till, customer) = begin(&world).await;
        till.set(json!({ "underpay_tolerance_bps": 100 })).await;
        let plan = weekly(&till, json!({})).await;
        for (amount, status) in [("1.90", "active"), ("1.89", "incomplete")] {
            top_up(&till, &customer, "8.00", BASE).await;
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            till.simulate(&invoice, json!({ "amount": amount })).await;
            assert_eq!(look(&till, &made).await["status"], status, "{amount} of 2.00, where 0.10 is tolerated");
        }
        assert_conserved(&till).await;
    }

    async fn rejecting_what_came_on_top_leaves_the_period_paid(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 0 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&pay(&till, &made).await["latest_invoice"]);
        till.advance(3_600).await;
        let stranger = listed(till_core::asset::Family::Evm, "sanctions");
        till.simulate(&invoice, json!({ "amount": "0.02", "sender": stranger })).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "under_review");
        decide(&till, &invoice, "reject").await.ok(200);
        settle(&till).await;
        let paid = look(&till, &made).await;
        assert_eq!((&paid["status"], &paid["next_invoice_at"]), (&json!("active"), &json!("2095-02-06T12:00:00Z")));
        assert_eq!(payable(&till, &made).await, [""; 0]);
        // What paid it still can leave the chain.
        let own = till.payments_of(&invoice).await.into_iter().find(|payment| payment["amount"] == "10.00");
        reverse(&till, &own.unwrap()).await;
        settle(&till).await;
        assert_eq!((&look(&till, &made).await["status"], payable(&till, &made).await.len()), (&json!("past_due"), 1));
    }
}

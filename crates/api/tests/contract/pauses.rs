//! Pausing and resuming: what a pause cancelled is forgiven, what it did not cancel stays owed, and only the time that was
//! paused is not charged.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};

use crate::attempts::{payable, reverse};
use crate::credit::{assert_conserved, top_up};
use crate::harness::{BASE, Till, id, text};
use crate::periods::{days, period, settle, three_weeks, weekly};
use crate::subscriptions::{DAY_S, START, act, begin, look, pay, subscribe, to};

async fn pause(till: &Till, subscription: &Value) {
    act(till, subscription, "pause", json!({})).await.ok(200);
}

async fn resume(till: &Till, subscription: &Value) {
    act(till, subscription, "resume", json!({})).await.ok(200);
    settle(till).await;
}

/// The payment leaves the chain, and the merchant pauses before any worker could look at what that means.
async fn reverse_and_pause(till: &Till, payment: &Value, subscription: &Value) {
    let (payment, subscription) = (&*id(payment), &*id(subscription));
    let scope = till.scope();
    let done = till.engine().unit(&scope, move |tx, context| {
        async move {
            till_engine::test_mode::reverse_payment(tx, context, payment).await?;
            till_engine::subscriptions::pause(tx, context, subscription).await
        }
        .scope_boxed()
    });
    done.await.unwrap();
}

on_every_engine! {
    async fn what_a_pause_forgives_does_not_depend_on_who_looked_at_a_reversal_before_it(world: World) {
        let (till, _) = begin(&world).await;
        let mut seen = Vec::new();
        for has_looked in [true, false] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 10 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let first = text(&made["latest_invoice"]);
            pay(&till, &made).await;
            to(&till, "2095-02-08T12:00:00Z").await;
            let payment = &till.payments_of(&first).await[0];
            match has_looked {
                true => {
                    reverse(&till, payment).await;
                    settle(&till).await;
                    pause(&till, &made).await;
                }
                false => reverse_and_pause(&till, payment, &made).await,
            }
            to(&till, "2095-02-13T12:00:00Z").await;
            resume(&till, &made).await;
            let resumed = look(&till, &made).await;
            let open = payable(&till, &made).await;
            let bounds = json!([resumed["status"], resumed["attempt"], resumed["next_invoice_at"], open.len()]);
            seen.push((bounds, text(&resumed["current_period_start"])[..10].to_owned()));
        }
        assert_eq!(seen[0], seen[1]);
        assert_eq!(seen[0].1, "2095-02-12", "the week that was owed is forgiven, and of the next what had passed is charged");
    }

    async fn what_a_pause_cancelled_is_forgiven_inside_the_paid_time_as_well(world: World) {
        let (till, customer) = begin(&world).await;
        let (made, first) = three_weeks(&till, &customer).await;
        for payment in till.payments_of(&first).await {
            reverse(&till, &payment).await;
        }
        settle(&till).await;
        assert_eq!(payable(&till, &made).await, [first.as_str()]);
        pause(&till, &made).await;
        to(&till, "2095-02-16T12:00:00Z").await;
        resume(&till, &made).await;
        let resumed = look(&till, &made).await;
        assert_eq!(payable(&till, &made).await, [""; 0], "{resumed}");
        assert_eq!((&resumed["status"], period(&resumed)), (&json!("active"), days("2095-02-14", "2095-02-21")));
        assert_eq!(resumed["next_invoice_at"], "2095-02-20T12:00:00Z");
    }

    async fn what_is_forgiven_after_a_pause_does_not_depend_on_the_order_of_reversals(world: World) {
        let (till, _) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 3, "max_attempts": 4 })).await;
        let mut seen = Vec::new();
        for order in [[0, 1], [1, 0]] {
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let first = text(&made["latest_invoice"]);
            pay(&till, &made).await;
            let top_up = top_up(&till, &customer, "10.00", BASE).await;
            till.advance(8 * DAY_S).await;
            for which in order {
                let payments = till.payments_of([&first, &top_up][which]).await;
                reverse(&till, &payments[0]).await;
                till.advance(1).await;
            }
            assert_eq!(payable(&till, &made).await.len(), 1, "one week is asked for after the other");
            pause(&till, &made).await;
            till.advance(3_600).await;
            resume(&till, &made).await;
            let resumed = look(&till, &made).await;
            let at = |time: &Value| till_core::time::parse(&text(time)).unwrap();
            let start = at(&resumed["current_period_start"]) - at(&made["created_at"]);
            let open = till.retrieve(&payable(&till, &made).await[0]).await;
            let made_at = at(&open["created_at"]) - at(&made["created_at"]);
            seen.push((text(&resumed["status"]), start, made_at, open["amount"].clone()));
            assert_eq!(payable(&till, &made).await.len(), 1);
            act(&till, &made, "cancel", json!({})).await.ok(200);
        }
        assert_eq!(seen[0], seen[1]);
        assert_eq!(seen[0].1, 0, "the second week is asked for, and no other begins with the resume");
    }

    async fn what_is_paid_in_part_has_its_grace_again_after_a_pause(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 3 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        to(&till, "2095-02-06T12:00:00Z").await;
        let renewal = text(&look(&till, &made).await["latest_invoice"]);
        till.simulate(&renewal, json!({ "amount": "5" })).await;
        pause(&till, &made).await;
        to(&till, "2095-04-10T12:00:00Z").await;
        resume(&till, &made).await;
        let resumed = look(&till, &made).await;
        assert_eq!((&resumed["status"], payable(&till, &made).await), (&json!("active"), vec![renewal.clone()]));
        to(&till, "2095-04-13T12:00:00Z").await;
        assert_eq!(look(&till, &made).await["status"], "past_due");
        till.simulate(&renewal, json!({})).await;
        let paid = look(&till, &made).await;
        assert_eq!((&paid["status"], period(&paid)), (&json!("active"), days("2095-04-10", "2095-04-17")));
        assert_conserved(&till).await;
    }

    async fn only_the_time_that_was_paused_moves_a_period_that_had_begun(world: World) {
        let (till, _) = begin(&world).await;
        for (is_skipped, paused_days, start, end) in [
            (false, 0, "2095-02-07", "2095-02-14"),
            (true, 0, "2095-02-07", "2095-02-14"),
            (false, 40, "2095-03-19", "2095-03-26"),
        ] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 30 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            pay(&till, &made).await;
            to(&till, "2095-02-08T12:00:00Z").await;
            let renewal = text(&look(&till, &made).await["latest_invoice"]);
            match is_skipped {
                true => drop(till.post(&format!("/v1/invoices/{renewal}/cancel"), json!({})).await.ok(200)),
                false => drop(till.simulate(&renewal, json!({ "amount": "5" })).await),
            }
            settle(&till).await;
            to(&till, "2095-02-09T12:00:00Z").await;
            pause(&till, &made).await;
            till.advance(paused_days * DAY_S).await;
            resume(&till, &made).await;
            let paid = pay(&till, &made).await;
            assert_eq!((&paid["status"], period(&paid)), (&json!("active"), days(start, end)), "skipped: {is_skipped}, paused for {paused_days} days");
        }
    }

    async fn nothing_goes_uncharged_after_a_pause_in_which_the_first_period_was_reversed(world: World) {
        let (till, customer) = begin(&world).await;
        let (made, first) = three_weeks(&till, &customer).await;
        pause(&till, &made).await;
        // Something is always paid, so that no worker cancels the invoice.
        let both = till.payments_of(&first).await;
        reverse(&till, &both[0]).await;
        till.simulate(&first, json!({ "amount": "5" })).await;
        reverse(&till, &both[1]).await;
        assert_eq!(till.retrieve(&first).await["status"], "partially_paid");
        to(&till, "2095-02-23T12:00:00Z").await;
        resume(&till, &made).await;
        till.simulate(&first, json!({ "amount": "5" })).await;
        settle(&till).await;
        let owed = look(&till, &made).await;
        assert_ne!(owed["latest_invoice"], json!(first));
        let paid = pay(&till, &made).await;
        assert_eq!((period(&paid), &paid["next_invoice_at"]), (days("2095-02-23", "2095-03-02"), &json!("2095-03-01T12:00:00Z")));
        assert_conserved(&till).await;
    }

    async fn a_period_whose_rest_is_paid_during_a_pause_has_all_of_its_time_after_it(world: World) {
        let (till, _) = begin(&world).await;
        for (paused, rest_paid, resumed, start, end) in [
            // Before the week that was paid in part began, and resumed inside the week before it, inside its own, and after that.
            ("2095-02-06T13:00:00Z", "2095-02-06T14:00:00Z", "2095-02-06T15:00:00Z", "2095-02-07", "2095-02-14"),
            ("2095-02-06T13:00:00Z", "2095-02-10T12:00:00Z", "2095-02-11T12:00:00Z", "2095-02-11", "2095-02-18"),
            ("2095-02-06T13:00:00Z", "2095-02-10T12:00:00Z", "2095-02-25T12:00:00Z", "2095-02-25", "2095-03-04"),
            // Two days after it began.
            ("2095-02-09T12:00:00Z", "2095-02-10T12:00:00Z", "2095-02-11T12:00:00Z", "2095-02-09", "2095-02-16"),
            ("2095-02-09T12:00:00Z", "2095-02-10T12:00:00Z", "2095-02-25T12:00:00Z", "2095-02-23", "2095-03-02"),
        ] {
            for is_during in [true, false] {
                let till = till.another_account().await;
                to(&till, START).await;
                let plan = weekly(&till, json!({})).await;
                let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
                let made = subscribe(&till, &customer, &plan).await;
                pay(&till, &made).await;
                to(&till, "2095-02-06T12:00:00Z").await;
                let renewal = text(&look(&till, &made).await["latest_invoice"]);
                till.simulate(&renewal, json!({ "amount": "4" })).await;
                to(&till, paused).await;
                pause(&till, &made).await;
                to(&till, rest_paid).await;
                if is_during {
                    till.simulate(&renewal, json!({ "amount": "6" })).await;
                }
                to(&till, resumed).await;
                resume(&till, &made).await;
                if !is_during {
                    till.simulate(&renewal, json!({ "amount": "6" })).await;
                }
                settle(&till).await;
                let seen = look(&till, &made).await;
                let case = format!("paused {paused}, resumed {resumed}, paid during the pause: {is_during}: {seen}");
                assert_eq!((&seen["status"], period(&seen)), (&json!("active"), days(start, end)), "{case}");
                assert_eq!(payable(&till, &made).await, [""; 0], "nothing is asked for before that is over: {case}");
                let next = till_core::time::parse(&text(&seen["next_invoice_at"])).unwrap();
                let ends = till_core::time::parse(&text(&seen["current_period_end"])).unwrap();
                assert_eq!(ends - next, DAY_S * 1_000, "{case}");
                // Its payment can leave the chain, and it has the same place when that is made again.
                reverse(&till, &till.payments_of(&renewal).await[0]).await;
                settle(&till).await;
                for invoice in payable(&till, &made).await {
                    till.simulate(&invoice, json!({})).await;
                }
                settle(&till).await;
                assert_eq!(period(&look(&till, &made).await), days(start, end), "{case}");
                assert_conserved(&till).await;
            }
        }
    }

    async fn what_is_paid_during_a_pause_and_reversed_in_it_was_never_paid(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 30 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        to(&till, "2095-02-09T12:00:00Z").await;
        let renewal = text(&look(&till, &made).await["latest_invoice"]);
        till.simulate(&renewal, json!({ "amount": "4" })).await;
        pause(&till, &made).await;
        till.simulate(&renewal, json!({ "amount": "6" })).await;
        let payments = till.payments_of(&renewal).await;
        reverse(&till, payments.iter().find(|payment| payment["amount"] == "6.00").unwrap()).await;
        to(&till, "2095-02-12T12:00:00Z").await;
        resume(&till, &made).await;
        till.simulate(&renewal, json!({ "amount": "6" })).await;
        let paid = look(&till, &made).await;
        assert_eq!((&paid["status"], period(&paid)), (&json!("active"), days("2095-02-10", "2095-02-17")));
        assert_conserved(&till).await;
    }

    async fn an_earlier_period_is_owed_beside_one_that_was_paid_during_the_pause(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 30 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&pay(&till, &made).await["latest_invoice"]);
        to(&till, "2095-02-09T12:00:00Z").await;
        let renewal = text(&look(&till, &made).await["latest_invoice"]);
        till.simulate(&renewal, json!({ "amount": "4" })).await;
        pause(&till, &made).await;
        reverse(&till, &till.payments_of(&first).await[0]).await;
        settle(&till).await;
        till.simulate(&renewal, json!({ "amount": "6" })).await;
        to(&till, "2095-02-25T12:00:00Z").await;
        resume(&till, &made).await;
        let resumed = look(&till, &made).await;
        assert_eq!(period(&resumed), days("2095-02-23", "2095-03-02"), "{resumed}");
        assert_eq!(payable(&till, &made).await.len(), 1, "the first week alone is asked for");
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["status"], &paid["next_invoice_at"]), (&json!("active"), &json!("2095-03-01T12:00:00Z")));
        settle(&till).await;
        assert_eq!(payable(&till, &made).await, [""; 0]);
        assert_conserved(&till).await;
    }

    async fn the_log_has_a_change_before_what_follows_from_it(world: World) {
        let (till, customer) = begin(&world).await;
        to(&till, START).await;
        let plan = weekly(&till, json!({ "grace_days": 0 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        pause(&till, &made).await;
        reverse(&till, &till.payments_of(&text(&made["latest_invoice"])).await[0]).await;
        settle(&till).await;
        resume(&till, &made).await;
        let log = till.get("/v1/events?limit=100").await.ok(200);
        let log: Vec<Value> = log["data"].as_array().unwrap().iter().rev().cloned().collect();
        let place = |event: &str| log.iter().position(|it| it["type"] == event).unwrap_or_else(|| panic!("no {event}"));
        assert!(place("subscription.resumed") < place("subscription.past_due"));
    }
}

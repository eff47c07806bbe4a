//! Prepaid credit among several subscriptions of one customer, and over time: who asked first is given first, and nothing lies
//! idle while somebody is asked for money.

use serde_json::{Value, json};

use crate::attempts::{comes_back, payable, reverse};
use crate::credit::{assert_conserved, credit, due, top_up};
use crate::harness::{BASE, Till, id, text};
use crate::periods::{days, period, settle, weekly};
use crate::statuses::tokens;
use crate::subscriptions::{DAY_S, START, act, begin, look, pay, subscribe, to};

async fn customer(till: &Till) -> String {
    id(&till.post("/v1/customers", json!({})).await.ok(201))
}

async fn payment(till: &Till, invoice: &str) -> Value {
    till.payments_of(invoice).await[0].clone()
}

on_every_engine! {
    async fn which_of_two_subscriptions_is_paid_does_not_depend_on_which_top_up_left_first(world: World) {
        let (till, _) = begin(&world).await;
        let plan = weekly(&till, json!({ "amount": "25.00", "grace_days": 1 })).await;
        for order in [[0, 1], [1, 0]] {
            let customer = customer(&till).await;
            let mut top_ups = vec![top_up(&till, &customer, "25.00", BASE).await];
            let first = subscribe(&till, &customer, &plan).await;
            top_ups.push(top_up(&till, &customer, "25.00", BASE).await);
            let second = subscribe(&till, &customer, &plan).await;
            top_up(&till, &customer, "25.00", BASE).await;
            till.advance(3 * DAY_S).await;
            for which in order {
                reverse(&till, &payment(&till, &top_ups[which]).await).await;
                settle(&till).await;
            }
            let status = [&look(&till, &first).await["status"], &look(&till, &second).await["status"]].map(text);
            assert_eq!(status, ["active", "past_due"], "{order:?}: who asked first is given first");
            assert_eq!(payable(&till, &second).await.len(), 1);
            assert_eq!(credit(&till, &customer).await, json!([]));
            // What comes back pays who is left.
            comes_back(&till, &top_ups[order[0]]).await;
            settle(&till).await;
            assert_eq!(look(&till, &second).await["status"], "active");
            assert_eq!((payable(&till, &second).await, credit(&till, &customer).await), (Vec::new(), json!([])));
            for made in [&first, &second] {
                act(&till, made, "cancel", json!({})).await.ok(200);
            }
            assert_conserved(&till).await;
        }
    }

    async fn a_top_up_that_comes_back_pays_again(world: World) {
        let (till, _) = begin(&world).await;
        for has_looked in [true, false] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "amount": "7.00", "grace_days": 3 })).await;
            let customer = customer(&till).await;
            let made = subscribe(&till, &customer, &plan).await;
            pay(&till, &made).await;
            let top_up = top_up(&till, &customer, "10.00", BASE).await;
            to(&till, "2095-02-08T12:00:00Z").await;
            reverse(&till, &payment(&till, &top_up).await).await;
            if has_looked {
                settle(&till).await;
                assert_eq!(payable(&till, &made).await.len(), 1);
            }
            comes_back(&till, &top_up).await;
            settle(&till).await;
            assert_eq!((payable(&till, &made).await, credit(&till, &customer).await), (Vec::new(), json!([tokens("3.00", BASE)])));
            assert!(text(&look(&till, &made).await["current_period_start"]).starts_with("2095-02-07"));
            assert_conserved(&till).await;
        }
    }

    async fn what_lowered_an_invoice_that_is_paid_in_part_lowers_it_again(world: World) {
        let (till, customer) = begin(&world).await;
        let top_up = top_up(&till, &customer, "4.00", BASE).await;
        let plan = weekly(&till, json!({ "grace_days": 30 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "3" })).await;
        let asks = || async { text(&till.retrieve(&invoice).await["payment_options"][0]["amount_due"]) };
        assert_eq!(asks().await, "6.00");
        reverse(&till, &payment(&till, &top_up).await).await;
        settle(&till).await;
        assert_eq!(asks().await, "10.00");
        comes_back(&till, &top_up).await;
        settle(&till).await;
        assert_eq!(asks().await, "6.00");
        till.simulate(&invoice, json!({ "amount": "3" })).await;
        assert_eq!(look(&till, &made).await["status"], "active");
        assert_eq!(credit(&till, &customer).await, json!([]));
        assert_conserved(&till).await;
    }

    async fn a_later_period_has_its_own_credit_again_though_an_earlier_one_is_owed(world: World) {
        let (till, _) = begin(&world).await;
        for (is_paused, has_looked) in [(false, false), (false, true), (true, false), (true, true)] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 30 })).await;
            let customer = customer(&till).await;
            let first = top_up(&till, &customer, "10.00", BASE).await;
            let made = subscribe(&till, &customer, &plan).await;
            let second = top_up(&till, &customer, "10.00", BASE).await;
            to(&till, "2095-02-08T12:00:00Z").await;
            if is_paused {
                act(&till, &made, "pause", json!({})).await.ok(200);
            }
            for left in [&first, &second] {
                reverse(&till, &payment(&till, left).await).await;
            }
            if has_looked {
                settle(&till).await;
            }
            comes_back(&till, &second).await;
            settle(&till).await;
            if is_paused {
                act(&till, &made, "resume", json!({})).await.ok(200);
                settle(&till).await;
            }
            let case = format!("paused: {is_paused}, looked: {has_looked}");
            assert_eq!(period(&look(&till, &made).await), days("2095-02-07", "2095-02-14"), "{case}");
            assert_eq!((payable(&till, &made).await.len(), due(&till, &made, BASE).await.as_str()), (1, "10.00"), "{case}");
            assert_eq!(credit(&till, &customer).await, json!([]), "{case}");
            comes_back(&till, &first).await;
            settle(&till).await;
            assert_eq!((payable(&till, &made).await, credit(&till, &customer).await), (Vec::new(), json!([])), "{case}");
            assert_conserved(&till).await;
        }
    }

    async fn credit_that_comes_free_pays_another_subscription_at_once(world: World) {
        let (till, customer) = begin(&world).await;
        top_up(&till, &customer, "12.00", BASE).await;
        let large = weekly(&till, json!({ "amount": "25.00" })).await;
        let small = weekly(&till, json!({ "max_attempts": 1 })).await;
        let first = subscribe(&till, &customer, &large).await;
        let second = subscribe(&till, &customer, &small).await;
        assert_eq!(look(&till, &second).await["status"], "incomplete");
        act(&till, &first, "cancel", json!({})).await.ok(200);
        settle(&till).await;
        assert_eq!(look(&till, &second).await["status"], "active");
        assert_eq!(credit(&till, &customer).await, json!([tokens("2.00", BASE)]));
        assert_conserved(&till).await;
    }

    async fn a_top_up_over_all_that_is_asked_for_pays_the_only_attempt(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "max_attempts": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        to(&till, "2095-02-07T16:00:00Z").await;
        assert_eq!(payable(&till, &made).await.len(), 1);
        top_up(&till, &customer, "4.00", BASE).await;
        settle(&till).await;
        assert_eq!((due(&till, &made, BASE).await.as_str(), credit(&till, &customer).await), ("6.00", json!([])), "a part of it lowers the invoice");
        top_up(&till, &customer, "6.00", BASE).await;
        settle(&till).await;
        assert_eq!((payable(&till, &made).await, credit(&till, &customer).await), (Vec::new(), json!([])));
        to(&till, "2095-02-12T12:00:00Z").await;
        assert_eq!(look(&till, &made).await["status"], "active");
        assert_conserved(&till).await;
    }

    async fn what_credit_paid_in_place_of_what_left_stays_paid_whoever_is_charged(world: World) {
        let (till, _) = begin(&world).await;
        for has_ended in [false, true] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 30 })).await;
            let customer = customer(&till).await;
            let first = top_up(&till, &customer, "20.00", BASE).await;
            let paused = subscribe(&till, &customer, &plan).await;
            let kept = subscribe(&till, &customer, &plan).await;
            top_up(&till, &customer, "10.00", BASE).await;
            act(&till, &paused, "pause", json!({})).await.ok(200);
            reverse(&till, &payment(&till, &first).await).await;
            settle(&till).await;
            assert_eq!((&look(&till, &kept).await["status"], credit(&till, &customer).await), (&json!("active"), json!([])));
            if has_ended {
                act(&till, &kept, "cancel", json!({})).await.ok(200);
            }
            // It was asked for before the other one.
            act(&till, &paused, "resume", json!({})).await.ok(200);
            settle(&till).await;
            assert_eq!(due(&till, &paused, BASE).await, "10.00");
            top_up(&till, &customer, "1.00", BASE).await;
            settle(&till).await;
            assert_eq!(due(&till, &paused, BASE).await, "9.00", "what comes in is shared, and nothing else");
            assert_eq!(look(&till, &kept).await["status"], json!(if has_ended { "cancelled" } else { "active" }));
            assert_eq!(credit(&till, &customer).await, json!([]));
            assert_conserved(&till).await;
        }
    }

    async fn what_comes_back_to_wait_for_its_turn_asks_for_credit_that_is_gone(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 30, "max_attempts": 7 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&made["latest_invoice"]);
        till.simulate(&first, json!({})).await;
        let credit = top_up(&till, &customer, "2.50", BASE).await;
        till.advance(6 * DAY_S + 60).await;
        let second = text(&look(&till, &made).await["latest_invoice"]);
        till.simulate(&second, json!({ "amount": "2.25" })).await;
        let asks = |invoice: String| {
            let till = &till;
            async move { text(&till.retrieve(&invoice).await["payment_options"][0]["amount_due"]) }
        };
        assert_eq!(asks(second.clone()).await, "7.50");
        for invoice in [&first, &second] {
            reverse(&till, &payment(&till, invoice).await).await;
            settle(&till).await;
        }
        assert_eq!(due(&till, &made, BASE).await, "7.50", "the first week has the credit");
        reverse(&till, &payment(&till, &credit).await).await;
        settle(&till).await;
        comes_back(&till, &second).await;
        settle(&till).await;
        assert_eq!((due(&till, &made, BASE).await, asks(second).await), ("10.00".to_owned(), "10.00".to_owned()));
        assert_conserved(&till).await;
    }
}

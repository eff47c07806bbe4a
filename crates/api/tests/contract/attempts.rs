//! One invoice at a time may be paid for a period, and nobody pays for it twice, whatever leaves the chain and comes back.

use serde_json::{Value, json};

use crate::credit::{assert_conserved, credit, due, looked, top_up, undo};
use crate::harness::{BASE, BTC, Till, id, text, until};
use crate::statuses::{balances, books, tokens};
use crate::subscriptions::{DAY_S, act, begin, look, pay, plan, subscribe, to};

pub async fn reverse(till: &Till, payment: &Value) {
    let path = format!("/v1/test_helpers/payments/{}/reverse", id(payment));
    till.post(&path, json!({})).await.ok(200);
}

/// The invoice's first payment, which had left the chain, is in a final block again.
pub async fn comes_back(till: &Till, invoice: &str) {
    is_seen_again(till, invoice, "final").await;
}

/// The invoice's first payment, which had left the chain, is there again, so deep.
pub async fn is_seen_again(till: &Till, invoice: &str, level: &str) {
    let tx_hash = text(&till.payments_of(invoice).await.last().unwrap()["tx_hash"]);
    let tx_hash = tx_hash.as_str();
    let scope = till.scope();
    let done = till.engine().unit(&scope, |tx, context| {
        let raised = till_engine::test_mode::raise_payment(tx, context, invoice, tx_hash, level);
        scoped_futures::ScopedFutureExt::scope_boxed(raised)
    });
    done.await.unwrap();
}

async fn invoice_of(till: &Till, subscription: &Value) -> Value {
    let latest = &look(till, subscription).await["latest_invoice"];
    match latest.as_str() {
        Some(invoice) => till.retrieve(invoice).await,
        None => Value::Null,
    }
}

/// Once the subscription's latest invoice is in this status.
async fn once(till: &Till, subscription: &Value, status: &str) -> Value {
    until(status, || async {
        Some(invoice_of(till, subscription).await).filter(|invoice| invoice["status"] == status)
    })
    .await
}

/// The invoices of the subscription that somebody may pay.
pub async fn payable(till: &Till, subscription: &Value) -> Vec<String> {
    let all = till.get("/v1/invoices?limit=100").await.ok(200);
    let all = all["data"].as_array().unwrap().iter();
    let open =
        all.filter(|one| one["subscription"] == subscription["id"] && one["closed_at"].is_null());
    open.map(id).collect()
}

on_every_engine! {
    async fn a_cent_that_came_late_takes_nothing_of_what_was_paid_in_time(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "amount": "12.50" })).await;
        for late in ["0.01", "12.50"] {
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            till.simulate(&invoice, json!({ "amount": "3.75" })).await;
            till.simulate(&invoice, json!({ "amount": "8.75" })).await;
            till.advance(13 * DAY_S).await;
            till.simulate(&invoice, json!({ "amount": late })).await;
            let payments = till.payments_of(&invoice).await;
            let first = payments.iter().find(|payment| payment["amount"] == "3.75").unwrap();
            till.post(&format!("/v1/test_helpers/payments/{}/reverse", id(first)), json!({})).await.ok(200);
            till.advance(1).await;
            let now = till.retrieve(&invoice).await;
            let kept = till.payments_of(&invoice).await;
            let kept = kept.iter().find(|payment| payment["amount"] == "8.75").unwrap();
            assert_eq!(kept["status"], "credited", "{late}: {now}");
            assert_ne!(now["status"], "cancelled", "{late}");
            assert_eq!(look(&till, &made).await["latest_invoice"], invoice.as_str(), "{late}: one invoice asks for the rest");
        }
    }

    async fn what_is_paid_in_part_takes_nothing_after_the_end(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        act(&till, &made, "cancel", json!({})).await.ok(200);
        let left = till.retrieve(&invoice).await;
        assert_eq!((&left["status"], left["closed_at"].is_string()), (&json!("partially_paid"), true));
        till.advance(1).await;
        till.simulate(&invoice, json!({ "amount": "15" })).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "partially_paid");
        assert_eq!(till.event_types(&invoice).await.last().unwrap(), "invoice.late_payment");
        assert_eq!(balances(&till).await, books(&[
            ("received", BASE, -25_000_000), ("settled", BASE, 10_000_000), ("refundable", BASE, 15_000_000),
        ]));
        let waiting = subscribe(&till, &customer, &plan).await;
        let invoice = text(&waiting["latest_invoice"]);
        till.simulate(&invoice, json!({ "finality_steps": ["pending"] })).await;
        act(&till, &waiting, "cancel", json!({})).await.ok(200);
        assert_eq!(till.retrieve(&invoice).await["status"], "detected", "it may still arrive");
        till.advance(1).await;
        undo(&till, &invoice).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "expired");
    }

    async fn what_is_on_its_way_when_the_time_is_over_is_waited_for_without_a_timer(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "2" })).await;
        till.simulate(&invoice, json!({ "amount": "20", "finality_steps": ["included"] })).await;
        act(&till, &made, "cancel", json!({})).await.ok(200);
        // A timer that is due at once, again and again, would never let the clock arrive.
        till.advance(DAY_S).await;
        let waiting = till.retrieve(&invoice).await;
        assert_eq!((&waiting["status"], &waiting["closed_at"]), (&json!("partially_paid"), &Value::Null));
        undo(&till, &invoice).await;
        let left = till.retrieve(&invoice).await;
        assert_eq!((&left["status"], left["closed_at"].is_string()), (&json!("partially_paid"), true));
    }

    async fn what_ends_while_paused_gives_its_credit_back_and_does_not_end_the_subscription(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "interval": "week", "max_attempts": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        top_up(&till, &customer, "10.00", BASE).await;
        till.advance(7 * DAY_S).await;
        let invoice = text(&look(&till, &made).await["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "5" })).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        assert_eq!(credit(&till, &customer).await, json!([]));
        till.advance(60 * DAY_S).await;
        assert!(till.retrieve(&invoice).await["closed_at"].is_string());
        assert_eq!(credit(&till, &customer).await, json!([tokens("10.00", BASE)]));
        assert_eq!(look(&till, &made).await["status"], "paused");
        let resumed = act(&till, &made, "resume", json!({})).await.ok(200);
        assert_ne!(resumed["status"], "cancelled", "{resumed}");
        // What was paid in part counts, and takes the rest again.
        till.advance(1).await;
        assert_eq!(payable(&till, &made).await, std::slice::from_ref(&invoice));
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        assert_eq!((&look(&till, &made).await["status"], credit(&till, &customer).await), (&json!("active"), json!([])));
        assert_conserved(&till).await;
    }

    async fn a_period_that_is_not_paid_any_more_is_not_waited_for(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "max_attempts": 2, "grace_days": 0 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        act(&till, &made, "cancel", json!({ "at_period_end": true })).await.ok(200);
        till.advance(5 * DAY_S).await;
        undo(&till, &invoice).await;
        till.advance(60 * DAY_S).await;
        let ended = look(&till, &made).await;
        assert_eq!((&ended["status"], &ended["cancellation_reason"]), (&json!("cancelled"), &json!("requested")));
        assert_eq!(payable(&till, &made).await, Vec::<String>::new());
    }

    async fn a_lowered_invoice_keeps_its_credit_while_it_is_paused(world: World) {
        let (till, customer) = begin(&world).await;
        top_up(&till, &customer, "10.00", BASE).await;
        let plan = plan(&till, json!({ "trial_days": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        // A trial's renewal is made beside the answer, or by whoever looks next.
        let charged = || async { look(&till, &made).await["latest_invoice"].as_str().map(str::to_owned) };
        let invoice = until("its renewal is made", charged).await;
        till.simulate(&invoice, json!({ "amount": "5" })).await;
        till.advance(6 * DAY_S).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        assert_eq!((&till.retrieve(&invoice).await["status"], credit(&till, &customer).await), (&json!("partially_paid"), json!([])));
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        assert_eq!((&till.retrieve(&invoice).await["status"], credit(&till, &customer).await), (&json!("paid_late"), json!([])));
        assert_eq!(look(&till, &made).await["current_period_end"], "2095-03-01T12:00:00Z");
        assert_eq!(balances(&till).await, books(&[("received", BASE, -25_000_000), ("settled", BASE, 25_000_000)]));
        assert_conserved(&till).await;
    }

    async fn what_credit_does_not_pay_any_more_is_due(world: World) {
        let (till, customer) = begin(&world).await;
        let first = top_up(&till, &customer, "10.00", BASE).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "5" })).await;
        undo(&till, &first).await;
        until("all of it is due", || async { (due(&till, &made, BASE).await == "25.00").then_some(()) }).await;
        assert_eq!(till.retrieve(&invoice).await["amount_remaining"], tokens("20.00", BASE));
        till.simulate(&invoice, json!({ "amount": "20" })).await;
        assert_eq!(look(&till, &made).await["status"], "active");
        assert_eq!(balances(&till).await, books(&[("received", BASE, -25_000_000), ("settled", BASE, 25_000_000)]));
        assert_conserved(&till).await;
        // On its way when the credit went, and then gone itself.
        let second = top_up(&till, &customer, "24.00", BASE).await;
        let cheap = subscribe(&till, &customer, &plan).await;
        let invoice = text(&cheap["latest_invoice"]);
        till.simulate(&invoice, json!({ "finality_steps": ["pending"] })).await;
        undo(&till, &second).await;
        until("all of it is due", || async { (due(&till, &cheap, BASE).await == "25.00").then_some(()) }).await;
        undo(&till, &invoice).await;
        assert_eq!(payable(&till, &cheap).await, [invoice]);
        assert_eq!(pay(&till, &cheap).await["status"], "active");
        assert_conserved(&till).await;
    }

    async fn a_period_that_was_paid_with_credit_that_is_gone_asks_for_what_is_missing(world: World) {
        let (till, customer) = begin(&world).await;
        let first = top_up(&till, &customer, "10.00", BASE).await;
        let plan = plan(&till, json!({ "trial_days": 1 })).await;
        looked(&till, &customer).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        assert_eq!(pay(&till, &made).await["current_period_end"], "2095-03-01T12:00:00Z");
        till.advance(20 * DAY_S).await;
        undo(&till, &first).await;
        let owed = until("the invoice waits again", || async {
            Some(till.retrieve(&invoice).await).filter(|invoice| invoice["closed_at"].is_null())
        }).await;
        assert_eq!((&owed["status"], &owed["amount_remaining"]), (&json!("partially_paid"), &tokens("10.00", BASE)));
        let late = look(&till, &made).await;
        assert_eq!((&late["status"], &late["latest_invoice"]), (&json!("past_due"), &json!(invoice)));
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        let paid = look(&till, &made).await;
        assert_eq!((&paid["status"], &paid["current_period_end"]), (&json!("active"), &json!("2095-03-01T12:00:00Z")));
        assert_eq!(balances(&till).await, books(&[("received", BASE, -25_000_000), ("settled", BASE, 25_000_000)]));
        assert_conserved(&till).await;
    }

    async fn every_period_that_a_top_up_paid_is_owed_when_it_is_gone(world: World) {
        let (till, customer) = begin(&world).await;
        let first = top_up(&till, &customer, "75.00", BASE).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        to(&till, "2095-04-10T00:00:00Z").await;
        assert_eq!(look(&till, &made).await["current_period_end"], "2095-04-30T12:00:00Z");
        undo(&till, &first).await;
        for number in 0..3 {
            once(&till, &made, "awaiting_payment").await;
            assert_eq!(payable(&till, &made).await.len(), 1, "period {number}");
            pay(&till, &made).await;
            till.advance(1).await;
        }
        let paid = look(&till, &made).await;
        assert_eq!((&paid["status"], &paid["attempt"]), (&json!("active"), &json!(0)));
        assert_eq!(paid["current_period_end"], "2095-04-30T12:00:00Z");
        assert_eq!(balances(&till).await, books(&[("received", BASE, -75_000_000), ("settled", BASE, 75_000_000)]));
        assert_conserved(&till).await;
    }

    async fn an_earlier_period_whose_payment_is_gone_is_owed_before_the_next(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        to(&till, "2095-02-28T12:00:00Z").await;
        let second = text(&look(&till, &made).await["latest_invoice"]);
        assert_eq!(pay(&till, &made).await["current_period_end"], "2095-04-01T12:00:00Z");
        undo(&till, &first).await;
        let late = until("the first period is charged again", || async {
            Some(look(&till, &made).await).filter(|now| now["latest_invoice"] != json!(second))
        }).await;
        assert_eq!((&late["status"], &late["attempt"]), (&json!("past_due"), &json!(2)));
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["status"], &paid["current_period_end"]), (&json!("active"), &json!("2095-04-01T12:00:00Z")));
        assert_eq!(paid["next_invoice_at"], "2095-03-31T12:00:00Z");
        // The renewal that is open makes room for what is owed.
        to(&till, "2095-03-31T12:00:00Z").await;
        let third = text(&look(&till, &made).await["latest_invoice"]);
        undo(&till, &second).await;
        until("it makes room", || async {
            (till.retrieve(&third).await["status"] == "cancelled").then_some(())
        }).await;
        once(&till, &made, "awaiting_payment").await;
        assert_eq!(payable(&till, &made).await.len(), 1);
        pay(&till, &made).await;
        till.advance(1).await;
        assert_eq!(look(&till, &made).await["attempt"], 1, "and is asked for again");
        assert_eq!(pay(&till, &made).await["current_period_end"], "2095-05-01T12:00:00Z");
        assert_eq!(balances(&till).await, books(&[("received", BASE, -75_000_000), ("settled", BASE, 75_000_000)]));
    }

    async fn a_later_period_that_is_paid_makes_an_owed_one_past_due_and_not_incomplete(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "grace_days": 1, "max_attempts": 2 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        to(&till, "2095-02-28T12:00:00Z").await;
        let second = text(&look(&till, &made).await["latest_invoice"]);
        pay(&till, &made).await;
        undo(&till, &first).await;
        let late = until("the first period is charged again", || async {
            Some(look(&till, &made).await).filter(|now| now["latest_invoice"] != json!(second))
        }).await;
        assert_eq!((&late["status"], &late["attempt"]), (&json!("past_due"), &json!(2)));
        assert!(late["past_due_since"].is_string());
        assert_eq!(payable(&till, &made).await.len(), 1);
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["status"], &paid["current_period_end"]), (&json!("active"), &json!("2095-03-31T12:00:00Z")));
        assert_eq!(balances(&till).await, books(&[("received", BASE, -50_000_000), ("settled", BASE, 50_000_000)]));
    }

    async fn the_last_attempt_that_was_paid_and_is_not_any_more_is_followed_by_another(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 1, "grace_days": 0, "max_attempts": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        till.advance(3 * DAY_S).await;
        undo(&till, &first).await;
        let again = until("the period is charged again", || async {
            Some(look(&till, &made).await).filter(|now| now["latest_invoice"] != json!(first))
        }).await;
        assert_eq!((&again["status"], &again["attempt"]), (&json!("past_due"), &json!(1)));
        assert_eq!(again["current_period_end"], "2095-02-01T12:00:00Z", "the trial is what was had last");
        assert_eq!(pay(&till, &made).await["status"], "active");
        // Who lets that one close has had all there were.
        let rest = subscribe(&till, &customer, &plan).await;
        let invoice = text(&rest["latest_invoice"]);
        pay(&till, &rest).await;
        till.advance(3 * DAY_S).await;
        undo(&till, &invoice).await;
        till.advance(3 * DAY_S).await;
        let ended = look(&till, &rest).await;
        assert_eq!((&ended["status"], &ended["cancellation_reason"]), (&json!("cancelled"), &json!("unpaid")));
    }

    async fn a_pause_ends_an_invoice_whose_payment_did_not_come(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 1 })).await;
        top_up(&till, &customer, "4.00", BASE).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({ "finality_steps": ["pending"] })).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        assert_eq!(till.retrieve(&invoice).await["status"], "detected");
        undo(&till, &invoice).await;
        until("it is cancelled", || async {
            (till.retrieve(&invoice).await["status"] == "cancelled").then_some(())
        }).await;
        assert_eq!(credit(&till, &customer).await, json!([tokens("4.00", BASE)]));
        to(&till, "2095-02-20T00:00:00Z").await;
        let resumed = act(&till, &made, "resume", json!({})).await.ok(200);
        assert_eq!((&resumed["current_period_start"], &resumed["attempt"]), (&json!("2095-02-20T00:00:00Z"), &json!(1)));
        assert_eq!(due(&till, &made, BASE).await, "21.00");
    }

    async fn what_was_paid_in_part_counts_for_the_period_that_begins_anew(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        to(&till, "2095-02-10T00:00:00Z").await;
        let resumed = act(&till, &made, "resume", json!({})).await.ok(200);
        assert_eq!((&resumed["status"], &resumed["latest_invoice"]), (&json!("active"), &json!(invoice)));
        till.simulate(&invoice, json!({ "amount": "15" })).await;
        let paid = look(&till, &made).await;
        assert_eq!((&paid["current_period_start"], &paid["current_period_end"]), (&json!("2095-02-10T00:00:00Z"), &json!("2095-03-10T00:00:00Z")));
    }

    async fn a_payment_that_comes_back_pays_its_period_and_not_a_second_time(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        top_up(&till, &customer, "10.00", BASE).await;
        till.advance(10 * DAY_S).await;
        undo(&till, &first).await;
        till.advance(1).await;
        let second = text(&look(&till, &made).await["latest_invoice"]);
        assert_eq!((due(&till, &made, BASE).await.as_str(), credit(&till, &customer).await), ("15.00", json!([])));
        comes_back(&till, &first).await;
        until("the second attempt makes room", || async {
            (till.retrieve(&second).await["status"] == "cancelled").then_some(())
        }).await;
        assert_eq!(credit(&till, &customer).await, json!([tokens("10.00", BASE)]));
        let paid = look(&till, &made).await;
        assert_eq!((&paid["status"], &paid["attempt"]), (&json!("active"), &json!(0)));
        assert_eq!(payable(&till, &made).await, [""; 0]);
        assert_conserved(&till).await;
        // Gone once more: it is the second attempt as before, for the one that made room was let close by nobody.
        undo(&till, &first).await;
        till.advance(1).await;
        assert_eq!((&look(&till, &made).await["attempt"], payable(&till, &made).await.len()), (&json!(2), 1));
    }

    async fn of_two_attempts_that_were_paid_the_one_that_is_paid_in_full_counts(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        till.advance(10 * DAY_S).await;
        undo(&till, &first).await;
        till.advance(1).await;
        let second = text(&look(&till, &made).await["latest_invoice"]);
        till.simulate(&second, json!({ "amount": "5" })).await;
        comes_back(&till, &first).await;
        till.advance(1).await;
        assert_eq!((&till.retrieve(&second).await["status"], payable(&till, &made).await), (&json!("cancelled"), Vec::new()));
        assert_eq!(look(&till, &made).await["status"], "active");
        assert_eq!(balances(&till).await, books(&[
            ("received", BASE, -30_000_000), ("settled", BASE, 25_000_000), ("refundable", BASE, 5_000_000),
        ]));
        // Gone once more: what was paid beside it counts, and takes the rest.
        undo(&till, &first).await;
        till.advance(1).await;
        assert_eq!((&till.retrieve(&second).await["status"], payable(&till, &made).await), (&json!("partially_paid"), vec![second.clone()]));
        till.simulate(&second, json!({ "amount": "20" })).await;
        assert_eq!(look(&till, &made).await["status"], "active");
        comes_back(&till, &first).await;
        till.advance(1).await;
        assert_eq!(till.retrieve(&first).await["status"], "cancelled");
        assert_eq!(balances(&till).await, books(&[
            ("received", BASE, -50_000_000), ("settled", BASE, 25_000_000), ("refundable", BASE, 25_000_000),
        ]));
        assert_conserved(&till).await;
    }

    async fn a_lowered_attempt_that_is_paid_after_all_takes_its_credit_again(world: World) {
        let (till, customer) = begin(&world).await;
        top_up(&till, &customer, "10.00", BASE).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let first = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        till.advance(10 * DAY_S).await;
        undo(&till, &first).await;
        till.advance(1).await;
        assert_eq!(due(&till, &made, BASE).await, "15.00");
        comes_back(&till, &first).await;
        until("it is paid", || async {
            (look(&till, &made).await["status"] == "active").then_some(())
        }).await;
        assert_eq!((payable(&till, &made).await, credit(&till, &customer).await), (Vec::new(), json!([])));
        assert_eq!(balances(&till).await, books(&[("received", BASE, -25_000_000), ("settled", BASE, 25_000_000)]));
        assert_conserved(&till).await;
    }

    async fn one_of_two_payments_that_is_gone_leaves_the_other_where_it_was(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "trial_days": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        till.simulate(&invoice, json!({ "amount": "15" })).await;
        assert_eq!(look(&till, &made).await["current_period_end"], "2095-03-01T12:00:00Z");
        till.advance(25 * DAY_S).await;
        reverse(&till, &till.payments_of(&invoice).await[0]).await;
        until("it waits for the rest", || async {
            till.retrieve(&invoice).await["closed_at"].is_null().then_some(())
        }).await;
        let late = look(&till, &made).await;
        assert_eq!((&late["status"], payable(&till, &made).await), (&json!("past_due"), vec![invoice.clone()]));
        till.simulate(&invoice, json!({ "amount": "15" })).await;
        assert_eq!(look(&till, &made).await["status"], "active");
        assert_eq!(balances(&till).await, books(&[("received", BASE, -25_000_000), ("settled", BASE, 25_000_000)]));
    }

    async fn a_stranger_who_pays_on_top_does_not_make_a_period_unpaid(world: World) {
        let (till, customer) = begin(&world).await;
        till.set(json!({ "manual_review_amount": "30" })).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        pay(&till, &made).await;
        till.simulate(&invoice, json!({ "amount": "40" })).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "under_review");
        assert_eq!(look(&till, &made).await["status"], "active");
        let body = json!({ "decision": "accept", "reason": "theirs" });
        till.post(&format!("/v1/invoices/{invoice}/resolve_review"), body).await.ok(200);
        assert_eq!((&till.retrieve(&invoice).await["status"], &look(&till, &made).await["status"]), (&json!("overpaid"), &json!("active")));
        assert_eq!(till.event_types(&id(&made)).await, ["subscription.created", "subscription.invoice_created", "subscription.renewed"]);
    }

    async fn what_moves_in_price_is_not_asked_for_by_an_invoice_of_days(world: World) {
        let (till, customer) = begin(&world).await;
        let body = json!({ "name": "Tea", "amount": "25.00", "currency": "USD", "interval": "month", "assets": [BASE, BTC] });
        till.post("/v1/plans", body).await.refused(400, "asset_unavailable", "assets[1]");
        let plan = plan(&till, json!({})).await;
        till.set(json!({ "default_assets": [BTC, BASE] })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = invoice_of(&till, &made).await;
        let options = invoice["payment_options"].as_array().unwrap().iter();
        assert_eq!(options.map(|option| text(&option["asset"])).collect::<Vec<_>>(), [BASE]);
        till.set(json!({ "default_assets": [BTC] })).await;
        let body = json!({ "customer": customer, "plan": plan });
        till.post("/v1/subscriptions", body).await.refused(409, "subscription_invoice_failed", None);
    }
}

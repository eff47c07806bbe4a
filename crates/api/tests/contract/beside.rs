//! Several attempts at one period, and credit beside them: one invoice at a time asks for a period, and none once its subscription
//! has ended.

use serde_json::json;

use crate::attempts::{comes_back, payable, reverse};
use crate::credit::{assert_conserved, credit, top_up};
use crate::harness::{BASE, id, text};
use crate::periods::weekly;
use crate::refunds::refund;
use crate::statuses::tokens;
use crate::subscriptions::{DAY_S, START, act, begin, look, subscribe, to};

on_every_engine! {
    async fn what_was_told_of_as_excess_is_not_refunded_once_it_is_credit_again(world: World) {
        let (till, customer) = begin(&world).await;
        to(&till, START).await;
        let plan = weekly(&till, json!({ "grace_days": 30 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "9.50" })).await;
        till.simulate(&invoice, json!({ "amount": "0.50" })).await;
        top_up(&till, &customer, "20.00", BASE).await;
        reverse(&till, &till.payments_of(&invoice).await[1]).await;
        till.advance(1).await;
        comes_back(&till, &invoice).await;
        till.advance(1).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "paid");
        let excess = json!({ "amount": "9.50", "reason": "overpaid" });
        refund(&till, &invoice, excess).await.refused(409, "refund_exceeds_received", "amount");
        refund(&till, &invoice, json!({})).await.refused(400, "amount_required", "amount");
        assert_eq!(credit(&till, &customer).await, json!([tokens("20.00", BASE)]));
        // What a merchant gives back of the price is the merchant's to decide.
        refund(&till, &invoice, json!({ "amount": "9.50" })).await.ok(201);
        assert_conserved(&till).await;
    }

    async fn of_two_attempts_that_are_paid_in_part_the_earlier_one_asks_for_the_rest(world: World) {
        let (till, customer) = begin(&world).await;
        to(&till, START).await;
        let plan = weekly(&till, json!({ "grace_days": 3, "max_attempts": 2 })).await;
        let top_up = top_up(&till, &customer, "14.00", BASE).await;
        // The first week is paid by credit, and four dollars of the second.
        let made = subscribe(&till, &customer, &plan).await;
        till.advance(7 * DAY_S).await;
        let first = text(&look(&till, &made).await["latest_invoice"]);
        till.simulate(&first, json!({})).await;
        reverse(&till, &till.payments_of(&first).await[0]).await;
        till.advance(4 * DAY_S).await;
        let second = text(&look(&till, &made).await["latest_invoice"]);
        assert_ne!(first, second);
        till.simulate(&second, json!({})).await;
        comes_back(&till, &first).await;
        reverse(&till, &till.payments_of(&top_up).await[0]).await;
        till.advance(1).await;
        let open = payable(&till, &made).await;
        assert!(open.contains(&first), "it was paid to first, and waits for its rest");
        assert!(!open.contains(&second), "what was paid to it is the payer's");
        // The first of the two loses its part again: what was paid beside it counts.
        reverse(&till, &till.payments_of(&first).await[0]).await;
        till.advance(1).await;
        let open = payable(&till, &made).await;
        assert!(open.contains(&second) && !open.contains(&first));
        assert_conserved(&till).await;
    }

    async fn what_comes_back_after_the_end_asks_for_nothing(world: World) {
        let (till, customer) = begin(&world).await;
        to(&till, START).await;
        let plan = weekly(&till, json!({ "grace_days": 30 })).await;
        let own = top_up(&till, &customer, "4.00", BASE).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({})).await;
        reverse(&till, &till.payments_of(&invoice).await[0]).await;
        // Credit pays what has left the chain, and then the subscription ends.
        let more = top_up(&till, &customer, "6.00", BASE).await;
        till.advance(1).await;
        act(&till, &made, "cancel", json!({})).await;
        for top_up in [&own, &more] {
            reverse(&till, &till.payments_of(top_up).await[0]).await;
        }
        till.advance(1).await;
        comes_back(&till, &invoice).await;
        till.advance(1).await;
        assert_eq!(payable(&till, &made).await, Vec::<String>::new());
        assert_eq!(look(&till, &made).await["status"], "cancelled");
        assert_conserved(&till).await;
    }

    async fn an_invoice_in_place_of_another_is_open_no_longer(world: World) {
        let (till, _) = begin(&world).await;
        let mut ends = Vec::new();
        for is_looked_at in [false, true] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 0, "max_attempts": 1 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let top_up = top_up(&till, &customer, "10.00", BASE).await;
            let made = subscribe(&till, &customer, &plan).await;
            till.advance(6 * DAY_S + DAY_S / 2).await;
            // What paid the first week is gone for a moment, in which the second is not asked for.
            reverse(&till, &till.payments_of(&top_up).await[0]).await;
            if is_looked_at {
                till.advance(1).await;
            }
            comes_back(&till, &top_up).await;
            till.advance(1).await;
            let open = payable(&till, &made).await;
            assert_eq!(open.len(), 1);
            ends.push(till.retrieve(&open[0]).await["expires_at"].clone());
        }
        assert_eq!(ends[0], ends[1]);
    }

    async fn what_is_sent_after_the_end_pays_nothing_whoever_looks_first(world: World) {
        let (till, customer) = begin(&world).await;
        to(&till, START).await;
        let plan = weekly(&till, json!({ "grace_days": 1, "max_attempts": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        till.simulate(&invoice, json!({ "amount": "0.50" })).await;
        reverse(&till, &till.payments_of(&invoice).await[0]).await;
        till.advance(3 * DAY_S).await;
        assert_eq!(look(&till, &made).await["status"], "cancelled");
        // A part is back, and nobody has looked at it yet.
        comes_back(&till, &invoice).await;
        till.simulate(&invoice, json!({ "amount": "9.50" })).await;
        let after = till.retrieve(&invoice).await;
        assert_ne!(after["status"], "paid", "{after}");
        assert_eq!(payable(&till, &made).await, Vec::<String>::new());
        till.advance(1).await;
        assert_ne!(till.retrieve(&invoice).await["status"], "paid");
        assert_conserved(&till).await;
    }
}

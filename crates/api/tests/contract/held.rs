//! What somebody must decide about pays nothing before that: anybody can send something to an address that is known.

use serde_json::{Value, json};
use till_core::asset::Family;

use crate::attempts::{payable, reverse};
use crate::credit::{assert_conserved, due, top_up};
use crate::harness::{BASE, Till, id, text};
use crate::links::{fixed_with, link, pay_from, status_of};
use crate::periods::{settle, weekly};
use crate::reviews::{decide, listed};
use crate::statuses::{balances, tokens};
use crate::subscriptions::{DAY_S, START, act, begin, look, pay, subscribe, to};

async fn settled(till: &Till) -> Vec<(String, i128)> {
    let mut sums = balances(till).await;
    sums.retain(|(group, _)| group.starts_with("settled"));
    sums
}

/// Somebody on a list sends that much.
async fn stranger_sends(till: &Till, invoice: &str, amount: &str) {
    let sender = listed(Family::Evm, "sanctions");
    let sent = json!({ "amount": amount, "sender": sender, "asset": BASE });
    assert_eq!(till.simulate(invoice, sent).await["status"], "under_review");
    settle(till).await;
}

/// The second attempt at the first period, after the first one expired.
async fn two_attempts(till: &Till) -> (Value, String, String) {
    to(till, START).await;
    let plan = weekly(till, json!({ "grace_days": 1, "max_attempts": 4 })).await;
    let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
    let made = subscribe(till, &customer, &plan).await;
    let first = text(&made["latest_invoice"]);
    till.advance(DAY_S + DAY_S / 2).await;
    let second = text(&look(till, &made).await["latest_invoice"]);
    assert_ne!(first, second);
    assert_eq!(till.retrieve(&first).await["status"], "expired");
    (made, first, second)
}

on_every_engine! {
    async fn what_paid_a_period_leaves_it_unpaid_also_while_a_stranger_s_payment_is_held(world: World) {
        let (till, _) = begin(&world).await;
        let mut seen = Vec::new();
        for is_decided_first in [true, false] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 3 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            till.simulate(&invoice, json!({})).await;
            stranger_sends(&till, &invoice, "5.00").await;
            let payments = till.payments_of(&invoice).await;
            let paid = payments.iter().find(|it| it["amount"] == "10.00").unwrap();
            if is_decided_first {
                decide(&till, &invoice, "accept").await.ok(200);
                reverse(&till, paid).await;
            } else {
                reverse(&till, paid).await;
                let now = look(&till, &made).await;
                assert_eq!(now["attempt"], 1, "it is charged again: {now}");
                decide(&till, &invoice, "accept").await.ok(200);
            }
            settle(&till).await;
            let after = look(&till, &made).await;
            let asks = till.retrieve(&invoice).await;
            assert_eq!(asks["amount_remaining"], tokens("5.00", BASE), "{asks} {after}");
            assert_eq!(payable(&till, &made).await, [invoice.as_str()]);
            seen.push([after["status"].clone(), after["attempt"].clone(), after["current_period_end"].clone()]);
            assert_conserved(&till).await;
        }
        assert_eq!(seen[0], seen[1]);
    }

    async fn what_is_held_at_an_attempt_that_is_over_makes_nothing_room_for_it(world: World) {
        let (till, _) = begin(&world).await;
        for decision in ["accept", "reject"] {
            let till = till.another_account().await;
            let (made, first, second) = two_attempts(&till).await;
            till.simulate(&second, json!({ "amount": "6.00" })).await;
            let before = settled(&till).await;
            stranger_sends(&till, &first, "0.02").await;
            assert_eq!(before, settled(&till).await, "what the payer sent stays where it was");
            assert_eq!(till.retrieve(&second).await["amount_remaining"], tokens("4.00", BASE));
            till.simulate(&second, json!({ "amount": "4.00" })).await;
            assert_eq!(till.retrieve(&second).await["status"], "paid");
            assert_eq!(look(&till, &made).await["status"], "active");
            decide(&till, &first, decision).await.ok(200);
            settle(&till).await;
            assert_eq!(look(&till, &made).await["status"], "active");
            assert_eq!(till.retrieve(&second).await["status"], "paid");
            assert_conserved(&till).await;
        }
    }

    async fn the_next_attempt_comes_and_credit_pays_it_whatever_is_held_at_the_last(world: World) {
        let (till, _) = begin(&world).await;
        for comes in ["an attempt", "credit"] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 1, "max_attempts": 4 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let first = text(&made["latest_invoice"]);
            till.post(&format!("/v1/invoices/{first}/cancel"), json!({})).await.ok(200);
            stranger_sends(&till, &first, "0.02").await;
            assert_eq!(look(&till, &made).await["latest_invoice"], first.as_str(), "{comes}: not before its time");
            if comes == "credit" {
                top_up(&till, &customer, "10.00", BASE).await;
            }
            till.advance(2 * DAY_S).await;
            let now = look(&till, &made).await;
            match comes {
                "credit" => assert_eq!(now["status"], "active", "{now}"),
                _ => assert_ne!(now["latest_invoice"], first.as_str(), "{now}"),
            }
            assert_conserved(&till).await;
        }
    }

    async fn billing_begins_again_after_a_pause_whatever_is_held_at_what_it_cancelled(world: World) {
        let (till, customer) = begin(&world).await;
        to(&till, START).await;
        let plan = weekly(&till, json!({ "grace_days": 3 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        pay(&till, &made).await;
        till.advance(6 * DAY_S + DAY_S / 2).await;
        let first = text(&look(&till, &made).await["latest_invoice"]);
        act(&till, &made, "pause", json!({})).await.ok(200);
        assert_eq!(till.retrieve(&first).await["status"], "cancelled");
        stranger_sends(&till, &first, "0.02").await;
        till.advance(8 * DAY_S).await;
        act(&till, &made, "resume", json!({})).await.ok(200);
        settle(&till).await;
        let open = payable(&till, &made).await;
        let new: Vec<&String> = open.iter().filter(|id| **id != first).collect();
        assert_eq!(new.len(), 1, "a new period and a new invoice");
    }

    async fn a_period_whose_credit_is_gone_is_owed_also_after_its_invoice_was_rejected(world: World) {
        let (till, _) = begin(&world).await;
        let mut seen = Vec::new();
        for (is_gone_first, is_looked_at) in [(false, true), (true, true), (true, false)] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 3 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let top_up = top_up(&till, &customer, "6.00", BASE).await;
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            till.simulate(&invoice, json!({ "amount": "4.00" })).await;
            assert_eq!(look(&till, &made).await["status"], "active");
            stranger_sends(&till, &invoice, "1.00").await;
            let credit = &till.payments_of(&top_up).await[0];
            if is_gone_first {
                reverse(&till, credit).await;
                if is_looked_at {
                    settle(&till).await;
                }
            }
            decide(&till, &invoice, "reject").await.ok(200);
            if !is_gone_first {
                settle(&till).await;
                assert_eq!(look(&till, &made).await["status"], "active", "what was rejected had paid nothing");
                reverse(&till, credit).await;
            }
            // The merchant ended that attempt: the next one comes when it would have come.
            till.advance(3 * DAY_S).await;
            let open = payable(&till, &made).await;
            assert_eq!(open.len(), 1, "the period is asked for again");
            assert_ne!(open[0], invoice);
            assert_eq!(due(&till, &made, BASE).await, "10.00");
            seen.push(look(&till, &made).await["current_period_end"].clone());
            assert_conserved(&till).await;
        }
        assert_eq!(seen[0], seen[1]);
        assert_eq!(seen[1], seen[2]);
    }

    async fn a_unit_that_was_given_back_stays_so_while_something_too_late_is_held(world: World) {
        let till = world.till().await;
        let made = link(&till, fixed_with("quantity_limit", json!(1))).await;
        let order = id(&pay_from(&till, &made, json!({})).await);
        let pick = format!("/v1/checkout/invoices/{order}/payment_option");
        till.post(&pick, json!({ "asset": BASE })).await.ok(200);
        till.post(&format!("/v1/invoices/{order}/cancel"), json!({})).await.ok(200);
        assert_eq!(status_of(&till, &made).await, "active");
        stranger_sends(&till, &order, "0.02").await;
        assert_eq!(status_of(&till, &made).await, "active");
        let other = id(&pay_from(&till, &made, json!({})).await);
        till.post(&format!("/v1/checkout/invoices/{other}/payment_option"), json!({ "asset": BASE })).await.ok(200);
        till.simulate(&other, json!({})).await;
        assert_eq!(status_of(&till, &made).await, "sold_out");
        decide(&till, &order, "accept").await.ok(200);
        assert_eq!(status_of(&till, &made).await, "sold_out");
        assert_conserved(&till).await;
    }
}

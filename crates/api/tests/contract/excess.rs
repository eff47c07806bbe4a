//! What an invoice shows as its excess: a function of what was received, refunded and asked for, in whatever order it was told.

use serde_json::{Value, json};

use crate::attempts::{comes_back, reverse};
use crate::claims::{PAYER, claim};
use crate::credit::{asked, assert_conserved, due, top_up, undo};
use crate::harness::{BASE, NILE, Till, id, text};
use crate::periods::settle;
use crate::refunds::{act, received, refund, tx};
use crate::statuses::tokens;
use crate::subscriptions::{act as command, begin, plan, subscribe};

/// The status of an invoice, and what it shows as its excess.
async fn excess(till: &Till, invoice: &str) -> (String, Value) {
    let seen = till.retrieve(invoice).await;
    (text(&seen["status"]), seen["amount_overpaid"].clone())
}

fn paid() -> (String, Value) {
    ("paid".to_owned(), Value::Null)
}

fn overpaid(amount: &str, asset: &str) -> (String, Value) {
    ("overpaid".to_owned(), tokens(amount, asset))
}

async fn pay(till: &Till, invoice: &str, asset: &str, amount: &str) {
    till.simulate(invoice, json!({ "asset": asset, "amount": amount }))
        .await;
}

/// A refund that the merchant has paid out, by a transaction of its own.
async fn sent(till: &Till, invoice: &str, body: Value, number: u8) -> Value {
    let made = refund(till, invoice, body).await.ok(201);
    claim(till, &made, "eip155:84532", PAYER).await.ok(200);
    act(till, &made, "mark_sent", json!({ "tx_hash": tx(number) }))
        .await
        .ok(200)
}

async fn payment_in(till: &Till, invoice: &str, asset: &str) -> Value {
    let payments = till.payments_of(invoice).await;
    let found = payments.iter().find(|payment| payment["asset"] == asset);
    found.expect("a payment in that asset").clone()
}

/// The transfer that left the chain is in a block again.
async fn back(till: &Till, invoice: &str, payment: &Value) {
    let hash = text(&payment["tx_hash"]);
    let (scope, hash) = (till.scope(), hash.as_str());
    let done = till.engine().unit(&scope, |tx, context| {
        let raised = till_engine::test_mode::raise_payment(tx, context, invoice, hash, "final");
        scoped_futures::ScopedFutureExt::scope_boxed(raised)
    });
    done.await.unwrap();
}

on_every_engine! {
    async fn an_excess_that_credit_made_ends_with_the_credit(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "amount": "10.00" })).await;
        for reversed_first in [false, true] {
            let tops = [top_up(&till, &customer, "2.00", BASE).await, top_up(&till, &customer, "2.00", BASE).await];
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            assert_eq!(due(&till, &made, BASE).await, "6.00");
            if reversed_first {
                // Somebody is about to pay: the invoice stays the period's, and asks for more.
                till.simulate(&invoice, json!({ "amount": "1", "finality_steps": ["included"] })).await;
                undo(&till, &tops[1]).await;
                settle(&till).await;
                comes_back(&till, &invoice).await;
                pay(&till, &invoice, BASE, "7").await;
            } else {
                pay(&till, &invoice, BASE, "8").await;
                assert_eq!(excess(&till, &invoice).await, overpaid("2.00", BASE));
                undo(&till, &tops[1]).await;
                settle(&till).await;
            }
            assert_eq!((due(&till, &made, BASE).await.as_str(), excess(&till, &invoice).await), ("8.00", paid()));
            assert_conserved(&till).await;
            command(&till, &made, "cancel", json!({})).await.ok(200);
        }
    }

    async fn an_excess_given_back_in_the_other_asset_outlives_a_reorganisation(world: World) {
        let till = world.till().await;
        for asset in [BASE, NILE] {
            let invoice = received(&till, "25").await;
            pay(&till, &invoice, NILE, "25").await;
            let number = if asset == BASE { 1 } else { 2 };
            sent(&till, &invoice, json!({ "asset": BASE, "amount": "25" }), number).await;
            assert_eq!(excess(&till, &invoice).await.0, "overpaid");
            let told = till.event_types(&invoice).await;
            let left = payment_in(&till, &invoice, asset).await;
            reverse(&till, &left).await;
            // What was sent back of the one is owed with the price; what is left of the other pays nothing.
            assert_eq!(excess(&till, &invoice).await.0, "partially_paid");
            back(&till, &invoice, &left).await;
            let after = excess(&till, &invoice).await;
            assert_eq!((after.0.as_str(), &after.1["amount"]), ("overpaid", &json!("25.00")), "{asset}");
            let since = till.event_types(&invoice).await.split_off(told.len());
            assert_eq!(since, ["invoice.payment_reversed", "invoice.partially_paid", "invoice.overpaid"]);
            refund(&till, &invoice, json!({})).await.refused(409, "refund_exceeds_received", None);
        }
    }

    async fn an_excess_shows_in_full_while_parts_of_it_are_given_back(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        pay(&till, &invoice, NILE, "25").await;
        let told = till.event_types(&invoice).await;
        for amount in ["10", "15"] {
            refund(&till, &invoice, json!({ "asset": BASE, "amount": amount })).await.ok(201);
            assert_eq!(excess(&till, &invoice).await, overpaid("25.00", NILE));
        }
        // Of the price itself: a kindness.
        refund(&till, &invoice, json!({ "asset": NILE, "amount": "1" })).await.ok(201);
        assert_eq!(excess(&till, &invoice).await, overpaid("25.00", NILE));
        assert_eq!(till.event_types(&invoice).await, told);
    }

    async fn what_replaces_a_payment_whose_double_was_given_back_is_no_excess(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let first = payment_in(&till, &invoice, BASE).await;
        pay(&till, &invoice, NILE, "25").await;
        let second = payment_in(&till, &invoice, NILE).await;
        refund(&till, &invoice, json!({ "asset": NILE, "amount": "25" })).await.ok(201);
        reverse(&till, &first).await;
        pay(&till, &invoice, BASE, "25").await;
        assert_eq!(excess(&till, &invoice).await, paid());
        // It was no excess before the other one left the chain, and is none when that comes back.
        reverse(&till, &second).await;
        back(&till, &invoice, &second).await;
        assert_eq!(excess(&till, &invoice).await, paid());
        back(&till, &invoice, &first).await;
        assert_eq!(excess(&till, &invoice).await.0, "overpaid");
    }

    async fn what_was_given_back_of_an_unpaid_price_is_no_excess_once_credit_pays(world: World) {
        let (till, customer) = begin(&world).await;
        // Paid, given back, topped up, and what that leaves to be paid.
        for (price, first, given, credit, rest, number) in [
            ("10.00", "6", "3", "7.00", None, 1),
            ("25.00", "20", "20", "10.00", Some("15"), 2),
        ] {
            let plan = plan(&till, json!({ "amount": price })).await;
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            pay(&till, &invoice, BASE, first).await;
            sent(&till, &invoice, json!({ "amount": given }), number).await;
            assert_eq!(excess(&till, &invoice).await.0, "partially_paid");
            top_up(&till, &customer, credit, BASE).await;
            settle(&till).await;
            if let Some(rest) = rest {
                pay(&till, &invoice, BASE, rest).await;
            }
            settle(&till).await;
            let seen = excess(&till, &invoice).await;
            assert_eq!(seen, paid(), "{price}");
            refund(&till, &invoice, json!({})).await.refused(400, "amount_required", "amount");
            assert_conserved(&till).await;
            command(&till, &made, "cancel", json!({})).await.ok(200);
        }
    }

    async fn the_excess_of_a_top_up_is_given_back_once_in_whichever_asset(world: World) {
        let (till, customer) = begin(&world).await;
        let invoice = id(&asked(&till, &customer, "10.00").await);
        pay(&till, &invoice, BASE, "10").await;
        pay(&till, &invoice, NILE, "10").await;
        assert_eq!(excess(&till, &invoice).await, overpaid("10.00", NILE));
        refund(&till, &invoice, json!({ "asset": BASE, "amount": "10" })).await.ok(201);
        assert_eq!(excess(&till, &invoice).await, overpaid("10.00", NILE));
        refund(&till, &invoice, json!({})).await.refused(409, "refund_exceeds_received", None);
        let twice = id(&asked(&till, &customer, "10.00").await);
        for amount in ["10", "2"] {
            pay(&till, &twice, BASE, amount).await;
        }
        assert_eq!(refund(&till, &twice, json!({})).await.ok(201)["amount"], "2.00");
        assert_eq!(excess(&till, &twice).await, overpaid("2.00", BASE));
        refund(&till, &twice, json!({})).await.refused(409, "refund_exceeds_received", None);
    }
}

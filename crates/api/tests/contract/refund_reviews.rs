//! A refund's status follows the facts: what covers it may go, and may come back.

use serde_json::{Value, json};
use till_core::payment::Level;
use till_engine::intake::{Observation, Sighting};

use crate::claims::{PAYER, claim};
use crate::harness::{BASE, NILE, Till, id, text};
use crate::refunds::{act, received, refund, reverse, shown};
use crate::statuses::{observe, transfer};

/// A refund's status and why it is in review.
async fn state(till: &Till, refund: &Value) -> (String, Option<String>) {
    let seen = shown(till, refund).await;
    let reason = seen["review_reason"].as_str().map(str::to_owned);
    (text(&seen["status"]), reason)
}

fn ready() -> (String, Option<String>) {
    ("ready_to_send".to_owned(), None)
}

fn review(reason: &str) -> (String, Option<String>) {
    ("in_review".to_owned(), Some(reason.to_owned()))
}

/// A claimed refund: of this much, or of the excess.
async fn claimed(till: &Till, invoice: &str, body: Value) -> Value {
    let made = refund(till, invoice, body).await.ok(201);
    claim(till, &made, "eip155:84532", PAYER).await.ok(200);
    made
}

async fn payment_of(till: &Till, invoice: &str, amount: &str) -> String {
    let payments = till.payments_of(invoice).await;
    let found = payments.iter().find(|payment| payment["amount"] == amount);
    id(found.expect("a payment of that amount"))
}

/// An invoice of 25 that a transfer of the chain pays, and that transfer.
async fn paid_on_chain(till: &Till, units: u128) -> (String, Observation) {
    let invoice = till.invoice().await;
    let now = till_core::time::parse(&text(&invoice["created_at"])).unwrap();
    let seen = transfer(&invoice, BASE, units, &id(&invoice), 0, Level::Final, now);
    observe(till, &till.scope(), std::slice::from_ref(&seen)).await;
    (id(&invoice), seen)
}

async fn see(till: &Till, seen: &Observation, sighting: Sighting) {
    let seen = Observation {
        sighting,
        ..seen.clone()
    };
    observe(till, &till.scope(), &[seen]).await;
}

on_every_engine! {
    async fn what_returns_to_the_chain_is_ready_to_be_sent_again(world: World) {
        let till = world.till().await;
        let (invoice, seen) = paid_on_chain(&till, 28_000_000).await;
        let made = claimed(&till, &invoice, json!({})).await;
        assert_eq!(state(&till, &made).await, ready());
        for _ in 0..2 {
            see(&till, &seen, Sighting::Removed).await;
            assert_eq!(state(&till, &made).await, review("payment_reversed"));
            assert_eq!(shown(&till, &made).await["payout"]["screening"]["result"], "clear");
            see(&till, &seen, seen.sighting.clone()).await;
            assert_eq!(state(&till, &made).await, ready());
        }
        let mut reader = till.engine().db.read().await.unwrap();
        let history = till_store::refunds::history(&mut reader, &till.scope(), &id(&made)).await.unwrap();
        let steps: Vec<_> = history.iter().map(|step| step.status.as_str()).collect();
        assert_eq!(steps, ["unclaimed", "ready_to_send", "in_review", "ready_to_send", "in_review", "ready_to_send"]);
    }

    async fn the_excess_is_not_sent_back_while_the_price_is_not_covered(world: World) {
        let till = world.till().await;
        let invoice = id(&till.create(json!({ "amount": "10.00", "currency": "USD", "assets": [BASE] })).await);
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        till.simulate(&invoice, json!({ "amount": "20" })).await;
        let made = claimed(&till, &invoice, json!({})).await;
        assert_eq!((state(&till, &made).await, &made["amount"]), (ready(), &json!("20.00")));
        reverse(&till, &payment_of(&till, &invoice, "10.00").await).await;
        assert_eq!(state(&till, &made).await, review("price_uncovered"));
        // Paid again by another payment, the price is covered.
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        assert_eq!(state(&till, &made).await, ready());
        reverse(&till, &payment_of(&till, &invoice, "20.00").await).await;
        assert_eq!(state(&till, &made).await, review("payment_reversed"));
    }

    async fn an_excess_that_is_promised_is_not_offered_again_when_its_payment_is_made_again(world: World) {
        let till = world.till().await;
        let (invoice, seen) = paid_on_chain(&till, 31_000_000).await;
        let made = claimed(&till, &invoice, json!({})).await;
        assert_eq!(state(&till, &made).await, ready());
        see(&till, &seen, Sighting::Removed).await;
        assert_eq!(state(&till, &made).await, review("payment_reversed"));
        till.simulate(&invoice, json!({ "amount": "31" })).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "overpaid");
        // The merchant may have paid it out before it was in review.
        refund(&till, &invoice, json!({})).await.refused(409, "refund_exceeds_received", None);
        act(&till, &made, "cancel", json!({})).await.ok(200);
        let again = refund(&till, &invoice, json!({})).await.ok(201);
        assert_eq!(again["amount"], "6.00");
    }

    async fn a_refund_of_the_price_itself_uncovers_nothing(world: World) {
        let till = world.till().await;
        let paid = received(&till, "25").await;
        let all = claimed(&till, &paid, json!({ "amount": "25" })).await;
        assert_eq!(state(&till, &all).await, ready());
        // Whatever else paid the price, it is drawn from a payment that is there.
        let twice = received(&till, "10").await;
        till.simulate(&twice, json!({ "amount": "15", "asset": NILE })).await;
        let some = claimed(&till, &twice, json!({ "amount": "10", "asset": BASE })).await;
        let sources = till.payments_of(&twice).await;
        let other = sources.iter().find(|it| it["amount"] == "15.00").unwrap();
        reverse(&till, &id(other)).await;
        assert_eq!(state(&till, &some).await, ready());
        // Given up while it was paid in part, it does not depend on what comes and goes later.
        let partly = received(&till, "20").await;
        let given_up = claimed(&till, &partly, json!({ "amount": "20" })).await;
        till.simulate(&partly, json!({ "amount": "25" })).await;
        reverse(&till, &payment_of(&till, &partly, "25.00").await).await;
        assert_eq!(state(&till, &given_up).await, ready());
    }

    async fn an_unclaimed_refund_is_judged_when_it_is_claimed(world: World) {
        let till = world.till().await;
        let (invoice, seen) = paid_on_chain(&till, 28_000_000).await;
        let made = refund(&till, &invoice, json!({})).await.ok(201);
        see(&till, &seen, Sighting::Removed).await;
        assert_eq!(state(&till, &made).await, ("unclaimed".to_owned(), None));
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        assert_eq!(state(&till, &made).await, review("payment_reversed"));
        see(&till, &seen, seen.sighting.clone()).await;
        assert_eq!(state(&till, &made).await, ready());
    }

    async fn a_decision_against_a_disputed_payment_does_not_say_that_its_money_is_there(world: World) {
        let till = world.till().await;
        let (invoice, seen) = paid_on_chain(&till, 28_000_000).await;
        let before = claimed(&till, &invoice, json!({})).await;
        see(&till, &seen, Sighting::Disputed).await;
        let reject = json!({ "decision": "reject", "reason": "not ours" });
        till.post(&format!("/v1/invoices/{invoice}/resolve_review"), reject).await.ok(200);
        let after = claimed(&till, &invoice, json!({ "amount": "25" })).await;
        for refund in [&before, &after] {
            assert_eq!(state(&till, refund).await, review("finality_violation"));
        }
        // An operator has looked, and it is gone.
        see(&till, &seen, Sighting::Removed).await;
        for refund in [&before, &after] {
            assert_eq!(state(&till, refund).await, review("payment_reversed"));
        }
    }

    async fn a_payment_in_replaced_final_blocks_is_named_as_the_reason(world: World) {
        let till = world.till().await;
        let (invoice, seen) = paid_on_chain(&till, 28_000_000).await;
        let made = claimed(&till, &invoice, json!({})).await;
        see(&till, &seen, Sighting::Disputed).await;
        assert_eq!(state(&till, &made).await, review("finality_violation"));
        let accept = json!({ "decision": "accept", "reason": "looked at" });
        till.post(&format!("/v1/invoices/{invoice}/resolve_review"), accept).await.ok(200);
        assert_eq!(state(&till, &made).await, ready());
    }
}

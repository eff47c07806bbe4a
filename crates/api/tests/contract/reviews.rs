//! Holds: why an invoice comes under review, and what deciding does.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::asset::Family;
use till_core::payment::{Hold, Level, Verdict};
use till_engine::Fail;

use crate::harness::{BASE, LIVE_USDC, NILE, Till, address, id, live, text};
use crate::reconciliation::run;
use crate::statuses::{balances, observe, transfer};

pub fn listed(family: Family, list: &str) -> &'static str {
    let entry = till_chains::test_screening()
        .iter()
        .find(|(f, l, _)| (*f, *l) == (family, list));
    entry.expect("the list is documented").2
}

pub async fn decide(till: &Till, invoice: &str, decision: &str) -> crate::harness::Reply {
    let body = json!({ "decision": decision, "reason": "looked at it" });
    till.post(&format!("/v1/invoices/{invoice}/resolve_review"), body)
        .await
}

async fn held(till: &Till) -> String {
    let invoice = id(&till.invoice().await);
    let sender = listed(Family::Evm, "sanctions");
    let after = till.simulate(&invoice, json!({ "sender": sender })).await;
    assert_eq!(after["status"], "under_review");
    invoice
}

on_every_engine! {
    async fn an_amount_at_or_above_the_limit_is_held(world: World) {
        let till = world.till().await;
        till.set(json!({ "manual_review_amount": "25.00" })).await;
        let below = id(&till.create(json!({ "amount": "24.99", "currency": "USD" })).await);
        assert_eq!(till.simulate(&below, json!({})).await["status"], "paid");
        let at = id(&till.invoice().await);
        let seen = till.simulate(&at, json!({ "finality_steps": ["included"] })).await;
        assert_eq!(seen["status"], "detected", "nothing is held before it would be credited");
        let at = id(&till.invoice().await);
        let held = till.simulate(&at, json!({})).await;
        assert_eq!(held["status"], "under_review");
        assert_eq!(held["review"]["hold"], "manual_review");
        assert!(held["review"]["opened_at"].is_string() && held["paid_at"].is_null());
        assert_eq!(held["amounts_received"], json!([{ "amount": "25.00", "asset": BASE }]));
        assert_eq!(till.payments_of(&at).await[0]["status"], "held");
        assert_eq!(till.event_types(&at).await[1..], ["invoice.detected", "invoice.under_review"]);
        // What the invoice received in all is judged, not the single payment.
        let parts = id(&till.invoice().await);
        assert_eq!(till.simulate(&parts, json!({ "amount": "20" })).await["status"], "partially_paid");
        assert_eq!(till.simulate(&parts, json!({ "amount": "5" })).await["status"], "under_review");
    }

    async fn the_limit_is_an_amount_of_the_invoices_own_currency(world: World) {
        let till = world.till().await;
        till.set(json!({ "manual_review_amount": "25.00" })).await;
        // One euro is not one dollar: converted either way, one of the two would come out differently.
        for (amount, status) in [("24.99", "paid"), ("25.00", "under_review")] {
            let body = json!({ "amount": amount, "currency": "EUR", "assets": ["EURC@eip155:84532"] });
            let invoice = id(&till.create(body).await);
            assert_eq!(till.simulate(&invoice, json!({})).await["status"], status, "{amount} EUR");
        }
    }

    async fn listed_senders_are_held_on_every_family(world: World) {
        let till = world.till().await;
        for (family, asset) in [(Family::Evm, BASE), (Family::Tron, NILE)] {
            for list in ["sanctions", "blacklist"] {
                let invoice = id(&till.invoice().await);
                let body = json!({ "asset": asset, "sender": listed(family, list) });
                let after = till.simulate(&invoice, body).await;
                assert_eq!((&after["status"], &after["review"]["hold"]), (&json!("under_review"), &json!(list)));
                assert_eq!(till.payments_of(&invoice).await[0]["from"], listed(family, list));
            }
        }
    }

    async fn accepting_credits_what_was_held_once(world: World) {
        let till = world.till().await;
        let invoice = held(&till).await;
        assert_eq!(balances(&till).await, [(format!("held {BASE}"), 25_000_000), (format!("received {BASE}"), -25_000_000)]);
        let accepted = decide(&till, &invoice, "accept").await.ok(200);
        assert_eq!(accepted["status"], "paid");
        assert!(accepted.get("review").is_none() && accepted["paid_at"].is_string());
        assert_eq!(till.payments_of(&invoice).await[0]["status"], "credited");
        let events = till.events(&invoice).await;
        let types: Vec<_> = events.iter().map(|event| text(&event["type"])).collect();
        assert_eq!(types[3..], ["invoice.review_resolved", "invoice.paid"]);
        let review = json!({ "decision": "accept", "reason": "looked at it", "via": "api" });
        assert_eq!(events[3]["data"], json!({ "object": accepted, "review": review }));
        decide(&till, &invoice, "accept").await.refused(409, "review_not_open", None);
        decide(&till, &invoice, "reject").await.refused(409, "review_not_open", None);
        assert_eq!(balances(&till).await, [(format!("received {BASE}"), -25_000_000), (format!("settled {BASE}"), 25_000_000)]);
    }

    async fn what_is_on_a_frozen_network_is_not_accepted(world: World) {
        let till = world.till().await;
        till.set(json!({ "manual_review_amount": "1" })).await;
        let invoice = till.invoice().await;
        let now = till_core::time::parse(&text(&invoice["created_at"])).unwrap();
        let seen = transfer(&invoice, BASE, 25_000_000, "0xfrozen", 0, Level::Final, now);
        observe(&till, &till.scope(), &[seen]).await;
        let (invoice, simulated) = (id(&invoice), held(&till).await);
        assert_eq!(till.retrieve(&invoice).await["status"], "under_review");
        run(&till, "INSERT INTO networks (id, epoch, frozen_at, frozen_from, frozen_reason) VALUES ('eip155:84532', 0, 1, 7, 'the block at height 7 was replaced')").await;
        let message = decide(&till, &invoice, "accept").await.refused(409, "review_not_open", None);
        assert!(message.contains("frozen") && message.contains("height 7"), "{message}");
        assert_eq!(till.retrieve(&invoice).await["status"], "under_review");
        decide(&till, &simulated, "accept").await.ok(200);
        run(&till, "UPDATE networks SET frozen_at = NULL, frozen_from = NULL, frozen_reason = NULL").await;
        assert_eq!(decide(&till, &invoice, "accept").await.ok(200)["status"], "paid");
    }

    async fn rejecting_cancels_and_leaves_everything_refundable(world: World) {
        let till = world.till().await;
        let invoice = held(&till).await;
        till.post(&format!("/v1/invoices/{invoice}/cancel"), json!({})).await.refused(409, "invoice_not_cancellable", None);
        let rejected = decide(&till, &invoice, "reject").await.ok(200);
        assert_eq!(rejected["status"], "cancelled");
        assert_eq!(till.payments_of(&invoice).await[0]["status"], "refundable");
        let events = till.events(&invoice).await;
        let types: Vec<_> = events.iter().map(|event| text(&event["type"])).collect();
        assert_eq!(types[3..], ["invoice.review_resolved", "invoice.cancelled"]);
        assert_eq!(events[3]["data"]["review"]["decision"], "reject");
        assert_eq!(balances(&till).await, [(format!("received {BASE}"), -25_000_000), (format!("refundable {BASE}"), 25_000_000)]);
        decide(&till, &invoice, "accept").await.refused(409, "review_not_open", None);
    }

    async fn a_decision_is_accept_or_reject_with_a_reason(world: World) {
        let till = world.till().await;
        let invoice = held(&till).await;
        let path = format!("/v1/invoices/{invoice}/resolve_review");
        let post = |body: Value| till.post(&path, body);
        post(json!({ "reason": "x" })).await.refused(400, "parameter_missing", "decision");
        post(json!({ "decision": "accept" })).await.refused(400, "parameter_missing", "reason");
        post(json!({ "decision": "approve", "reason": "x" })).await.refused(400, "parameter_invalid", "decision");
        post(json!({ "decision": "accept", "reason": "" })).await.refused(400, "parameter_invalid", "reason");
        post(json!({ "decision": "accept", "reason": "x".repeat(501) })).await.refused(400, "parameter_invalid", "reason");
        post(json!({ "decision": "accept", "reason": "x", "via": "dashboard" })).await.refused(400, "parameter_unknown", "via");
        assert_eq!(till.retrieve(&invoice).await["status"], "under_review");
        post(json!({ "decision": "accept", "reason": "é".repeat(500) })).await.ok(200);
    }

    async fn an_invoice_that_is_not_under_review_has_none_to_resolve(world: World) {
        let till = world.till().await;
        let open = id(&till.invoice().await);
        decide(&till, &open, "accept").await.refused(409, "review_not_open", None);
        let paid = id(&till.invoice().await);
        till.simulate(&paid, json!({})).await;
        decide(&till, &paid, "reject").await.refused(409, "review_not_open", None);
        decide(&till, "inv_01jcnx2v9k7q3w8s5d1f6h4m2t", "accept").await.refused(404, "resource_missing", None);
    }

    async fn a_held_payment_that_is_reversed_closes_the_review(world: World) {
        let till = world.till().await;
        let invoice = held(&till).await;
        let payment = id(&till.payments_of(&invoice).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        let after = till.retrieve(&invoice).await;
        assert_eq!(after["status"], "awaiting_payment");
        assert!(after.get("review").is_none());
        decide(&till, &invoice, "accept").await.refused(409, "review_not_open", None);
        assert_eq!(balances(&till).await, []);
    }

    async fn a_live_key_may_accept_amounts_and_reject_anything_but_accept_no_risk(world: World) {
        let till = world.till_with(live()).await;
        let live_post = |path: String, body: Value| till.posting(&path, body).key(till.live_key()).send();
        live_post("/v1/merchant/settings".into(), json!({ "manual_review_amount": "25" })).await.ok(200);
        let mut reviewed = Vec::new();
        for n in 0..3 {
            let body = json!({ "amount": "25.00", "currency": "USD", "assets": [LIVE_USDC] });
            let invoice = live_post("/v1/invoices".into(), body).await.ok(201);
            let now = till_core::time::parse(&text(&invoice["created_at"])).unwrap();
            let mut seen = transfer(&with_base(&invoice), LIVE_USDC, 25_000_000, &format!("0x{n:064x}"), 0, Level::Final, now);
            seen.recipient = address(&invoice, LIVE_USDC);
            let payment = observe(&till, &till.live_scope(), &[seen]).await.remove(0).expect("attributed");
            reviewed.push((id(&invoice), payment));
        }
        let decide = |invoice: &str, decision: &str| {
            let body = json!({ "decision": decision, "reason": "r" });
            live_post(format!("/v1/invoices/{invoice}/resolve_review"), body)
        };
        assert_eq!(decide(&reviewed[0].0, "accept").await.ok(200)["status"], "paid");
        for (_, payment) in &reviewed[1..] {
            risk(&till, payment).await;
        }
        decide(&reviewed[1].0, "accept").await.refused(409, "review_requires_dashboard", None);
        assert_eq!(decide(&reviewed[1].0, "reject").await.ok(200)["status"], "cancelled");
        decide(&reviewed[2].0, "accept").await.refused(409, "review_requires_dashboard", None);
    }
}

/// `transfer` takes its address from the Base Sepolia option, which a live invoice does not have.
fn with_base(invoice: &Value) -> Value {
    let mut invoice = invoice.clone();
    invoice["payment_options"][0]["asset"] = json!(BASE);
    invoice
}

/// Makes the hold of a live payment a risk hold, as the lists that watch real networks will.
async fn risk(till: &Till, payment: &str) {
    let scope = till.live_scope();
    let done = till.engine().unit(&scope, |tx, context| {
        async move {
            let mut row = till_store::payments::find(tx, &context.scope, payment)
                .await?
                .expect("it is there");
            row.verdict = Some(Verdict::Held(Hold::Sanctions));
            Ok::<_, Fail>(tx.write(&till_store::payments::updates([&row])?).await?)
        }
        .scope_boxed()
    });
    done.await.unwrap();
}

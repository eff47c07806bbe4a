//! Refunds: what may be refunded, and what becomes of a refund until it is sent.

use futures::future::join_all;
use serde_json::{Value, json};
use till_core::asset::Family;
use till_core::payment::Level;

use crate::claims::{PAYER, claim};
use crate::harness::{
    BASE, BTC, LIVE_USDC, NILE, Receiver, Reply, SEPOLIA, Till, data, id, live, text,
};
use crate::statuses::{balances, observe, tokens, transfer};

pub async fn refund(till: &Till, invoice: &str, body: Value) -> Reply {
    till.post(&format!("/v1/invoices/{invoice}/refunds"), body)
        .await
}

/// An invoice of 25 that received this much.
pub async fn received(till: &Till, amount: &str) -> String {
    let invoice = id(&till.invoice().await);
    till.simulate(&invoice, json!({ "amount": amount })).await;
    invoice
}

pub async fn act(till: &Till, refund: &Value, action: &str, body: Value) -> Reply {
    till.post(&format!("/v1/refunds/{}/{action}", id(refund)), body)
        .await
}

pub fn tx(n: u8) -> String {
    format!("0x{}", hex::encode([n; 32]))
}

pub async fn shown(till: &Till, refund: &Value) -> Value {
    let path = format!("/v1/refunds/{}", id(refund));
    till.get(&path).await.ok(200)
}

/// A reorganisation undoes a simulated payment.
pub async fn reverse(till: &Till, payment: &str) {
    let path = format!("/v1/test_helpers/payments/{payment}/reverse");
    till.post(&path, json!({})).await.ok(200);
}

async fn units(till: &Till, group: &str) -> i128 {
    let name = format!("{group} {BASE}");
    let found = balances(till).await.into_iter().find(|(of, _)| *of == name);
    found.map_or(0, |(_, units)| units)
}

on_every_engine! {
    async fn an_empty_body_refunds_exactly_the_excess(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "28.5").await;
        let made = refund(&till, &invoice, json!({})).await.ok(201);
        let mut names: Vec<_> = made.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, [
            "amount", "asset", "cancelled_at", "claim_token", "claim_url", "claimed_at", "created_at", "expires_at", "id",
            "invoice", "livemode", "object", "payout", "reason", "review_reason", "sent_at", "status", "tx_hash",
        ]);
        assert!(id(&made).starts_with("rfd_"));
        assert_eq!((&made["amount"], &made["asset"], &made["status"]), (&json!("3.50"), &json!(BASE), &json!("unclaimed")));
        let token = text(&made["claim_token"]);
        assert!(token.len() >= 26 && text(&made["claim_url"]).ends_with(&format!("/r/{token}")));
        assert_eq!(shown(&till, &made).await, made);
        assert_eq!((units(&till, "refunds_due").await, units(&till, "overpaid").await, units(&till, "settled").await), (3_500_000, 0, 25_000_000));
        assert_eq!(till.retrieve(&invoice).await["status"], "overpaid");
        // The price itself is not given back by asking for the excess again.
        refund(&till, &invoice, json!({})).await.refused(409, "refund_exceeds_received", None);
    }

    async fn who_paid_twice_in_two_assets_gets_one_back_and_no_more_by_default(world: World) {
        let till = world.till().await;
        let twice = received(&till, "25").await;
        till.simulate(&twice, json!({ "asset": NILE, "amount": "25" })).await;
        refund(&till, &twice, json!({ "asset": BASE })).await.refused(400, "amount_required", "amount");
        let told = ["invoice.created", "invoice.detected", "invoice.paid", "invoice.overpaid"];
        // Made and taken back: it was paid once, and nobody is told so again.
        for _ in 0..2 {
            let made = refund(&till, &twice, json!({ "asset": BASE, "amount": "25", "reason": "duplicate" })).await.ok(201);
            let seen = till.retrieve(&twice).await;
            assert_eq!((&seen["status"], &seen["amount_overpaid"]), (&json!("overpaid"), &tokens("25.00", NILE)), "{seen}");
            refund(&till, &twice, json!({})).await.refused(409, "refund_exceeds_received", None);
            act(&till, &made, "cancel", json!({})).await.ok(200);
            assert_eq!(till.event_types(&twice).await, told);
        }
        refund(&till, &twice, json!({ "asset": BASE, "amount": "25" })).await.ok(201);
        // Without the other one the price is not paid any more.
        let other = till.payments_of(&twice).await;
        let other = other.iter().find(|payment| payment["asset"] == NILE).unwrap();
        reverse(&till, &id(other)).await;
        assert_eq!(till.retrieve(&twice).await["status"], "partially_paid");
    }

    async fn an_excess_in_two_assets_is_refunded_asset_by_asset(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "28").await;
        till.simulate(&invoice, json!({ "asset": NILE, "amount": "2" })).await;
        assert_eq!(refund(&till, &invoice, json!({})).await.ok(201)["amount"], "3.00");
        let message = refund(&till, &invoice, json!({})).await.refused(400, "amount_required", "amount");
        assert!(message.contains(&format!("2.00 {NILE}")), "{message}");
        let second = refund(&till, &invoice, json!({ "asset": NILE })).await.ok(201);
        assert_eq!((&second["amount"], &second["asset"]), (&json!("2.00"), &json!(NILE)));
        refund(&till, &invoice, json!({})).await.refused(409, "refund_exceeds_received", None);
    }

    async fn under_review_nothing_is_given_back_without_an_amount(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        till.simulate(&invoice, json!({ "amount": "0.004" })).await;
        let listed = till_chains::test_screening().iter().find(|(family, ..)| *family == Family::Evm).unwrap().2;
        till.simulate(&invoice, json!({ "amount": "11", "sender": listed })).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "under_review");
        refund(&till, &invoice, json!({})).await.refused(400, "amount_required", "amount");
        refund(&till, &invoice, json!({ "amount": "0.004" })).await.ok(201);
    }

    async fn every_code_of_creating_a_refund(world: World) {
        let till = world.till().await;
        let nothing = id(&till.invoice().await);
        refund(&till, &nothing, json!({})).await.refused(409, "nothing_received", None);
        refund(&till, &nothing, json!({ "asset": BASE, "amount": "1" })).await.refused(409, "nothing_received", "asset");
        refund(&till, &nothing, json!({ "asset": BTC, "amount": "1" })).await.refused(400, "asset_not_received", "asset");
        let paid = received(&till, "25").await;
        refund(&till, &paid, json!({})).await.refused(400, "amount_required", "amount");
        refund(&till, &paid, json!({ "asset": NILE, "amount": "1" })).await.refused(409, "nothing_received", "asset");
        refund(&till, &paid, json!({ "asset": "USDC@eip155:999", "amount": "1" })).await.refused(400, "asset_not_received", "asset");
        for amount in ["0", "0.000", "-1", "1e2", "", "1.0000001", "x"] {
            refund(&till, &paid, json!({ "amount": amount })).await.refused(400, "amount_invalid", "amount");
        }
        refund(&till, &paid, json!({ "amount": 5 })).await.refused(400, "parameter_invalid", "amount");
        refund(&till, &paid, json!({ "reason": "because" })).await.refused(400, "parameter_invalid", "reason");
        refund(&till, &paid, json!({ "network": "x" })).await.refused(400, "parameter_unknown", "network");
        refund(&till, &paid, json!({ "amount": "25.000001" })).await.refused(409, "refund_exceeds_received", "amount");
        refund(&till, "inv_nothing", json!({ "amount": "1" })).await.refused(404, "resource_missing", None);
        refund(&till.another_account().await, &paid, json!({ "amount": "1" })).await.refused(404, "resource_missing", None);
        let made = refund(&till, &paid, json!({ "amount": "20", "reason": "requested_by_payer" })).await.ok(201);
        assert_eq!((&made["amount"], &made["reason"]), (&json!("20.00"), &json!("requested_by_payer")));
        refund(&till, &paid, json!({ "amount": "5.000001" })).await.refused(409, "refund_exceeds_received", "amount");
        refund(&till, &paid, json!({ "amount": "5" })).await.ok(201);
    }

    async fn late_and_wrong_payments_are_refunded_in_what_arrived(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.post(&format!("/v1/invoices/{invoice}/cancel"), json!({})).await.ok(200);
        till.simulate(&invoice, json!({ "amount": "4" })).await;
        let made = refund(&till, &invoice, json!({ "amount": "4", "reason": "late_payment" })).await.ok(201);
        assert_eq!((&made["amount"], &made["asset"]), (&json!("4.00"), &json!(BASE)));
        let strict = till.create(json!({ "amount": "25.00", "currency": "USD", "assets": [BASE] })).await;
        let now = till_core::time::parse(&text(&strict["created_at"])).unwrap();
        let wrong = [transfer(&strict, SEPOLIA, 7_000_000, "0xwrong", 0, Level::Final, now)];
        observe(&till, &till.scope(), &wrong).await;
        let made = refund(&till, &id(&strict), json!({ "asset": SEPOLIA, "amount": "7", "reason": "wrong_asset" })).await.ok(201);
        assert_eq!((&made["amount"], &made["asset"]), (&json!("7.00"), &json!(SEPOLIA)));
    }

    async fn what_is_held_is_refunded_only_after_the_decision(world: World) {
        let till = world.till().await;
        till.set(json!({ "manual_review_amount": "1" })).await;
        let invoice = received(&till, "25").await;
        refund(&till, &invoice, json!({ "amount": "1" })).await.refused(409, "refund_exceeds_received", "amount");
        let reject = json!({ "decision": "reject", "reason": "no" });
        till.post(&format!("/v1/invoices/{invoice}/resolve_review"), reject).await.ok(200);
        refund(&till, &invoice, json!({ "amount": "25", "reason": "review_rejected" })).await.ok(201);
        assert_eq!((units(&till, "refunds_due").await, units(&till, "refundable").await), (25_000_000, 0));
    }

    async fn a_hundred_refunds_of_everything_at_once_make_one(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let replies = join_all((0..100).map(|_| refund(&till, &invoice, json!({ "amount": "25" })))).await;
        let made = replies.iter().filter(|reply| reply.status == 201).count();
        assert_eq!(made, 1);
        for reply in replies.iter().filter(|reply| reply.status != 201) {
            reply.refused(409, "refund_exceeds_received", "amount");
        }
        assert_eq!((units(&till, "refunds_due").await, units(&till, "settled").await), (25_000_000, 0));
    }

    async fn a_cancelled_refund_counts_no_more_and_a_sent_one_stays(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let first = refund(&till, &invoice, json!({ "amount": "25" })).await.ok(201);
        let cancelled = act(&till, &first, "cancel", json!({})).await.ok(200);
        assert!(cancelled["status"] == "cancelled" && cancelled["cancelled_at"].is_string());
        assert_eq!(act(&till, &first, "cancel", json!({})).await.ok(200), cancelled);
        assert_eq!((units(&till, "refunds_due").await, units(&till, "settled").await), (0, 25_000_000));
        let second = refund(&till, &invoice, json!({ "amount": "25" })).await.ok(201);
        act(&till, &second, "mark_sent", json!({ "tx_hash": tx(1) })).await.refused(409, "refund_not_ready", None);
        claim(&till, &second, "eip155:84532", PAYER).await.ok(200);
        let sent = act(&till, &second, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        assert_eq!((&sent["status"], &sent["tx_hash"]), (&json!("sent"), &json!(tx(1))));
        assert!(sent["sent_at"].is_string());
        act(&till, &second, "cancel", json!({})).await.refused(409, "refund_already_sent", None);
        act(&till, &second, "mark_sent", json!({ "tx_hash": tx(2) })).await.refused(409, "refund_not_ready", None);
        assert_eq!((units(&till, "refunds_due").await, units(&till, "refunds_sent").await), (0, 25_000_000));
        refund(&till, &invoice, json!({ "amount": "0.000001" })).await.refused(409, "refund_exceeds_received", "amount");
    }

    async fn one_transaction_sends_one_refund(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let mut ready = Vec::new();
        for _ in 0..2 {
            let made = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
            claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
            ready.push(made);
        }
        for bad in ["", "0x12", "hash"] {
            act(&till, &ready[0], "mark_sent", json!({ "tx_hash": bad })).await.refused(400, "parameter_invalid", "tx_hash");
        }
        act(&till, &ready[0], "mark_sent", json!({ "tx_hash": hex::encode([1; 32]) })).await.refused(400, "parameter_invalid", "tx_hash");
        act(&till, &ready[0], "mark_sent", json!({})).await.refused(400, "parameter_missing", "tx_hash");
        let replies = join_all(ready.iter().map(|made| act(&till, made, "mark_sent", json!({ "tx_hash": tx(7) })))).await;
        assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
        let refused = replies.iter().find(|reply| reply.status != 200).unwrap();
        refused.refused(409, "refund_not_ready", "tx_hash");
        act(&till, &json!({ "id": "rfd_nothing" }), "mark_sent", json!({ "tx_hash": tx(7) })).await.refused(404, "resource_missing", None);
    }

    // Nothing but the transaction is common to them: neither waits for the other.
    async fn one_transaction_sends_one_refund_of_all_invoices(world: World) {
        let till = world.till().await;
        for round in 0..6 {
            let mut ready = Vec::new();
            for _ in 0..4 {
                let invoice = received(&till, "25").await;
                let made = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
                claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
                ready.push(made);
            }
            let sent = json!({ "tx_hash": tx(7 + round) });
            let replies = join_all(ready.iter().map(|made| act(&till, made, "mark_sent", sent.clone()))).await;
            assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
            for refused in replies.iter().filter(|reply| reply.status != 200) {
                refused.refused(409, "refund_not_ready", "tx_hash");
            }
        }
    }

    async fn what_paid_an_invoice_did_not_send_a_refund(world: World) {
        let till = world.till().await;
        let (invoice, other) = (received(&till, "25").await, received(&till, "25").await);
        let made = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        for paid in [&invoice, &other] {
            let incoming = text(&till.payments_of(paid).await[0]["tx_hash"]);
            act(&till, &made, "mark_sent", json!({ "tx_hash": incoming })).await.refused(400, "parameter_invalid", "tx_hash");
        }
        assert_eq!(shown(&till, &made).await["status"], "ready_to_send");
        // What another merchant names is not ours to refuse, nor to learn about: its network keeps one history, not we.
        let stranger = till.another_account().await;
        let theirs = received(&stranger, "25").await;
        let theirs = refund(&stranger, &theirs, json!({ "amount": "5" })).await.ok(201);
        claim(&stranger, &theirs, "eip155:84532", PAYER).await.ok(200);
        act(&stranger, &theirs, "mark_sent", json!({ "tx_hash": tx(9) })).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(9) })).await.ok(200);
    }

    async fn a_reversal_leaves_the_refund_and_closes_the_door(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "25" })).await.ok(201);
        let payment = id(&till.payments_of(&invoice).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        assert_eq!(units(&till, "refunds_due").await, 25_000_000);
        // Another payment of the same size does not make room for a second refund: it bears the first.
        till.simulate(&invoice, json!({ "amount": "25" })).await;
        assert_eq!((units(&till, "received").await, units(&till, "settled").await), (-25_000_000, 0));
        refund(&till, &invoice, json!({ "amount": "1" })).await.refused(409, "refund_exceeds_received", "amount");
        act(&till, &made, "cancel", json!({})).await.ok(200);
        refund(&till, &invoice, json!({ "amount": "25" })).await.ok(201);
        assert_eq!((units(&till, "refunds_due").await, units(&till, "received").await), (25_000_000, -25_000_000));
    }

    async fn the_excess_after_a_reversal_is_refunded_by_an_empty_body(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "28").await;
        let made = refund(&till, &invoice, json!({ "amount": "1" })).await.ok(201);
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        let payment = id(&till.payments_of(&invoice).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        till.simulate(&invoice, json!({ "amount": "28" })).await;
        // What was sent back is owed with the price; the rest is too much, and nothing is taken off it twice.
        assert_eq!(till.retrieve(&invoice).await["amount_overpaid"]["amount"], "2.00");
        assert_eq!((units(&till, "settled").await, units(&till, "overpaid").await), (25_000_000, 2_000_000));
        assert_eq!(refund(&till, &invoice, json!({})).await.ok(201)["amount"], "2.00");
        refund(&till, &invoice, json!({})).await.refused(409, "refund_exceeds_received", None);
        assert_eq!((units(&till, "settled").await, units(&till, "overpaid").await), (25_000_000, 0));
    }

    async fn the_excess_beside_a_price_given_back_is_refunded_by_an_empty_body(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "25" })).await.ok(201);
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        reverse(&till, &id(&till.payments_of(&invoice).await[0])).await;
        till.simulate(&invoice, json!({ "amount": "28" })).await;
        assert_eq!(till.retrieve(&invoice).await["amount_overpaid"]["amount"], "3.00");
        assert_eq!(refund(&till, &invoice, json!({})).await.ok(201)["amount"], "3.00");
        refund(&till, &invoice, json!({})).await.refused(409, "refund_exceeds_received", None);
    }

    async fn what_was_reversed_is_not_ready_to_be_sent(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "28.5").await;
        let claimed = refund(&till, &invoice, json!({ "amount": "1" })).await.ok(201);
        let unclaimed = refund(&till, &invoice, json!({ "amount": "2" })).await.ok(201);
        claim(&till, &claimed, "eip155:84532", PAYER).await.ok(200);
        assert_eq!(shown(&till, &claimed).await["status"], "ready_to_send");
        let payment = id(&till.payments_of(&invoice).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        assert_eq!(shown(&till, &claimed).await["status"], "in_review");
        claim(&till, &unclaimed, "eip155:84532", PAYER).await.ok(200);
        act(&till, &unclaimed, "mark_sent", json!({ "tx_hash": tx(2) })).await.refused(409, "refund_not_ready", None);
        for made in [&claimed, &unclaimed] {
            assert_eq!(shown(&till, made).await["status"], "in_review");
            act(&till, made, "cancel", json!({})).await.ok(200);
        }
        assert_eq!(units(&till, "refunds_due").await, 0);
    }

    async fn refunded_money_pays_no_invoice(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "24.99").await;
        let made = refund(&till, &invoice, json!({ "amount": "24.99" })).await.ok(201);
        let left = async |till: &Till| {
            let seen = till.retrieve(&invoice).await;
            (text(&seen["status"]), seen["amount_remaining"]["amount"].clone())
        };
        let partly = |amount: &str| ("partially_paid".to_owned(), json!(amount));
        assert_eq!(left(&till).await, partly("25.00"));
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        till.simulate(&invoice, json!({ "amount": "0.01" })).await;
        assert_eq!(left(&till).await, partly("24.99"));
        assert_eq!((units(&till, "settled").await, units(&till, "refunds_sent").await), (10_000, 24_990_000));
        till.simulate(&invoice, json!({ "amount": "24.99" })).await;
        assert_eq!(left(&till).await.0, "paid");
    }

    async fn a_refund_that_is_cancelled_or_forgotten_counts_as_paid_again(world: World) {
        let till = world.till().await;
        let (cancelled, forgotten) = (received(&till, "20").await, received(&till, "20").await);
        let made = refund(&till, &cancelled, json!({ "amount": "20" })).await.ok(201);
        refund(&till, &forgotten, json!({ "amount": "20" })).await.ok(201);
        for invoice in [&cancelled, &forgotten] {
            till.simulate(invoice, json!({ "amount": "5" })).await;
            assert_eq!(till.retrieve(invoice).await["amount_remaining"]["amount"], "20.00");
        }
        act(&till, &made, "cancel", json!({})).await.ok(200);
        assert_eq!(till.retrieve(&cancelled).await["status"], "paid");
        till.advance(30 * 86_400 + 1).await;
        assert_eq!(till.retrieve(&forgotten).await["status"], "paid");
    }

    async fn a_reversal_after_the_excess_was_refunded_is_told_and_flagged(world: World) {
        let till = world.till().await;
        for first_goes in [true, false] {
            let invoice = received(&till, "25").await;
            till.simulate(&invoice, json!({ "amount": "25" })).await;
            let made = refund(&till, &invoice, json!({})).await.ok(201);
            assert_eq!(made["amount"], "25.00");
            claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
            act(&till, &made, "mark_sent", json!({ "tx_hash": tx(40 + u8::from(first_goes)) })).await.ok(200);
            let mut payments: Vec<String> = till.payments_of(&invoice).await.iter().map(id).collect();
            payments.sort();
            let payment = &payments[usize::from(!first_goes)];
            till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
            let seen = till.retrieve(&invoice).await;
            assert_eq!((&seen["status"], &seen["amount_remaining"]["amount"]), (&json!("partially_paid"), &json!("25.00")));
            let flagged = async |till: &Till| {
                let report = till.get("/v1/reconciliation").await.ok(200);
                let found = report["discrepancies"].as_array().unwrap().iter().find(|one| one["kind"] == "refunded_and_reversed" && one["invoice"] == json!(invoice)).cloned();
                found.map(|one| (text(&one["amount"]), text(&one["severity"])))
            };
            assert_eq!(flagged(&till).await, Some(("25.00".to_owned(), "flagged".to_owned())));
            refund(&till, &invoice, json!({ "amount": "0.01" })).await.refused(409, "refund_exceeds_received", "amount");
            till.simulate(&invoice, json!({ "amount": "25" })).await;
            assert_eq!(till.retrieve(&invoice).await["status"], "paid");
            assert_eq!(flagged(&till).await, Some(("25.00".to_owned(), "explained".to_owned())));
        }
        assert_eq!((units(&till, "received").await, units(&till, "settled").await, units(&till, "refunds_sent").await), (-100_000_000, 50_000_000, 50_000_000));
    }

    async fn whatever_happens_at_once_the_books_add_up(world: World) {
        let till = world.till().await;
        for round in 0..6 {
            let invoice = received(&till, "25").await;
            let payment = id(&till.payments_of(&invoice).await[0]);
            let made = refund(&till, &invoice, json!({ "amount": "10" })).await.ok(201);
            claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
            let reverse = format!("/v1/test_helpers/payments/{payment}/reverse");
            let pay = format!("/v1/test_helpers/invoices/{invoice}/simulate_payment");
            let (sent, cancelled, reversed, second, paid) = futures::join!(
                act(&till, &made, "mark_sent", json!({ "tx_hash": tx(60 + round) })),
                act(&till, &made, "cancel", json!({})),
                till.post(&reverse, json!({})),
                refund(&till, &invoice, json!({ "amount": "15.01" })),
                till.post(&pay, json!({ "amount": "5" })),
            );
            assert_eq!((reversed.status, paid.status), (200, 200));
            assert_ne!(sent.status == 200, cancelled.status == 200, "one of them was first");
            assert!(matches!(second.status, 201 | 409), "{}", second.status);
        }
        let report = till.get("/v1/reconciliation").await.ok(200);
        for one in report["discrepancies"].as_array().unwrap() {
            let known = ["reversed", "refunded_beyond_received", "refunded_and_reversed", "sent_in_review"];
            assert!(known.contains(&text(&one["kind"]).as_str()), "{one}");
        }
        let figure = |view: &str, item: &str| {
            let figures = report["assets"][0][view].as_array().unwrap();
            let amount = text(&figures.iter().find(|figure| figure["item"] == item).unwrap()["amount"]);
            till_core::money::parse(&amount, 6).unwrap().0
        };
        assert_eq!(figure("ledger", "refunds_due"), figure("invoices", "refunds_open"));
        assert_eq!(figure("ledger", "refunds_sent"), figure("invoices", "refunds_sent"));
    }

    async fn refunds_are_listed_newest_first_and_filtered(world: World) {
        let till = world.till().await;
        let (one, two) = (received(&till, "25").await, received(&till, "25").await);
        let first = refund(&till, &one, json!({ "amount": "1" })).await.ok(201);
        let second = refund(&till, &two, json!({ "amount": "2" })).await.ok(201);
        act(&till, &first, "cancel", json!({})).await.ok(200);
        let ids = |list: Value| data(&list).iter().map(id).collect::<Vec<_>>();
        let list = |query: &str| format!("/v1/refunds{query}");
        assert_eq!(ids(till.get(&list("")).await.ok(200)), [id(&second), id(&first)]);
        assert_eq!(ids(till.get(&list(&format!("?invoice={one}"))).await.ok(200)), [id(&first)]);
        assert_eq!(ids(till.get(&list("?status=unclaimed")).await.ok(200)), [id(&second)]);
        let page = till.get(&list("?limit=1")).await.ok(200);
        let next = text(&page["next_cursor"]);
        assert_eq!(ids(till.get(&list(&format!("?limit=1&cursor={next}"))).await.ok(200)), [id(&first)]);
        till.get(&list("?status=open")).await.refused(400, "parameter_invalid", "status");
        till.get("/v1/refunds/rfd_nothing").await.refused(404, "resource_missing", None);
        assert!(ids(till.another_account().await.get("/v1/refunds").await.ok(200)).is_empty());
    }

    async fn a_refund_under_the_same_key_is_the_same_refund(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let path = format!("/v1/invoices/{invoice}/refunds");
        let post = |body: Value| till.posting(&path, body).once("one").send();
        let first = post(json!({ "amount": "25" })).await;
        let again = post(json!({ "amount": "25" })).await;
        assert_eq!((first.ok(201), true), (again.ok(201), again.is_replay()));
        post(json!({ "amount": "24" })).await.refused(409, "idempotency_key_reused", "Idempotency-Key");
    }

    async fn the_history_of_a_refund_cannot_be_changed(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(3) })).await.ok(200);
        let mut reader = till.engine().db.read().await.unwrap();
        let history = till_store::refunds::history(&mut reader, &till.scope(), &id(&made)).await.unwrap();
        let statuses: Vec<_> = history.iter().map(|step| step.status.as_str()).collect();
        assert_eq!(statuses, ["unclaimed", "ready_to_send", "sent"]);
        let screened = till_store::screenings::of_subject(&mut reader, &till.scope(), &id(&made)).await.unwrap();
        assert_eq!(screened.len(), 2, "at the claim, and again when it was marked sent");
        for screening in &screened {
            let lists: Vec<_> = screening.screening.lists.iter().map(|list| (&*list.list, list.version.as_deref())).collect();
            assert_eq!(lists, [("sanctions", Some("test")), ("blacklist", Some("test"))]);
        }
        let payment = id(&till.payments_of(&invoice).await[0]);
        let senders = till_store::screenings::of_subject(&mut reader, &till.scope(), &payment).await.unwrap();
        assert_eq!(senders.len(), 1, "who paid was screened once, when it was judged");
        drop(reader);
        for sql in ["UPDATE refund_steps SET at = 0", "DELETE FROM refund_steps", "UPDATE screenings SET at = 0", "DELETE FROM screenings"] {
            let done: Result<_, till_store::StoreError> = till.engine().db.write(|tx| {
                scoped_futures::ScopedFutureExt::scope_boxed(async move { till_store::Queries::run(tx, sql, &[]).await.map(drop) })
            }).await;
            assert!(done.is_err(), "{sql}");
        }
    }

    async fn the_claim_is_told_with_the_invoice_and_without_the_token(world: World) {
        let till = world.till().await;
        let receiver = Receiver::start().await;
        till.set(json!({ "webhook_url": receiver.url() })).await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        let told = receiver.wait_for_type("refund.claimed").await.json();
        assert_eq!(told["invoice_id"], json!(invoice));
        let object = &told["data"]["object"];
        assert_eq!((&object["id"], &object["status"], &object["payout"]["address"]), (&made["id"], &json!("ready_to_send"), &json!(PAYER)));
        assert_eq!((&object["claim_token"], &object["claim_url"]), (&Value::Null, &Value::Null));
        assert!(!told.to_string().contains(&text(&made["claim_token"])));
    }

    async fn where_money_is_real_nobody_is_cleared_without_a_list(world: World) {
        let till = world.till_with(live()).await;
        let post = |path: String, body: Value| till.posting(&path, body).key(till.live_key()).send();
        let body = json!({ "amount": "25.00", "currency": "USD", "assets": [LIVE_USDC] });
        let invoice = post("/v1/invoices".into(), body).await.ok(201);
        let now = till_core::time::parse(&text(&invoice["created_at"])).unwrap();
        let mut option = invoice["payment_options"][0].clone();
        option["asset"] = json!(BASE);
        let seen = transfer(&json!({ "payment_options": [option] }), LIVE_USDC, 25_000_000, &tx(5), 0, Level::Final, now);
        observe(&till, &till.live_scope(), &[seen]).await;
        let made = post(format!("/v1/invoices/{}/refunds", id(&invoice)), json!({ "amount": "25" })).await.ok(201);
        assert_eq!(claim(&till, &made, "eip155:8453", PAYER).await.ok(200)["status"], "in_review");
        let path = format!("/v1/refunds/{}", id(&made));
        let seen = till.call("GET", &path).key(till.live_key()).send().await.ok(200);
        let screening = &seen["payout"]["screening"];
        assert_eq!((&screening["result"], &screening["lists"][0]["result"]), (&json!("unavailable"), &json!("unavailable")));
        assert_eq!(seen["review_reason"], "screening_unavailable");
        // A test key is told where it is.
        let message = till.get(&path).await.refused(404, "resource_missing", None);
        assert!(message.contains("live"), "{message}");
    }
}

//! What payments make of an invoice: every transition, its events and its books.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::money::Units;
use till_core::payment::Level;
use till_engine::Fail;
use till_engine::base::Context;
use till_engine::intake::{Door, IntakeOutcome, Observation, Sighting, TransferOrigin, take_in};

use crate::harness::{BASE, BTC, NILE, SEPOLIA, Setup, Till, address, id, text};

pub fn tokens(amount: &str, asset: &str) -> Value {
    json!({ "amount": amount, "asset": asset })
}

/// The journal's balances of an account: what each group holds, per asset, in base units.
pub async fn balances(till: &Till) -> Vec<(String, i128)> {
    let mut reader = till.engine().db.read().await.unwrap();
    let rows = till_store::journal::all(&mut reader, &till.scope())
        .await
        .unwrap();
    let mut sums = std::collections::BTreeMap::<String, i128>::new();
    for row in rows {
        let amount: i128 = row.amount.parse().unwrap();
        *sums
            .entry(format!("{} {}", row.credit, row.asset))
            .or_default() += amount;
        *sums
            .entry(format!("{} {}", row.debit, row.asset))
            .or_default() -= amount;
    }
    assert_eq!(sums.values().sum::<i128>(), 0, "the books sum to zero");
    sums.into_iter().filter(|(_, sum)| *sum != 0).collect()
}

pub fn books(entries: &[(&str, &str, i128)]) -> Vec<(String, i128)> {
    let mut books: Vec<_> = entries
        .iter()
        .map(|(group, asset, units)| (format!("{group} {asset}"), *units))
        .collect();
    books.sort();
    books
}

/// What a chain would report: one transfer of one transaction.
pub fn transfer(
    invoice: &Value,
    asset: &str,
    units: u128,
    tx: &str,
    place: i64,
    level: Level,
    at: i64,
) -> Observation {
    Observation {
        network: asset.split_once('@').unwrap().1.to_owned(),
        tx_hash: tx.to_owned(),
        place,
        asset: asset.to_owned(),
        units: Units(units),
        arrived: None,
        registers: None,
        senders: Vec::new(),
        recipient: address(invoice, BASE),
        sighting: Sighting::InBlock {
            level,
            number: 7,
            hash: "0xb".to_owned(),
            time: at,
        },
        source: TransferOrigin::Chain,
    }
}

/// The door for one account's transfers alone.
pub fn door<'c>(context: &'c Context<'_>) -> Door<'c> {
    Door {
        engine: context.engine,
        effects: context.effects,
        only: Some(&context.scope),
    }
}

pub async fn observe(
    till: &Till,
    scope: &till_core::scope::Scope,
    seen: &[Observation],
) -> Vec<Option<String>> {
    let done = till.engine().unit(scope, |tx, context| {
        take_in(tx, door(context), seen).scope_boxed()
    });
    let done: Result<Vec<IntakeOutcome>, Fail> = done.await;
    let payment = |taken: &IntakeOutcome| taken.payment().map(str::to_owned);
    done.unwrap().iter().map(payment).collect()
}

on_every_engine! {
    async fn an_exact_payment_is_detected_and_then_paid(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let paid = till.simulate(&invoice, json!({})).await;
        assert_eq!(paid["status"], "paid");
        assert_eq!(paid["amounts_received"], json!([tokens("25.00", BASE)]));
        assert!(paid["paid_at"].is_string() && paid["closed_at"].is_string());
        assert!(paid.get("amount_remaining").is_none() && paid.get("amount_overpaid").is_none());
        assert_eq!(till.retrieve(&invoice).await, paid);
        let events = till.events(&invoice).await;
        let types: Vec<_> = events.iter().map(|event| text(&event["type"])).collect();
        assert_eq!(types, ["invoice.created", "invoice.detected", "invoice.paid"]);
        assert_eq!(events[1]["data"]["object"]["status"], "detected");
        assert_eq!(events[2]["data"]["object"], paid);
        assert_eq!(balances(&till).await, books(&[("received", BASE, -25_000_000), ("settled", BASE, 25_000_000)]));
    }

    async fn finality_is_walked_level_by_level(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let all = json!({ "finality_steps": ["pending", "included", "safe", "final"] });
        assert_eq!(till.simulate(&invoice, all).await["status"], "paid");
        assert_eq!(till.event_types(&invoice).await, ["invoice.created", "invoice.detected", "invoice.confirming", "invoice.paid"]);
        for (steps, status, payment) in [
            (json!(["pending"]), "detected", "pending"),
            (json!(["included"]), "detected", "confirming"),
            (json!(["pending", "included"]), "confirming", "confirming"),
            (json!(["included", "safe"]), "confirming", "confirming"),
            (json!(["safe"]), "detected", "confirming"),
            (json!(["final"]), "paid", "credited"),
        ] {
            let invoice = id(&till.invoice().await);
            let after = till.simulate(&invoice, json!({ "finality_steps": steps })).await;
            assert_eq!(after["status"], status, "{steps}");
            let payments = till.payments_of(&invoice).await;
            assert_eq!(payments[0]["status"], payment, "{steps}");
            assert_eq!(payments[0]["finality"], steps.as_array().unwrap().last().unwrap().clone());
            if status != "paid" {
                assert_eq!(after["amounts_received"], json!([]));
                assert!(payments[0]["credited_at"].is_null() && after["paid_at"].is_null());
            }
        }
    }

    async fn a_network_may_be_credited_before_final(world: World) {
        let setup = Setup { credit_at: [("eip155:84532".to_owned(), Level::Safe)].into(), ..Setup::default() };
        let till = world.till_with(setup).await;
        let invoice = id(&till.invoice().await);
        let safe = json!({ "finality_steps": ["included", "safe"] });
        assert_eq!(till.simulate(&invoice, safe.clone()).await["status"], "paid");
        let invoice = id(&till.invoice().await);
        let elsewhere = json!({ "asset": SEPOLIA, "finality_steps": ["included", "safe"] });
        assert_eq!(till.simulate(&invoice, elsewhere).await["status"], "confirming");
    }

    async fn a_short_payment_leaves_a_remainder_and_the_remainder_pays(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let short = till.simulate(&invoice, json!({ "amount": "10.5" })).await;
        assert_eq!(short["status"], "partially_paid");
        assert_eq!(short["amount_remaining"], tokens("14.50", BASE));
        assert!(short["paid_at"].is_null() && short["closed_at"].is_null());
        assert_eq!(till.event_types(&invoice).await[1..], ["invoice.detected", "invoice.partially_paid"]);
        let shorter = till.simulate(&invoice, json!({ "amount": "4.25" })).await;
        assert_eq!(shorter["amount_remaining"], tokens("10.25", BASE));
        let remaining = text(&shorter["amount_remaining"]["amount"]);
        let paid = till.simulate(&invoice, json!({ "amount": remaining })).await;
        assert_eq!(paid["status"], "paid");
        assert!(paid.get("amount_remaining").is_none());
        assert_eq!(paid["amounts_received"], json!([tokens("25.00", BASE)]));
        let types = till.event_types(&invoice).await;
        assert_eq!(types[2..], ["invoice.partially_paid", "invoice.partially_paid", "invoice.paid"]);
        assert_eq!(till.payments_of(&invoice).await.len(), 3);
    }

    async fn a_shortfall_within_the_tolerance_pays(world: World) {
        let till = world.till().await;
        let before = id(&till.invoice().await);
        till.set(json!({ "underpay_tolerance_bps": 50 })).await;
        let exact = id(&till.invoice().await);
        let outside = id(&till.invoice().await);
        // Half a percent of 25.00 is 0.125.
        let paid = till.simulate(&exact, json!({ "amount": "24.875" })).await;
        assert_eq!(paid["status"], "paid");
        assert_eq!(paid["amounts_received"], json!([tokens("24.875", BASE)]));
        let short = till.simulate(&outside, json!({ "amount": "24.874999" })).await;
        assert_eq!(short["status"], "partially_paid");
        assert_eq!(short["amount_remaining"], tokens("0.125001", BASE));
        // The tolerance is one of the invoice's terms: it applies to new invoices only.
        assert_eq!(till.simulate(&before, json!({ "amount": "24.875" })).await["status"], "partially_paid");
    }

    async fn an_excess_is_overpaid_whether_in_one_payment_or_a_second(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let over = till.simulate(&invoice, json!({ "amount": "30" })).await;
        assert_eq!(over["status"], "overpaid");
        assert_eq!(over["amount_overpaid"], tokens("5.00", BASE));
        assert!(over["paid_at"].is_string());
        assert_eq!(till.event_types(&invoice).await[1..], ["invoice.detected", "invoice.overpaid"]);
        let more = till.simulate(&invoice, json!({ "amount": "1" })).await;
        assert_eq!((&more["status"], &more["amount_overpaid"]), (&json!("overpaid"), &tokens("6.00", BASE)));
        let books_now = books(&[("received", BASE, -31_000_000), ("settled", BASE, 25_000_000), ("overpaid", BASE, 6_000_000)]);
        assert_eq!(balances(&till).await, books_now);
        let other = id(&till.invoice().await);
        till.simulate(&other, json!({})).await;
        let after_paid = till.simulate(&other, json!({ "amount": "2", "finality_steps": ["included"] })).await;
        assert_eq!(after_paid["status"], "paid", "nothing is credited before it is final");
        let after_paid = till.simulate(&other, json!({ "amount": "3" })).await;
        assert_eq!((&after_paid["status"], &after_paid["amount_overpaid"]), (&json!("overpaid"), &tokens("3.00", BASE)));
    }

    async fn payments_in_different_assets_add_up_exactly(world: World) {
        let till = world.till().await;
        let body = json!({ "amount": "100.00", "currency": "USD", "assets": [BASE, NILE, BTC] });
        let invoice = id(&till.create(body).await);
        let half = till.simulate(&invoice, json!({ "asset": BASE, "amount": "50" })).await;
        assert_eq!(half["amount_remaining"], tokens("50.00", BASE));
        // A quarter in bitcoin: 25 dollars of 0.002.
        let quarter = till.simulate(&invoice, json!({ "asset": BTC, "amount": "0.0005" })).await;
        assert_eq!(quarter["amount_remaining"], tokens("0.0005", BTC));
        let rest = till.simulate(&invoice, json!({ "asset": NILE, "amount": "25" })).await;
        assert_eq!(rest["status"], "paid");
        assert_eq!(rest["amounts_received"], json!([tokens("50.00", BASE), tokens("0.0005", BTC), tokens("25.00", NILE)]));
    }

    async fn the_other_offered_network_pays_through_that_network(world: World) {
        let till = world.till().await;
        for body in [
            json!({ "asset": SEPOLIA }),
            json!({ "network": "eip155:11155111" }),
            json!({ "asset": "USDC", "network": "eip155:11155111" }),
            json!({ "asset": SEPOLIA, "network": "eip155:11155111" }),
        ] {
            let invoice = id(&till.invoice().await);
            let paid = till.simulate(&invoice, body).await;
            assert_eq!(paid["status"], "paid");
            assert_eq!(paid["amounts_received"], json!([tokens("25.00", SEPOLIA)]));
            assert_eq!(till.payments_of(&invoice).await[0]["network"], "eip155:11155111");
        }
        let invoice = id(&till.invoice().await);
        let tron = till.simulate(&invoice, json!({ "asset": "USDT", "network": "tron:0xcd8690dc" })).await;
        assert_eq!(tron["amounts_received"], json!([tokens("25.00", NILE)]));
    }

    async fn a_payment_after_cancel_or_expiry_changes_nothing_but_is_told(world: World) {
        let till = world.till().await;
        let cancelled = id(&till.invoice().await);
        till.post(&format!("/v1/invoices/{cancelled}/cancel"), json!({})).await.ok(200);
        let expired = id(&till.invoice().await);
        till.advance(3_601).await;
        for (invoice, status) in [(&cancelled, "cancelled"), (&expired, "expired")] {
            let late = till.simulate(invoice, json!({})).await;
            assert_eq!(late["status"], status);
            assert_eq!(late["amounts_received"], json!([tokens("25.00", BASE)]));
            assert!(late["paid_at"].is_null());
            let payment = till.payments_of(invoice).await.remove(0);
            assert_eq!((&payment["status"], &payment["credited_at"]), (&json!("refundable"), &Value::Null));
            let events = till.events(invoice).await;
            let last = events.last().unwrap();
            assert_eq!(last["type"], "invoice.late_payment");
            assert_eq!(last["data"]["payment"], payment);
            assert_eq!(last["data"]["object"]["status"], status);
        }
        assert_eq!(balances(&till).await, books(&[("received", BASE, -50_000_000), ("refundable", BASE, 50_000_000)]));
    }

    async fn an_unpaid_invoice_expires_at_its_time_and_a_seen_one_stays_open(world: World) {
        let till = world.till().await;
        let unpaid = till.invoice().await;
        let seen = id(&till.invoice().await);
        let part = id(&till.invoice().await);
        till.simulate(&seen, json!({ "finality_steps": ["included"] })).await;
        till.simulate(&part, json!({ "amount": "10" })).await;
        till.advance(3_000).await;
        assert_eq!(till.retrieve(&id(&unpaid)).await["status"], "awaiting_payment");
        till.advance(700).await;
        let expired = till.retrieve(&id(&unpaid)).await;
        assert_eq!(expired["status"], "expired");
        assert_eq!(expired["closed_at"], unpaid["expires_at"], "things happen at their time");
        assert_eq!(till.event_types(&id(&unpaid)).await, ["invoice.created", "invoice.expired"]);
        assert_eq!(till.retrieve(&seen).await["status"], "detected");
        assert_eq!(till.retrieve(&part).await["status"], "partially_paid");
        // The remainder arrives after the time: late, but paid.
        let late = till.simulate(&part, json!({ "amount": "15" })).await;
        assert_eq!(late["status"], "paid_late");
        assert!(late["paid_at"].is_string());
        assert_eq!(till.event_types(&part).await.last().unwrap(), "invoice.paid_late");
    }

    async fn too_much_of_a_late_remainder_is_overpaid(world: World) {
        let till = world.till().await;
        let part = id(&till.invoice().await);
        till.simulate(&part, json!({ "amount": "10" })).await;
        till.advance(3_601).await;
        let over = till.simulate(&part, json!({ "amount": "20" })).await;
        assert_eq!((&over["status"], &over["amount_overpaid"]), (&json!("overpaid"), &tokens("5.00", BASE)));
    }

    async fn dust_is_recorded_and_adds_up_but_moves_nothing_alone(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let dusted = till.simulate(&invoice, json!({ "amount": "0.009999" })).await;
        assert_eq!(dusted["status"], "awaiting_payment");
        assert_eq!(till.payments_of(&invoice).await.len(), 1);
        assert_eq!(till.event_types(&invoice).await, ["invoice.created"]);
        assert_eq!(dusted["amounts_received"], json!([tokens("0.009999", BASE)]));
        let rest = till.simulate(&invoice, json!({ "amount": "24.990001" })).await;
        assert_eq!(rest["status"], "paid");
        let other = id(&till.invoice().await);
        till.simulate(&other, json!({ "amount": "0.000001" })).await;
        let cancelled = till.post(&format!("/v1/invoices/{other}/cancel"), json!({})).await.ok(200);
        assert_eq!(cancelled["status"], "cancelled", "dust does not block cancelling");
        let third = id(&till.invoice().await);
        till.simulate(&third, json!({ "amount": "0.000001" })).await;
        till.advance(3_601).await;
        assert_eq!(till.retrieve(&third).await["status"], "expired");
    }

    async fn a_reorganisation_takes_back_what_a_payment_gave(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({})).await;
        let payment = id(&till.payments_of(&invoice).await[0]);
        let reverse = format!("/v1/test_helpers/payments/{payment}/reverse");
        let reversed = till.post(&reverse, json!({})).await.ok(200);
        assert_eq!((&reversed["status"], &reversed["id"], &reversed["object"]), (&json!("reversed"), &json!(payment), &json!("payment")));
        let after = till.retrieve(&invoice).await;
        assert_eq!(after["status"], "awaiting_payment");
        assert_eq!(after["amounts_received"], json!([]));
        assert!(after["paid_at"].is_null() && after["closed_at"].is_null());
        let events = till.events(&invoice).await;
        let types: Vec<_> = events.iter().map(|event| text(&event["type"])).collect();
        assert_eq!(types[3..], ["invoice.payment_reversed", "invoice.awaiting_payment"]);
        assert_eq!(events[3]["data"]["payment"], reversed);
        assert_eq!(events[3]["data"]["object"]["status"], "awaiting_payment");
        assert_eq!(balances(&till).await, []);
        // Doing so again changes nothing.
        assert_eq!(till.post(&reverse, json!({})).await.ok(200), reversed);
        assert_eq!(till.events(&invoice).await.len(), events.len());
        // The address is the invoice's again, and can be paid.
        assert_eq!(till.simulate(&invoice, json!({})).await["status"], "paid");
    }

    async fn after_a_reversal_the_status_is_what_the_other_facts_say(world: World) {
        let till = world.till().await;
        let part = id(&till.invoice().await);
        till.simulate(&part, json!({ "amount": "10" })).await;
        till.simulate(&part, json!({ "amount": "15" })).await;
        let newest = id(&till.payments_of(&part).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{newest}/reverse"), json!({})).await.ok(200);
        let after = till.retrieve(&part).await;
        assert_eq!((&after["status"], &after["amount_remaining"]), (&json!("partially_paid"), &tokens("15.00", BASE)));
        let over = id(&till.invoice().await);
        till.simulate(&over, json!({})).await;
        till.simulate(&over, json!({ "amount": "5" })).await;
        let newest = id(&till.payments_of(&over).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{newest}/reverse"), json!({})).await.ok(200);
        let after = till.retrieve(&over).await;
        assert_eq!(after["status"], "paid");
        assert!(after.get("amount_overpaid").is_none());
        let late = id(&till.invoice().await);
        till.simulate(&late, json!({})).await;
        till.advance(3_601).await;
        let payment = id(&till.payments_of(&late).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        assert_eq!(till.retrieve(&late).await["status"], "expired");
        // One that was only seen, never credited, goes without an event of its own.
        let seen = id(&till.invoice().await);
        till.simulate(&seen, json!({ "finality_steps": ["included"] })).await;
        let payment = id(&till.payments_of(&seen).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        assert_eq!(till.retrieve(&seen).await["status"], "awaiting_payment");
        assert!(!till.event_types(&seen).await.contains(&"invoice.payment_reversed".to_owned()));
    }

    async fn one_transaction_with_several_transfers_is_several_payments(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let now = till_core::time::parse(&text(&invoice["created_at"])).unwrap();
        let tx = format!("0x{}", "ab".repeat(32));
        let log = |place, units, level| transfer(&invoice, BASE, units, &tx, place, level, now);
        let first = [log(4, 10_000_000, Level::Included), log(9, 15_000_000, Level::Included), log(4, 10_000_000, Level::Included)];
        let seen = observe(&till, &till.scope(), &first).await;
        assert_eq!(seen[0], seen[2], "the same log is the same payment");
        assert_ne!(seen[0], seen[1]);
        assert_eq!(till.payments_of(&id(&invoice)).await.len(), 2);
        let last = [log(4, 10_000_000, Level::Final), log(9, 15_000_000, Level::Final), log(9, 15_000_000, Level::Final)];
        observe(&till, &till.scope(), &last).await;
        observe(&till, &till.scope(), &last).await;
        let paid = till.retrieve(&id(&invoice)).await;
        assert_eq!((&paid["status"], &paid["amounts_received"]), (&json!("paid"), &json!([tokens("25.00", BASE)])));
        let payments = till.payments_of(&id(&invoice)).await;
        let mut places: Vec<_> = payments.iter().map(|payment| payment["index"].as_i64().unwrap()).collect();
        places.sort_unstable();
        assert_eq!(places, [4, 9]);
        assert_eq!(balances(&till).await, books(&[("received", BASE, -25_000_000), ("settled", BASE, 25_000_000)]));
    }

    async fn a_token_that_was_not_asked_for_is_refundable_and_told(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let now = till_core::time::parse(&text(&invoice["created_at"])).unwrap();
        let tx = format!("0x{}", "cd".repeat(32));
        let wrong = transfer(&invoice, "EURC@eip155:84532", 7_000_000, &tx, 0, Level::Final, now);
        observe(&till, &till.scope(), &[wrong]).await;
        let after = till.retrieve(&id(&invoice)).await;
        assert_eq!(after["status"], "awaiting_payment");
        let events = till.events(&id(&invoice)).await;
        let last = events.last().unwrap();
        assert_eq!(last["type"], "invoice.wrong_asset");
        assert_eq!(last["data"]["payment"]["status"], "refundable");
        assert_eq!(till.simulate(&id(&invoice), json!({})).await["status"], "paid");
        // Nothing was sent to nobody, and nothing is nothing.
        let zero = transfer(&invoice, BASE, 0, &tx, 1, Level::Final, now);
        let mut strange = transfer(&invoice, BASE, 5, &tx, 2, Level::Final, now);
        strange.recipient = till_chains::example_destination(till_core::asset::Family::Evm).to_owned();
        assert_eq!(observe(&till, &till.scope(), &[zero, strange]).await, [None, None]);
    }
}

//! What an invoice asks for is what it takes, at each moment.

use serde_json::{Value, json};

use crate::claims::{PAYER, claim};
use crate::credit::assert_conserved;
use crate::harness::{BASE, BTC, Mood, Node, Setup, Till, address, id, text};
use crate::periods::settle;
use crate::refunds::{act, refund, reverse, tx};
use crate::statuses::tokens;
use crate::subscriptions;

const HOUR_S: i64 = 3_600;
const USDC: &str = "036cbd53842c5426634e7929541ec2318f3dcf7e";
const SHOP: &str = "70997970c51812dc3a010c7d01b50e0d17dc79c8";

async fn of_ten(till: &Till) -> String {
    let body = json!({ "amount": "10.00", "currency": "USD", "assets": [BASE] });
    id(&till.create(body).await)
}

async fn pay(till: &Till, invoice: &str, asset: &str, amount: &str) -> Value {
    till.simulate(invoice, json!({ "asset": asset, "amount": amount }))
        .await
}

/// The payment of this amount.
async fn paid(till: &Till, invoice: &str, amount: &str) -> Value {
    let mut payments = till.payments_of(invoice).await.into_iter();
    let found = payments.find(|payment| payment["amount"] == amount);
    found.expect("a payment of that amount")
}

async fn seen_by_payer(till: &Till, invoice: &str) -> Value {
    let path = format!("/v1/checkout/invoices/{invoice}");
    till.get(&path).await.ok(200)
}

/// The assets of the ways to pay, and whether each has an address.
fn ways(invoice: &Value) -> Vec<(String, bool)> {
    let options = invoice["payment_options"].as_array().unwrap().iter();
    let way = |option: &Value| (text(&option["asset"]), option["address"].is_string());
    options.map(way).collect()
}

on_every_engine! {
    async fn the_rest_after_a_reversal_is_taken_though_what_came_in_time_is_gone(world: World) {
        let till = world.till().await;
        let invoice = of_ten(&till).await;
        pay(&till, &invoice, BASE, "4").await;
        till.advance(HOUR_S + 60).await;
        assert_eq!(pay(&till, &invoice, BASE, "6").await["status"], "paid_late");
        reverse(&till, &id(&paid(&till, &invoice, "4.00").await)).await;
        let asks = till.retrieve(&invoice).await;
        assert_eq!((&asks["status"], &asks["amount_remaining"]), (&json!("partially_paid"), &tokens("4.00", BASE)));
        till.advance(60).await;
        assert_eq!(pay(&till, &invoice, BASE, "4").await["status"], "paid_late");
        assert_eq!(till.payments_of(&invoice).await.iter().filter(|it| it["status"] == "credited").count(), 2);
    }

    async fn a_rate_that_is_over_is_not_asked_for(world: World) {
        let till = world.till().await;
        let body = json!({ "amount": "25.00", "currency": "USD", "assets": [BTC, BASE] });
        let made = till.create(body).await;
        let invoice = id(&made);
        let part = pay(&till, &invoice, BTC, "0.0001").await;
        assert_eq!((&part["status"], &part["amount_remaining"]["asset"]), (&json!("partially_paid"), &json!(BTC)));
        // Its life of fifteen minutes, and the hour for the rest.
        till.advance(HOUR_S / 4 + HOUR_S - 5).await;
        assert_eq!(ways(&till.retrieve(&invoice).await), [(BTC.to_owned(), true), (BASE.to_owned(), true)]);
        till.advance(10).await;
        let asks = till.retrieve(&invoice).await;
        assert_eq!(ways(&asks), [(BTC.to_owned(), false), (BASE.to_owned(), true)]);
        assert_eq!(asks["amount_remaining"]["asset"], BASE);
        assert_eq!(ways(&seen_by_payer(&till, &invoice).await), [(BASE.to_owned(), true)]);
        let picked = till.post(&format!("/v1/checkout/invoices/{invoice}/payment_option"), json!({ "asset": BTC })).await;
        picked.refused(409, "invoice_not_awaiting_payment", None);
        pay(&till, &invoice, BTC, "0.0003").await;
        assert_eq!(paid(&till, &invoice, "0.0003").await["status"], "refundable");
        let rest = text(&asks["amount_remaining"]["amount"]);
        let done = pay(&till, &invoice, BASE, &rest).await;
        assert_eq!(done["status"], "paid_late");
        assert_eq!(address(&made, BASE), address(&done, BASE));
    }

    async fn a_promise_of_money_that_is_gone_raises_no_price(world: World) {
        let till = world.till().await;
        let invoice = of_ten(&till).await;
        pay(&till, &invoice, BASE, "13").await;
        let made = refund(&till, &invoice, json!({})).await.ok(201);
        assert_eq!(made["amount"], "3.00");
        reverse(&till, &id(&paid(&till, &invoice, "13.00").await)).await;
        assert_eq!(pay(&till, &invoice, BASE, "10").await["status"], "paid");
        // Once it was paid out all the same, it is owed with the price.
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        let other = of_ten(&till).await;
        pay(&till, &other, BASE, "13").await;
        let sent = refund(&till, &other, json!({})).await.ok(201);
        claim(&till, &sent, "eip155:84532", PAYER).await.ok(200);
        act(&till, &sent, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        reverse(&till, &id(&paid(&till, &other, "13.00").await)).await;
        let owed = pay(&till, &other, BASE, "10").await;
        assert_eq!((&owed["status"], &owed["amount_remaining"]["amount"]), (&json!("partially_paid"), &json!("3.00")));
    }

    async fn a_payout_that_is_recorded_after_its_refund_was_cancelled_uncovers_no_price(world: World) {
        let node = Node::start(84_532, Mood::Answers).await;
        let setup = Setup { rpc: [("eip155:84532".to_owned(), vec![node.url()])].into(), ..Setup::default() };
        let till = world.till_with(setup).await;
        let invoice = of_ten(&till).await;
        pay(&till, &invoice, BASE, "8").await;
        let made = refund(&till, &invoice, json!({ "amount": "8" })).await.ok(201);
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        act(&till, &made, "cancel", json!({})).await.ok(200);
        assert_eq!(pay(&till, &invoice, BASE, "2").await["status"], "paid");
        let payer = PAYER.trim_start_matches("0x").to_lowercase();
        node.knows(&tx(1), &[(USDC, SHOP, &payer, 8_000_000)]);
        let sent = act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        assert_eq!(sent["status"], "sent");
        assert_eq!(till.retrieve(&invoice).await["status"], "paid");
        refund(&till, &invoice, json!({ "amount": "2.01" })).await.refused(409, "refund_exceeds_received", "amount");
    }

    async fn an_invoice_that_takes_nothing_more_asks_for_nothing(world: World) {
        let (till, customer) = subscriptions::begin(&world).await;
        let plan = subscriptions::plan(&till, json!({ "amount": "10.00" })).await;
        let made = subscriptions::subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        pay(&till, &invoice, BASE, "4").await;
        till.simulate(&invoice, json!({ "amount": "2", "finality_steps": ["included"] })).await;
        let payers = format!("/v1/checkout/invoices/{invoice}");
        subscriptions::act(&till, &made, "cancel", json!({})).await.ok(200);
        settle(&till).await;
        let seen = till.retrieve(&invoice).await;
        assert_eq!((&seen["status"], &seen["closed_at"]), (&json!("partially_paid"), &Value::Null), "the two are waited for");
        for option in seen["payment_options"].as_array().unwrap() {
            assert_eq!(option["address"], Value::Null, "{option}");
        }
        let payer = till.get(&payers).await.ok(200);
        assert_eq!((&payer["payment_options"], &payer["pending_options"]), (&json!([]), &json!([])));
        assert_eq!(seen["amount_remaining"], tokens("4.00", BASE), "a fact, not a request");
        // What comes nevertheless is to be given back.
        pay(&till, &invoice, BASE, "4").await;
        let payments = till.payments_of(&invoice).await;
        let late = payments.iter().find(|one| one["status"] == "refundable");
        assert_eq!(late.unwrap()["amount"], "4.00");
        assert_conserved(&till).await;
    }
}

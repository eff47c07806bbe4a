//! Prepaid credit: what becomes of a top-up, what takes it, what gives it back, and that no unit is lost on the way.

use futures::future::join_all;
use serde_json::{Value, json};
use till_core::timer::TimerKind;

use crate::harness::{BASE, BTC, NILE, SEPOLIA, Till, data, id, text, until};
use crate::periods::settle;
use crate::statuses::{balances, books, tokens};
use crate::subscriptions::{DAY_S, act, assert_told, begin, look, pay, plan, subscribe, to, told};

const EURC: &str = "EURC@eip155:84532";

/// An invoice that tops up.
pub async fn asked(till: &Till, customer: &str, amount: &str) -> Value {
    let body = json!({ "amount": amount, "currency": "USD" });
    let path = format!("/v1/customers/{customer}/top_up");
    till.post(&path, body).await.ok(201)
}

/// Tops up, in the asset, and gives the invoice.
pub async fn top_up(till: &Till, customer: &str, amount: &str, asset: &str) -> String {
    let invoice = id(&asked(till, customer, amount).await);
    till.simulate(&invoice, json!({ "asset": asset })).await;
    invoice
}

/// Waits until a worker has shared the customer's credit. On PostgreSQL a request does not wait for a worker that has begun with
/// that, and the days ahead are paid a moment later.
pub async fn looked(till: &Till, customer: &str) {
    let (scope, kind) = (till.scope(), TimerKind::ShareCredit);
    until("the credit is looked at", || async {
        let mut reader = till.engine().db.read().await.unwrap();
        let due = till_store::timers::due_at(&mut reader, &scope, kind, customer).await;
        due.unwrap().is_none().then_some(())
    })
    .await;
}

pub async fn credit(till: &Till, customer: &str) -> Value {
    let found = till.get(&format!("/v1/customers/{customer}")).await;
    found.ok(200)["credit"].clone()
}

pub async fn undo(till: &Till, invoice: &str) {
    let payment = id(&till.payments_of(invoice).await[0]);
    let path = format!("/v1/test_helpers/payments/{payment}/reverse");
    till.post(&path, json!({})).await.ok(200);
}

/// What the subscription's latest invoice asks for, in the asset.
pub async fn due(till: &Till, subscription: &Value, asset: &str) -> String {
    let invoice = text(&look(till, subscription).await["latest_invoice"]);
    let invoice = till.retrieve(&invoice).await;
    let options = invoice["payment_options"].as_array().unwrap();
    let option = options.iter().find(|option| option["asset"] == asset);
    text(&option.unwrap()["amount_due"])
}

/// What is set aside or used of payments is what is written down about it, and nothing is below zero.
pub async fn assert_conserved(till: &Till) {
    let mut reader = till.engine().db.read().await.unwrap();
    let sql = "SELECT p.id, p.credit_used, COALESCE(c.units, '0') FROM payments p LEFT JOIN credit_entries c \
        ON c.payment = p.id AND c.returned_at IS NULL";
    let rows: Vec<(String, String, String)> = till_store::Queries::all(&mut reader, sql, &[])
        .await
        .unwrap();
    let mut sums = std::collections::BTreeMap::<(String, u128), u128>::new();
    for (payment, used, units) in rows {
        let key = (payment, used.parse().unwrap());
        *sums.entry(key).or_default() += units.parse::<u128>().unwrap();
    }
    for ((payment, used), written) in sums {
        assert_eq!(used, written, "{payment}");
    }
    for (group, sum) in balances(till).await {
        assert!(sum >= 0 || group.starts_with("received"), "{group}: {sum}");
    }
    let report = till
        .get("/v1/reconciliation?from=2095-01-01&to=2095-12-31")
        .await
        .ok(200);
    let flagged = report["discrepancies"].as_array().unwrap().iter();
    assert_eq!(
        flagged.filter(|one| one["severity"] == "flagged").count(),
        0,
        "{report}"
    );
}

on_every_engine! {
    async fn a_top_up_is_an_ordinary_invoice_and_credit_once_it_is_final(world: World) {
        let (till, customer) = begin(&world).await;
        let invoice = asked(&till, &customer, "100.00").await;
        assert_eq!((&invoice["object"], &invoice["status"]), (&json!("invoice"), &json!("awaiting_payment")));
        assert_eq!((&invoice["customer"], &invoice["subscription"]), (&json!(customer), &Value::Null));
        assert_eq!(invoice["amount"], json!({ "amount": "100.00", "currency": "USD" }));
        let first = id(&invoice);
        till.simulate(&first, json!({ "amount": "30", "finality_steps": ["included", "safe"] })).await;
        assert_eq!(credit(&till, &customer).await, json!([]), "not before it is final");
        till.simulate(&first, json!({ "amount": "30" })).await;
        assert_eq!(credit(&till, &customer).await, json!([tokens("30.00", BASE)]), "in part, too");
        till.simulate(&first, json!({ "amount": "45.5", "asset": NILE })).await;
        let second = top_up(&till, &customer, "1.00", BASE).await;
        till.simulate(&second, json!({ "amount": "7" })).await;
        assert_eq!(till.retrieve(&second).await["status"], "overpaid");
        assert_eq!(credit(&till, &customer).await, json!([tokens("38.00", BASE), tokens("45.50", NILE)]), "everything received");
        assert_eq!(balances(&till).await, books(&[
            ("received", BASE, -38_000_000), ("prepaid_credit", BASE, 38_000_000),
            ("received", NILE, -45_500_000), ("prepaid_credit", NILE, 45_500_000),
        ]));
        undo(&till, &second).await;
        assert_eq!(credit(&till, &customer).await, json!([tokens("31.00", BASE), tokens("45.50", NILE)]), "a reversal takes it back");
        till.advance(4_000).await;
        till.simulate(&second, json!({ "amount": "3" })).await;
        assert_eq!(credit(&till, &customer).await, json!([tokens("34.00", BASE), tokens("45.50", NILE)]));
        let late = id(&asked(&till, &customer, "5.00").await);
        till.advance(4_000).await;
        till.simulate(&late, json!({})).await;
        assert_eq!(credit(&till, &customer).await, json!([tokens("34.00", BASE), tokens("45.50", NILE)]), "what came too late is refundable");
        assert_eq!(data(&till.get("/v1/customers").await.ok(200))[0].get("credit"), None);
    }

    async fn the_excess_of_a_top_up_is_explained_as_credit(world: World) {
        let (till, customer) = begin(&world).await;
        let invoice = id(&asked(&till, &customer, "10.00").await);
        till.simulate(&invoice, json!({ "amount": "12" })).await;
        till.advance(60).await;
        let found = async |till: &Till| {
            let report = till.get("/v1/reconciliation").await.ok(200);
            let found = report["discrepancies"].as_array().unwrap().clone();
            found.iter().map(|one| (text(&one["kind"]), text(&one["amount"]), text(&one["severity"]))).collect::<Vec<_>>()
        };
        assert_eq!(found(&till).await, [("excess_is_credit".to_owned(), "2.00".to_owned(), "explained".to_owned())]);
        till.post(&format!("/v1/invoices/{invoice}/refunds"), json!({})).await.ok(201);
        assert_eq!(found(&till).await, []);
    }

    async fn every_value_of_a_top_up_is_checked(world: World) {
        let (till, customer) = begin(&world).await;
        let path = format!("/v1/customers/{customer}/top_up");
        let check = |body: Value, code: &'static str, param: &'static str| {
            let (till, path) = (till.clone(), path.clone());
            async move { till.post(&path, body).await.refused(400, code, param); }
        };
        check(json!({ "currency": "USD" }), "parameter_missing", "amount").await;
        check(json!({ "amount": "5.00" }), "parameter_missing", "currency").await;
        check(json!({ "amount": "0", "currency": "USD" }), "parameter_invalid", "amount").await;
        check(json!({ "amount": "5.00", "currency": "XXX" }), "currency_unsupported", "currency").await;
        check(json!({ "amount": "5.00", "currency": "USD", "assets": ["X@y"] }), "asset_unavailable", "assets[0]").await;
        check(json!({ "amount": "5.00", "currency": "USD", "assets": [BASE, BTC] }), "asset_unavailable", "assets[1]").await;
        check(json!({ "amount": "5.00", "currency": "USD", "description": "x" }), "parameter_unknown", "description").await;
        let body = json!({ "amount": "5.00", "currency": "USD" });
        till.post("/v1/customers/cus_none/top_up", body.clone()).await.refused(404, "resource_missing", None);
        let other = till.another_account().await;
        other.post(&path, body.clone()).await.refused(404, "resource_missing", None);
        let named = json!({ "amount": "5.00", "currency": "USD", "assets": [SEPOLIA] });
        let made = till.post(&path, named).await.ok(201);
        assert_eq!(made["payment_options"].as_array().unwrap().len(), 1);
        let call = till.posting(&path, body).once("twice");
        let first = call.clone().send().await.ok(201);
        assert_eq!(call.send().await.ok(201), first);
    }

    async fn what_moves_in_price_does_not_top_up(world: World) {
        let (till, customer) = begin(&world).await;
        till.set(json!({ "default_assets": [BTC, BASE] })).await;
        let made = asked(&till, &customer, "5.00").await;
        let options = made["payment_options"].as_array().unwrap().iter();
        assert_eq!(options.map(|option| text(&option["asset"])).collect::<Vec<_>>(), [BASE], "passed over among the defaults");
        till.set(json!({ "default_assets": [BTC] })).await;
        let body = json!({ "amount": "5.00", "currency": "USD" });
        let path = format!("/v1/customers/{customer}/top_up");
        till.post(&path, body).await.refused(400, "asset_unavailable", None);
    }

    async fn credit_pays_a_subscription_before_anything_is_invoiced(world: World) {
        let (till, customer) = begin(&world).await;
        top_up(&till, &customer, "60.00", BASE).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!((&made["status"], &made["latest_invoice"], &made["attempt"]), (&json!("active"), &Value::Null, &json!(0)));
        assert_eq!(credit(&till, &customer).await, json!([tokens("35.00", BASE)]));
        to(&till, "2095-02-27T12:00:00Z").await;
        assert_eq!(look(&till, &made).await["current_period_end"], "2095-03-31T12:00:00Z");
        assert_eq!(credit(&till, &customer).await, json!([tokens("10.00", BASE)]));
        to(&till, "2095-03-30T12:00:00Z").await;
        let short = look(&till, &made).await;
        assert_eq!((&short["status"], &short["attempt"]), (&json!("active"), &json!(1)));
        assert_eq!((due(&till, &made, BASE).await.as_str(), due(&till, &made, NILE).await.as_str()), ("15.00", "15.00"));
        let invoice = till.retrieve(&text(&short["latest_invoice"])).await;
        assert_eq!(invoice["amount"], json!({ "amount": "25.00", "currency": "USD" }), "the price stays what it is");
        assert_eq!(credit(&till, &customer).await, json!([]), "what is set aside cannot be used twice");
        let paid = pay(&till, &made).await;
        assert_eq!((&paid["status"], &paid["current_period_end"]), (&json!("active"), &json!("2095-04-30T12:00:00Z")));
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "paid");
        assert_eq!(balances(&till).await, books(&[("received", BASE, -75_000_000), ("settled", BASE, 75_000_000)]));
        let events = till.events(&id(&made)).await;
        let told: Vec<(String, bool, bool)> = events
            .iter()
            .map(|event| (text(&event["type"]), event["invoice_id"].is_string(), event["data"].get("invoice").is_some()))
            .collect();
        let expected = [("created", false), ("renewed", false), ("renewed", false), ("invoice_created", true), ("renewed", true)];
        assert_eq!(told, expected.map(|(event, invoice)| (format!("subscription.{event}"), invoice, invoice)));
        assert_conserved(&till).await;
    }

    async fn the_oldest_credit_of_the_currency_goes_first_to_the_last_unit(world: World) {
        let (till, customer) = begin(&world).await;
        top_up(&till, &customer, "4.00", NILE).await;
        let euros = json!({ "amount": "50.00", "currency": "EUR", "assets": [EURC] });
        let euros = till.post(&format!("/v1/customers/{customer}/top_up"), euros).await.ok(201);
        till.simulate(&id(&euros), json!({})).await;
        let odd = id(&asked(&till, &customer, "12.35").await);
        till.simulate(&odd, json!({ "amount": "12.345678" })).await;
        assert_eq!(credit(&till, &customer).await, json!([tokens("4.00", NILE), tokens("50.00", EURC), tokens("12.345678", BASE)]));
        let cheap = plan(&till, json!({ "amount": "5.00" })).await;
        assert_eq!(subscribe(&till, &customer, &cheap).await["status"], "active");
        assert_eq!(credit(&till, &customer).await, json!([tokens("50.00", EURC), tokens("11.345678", BASE)]));
        let dear = plan(&till, json!({ "amount": "20.00" })).await;
        let made = subscribe(&till, &customer, &dear).await;
        assert_eq!(made["status"], "incomplete");
        assert_eq!(due(&till, &made, BASE).await, "8.654322");
        assert_eq!(credit(&till, &customer).await, json!([tokens("50.00", EURC)]), "euros pay for nothing in dollars");
        assert_eq!(pay(&till, &made).await["status"], "active");
        assert_conserved(&till).await;
    }

    async fn what_was_set_aside_is_returned_by_whatever_ends_its_invoice(world: World) {
        let (till, customer) = begin(&world).await;
        top_up(&till, &customer, "10.00", BASE).await;
        let plan = plan(&till, json!({ "max_attempts": 2 })).await;
        let all = json!([tokens("10.00", BASE)]);
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!(credit(&till, &customer).await, json!([]));
        act(&till, &made, "cancel", json!({})).await.ok(200);
        assert_eq!(credit(&till, &customer).await, all, "cancelled");
        let trial = json!({ "customer": customer, "plan": plan, "trial_days": 1 });
        let made = till.post("/v1/subscriptions", trial).await.ok(201);
        assert_eq!(due(&till, &made, BASE).await, "15.00");
        act(&till, &made, "pause", json!({})).await.ok(200);
        assert_eq!(credit(&till, &customer).await, all, "paused");
        act(&till, &made, "resume", json!({})).await.ok(200);
        assert_eq!((due(&till, &made, BASE).await.as_str(), credit(&till, &customer).await), ("15.00", json!([])));
        let before = balances(&till).await;
        till.advance(5 * DAY_S).await;
        let again = look(&till, &made).await;
        assert_eq!((&again["status"], &again["attempt"]), (&json!("past_due"), &json!(2)));
        assert_eq!((due(&till, &made, BASE).await.as_str(), credit(&till, &customer).await), ("15.00", json!([])), "and set aside again");
        assert_eq!(balances(&till).await, before);
        till.advance(4 * DAY_S).await;
        assert_eq!(look(&till, &made).await["cancellation_reason"], "unpaid");
        assert_eq!(credit(&till, &customer).await, all, "unpaid");
        assert_eq!(balances(&till).await, books(&[("received", BASE, -10_000_000), ("prepaid_credit", BASE, 10_000_000)]));
        assert_conserved(&till).await;
    }

    async fn credit_for_a_period_that_has_not_begun_is_returned_by_an_end(world: World) {
        let (till, customer) = begin(&world).await;
        let first = top_up(&till, &customer, "25.00", BASE).await;
        let plan = plan(&till, json!({ "trial_days": 5 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        till.advance(4 * DAY_S + 60).await;
        assert_eq!(look(&till, &made).await["current_period_start"], "2095-02-05T12:00:00Z");
        assert_eq!(credit(&till, &customer).await, json!([]));
        let ended = act(&till, &made, "cancel", json!({})).await.ok(200);
        assert_eq!(ended["status"], "cancelled");
        assert_eq!(credit(&till, &customer).await, json!([tokens("25.00", BASE)]), "it is for nothing that there was");
        assert_conserved(&till).await;
        till.post(&format!("/v1/invoices/{first}/refunds"), json!({ "amount": "25.00" })).await.ok(201);
        // Of a period that has begun nothing is.
        top_up(&till, &customer, "25.00", BASE).await;
        let begun = subscribe(&till, &customer, &plan).await;
        till.advance(5 * DAY_S + 60).await;
        act(&till, &begun, "cancel", json!({})).await.ok(200);
        assert_eq!(credit(&till, &customer).await, json!([]));
        assert_conserved(&till).await;
    }

    async fn days_that_lie_ahead_are_given_back_and_the_one_that_runs_is_not(world: World) {
        let (till, customer) = begin(&world).await;
        top_up(&till, &customer, "75.00", BASE).await;
        let plan = plan(&till, json!({ "interval": "day" })).await;
        looked(&till, &customer).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!(credit(&till, &customer).await, json!([tokens("25.00", BASE)]));
        act(&till, &made, "cancel", json!({})).await.ok(200);
        assert_eq!(credit(&till, &customer).await, json!([tokens("50.00", BASE)]));
        assert_conserved(&till).await;
    }

    async fn a_top_up_between_two_attempts_counts_for_the_second(world: World) {
        let (till, customer) = begin(&world).await;
        top_up(&till, &customer, "10.00", BASE).await;
        let plan = plan(&till, json!({ "trial_days": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        settle(&till).await;
        assert_eq!(due(&till, &made, BASE).await, "15.00");
        top_up(&till, &customer, "20.00", NILE).await;
        till.advance(5 * DAY_S).await;
        let paid = look(&till, &made).await;
        assert_eq!((&paid["status"], &paid["attempt"], &paid["past_due_since"]), (&json!("active"), &json!(0), &Value::Null));
        assert_eq!(credit(&till, &customer).await, json!([tokens("5.00", NILE)]));
        assert_conserved(&till).await;
    }

    async fn a_period_that_lost_its_credit_is_unpaid_again(world: World) {
        let (till, customer) = begin(&world).await;
        let first = top_up(&till, &customer, "15.00", BASE).await;
        top_up(&till, &customer, "15.00", BASE).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!(made["status"], "active");
        undo(&till, &first).await;
        let unpaid = until("the period is unpaid", || async {
            Some(look(&till, &made).await).filter(|now| now["attempt"] == 1)
        }).await;
        assert_eq!(unpaid["status"], "active", "its grace is not over");
        assert_eq!((due(&till, &made, BASE).await.as_str(), credit(&till, &customer).await), ("10.00", json!([])));
        assert_eq!(pay(&till, &made).await["status"], "active");
        assert_eq!(balances(&till).await, books(&[("received", BASE, -25_000_000), ("settled", BASE, 25_000_000)]));
        assert_conserved(&till).await;
    }

    async fn an_open_invoice_whose_credit_is_gone_makes_room_for_another(world: World) {
        let (till, customer) = begin(&world).await;
        let first = top_up(&till, &customer, "10.00", BASE).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let lowered = text(&made["latest_invoice"]);
        undo(&till, &first).await;
        let charged = until("another invoice", || async {
            Some(look(&till, &made).await).filter(|now| now["latest_invoice"] != json!(lowered))
        }).await;
        assert_eq!((&charged["status"], &charged["attempt"]), (&json!("incomplete"), &json!(1)));
        assert_eq!(till.retrieve(&lowered).await["status"], "cancelled");
        assert_eq!(due(&till, &made, BASE).await, "25.00");
        assert_conserved(&till).await;
    }

    async fn credit_can_be_refunded_and_then_pays_for_nothing(world: World) {
        let (till, customer) = begin(&world).await;
        let invoice = top_up(&till, &customer, "30.00", BASE).await;
        let refund = json!({ "amount": "10.00" });
        let refund = till.post(&format!("/v1/invoices/{invoice}/refunds"), refund).await.ok(201);
        assert_eq!(credit(&till, &customer).await, json!([tokens("20.00", BASE)]));
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!((due(&till, &made, BASE).await.as_str(), credit(&till, &customer).await), ("5.00", json!([])));
        till.post(&format!("/v1/refunds/{}/cancel", id(&refund)), json!({})).await.ok(200);
        assert_eq!(credit(&till, &customer).await, json!([tokens("10.00", BASE)]));
        assert_conserved(&till).await;
    }

    async fn days_are_paid_from_credit_as_long_as_it_lasts(world: World) {
        let (till, customer) = begin(&world).await;
        let daily = plan(&till, json!({ "amount": "1.00", "interval": "day", "max_attempts": 1, "grace_days": 0 })).await;
        top_up(&till, &customer, "3.00", BASE).await;
        let made = subscribe(&till, &customer, &daily).await;
        to(&till, "2095-02-10T00:00:00Z").await;
        assert_eq!(look(&till, &made).await["cancellation_reason"], "unpaid");
        assert_told(&told(&till).await, "
            2095-01-31T12 invoice.created
            2095-01-31T12 invoice.detected
            2095-01-31T12 invoice.paid
            2095-01-31T12 subscription.created
            2095-01-31T12 subscription.renewed
            2095-01-31T12 subscription.renewed
            2095-02-01T12 subscription.renewed
            2095-02-02T12 invoice.created
            2095-02-02T12 subscription.invoice_created
            2095-02-03T12 invoice.expired
            2095-02-03T12 subscription.past_due
            2095-02-03T12 subscription.cancelled
        ");
        assert_conserved(&till).await;
    }
}

on_every_engine! {
    async fn whatever_subscribes_at_once_credit_is_never_below_zero(world: World) {
        let (till, customer) = begin(&world).await;
        top_up(&till, &customer, "40.00", BASE).await;
        top_up(&till, &customer, "45.00", NILE).await;
        let plan = plan(&till, json!({})).await;
        let asked = (0..8).map(|_| subscribe(&till, &customer, &plan));
        let made = join_all(asked).await;
        let active = made.iter().filter(|one| one["status"] == "active");
        assert_eq!(active.count(), 3);
        assert_eq!(credit(&till, &customer).await, json!([]));
        assert_conserved(&till).await;
        let paths = made.iter().map(|one| format!("/v1/subscriptions/{}/cancel", id(one)));
        let paths: Vec<String> = paths.collect();
        join_all(paths.iter().map(|path| till.post(path, json!({})))).await;
        let left = credit(&till, &customer).await;
        let left = left.as_array().unwrap().iter().map(|one| text(&one["amount"]));
        assert_eq!(left.collect::<Vec<_>>(), ["10.00"], "what was only set aside came back");
        assert_conserved(&till).await;
    }
}

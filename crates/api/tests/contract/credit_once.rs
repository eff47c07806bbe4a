//! Credit is there once: what a period has is nobody's to refund, and what is refunded pays for nothing.

use futures::future::join_all;
use serde_json::{Value, json};

use crate::attempts::{comes_back, payable, reverse};
use crate::checkout::bind;
use crate::credit::{asked, assert_conserved, credit, due, top_up};
use crate::harness::{BASE, Setup, Till, id, text};
use crate::periods::{period, settle, weekly};
use crate::reviews::{decide, listed};
use crate::statuses::{balances, books, tokens};
use crate::subscriptions::{DAY_S, START, act, begin, look, pay, plan, subscribe, to, told};

async fn refund(till: &Till, invoice: &str, amount: &str) -> crate::harness::Reply {
    let path = format!("/v1/invoices/{invoice}/refunds");
    till.post(&path, json!({ "amount": amount })).await
}

async fn reject(till: &Till, invoice: &str) {
    let body = json!({ "decision": "reject", "reason": "not theirs" });
    let path = format!("/v1/invoices/{invoice}/resolve_review");
    till.post(&path, body).await.ok(200);
}

/// No more of a payment is promised, sent, set aside and used together than there is of it.
async fn assert_once(till: &Till) {
    let sql = "SELECT units, credit_used, refunds_due, refunds_sent FROM payments";
    let mut reader = till.engine().db.read().await.unwrap();
    let rows: Vec<(String, String, String, String)> =
        till_store::Queries::all(&mut reader, sql, &[])
            .await
            .unwrap();
    for (units, used, due, sent) in rows {
        let [units, used, due, sent] =
            [units, used, due, sent].map(|text| text.parse::<u128>().unwrap());
        assert!(
            used + due + sent <= units,
            "{used} used, {due} due and {sent} sent of {units}"
        );
    }
}

/// Where several commands about one customer wait for each other, one may be told to come again: nothing was kept then.
async fn subscribe_in_the_end(till: &Till, customer: &str, plan: &str) -> Value {
    const TRIES: u32 = 5;
    let body = json!({ "customer": customer, "plan": plan });
    for _ in 1..TRIES {
        let reply = till.post("/v1/subscriptions", body.clone()).await;
        if reply.status != 503 {
            return reply.ok(201);
        }
    }
    till.post("/v1/subscriptions", body).await.ok(201)
}

on_every_engine! {
    async fn what_is_no_longer_on_its_way_is_asked_of_credit(world: World) {
        let (till, _) = begin(&world).await;
        for leaves_first in [true, false] {
            let till = till.another_account().await;
            to(&till, START).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let plan = plan(&till, json!({ "amount": "10.00" })).await;
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            till.simulate(&invoice, json!({ "amount": "3" })).await;
            let on_its_way = json!({ "amount": "7", "finality_steps": ["pending"] });
            till.simulate(&invoice, on_its_way).await;
            let payments = till.payments_of(&invoice).await;
            let pending = payments.iter().find(|it| it["status"] == "pending").unwrap();
            if leaves_first {
                reverse(&till, pending).await;
            }
            top_up(&till, &customer, "10.00", BASE).await;
            if !leaves_first {
                settle(&till).await;
                reverse(&till, pending).await;
            }
            settle(&till).await;
            assert_eq!(look(&till, &made).await["status"], "active", "leaves first: {leaves_first}");
            assert_eq!(credit(&till, &customer).await, json!([tokens("3.00", BASE)]));
            assert_conserved(&till).await;
        }
    }

    async fn what_has_ended_takes_nothing_of_what_the_customer_pays_later(world: World) {
        let (till, customer) = begin(&world).await;
        let first = top_up(&till, &customer, "4.00", BASE).await;
        let plan = plan(&till, json!({ "amount": "10.00" })).await;
        let ended = subscribe(&till, &customer, &plan).await;
        pay(&till, &ended).await;
        act(&till, &ended, "cancel", json!({})).await.ok(200);
        reverse(&till, &till.payments_of(&first).await[0]).await;
        settle(&till).await;
        till.advance(DAY_S).await;
        let live = subscribe(&till, &customer, &plan).await;
        top_up(&till, &customer, "10.00", BASE).await;
        settle(&till).await;
        assert_eq!(look(&till, &live).await["status"], "active");
        assert_eq!(credit(&till, &customer).await, json!([]));
        assert_conserved(&till).await;
    }

    async fn an_invoice_is_not_paid_with_credit_that_has_left_the_chain(world: World) {
        // No worker looks at what it means that the top-up is gone.
        let till = world.till_with(Setup { workers: false, ..Setup::default() }).await;
        world.clock.stop();
        to(&till, START).await;
        let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
        let first = top_up(&till, &customer, "4.00", BASE).await;
        let plan = plan(&till, json!({ "amount": "10.00" })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        reverse(&till, &till.payments_of(&first).await[0]).await;
        till.simulate(&invoice, json!({ "amount": "6" })).await;
        settle(&till).await;
        assert_ne!(look(&till, &made).await["status"], "active");
        let told = told(&till).await;
        let count = |event: &str| told.iter().filter(|it| it.ends_with(event)).count();
        assert_eq!((count("invoice.paid"), count("subscription.renewed")), (1, 0), "the top-up alone was paid: {told:?}");
        assert_conserved(&till).await;
    }

    async fn a_tolerance_that_is_set_later_pays_no_period_twice(world: World) {
        let (till, customer) = begin(&world).await;
        let first = top_up(&till, &customer, "9.00", BASE).await;
        let plan = weekly(&till, json!({ "amount": "10.00" })).await;
        let made = subscribe(&till, &customer, &plan).await;
        till.set(json!({ "underpay_tolerance_bps": 1000 })).await;
        top_up(&till, &customer, "0.50", BASE).await;
        settle(&till).await;
        assert_once(&till).await;
        assert_eq!(due(&till, &made, BASE).await, "0.50", "what an invoice tolerates is said when it is made");
        assert_eq!(look(&till, &made).await["status"], "incomplete");
        pay(&till, &made).await;
        assert_eq!((&look(&till, &made).await["status"], payable(&till, &made).await.len()), (&json!("active"), 0));
        reverse(&till, &till.payments_of(&first).await[0]).await;
        settle(&till).await;
        assert_eq!(payable(&till, &made).await.len(), 1, "nothing is paid by what has left the chain");
        assert_once(&till).await;
        assert_conserved(&till).await;
    }

    async fn credit_pays_nothing_while_nobody_is_charged_and_is_asked_when_somebody_is(world: World) {
        let (till, _) = begin(&world).await;
        for (what, days) in [("pause", 2), ("pause", 14), ("cancel", 1)] {
            let till = till.another_account().await;
            to(&till, START).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let plan = weekly(&till, json!({ "amount": "10.00" })).await;
            let made = subscribe(&till, &customer, &plan).await;
            pay(&till, &made).await;
            till.advance(6 * DAY_S + 3600).await;
            let renewal = text(&look(&till, &made).await["latest_invoice"]);
            till.simulate(&renewal, json!({ "amount": "4" })).await;
            let body = if what == "cancel" { json!({ "at_period_end": true }) } else { json!({}) };
            act(&till, &made, what, body).await.ok(200);
            let before = period(&look(&till, &made).await);
            till.advance(days * DAY_S).await;
            top_up(&till, &customer, "20.00", BASE).await;
            settle(&till).await;
            assert_eq!(credit(&till, &customer).await, json!([tokens("20.00", BASE)]), "{what} {days}");
            if what == "cancel" {
                assert_eq!((period(&look(&till, &made).await), &look(&till, &made).await["status"]), (before, &json!("cancelled")));
                continue;
            }
            act(&till, &made, "resume", json!({})).await.ok(200);
            settle(&till).await;
            let resumed = look(&till, &made).await;
            assert_eq!((&resumed["status"], credit(&till, &customer).await), (&json!("active"), json!([tokens("14.00", BASE)])), "{what} {days}: {resumed}");
            assert_eq!(payable(&till, &made).await.len(), 0);
            assert_conserved(&till).await;
        }
    }

    async fn what_is_set_aside_or_used_cannot_be_refunded(world: World) {
        let (till, customer) = begin(&world).await;
        let invoice = top_up(&till, &customer, "60.00", BASE).await;
        let plan = plan(&till, json!({})).await;
        assert_eq!(subscribe(&till, &customer, &plan).await["status"], "active");
        refund(&till, &invoice, "35.01").await.refused(409, "refund_exceeds_received", "amount");
        let dear = crate::subscriptions::plan(&till, json!({ "amount": "40.00" })).await;
        let waiting = subscribe(&till, &customer, &dear).await;
        assert_eq!((due(&till, &waiting, BASE).await.as_str(), credit(&till, &customer).await), ("5.00", json!([])));
        refund(&till, &invoice, "0.01").await.refused(409, "refund_exceeds_received", "amount");
        act(&till, &waiting, "cancel", json!({})).await.ok(200);
        refund(&till, &invoice, "35.00").await.ok(201);
        assert_eq!(credit(&till, &customer).await, json!([]));
        assert_eq!(balances(&till).await, books(&[
            ("received", BASE, -60_000_000), ("settled", BASE, 25_000_000), ("refunds_due", BASE, 35_000_000),
        ]));
        assert_conserved(&till).await;
    }

    async fn a_top_up_that_is_rejected_gives_back_only_what_is_left_of_it(world: World) {
        let (till, customer) = begin(&world).await;
        till.set(json!({ "manual_review_amount": "50" })).await;
        let invoice = id(&asked(&till, &customer, "100.00").await);
        till.simulate(&invoice, json!({ "amount": "40" })).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!(made["status"], "active");
        till.simulate(&invoice, json!({ "amount": "60" })).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "under_review");
        reject(&till, &invoice).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "cancelled");
        assert_eq!((credit(&till, &customer).await, &look(&till, &made).await["status"]), (json!([]), &json!("active")));
        refund(&till, &invoice, "75.01").await.refused(409, "refund_exceeds_received", "amount");
        refund(&till, &invoice, "75.00").await.ok(201);
        assert_eq!(balances(&till).await, books(&[
            ("received", BASE, -100_000_000), ("settled", BASE, 25_000_000), ("refunds_due", BASE, 75_000_000),
        ]));
        assert_conserved(&till).await;
    }

    async fn a_used_payment_of_a_rejected_top_up_does_not_read_refundable(world: World) {
        let (till, customer) = begin(&world).await;
        till.set(json!({ "manual_review_amount": "50" })).await;
        let invoice = id(&asked(&till, &customer, "100.00").await);
        till.simulate(&invoice, json!({ "amount": "25" })).await;
        let plan = plan(&till, json!({})).await;
        assert_eq!(subscribe(&till, &customer, &plan).await["status"], "active");
        till.simulate(&invoice, json!({ "amount": "60" })).await;
        reject(&till, &invoice).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "cancelled");
        let mut seen: Vec<_> = till.payments_of(&invoice).await.iter().map(|it| (text(&it["amount"]), text(&it["status"]))).collect();
        seen.sort();
        assert_eq!(seen, [("25.00".to_owned(), "credited".to_owned()), ("60.00".to_owned(), "refundable".to_owned())]);
        refund(&till, &invoice, "60.01").await.refused(409, "refund_exceeds_received", "amount");
        refund(&till, &invoice, "60").await.ok(201);
        assert_conserved(&till).await;
    }

    async fn a_period_that_a_rejected_top_up_had_paid_stays_paid_when_credit_comes_in(world: World) {
        let (till, customer) = begin(&world).await;
        till.set(json!({ "manual_review_amount": "50" })).await;
        let invoice = id(&asked(&till, &customer, "100.00").await);
        till.simulate(&invoice, json!({ "amount": "25" })).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!(made["status"], "active");
        till.simulate(&invoice, json!({ "amount": "60" })).await;
        reject(&till, &invoice).await;
        top_up(&till, &customer, "4.00", BASE).await;
        settle(&till).await;
        let seen = look(&till, &made).await;
        assert_eq!((&seen["status"], &seen["current_period_end"]), (&made["status"], &made["current_period_end"]));
        assert_eq!(credit(&till, &customer).await, json!([tokens("4.00", BASE)]), "nothing is asked of it");
        refund(&till, &invoice, "60.01").await.refused(409, "refund_exceeds_received", "amount");
        assert_conserved(&till).await;
    }

    async fn what_a_rejected_top_up_had_set_aside_is_refundable_once_it_is_not_used(world: World) {
        let (till, customer) = begin(&world).await;
        till.set(json!({ "manual_review_amount": "50" })).await;
        let invoice = id(&asked(&till, &customer, "100.00").await);
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!(due(&till, &made, BASE).await, "15.00");
        till.simulate(&invoice, json!({ "amount": "60" })).await;
        reject(&till, &invoice).await;
        refund(&till, &invoice, "60.01").await.refused(409, "refund_exceeds_received", "amount");
        act(&till, &made, "cancel", json!({})).await.ok(200);
        assert_eq!(credit(&till, &customer).await, json!([]));
        refund(&till, &invoice, "70.00").await.ok(201);
        assert_conserved(&till).await;
    }

    async fn dust_that_paid_for_something_is_not_given_back_when_its_top_up_expires(world: World) {
        let (till, customer) = begin(&world).await;
        let invoice = id(&asked(&till, &customer, "1.00").await);
        till.simulate(&invoice, json!({ "amount": "0.009" })).await;
        assert_eq!(credit(&till, &customer).await, json!([tokens("0.009", BASE)]));
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        assert_eq!(due(&till, &made, BASE).await, "24.991");
        till.advance(4_000).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "expired");
        pay(&till, &made).await;
        refund(&till, &invoice, "0.009").await.refused(409, "refund_exceeds_received", "amount");
        assert_conserved(&till).await;
    }

    async fn credit_that_comes_in_closes_no_open_renewal_under_its_payers_hands(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let open = text(&made["latest_invoice"]);
        let address = till.retrieve(&open).await["payment_options"].clone();
        // A stranger sends next to nothing to an old top-up, again and again, and the customer tops up beside that.
        let paid = top_up(&till, &customer, "4.00", BASE).await;
        settle(&till).await;
        for _ in 0..3 {
            till.simulate(&paid, json!({ "amount": "0.000001" })).await;
            settle(&till).await;
        }
        let seen = look(&till, &made).await;
        assert_eq!((&seen["latest_invoice"], due(&till, &made, BASE).await), (&json!(open), "20.999997".to_owned()));
        let asked = till.retrieve(&open).await;
        assert_eq!((&asked["status"], &asked["payment_options"][0]["address"]), (&json!("awaiting_payment"), &address[0]["address"]));
        assert_eq!(till.event_types(&open).await, ["invoice.created"]);
        // Who saw the invoice before pays what it asked for then.
        till.simulate(&open, json!({ "amount": "25" })).await;
        settle(&till).await;
        assert_eq!(look(&till, &made).await["status"], "active");
        assert_eq!(till.retrieve(&open).await["amount_overpaid"], tokens("4.000003", BASE), "it can be given back");
        assert_conserved(&till).await;
    }

    async fn what_lowers_an_open_invoice_is_not_taken_by_who_is_charged_again(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let paused = subscribe(&till, &customer, &plan).await;
        till.simulate(&text(&paused["latest_invoice"]), json!({})).await;
        till.advance(32 * DAY_S).await;
        settle(&till).await;
        act(&till, &paused, "pause", json!({})).await.ok(200);
        let other = subscribe(&till, &customer, &plan).await;
        let open = text(&other["latest_invoice"]);
        top_up(&till, &customer, "4.00", BASE).await;
        settle(&till).await;
        assert_eq!(due(&till, &other, BASE).await, "21.00");
        // It was asked for before the other one, and is charged again.
        act(&till, &paused, "resume", json!({})).await.ok(200);
        settle(&till).await;
        assert_eq!(look(&till, &other).await["latest_invoice"], json!(open));
        assert_eq!(till.retrieve(&open).await["status"], "awaiting_payment");
        assert_eq!((due(&till, &paused, BASE).await, due(&till, &other, BASE).await), ("25.00".to_owned(), "21.00".to_owned()));
        // What comes in afterwards goes to the one that was asked for first.
        top_up(&till, &customer, "6.00", BASE).await;
        settle(&till).await;
        assert_eq!((due(&till, &paused, BASE).await, due(&till, &other, BASE).await), ("19.00".to_owned(), "21.00".to_owned()));
        assert_conserved(&till).await;
    }

    async fn who_waits_for_a_rest_that_the_same_credit_pays_keeps_nobody_waiting(world: World) {
        let (till, first_customer) = begin(&world).await;
        let second_customer = id(&till.post("/v1/customers", json!({ "name": "Grace" })).await.ok(201));
        let mut ends = Vec::new();
        for (customer, first_is_part) in [(first_customer, true), (second_customer, false)] {
            let plan = plan(&till, json!({ "amount": "7.50", "interval": "week", "max_attempts": 3, "assets": [BASE] })).await;
            top_up(&till, &customer, "6.00", BASE).await;
            let made = subscribe(&till, &customer, &plan).await;
            settle(&till).await;
            let first = text(&look(&till, &made).await["latest_invoice"]);
            for amount in ["1", "0.5"] {
                till.simulate(&first, json!({ "amount": amount })).await;
            }
            settle(&till).await;
            let mut topped_up = Vec::new();
            for amount in ["2.50", "1.00", "6.00", "6.00", "2.50"] {
                topped_up.push(top_up(&till, &customer, amount, BASE).await);
                settle(&till).await;
            }
            till.advance(25 * DAY_S).await;
            let fourth = text(&look(&till, &made).await["latest_invoice"]);
            till.simulate(&fourth, json!({})).await;
            settle(&till).await;
            assert_eq!(look(&till, &made).await["status"], "active");
            let parts = till.payments_of(&first).await;
            let part = parts.iter().find(|part| part["amount"] == "0.50").unwrap();
            let credit = &till.payments_of(&topped_up[3]).await[0];
            let mut reversed = [part, credit];
            if !first_is_part {
                reversed.reverse();
            }
            for payment in reversed {
                reverse(&till, payment).await;
                settle(&till).await;
            }
            settle(&till).await;
            let seen = look(&till, &made).await;
            let asked = due(&till, &made, BASE).await;
            let rest = till.retrieve(&fourth).await["amount_remaining"]["amount"].clone();
            ends.push((seen["status"].clone(), asked, rest));
            assert_conserved(&till).await;
        }
        assert_eq!(ends[0], ends[1]);
        assert_eq!(ends[0].1, "6.00");
    }

    async fn credit_pays_a_period_whose_part_payment_was_refunded(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({ "assets": [BASE] })).await;
        // What pays another subscription of the same customer leaves the chain later.
        let first_top_up = top_up(&till, &customer, "25.00", BASE).await;
        let other = subscribe(&till, &customer, &plan).await;
        let made = subscribe(&till, &customer, &plan).await;
        settle(&till).await;
        assert_eq!(look(&till, &other).await["status"], "active");
        let open = text(&look(&till, &made).await["latest_invoice"]);
        till.simulate(&open, json!({ "amount": "1" })).await;
        let back = refund(&till, &open, "1").await.ok(201);
        assert_eq!(till.retrieve(&open).await["amount_remaining"], tokens("25.00", BASE));
        // A part of the price lowers the invoice, in its place.
        top_up(&till, &customer, "10.00", BASE).await;
        settle(&till).await;
        assert_eq!((look(&till, &made).await["status"].clone(), due(&till, &made, BASE).await), (json!("incomplete"), "15.00".to_owned()));
        top_up(&till, &customer, "40.00", BASE).await;
        settle(&till).await;
        assert_eq!(look(&till, &made).await["status"], "active");
        assert_eq!(till.retrieve(&open).await["status"], "cancelled");
        assert_eq!(credit(&till, &customer).await, json!([tokens("25.00", BASE)]));
        // A refund that is taken back gives back what it took: the part counts again, and credit pays the rest alone.
        till.post(&format!("/v1/refunds/{}/cancel", id(&back)), json!({})).await.ok(200);
        settle(&till).await;
        assert_eq!((till.retrieve(&open).await["status"].clone(), look(&till, &made).await["status"].clone()), (json!("paid"), json!("active")));
        assert_eq!(credit(&till, &customer).await, json!([tokens("26.00", BASE)]));
        reverse(&till, &till.payments_of(&first_top_up).await[0]).await;
        settle(&till).await;
        assert_eq!(look(&till, &other).await["status"], "active", "paid by what is left");
        assert_eq!(credit(&till, &customer).await, json!([tokens("1.00", BASE)]));
        assert_conserved(&till).await;
    }

    async fn a_wallet_that_was_told_more_before_may_still_send_that(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        let wallet = "0x1111111111111111111111111111111111111111";
        for (sends, status) in [("25.00", "overpaid"), ("21.00", "paid")] {
            let made = subscribe(&till, &customer, &plan).await;
            let open = till.retrieve(&text(&made["latest_invoice"])).await;
            assert_eq!(bind(&till, &open, BASE, wallet).await.ok(200)["amount"], "25.00");
            top_up(&till, &customer, "4.00", BASE).await;
            settle(&till).await;
            for _ in 0..2 {
                assert_eq!(bind(&till, &open, BASE, wallet).await.ok(200)["amount"], "21.00");
            }
            till.simulate(&id(&open), json!({ "asset": BASE, "sender": wallet, "amount": sends })).await;
            let payment = &till.payments_of(&id(&open)).await[0];
            assert_eq!(payment["attributed_by"], "wallet_binding");
            assert_eq!(till.retrieve(&id(&open)).await["status"], status);
            assert_eq!(look(&till, &made).await["status"], "active");
            act(&till, &made, "cancel", json!({})).await.ok(200);
            assert_conserved(&till).await;
            // So that the amounts are nobody's by then.
            till.advance(121).await;
        }
    }

    async fn refunds_and_renewals_at_once_take_no_unit_twice(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = plan(&till, json!({})).await;
        for _ in 0..6 {
            let invoice = top_up(&till, &customer, "30.00", BASE).await;
            let path = format!("/v1/invoices/{invoice}/refunds");
            let refunds = join_all((0..2).map(|_| till.post(&path, json!({ "amount": "20.00" }))));
            let subscribed = join_all((0..2).map(|_| subscribe_in_the_end(&till, &customer, &plan)));
            let (refunds, subscribed) = futures::join!(refunds, subscribed);
            let refunded = refunds.iter().filter(|reply| reply.status == 201).count();
            assert!(refunded <= 1, "{refunded} refunds of 20 out of 30");
            assert_once(&till).await;
            for made in subscribed {
                act(&till, &made, "cancel", json!({})).await.ok(200);
            }
            assert_conserved(&till).await;
        }
    }

    async fn an_end_that_returns_credit_leaves_its_invoice_asking_for_the_whole_price(world: World) {
        let (till, _) = begin(&world).await;
        for comes_as in ["held", "on its way", "held beside a part"] {
            let till = till.another_account().await;
            to(&till, START).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            top_up(&till, &customer, "4.00", BASE).await;
            let plan = weekly(&till, json!({})).await;
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            let stranger = listed(till_core::asset::Family::Evm, "sanctions");
            match comes_as {
                "held" => drop(till.simulate(&invoice, json!({ "amount": "6", "sender": stranger })).await),
                "on its way" => drop(till.simulate(&invoice, json!({ "amount": "6", "finality_steps": ["included"] })).await),
                _ => {
                    till.simulate(&invoice, json!({ "amount": "2" })).await;
                    till.simulate(&invoice, json!({ "amount": "4", "sender": stranger })).await;
                }
            }
            act(&till, &made, "cancel", json!({})).await.ok(200);
            assert_eq!(credit(&till, &customer).await, json!([tokens("4.00", BASE)]), "{comes_as}");
            match comes_as {
                "on its way" => comes_back(&till, &invoice).await,
                _ => drop(decide(&till, &invoice, "accept").await.ok(200)),
            }
            settle(&till).await;
            let left = till.retrieve(&invoice).await;
            assert_eq!((&left["status"], &left["amount_remaining"]), (&json!("partially_paid"), &tokens("4.00", BASE)), "{comes_as}");
            assert!(left["closed_at"].is_string(), "{comes_as}: it takes nothing more");
            assert_eq!(credit(&till, &customer).await, json!([tokens("4.00", BASE)]), "{comes_as}: it pays for nothing that has ended");
            assert_eq!(balances(&till).await, books(&[
                ("received", BASE, -10_000_000), ("settled", BASE, 6_000_000), ("prepaid_credit", BASE, 4_000_000),
            ]));
            refund(&till, &invoice, "6").await.ok(201);
            assert_conserved(&till).await;
        }
    }
}

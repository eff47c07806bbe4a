//! Money stays where it belongs: late, small, listed and decided payments, and the ones that go away again.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::actor::Actor;
use till_core::asset::Family;
use till_core::error::Code;
use till_core::payment::Level;
use till_engine::Fail;
use till_engine::intake::{Observation, Sighting, take_in};
use till_engine::invoices::{Decision, Resolve, Via, held_payments, resolve_review};
use till_store::Queries as _;

use crate::harness::{BASE, BTC, NILE, Till, address, id, text, until};
use crate::reviews::{decide, listed};
use crate::statuses::{balances, books, observe, tokens, transfer};

const EURC: &str = "EURC@eip155:84532";
const SPECK: &str = "0.000001";

async fn reverse(till: &Till, payment: &Value) -> Value {
    let path = format!("/v1/test_helpers/payments/{}/reverse", id(payment));
    till.post(&path, json!({})).await.ok(200)
}

/// The statuses of an invoice's payments, the newest first.
async fn statuses(till: &Till, invoice: &str) -> Vec<String> {
    let payments = till.payments_of(invoice).await;
    payments.iter().map(|it| text(&it["status"])).collect()
}

async fn cancel(till: &Till, invoice: &str) {
    let path = format!("/v1/invoices/{invoice}/cancel");
    till.post(&path, json!({})).await.ok(200);
}

/// An invoice as [`transfer`] wants it, with an address on Base that stands for another.
fn as_on_base(invoice: &Value) -> Value {
    let mut with = invoice.clone();
    let option = json!({ "asset": BASE, "address": address(invoice, BTC) });
    with["payment_options"] = json!([option]);
    with
}

fn now(invoice: &Value) -> i64 {
    till_core::time::parse(&text(&invoice["created_at"])).unwrap()
}

on_every_engine! {
    async fn what_was_credited_stays_when_the_payment_that_kept_the_invoice_open_goes(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let seen = till.simulate(&invoice, json!({ "amount": "10", "finality_steps": ["pending"] })).await;
        assert_eq!(seen["status"], "detected");
        let first = till.payments_of(&invoice).await.remove(0);
        till.advance(3_601).await;
        let paid = till.simulate(&invoice, json!({})).await;
        assert_eq!(paid["status"], "paid_late");
        let told = till.event_types(&invoice).await;
        reverse(&till, &first).await;
        let after = till.retrieve(&invoice).await;
        assert_eq!(after["status"], "paid_late");
        assert_eq!(after["paid_at"], paid["paid_at"]);
        assert_eq!(statuses(&till, &invoice).await, ["credited", "reversed"]);
        assert_eq!(till.event_types(&invoice).await, told, "nothing happened to the invoice");
        assert_eq!(balances(&till).await, books(&[("received", BASE, -25_000_000), ("settled", BASE, 25_000_000)]));
    }

    async fn a_part_in_time_keeps_no_rate_of_what_moves_in_price(world: World) {
        let till = world.till().await;
        let body = json!({ "amount": "100.00", "currency": "USD", "assets": [BTC, BASE] });
        let invoice = id(&till.create(body).await);
        till.simulate(&invoice, json!({ "asset": BASE, "amount": "50" })).await;
        // Its quarter of an hour, and the hour after that.
        till.advance(75 * 60 + 1).await;
        let asked = till.simulate(&invoice, json!({ "asset": BTC, "amount": "0.001" })).await;
        assert_eq!(asked["status"], "partially_paid");
        assert_eq!(statuses(&till, &invoice).await, ["refundable", "credited"]);
        assert_eq!(till.event_types(&invoice).await.last().unwrap(), "invoice.late_payment");
        let paid = till.simulate(&invoice, json!({ "asset": BASE, "amount": "50" })).await;
        assert_eq!(paid["status"], "paid_late", "a stablecoin is worth what it was");
        let coins = json!({ "amount": "100.00", "currency": "USD", "assets": [BTC] });
        let soon = id(&till.create(coins.clone()).await);
        till.simulate(&soon, json!({ "amount": "0.001" })).await;
        till.advance(74 * 60).await;
        assert_eq!(till.simulate(&soon, json!({ "amount": "0.001" })).await["status"], "paid_late");
        let never = id(&till.create(coins).await);
        till.simulate(&never, json!({ "amount": "0.001" })).await;
        till.advance(75 * 60).await;
        let closed = till.retrieve(&never).await;
        assert_eq!((&closed["status"], closed["closed_at"].is_string()), (&json!("partially_paid"), true), "nothing is left to wait for");
    }

    async fn a_payment_after_the_one_in_time_has_gone_is_late(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({ "amount": "10", "finality_steps": ["pending"] })).await;
        let first = till.payments_of(&invoice).await.remove(0);
        till.advance(3_601).await;
        reverse(&till, &first).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "expired");
        till.advance(1).await;
        assert_eq!(till.simulate(&invoice, json!({})).await["status"], "expired");
        assert_eq!(statuses(&till, &invoice).await, ["refundable", "reversed"]);
        assert_eq!(till.event_types(&invoice).await[1..], ["invoice.detected", "invoice.expired", "invoice.late_payment"]);
    }

    async fn a_payment_that_left_the_chain_uncredited_is_listed_and_detected_again(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let tx = format!("0x{}", "ab".repeat(32));
        let log = transfer(&invoice, BASE, 25_000_000, &tx, 0, Level::Included, now(&invoice));
        let gone = Observation { sighting: Sighting::Removed, ..log.clone() };
        let scope = till.scope();
        let first = observe(&till, &scope, std::slice::from_ref(&log)).await;
        observe(&till, &scope, &[gone]).await;
        assert_eq!(statuses(&till, &id(&invoice)).await, ["reversed"]);
        assert_eq!(observe(&till, &scope, &[log]).await, first, "it is the same payment");
        assert_eq!(
            till.event_types(&id(&invoice)).await,
            ["invoice.created", "invoice.detected", "invoice.awaiting_payment", "invoice.detected"],
        );
    }

    async fn a_payment_credited_first_keeps_what_it_settled(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let tx = format!("0x{}", "ab".repeat(32));
        let slow = |level| transfer(&invoice, BASE, 25_000_000, &tx, 0, level, now(&invoice));
        observe(&till, &till.scope(), &[slow(Level::Included)]).await;
        assert_eq!(till.simulate(&id(&invoice), json!({ "asset": NILE })).await["status"], "paid");
        observe(&till, &till.scope(), &[slow(Level::Final)]).await;
        let over = till.retrieve(&id(&invoice)).await;
        assert_eq!((&over["status"], &over["amount_overpaid"]), (&json!("overpaid"), &tokens("25.00", BASE)));
        assert_eq!(balances(&till).await, books(&[
            ("received", BASE, -25_000_000), ("overpaid", BASE, 25_000_000),
            ("received", NILE, -25_000_000), ("settled", NILE, 25_000_000),
        ]));
    }

    async fn everything_that_reached_its_level_is_reviewed_in_whatever_order_it_came(world: World) {
        let till = world.till().await;
        till.set(json!({ "manual_review_amount": "20.00" })).await;
        let invoice = till.invoice().await;
        let tx = format!("0x{}", "ab".repeat(32));
        let slow = |level| transfer(&invoice, BASE, 12_000_000, &tx, 0, level, now(&invoice));
        observe(&till, &till.scope(), &[slow(Level::Included)]).await;
        let fast = till.simulate(&id(&invoice), json!({ "asset": NILE, "amount": "13" })).await;
        assert_eq!(fast["status"], "partially_paid", "13 alone are below the limit");
        observe(&till, &till.scope(), &[slow(Level::Final)]).await;
        let held = till.retrieve(&id(&invoice)).await;
        assert_eq!((&held["status"], &held["review"]["hold"]), (&json!("under_review"), &json!("manual_review")));
        assert_eq!(statuses(&till, &id(&invoice)).await, ["credited", "held"], "what was credited stays so");
        assert_eq!(decide(&till, &id(&invoice), "accept").await.ok(200)["status"], "paid");
    }

    async fn a_speck_from_a_listed_sender_touches_no_invoice(world: World) {
        let till = world.till().await;
        let sender = listed(Family::Evm, "sanctions");
        let speck = json!({ "amount": SPECK, "sender": sender });
        let open = id(&till.invoice().await);
        assert_eq!(till.simulate(&open, speck.clone()).await["status"], "awaiting_payment");
        let paid = id(&till.invoice().await);
        till.simulate(&paid, json!({})).await;
        let told = till.event_types(&paid).await;
        let after = till.simulate(&paid, speck.clone()).await;
        assert_eq!(after["status"], "paid");
        assert!(after.get("review").is_none());
        assert_eq!(statuses(&till, &paid).await, ["held", "credited"]);
        assert_eq!(till.event_types(&paid).await, told);
        for decision in ["accept", "reject"] {
            decide(&till, &paid, decision).await.refused(409, "review_not_open", None);
        }
        till.advance(3_601).await;
        assert_eq!(till.retrieve(&open).await["status"], "expired");
        assert_eq!(statuses(&till, &open).await, ["held"]);
        assert_eq!(till.event_types(&open).await, ["invoice.created", "invoice.expired"]);
        // A review that something else opened decides about it with the rest.
        let reviewed = id(&till.invoice().await);
        till.simulate(&reviewed, speck).await;
        till.simulate(&reviewed, json!({ "sender": sender })).await;
        assert_eq!(decide(&till, &reviewed, "accept").await.ok(200)["status"], "paid");
        assert_eq!(statuses(&till, &reviewed).await, ["credited", "credited"]);
    }

    async fn dust_makes_no_excess_repeats_nothing_and_goes_back_when_the_invoice_expires(world: World) {
        let till = world.till().await;
        let dusted = id(&till.invoice().await);
        till.simulate(&dusted, json!({ "amount": SPECK })).await;
        let paid = till.simulate(&dusted, json!({})).await;
        assert_eq!(paid["status"], "paid", "somebody's speck does not make a customer's payment too much");
        let over = id(&till.invoice().await);
        till.simulate(&over, json!({ "amount": "26" })).await;
        let told = till.event_types(&over).await;
        for _ in 0..3 {
            assert_eq!(till.simulate(&over, json!({ "amount": "0.009" })).await["status"], "overpaid");
        }
        assert_eq!(till.event_types(&over).await, told);
        for _ in 0..3 {
            assert_eq!(till.simulate(&dusted, json!({ "amount": "0.009" })).await["status"], "paid");
        }
        assert_eq!(till.event_types(&dusted).await.last().unwrap(), "invoice.paid");
        let expired = id(&till.invoice().await);
        till.simulate(&expired, json!({ "amount": "0.009" })).await;
        assert_eq!(statuses(&till, &expired).await, ["credited"]);
        till.advance(3_601).await;
        assert_eq!(till.retrieve(&expired).await["status"], "expired");
        assert_eq!(statuses(&till, &expired).await, ["refundable"]);
        till.simulate(&expired, json!({ "amount": "0.009" })).await;
        assert_eq!(statuses(&till, &expired).await, ["refundable", "refundable"]);
        assert_eq!(till.event_types(&expired).await, ["invoice.created", "invoice.expired"]);
    }

    async fn specks_of_another_asset_are_announced_to_nobody(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let send = |n: i64, units| transfer(&invoice, EURC, units, &format!("0x{n:064x}"), 0, Level::Final, now(&invoice));
        observe(&till, &till.scope(), &[send(1, 1), send(2, 9_999)]).await;
        assert_eq!(till.event_types(&id(&invoice)).await, ["invoice.created"]);
        let mut speck = send(3, 1);
        speck.senders = vec![listed(Family::Evm, "sanctions").to_owned()];
        observe(&till, &till.scope(), &[speck]).await;
        assert_eq!(till.retrieve(&id(&invoice)).await["status"], "awaiting_payment");
        assert_eq!(statuses(&till, &id(&invoice)).await, ["held", "refundable", "refundable"]);
        observe(&till, &till.scope(), &[send(4, 10_000)]).await;
        assert_eq!(till.event_types(&id(&invoice)).await, ["invoice.created", "invoice.wrong_asset"]);
    }

    async fn one_listed_sender_of_many_is_enough_to_hold(world: World) {
        let till = world.till().await;
        let invoice = till.invoice().await;
        let clean = |digit: &str| format!("0x{}", digit.repeat(40));
        let of_many = |n: i64, senders: Vec<String>, invoice: &Value| Observation {
            senders,
            ..transfer(invoice, BASE, 25_000_000, &format!("0x{n:064x}"), 0, Level::Final, now(invoice))
        };
        let senders = vec![clean("1"), clean("2"), listed(Family::Evm, "sanctions").to_owned(), clean("3")];
        observe(&till, &till.scope(), &[of_many(1, senders.clone(), &invoice)]).await;
        assert_eq!(till.retrieve(&id(&invoice)).await["review"]["hold"], "sanctions");
        let payment = till.payments_of(&id(&invoice)).await.remove(0);
        assert_eq!((&payment["status"], &payment["from"]), (&json!("held"), &json!(clean("1"))));
        let mut reader = till.engine().db.read().await.unwrap();
        let sql = "SELECT address FROM screenings WHERE subject = $1 ORDER BY address";
        let screened: Vec<(String,)> = reader.all(sql, &[id(&payment).into()]).await.unwrap();
        drop(reader);
        assert_eq!(screened.len(), 4, "each of them is on record: {screened:?}");
        // Nobody of many is listed: paid. One of them is a deposit address of ours: the merchant empties it.
        let other = till.invoice().await;
        observe(&till, &till.scope(), &[of_many(2, senders[..2].to_vec(), &other)]).await;
        assert_eq!(till.retrieve(&id(&other)).await["status"], "paid");
        let third = till.invoice().await;
        let swept = vec![clean("1"), address(&other, BASE)];
        assert_eq!(observe(&till, &till.scope(), &[of_many(3, swept, &third)]).await, [None]);
    }

    async fn bitcoin_from_a_deposit_address_is_a_sweep_and_a_slow_clock_is_none(world: World) {
        let till = world.till().await;
        let other = till.another_account().await;
        let priced = || json!({ "amount": "25.00", "currency": "USD", "assets": [BTC] });
        let (first, second, theirs) = (till.create(priced()).await, till.create(priced()).await, other.create(priced()).await);
        let sent = |n: i64, from: Option<&Value>, to: &Value| Observation {
            senders: from.map(|from| address(from, BTC)).into_iter().collect(),
            recipient: address(to, BTC),
            ..transfer(&as_on_base(to), BTC, 50_000, &format!("{n:064x}"), 0, Level::Final, now(to))
        };
        // Whosever address it is: its merchant empties it.
        assert_eq!(observe(&till, &till.scope(), &[sent(1, Some(&first), &second)]).await, [None]);
        assert_eq!(observe(&other, &other.scope(), &[sent(2, Some(&first), &theirs)]).await, [None]);
        // A block's clock an hour behind ours is still one in which this address was paid.
        let mut behind = sent(3, None, &theirs);
        behind.sighting = Sighting::InBlock { level: Level::Final, number: 8, hash: "0xc".to_owned(), time: now(&theirs) - 3_600_000 };
        assert!(observe(&other, &other.scope(), &[behind]).await[0].is_some());
    }

    async fn every_sender_is_screened_also_of_what_does_not_count(world: World) {
        let till = world.till().await;
        let sender = listed(Family::Evm, "blacklist");
        for decision in ["accept", "reject"] {
            let wrong = till.invoice().await;
            let cancelled = till.invoice().await;
            cancel(&till, &id(&cancelled)).await;
            let expired = till.invoice().await;
            let mut token = transfer(&wrong, EURC, 7_000_000, &format!("0x{}", decision.repeat(10)), 0, Level::Final, now(&wrong));
            token.senders = vec![sender.to_owned()];
            observe(&till, &till.scope(), &[token]).await;
            till.simulate(&id(&cancelled), json!({ "sender": sender })).await;
            till.advance(3_601).await;
            till.simulate(&id(&expired), json!({ "sender": sender })).await;
            for (invoice, event, status) in [
                (&wrong, "invoice.wrong_asset", "expired"),
                (&cancelled, "invoice.late_payment", "cancelled"),
                (&expired, "invoice.late_payment", "expired"),
            ] {
                let invoice = id(invoice);
                let held = till.retrieve(&invoice).await;
                assert_eq!((&held["status"], &held["review"]["hold"]), (&json!("under_review"), &json!("blacklist")));
                assert_eq!(statuses(&till, &invoice).await, ["held"]);
                let told = till.event_types(&invoice).await;
                assert_eq!(told.last().unwrap(), "invoice.under_review");
                assert!(!told.contains(&"invoice.detected".to_owned()), "it was never going to pay");
                let decided = decide(&till, &invoice, decision).await.ok(200);
                assert_eq!(statuses(&till, &invoice).await, ["refundable"]);
                let news = till.event_types(&invoice).await.split_off(told.len());
                if decision == "accept" {
                    assert_eq!(decided["status"], status, "what the facts give");
                    let name = format!("invoice.{status}");
                    assert_eq!(news, ["invoice.review_resolved", event, &name]);
                } else {
                    assert_eq!(decided["status"], "cancelled");
                    assert_eq!(news, ["invoice.review_resolved", "invoice.cancelled"]);
                }
            }
        }
    }

    async fn what_remains_is_what_is_still_to_be_sent(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({ "amount": "10" })).await;
        let coming = json!({ "amount": "6", "finality_steps": ["included"] });
        let some = till.simulate(&invoice, coming).await;
        assert_eq!((&some["status"], &some["amount_remaining"]), (&json!("partially_paid"), &tokens("9.00", BASE)));
        let rest = json!({ "amount": "9", "finality_steps": ["pending"] });
        let all = till.simulate(&invoice, rest).await;
        assert_eq!((&all["status"], &all["amount_remaining"]), (&json!("partially_paid"), &tokens("0.00", BASE)));
        let shown = till.get(&format!("/v1/checkout/invoices/{invoice}")).await.ok(200);
        assert_eq!(shown["amount_remaining"], tokens("0.00", BASE));
        // One of them goes away: it is asked for again.
        let last = till.payments_of(&invoice).await.remove(0);
        reverse(&till, &last).await;
        assert_eq!(till.retrieve(&invoice).await["amount_remaining"], tokens("9.00", BASE));
    }

    async fn a_decision_is_about_the_payments_that_were_held_when_it_was_asked(world: World) {
        let till = world.till().await;
        let sender = json!({ "sender": listed(Family::Evm, "sanctions") });
        let scope = till.scope();
        for decision in [Decision::Accept, Decision::Reject] {
            let invoice = id(&till.invoice().await);
            till.simulate(&invoice, sender.clone()).await;
            let held = held_payments(till.engine(), &scope, &invoice).await.unwrap();
            assert_eq!(held, [id(&till.payments_of(&invoice).await[0])]);
            till.simulate(&invoice, sender.clone()).await;
            let asked = Resolve { decision, reason: "looked at the first", via: Via::Api, payments: &held };
            resolve(&till, &invoice, &asked).await.unwrap();
            let after = till.retrieve(&invoice).await;
            assert_eq!(after["status"], "under_review", "the second has not been looked at");
            assert_eq!(statuses(&till, &invoice).await[0], "held");
            let again = resolve(&till, &invoice, &asked).await;
            assert!(matches!(again, Err(Fail::Refused(refusal)) if refusal.code == Code::ReviewNotOpen), "it was decided");
            let last = decide(&till, &invoice, "accept").await.ok(200);
            let (status, payments) = match decision {
                Decision::Accept => ("overpaid", ["credited", "credited"]),
                Decision::Reject => ("cancelled", ["refundable", "refundable"]),
            };
            assert_eq!(last["status"], status);
            assert_eq!(statuses(&till, &invoice).await, payments);
        }
    }

    async fn who_decided_why_and_about_what_is_kept(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({ "sender": listed(Family::Evm, "sanctions") })).await;
        let payment = id(&till.payments_of(&invoice).await[0]);
        decide(&till, &invoice, "accept").await.ok(200);
        decide(&till, &invoice, "reject").await.refused(409, "review_not_open", None);
        let mut reader = till.engine().db.read().await.unwrap();
        let kept = till_store::reviews::of_subject(&mut reader, &till.scope(), &invoice).await.unwrap();
        assert_eq!(kept.len(), 1, "what was refused was not decided");
        let kept = &kept[0];
        assert_eq!((kept.decision, kept.via, kept.reason.as_str()), (Decision::Accept, Via::Api, "looked at it"));
        assert!(matches!(kept.decided_by, Actor::Key(_)), "{:?}", kept.decided_by);
        assert_eq!(kept.payments, [payment]);
    }
}

on_every_engine! { postgres
    async fn what_arrives_while_a_decision_waits_for_the_invoice_stays_held(world: World) {
        let till = world.till().await;
        let sender = listed(Family::Evm, "sanctions");
        let invoice = till.invoice().await;
        till.simulate(&id(&invoice), json!({ "sender": sender })).await;
        let mut second = transfer(&invoice, BASE, 25_000_000, &format!("0x{}", "ab".repeat(32)), 0, Level::Final, now(&invoice));
        second.senders = vec![sender.to_owned()];
        let decided = std::sync::Mutex::new(None);
        let (decided, second, invoice_id) = (&decided, &second, &id(&invoice));
        let (caller, scope) = (&till, till.scope());
        let meanwhile = till.engine().unit(&scope, |tx, context| {
            async move {
                take_in(tx, crate::statuses::door(context), std::slice::from_ref(second)).await?;
                // The invoice is ours until this unit ends: the decision has been asked for, and waits.
                let path = format!("/v1/invoices/{invoice_id}/resolve_review");
                let asked = caller.posting(&path, json!({ "decision": "accept", "reason": "the first" })).send();
                *decided.lock().unwrap() = Some(tokio::spawn(asked));
                until("the decision waits", || async { is_waiting(caller).await.then_some(()) }).await;
                Ok::<_, Fail>(())
            }
            .scope_boxed()
        });
        meanwhile.await.unwrap();
        let asked = decided.lock().unwrap().take().unwrap();
        let after = asked.await.unwrap().ok(200);
        assert_eq!(after["status"], "under_review");
        assert_eq!(statuses(&till, &id(&invoice)).await, ["held", "credited"]);
    }
}

async fn resolve(till: &Till, invoice: &str, asked: &Resolve<'_>) -> Result<(), Fail> {
    let scope = till.scope();
    let done = till.engine().unit(&scope, |tx, context| {
        async move { resolve_review(tx, context, invoice, asked).await }.scope_boxed()
    });
    done.await.map(drop)
}

/// Whether somebody waits for a row that another unit of work holds.
async fn is_waiting(till: &Till) -> bool {
    let sql = "SELECT CAST(count(*) AS BIGINT) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
         AND datname = current_database()";
    let mut reader = till.engine().db.read().await.unwrap();
    let found: Option<(i64,)> = reader.one(sql, &[]).await.unwrap();
    found.is_some_and(|(count,)| count > 0)
}

//! What a subscription is follows from what is paid and what is not, in whatever order that became known.

use serde_json::{Value, json};

use crate::attempts::{comes_back, is_seen_again, payable, reverse};
use crate::claims::{PAYER, claim};
use crate::credit::{assert_conserved, credit, due, top_up};
use crate::harness::{BASE, Till, id, text};
use crate::periods::weekly;
use crate::refunds::{refund, tx};
use crate::statuses::{balances, books};
use crate::subscriptions::{DAY_S, START, act, begin, look, plan, subscribe, to};

/// What paid one of the periods of a subscription.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Paid {
    ByInvoice,
    /// One transfer of two is reversed.
    InPart,
    ByCredit,
    /// One top-up of two is reversed.
    ByTwoTopUps,
    ByBoth,
}

use Paid::{ByBoth, ByCredit, ByInvoice, ByTwoTopUps, InPart};

/// What a subscription is, by its payer and its merchant: status, attempt, periods, and what its open invoices ask for.
async fn stands(till: &Till, subscription: &Value) -> Value {
    let now = look(till, subscription).await;
    let mut open = Vec::new();
    for invoice in payable(till, subscription).await {
        let invoice = till.retrieve(&invoice).await;
        let due = &invoice["payment_options"][0]["amount_due"];
        open.push(json!([invoice["status"], due, invoice["amount_remaining"]]));
    }
    open.sort_by_key(Value::to_string);
    json!({
        "status": now["status"], "attempt": now["attempt"], "start": now["current_period_start"],
        "end": now["current_period_end"], "next": now["next_invoice_at"], "open": open,
        "reason": now["cancellation_reason"], "credit": credit(till, &text(&now["customer"])).await,
    })
}

/// Subscribes a customer of its own, pays two weeks as said, and gives the payments to reverse of each.
async fn two_weeks(till: &Till, plan: &str, paid: [Paid; 2]) -> (Value, [Value; 2]) {
    let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
    let mut made = Value::Null;
    let mut payments = [Value::Null, Value::Null];
    for (week, paid) in paid.into_iter().enumerate() {
        let credit: &[&str] = match paid {
            ByCredit => &["10.00"],
            ByTwoTopUps => &["6.00", "4.00"],
            ByBoth => &["4.00"],
            ByInvoice | InPart => &[],
        };
        for amount in credit {
            let invoice = top_up(till, &customer, amount, BASE).await;
            payments[week] = till.payments_of(&invoice).await[0].clone();
        }
        match week {
            0 => made = subscribe(till, &customer, plan).await,
            _ => drop(till.advance(6 * DAY_S + 60).await),
        }
        if !matches!(paid, ByCredit | ByTwoTopUps) {
            let invoice = text(&look(till, &made).await["latest_invoice"]);
            if paid == InPart {
                till.simulate(&invoice, json!({ "amount": "3" })).await;
            }
            till.simulate(&invoice, json!({})).await;
            if credit.is_empty() {
                payments[week] = till.payments_of(&invoice).await[0].clone();
            }
        }
    }
    (made, payments)
}

/// What becomes of a subscription whose weeks were paid as said, and whose payments are reversed in this order; times are
/// counted from its creation.
async fn reversed(
    till: &Till,
    plan: &str,
    paid: [Paid; 2],
    order: [usize; 2],
    apart_s: i64,
) -> Value {
    let (made, payments) = two_weeks(till, plan, paid).await;
    till.advance(4 * DAY_S).await;
    for week in order {
        reverse(till, &payments[week]).await;
        till.advance(apart_s).await;
    }
    till.advance(7_200 - 2 * apart_s).await;
    let mut stood = stands(till, &made).await;
    let at = |time: &Value| time.as_str().and_then(till_core::time::parse);
    let since = |time: &Value| at(time).map(|time| time - at(&made["created_at"]).unwrap());
    for time in ["start", "end", "next"] {
        stood[time] = json!(since(&stood[time]));
    }
    act(till, &made, "cancel", json!({})).await;
    stood
}

/// Of all pairs of ways to pay two weeks, those whose places in the list add up to an even number, or to an odd one.
async fn assert_same_in_either_order(till: &Till, plan: &str, parity: usize) {
    let ways = [ByInvoice, InPart, ByCredit, ByTwoTopUps, ByBoth];
    let mut differ = Vec::new();
    for (turn, first) in ways.into_iter().enumerate() {
        for (again, second) in ways.into_iter().enumerate() {
            if (turn + again) % 2 != parity {
                continue;
            }
            let apart_s = [0, 3_600][turn % 2];
            let paid = [first, second];
            let one = reversed(till, plan, paid, [0, 1], apart_s).await;
            let other = reversed(till, plan, paid, [1, 0], apart_s).await;
            if one != other {
                differ.push(format!("{paid:?}, {apart_s} s apart:\n{one}\n{other}"));
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

on_every_engine! {
    async fn two_reversals_leave_the_same_in_either_order(world: World) {
        let (till, _) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 30, "max_attempts": 3 })).await;
        assert_same_in_either_order(&till, &plan, 0).await;
    }

    async fn two_reversals_leave_the_same_in_either_order_where_time_is_over(world: World) {
        let (till, _) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 0, "max_attempts": 1 })).await;
        assert_same_in_either_order(&till, &plan, 1).await;
    }

    async fn who_had_paid_has_time_for_the_rest_in_whatever_order_parts_left_and_came_back(world: World) {
        let (till, _) = begin(&world).await;
        // A part was paid, and then the whole price. The price leaves the chain; or both do, and the part is there again.
        for order in ["L", "LSs", "SLs"] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = plan(&till, json!({ "grace_days": 1, "max_attempts": 3 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            for amount in ["3", "25"] {
                till.simulate(&invoice, json!({ "amount": amount })).await;
            }
            // Of the seven days that its attempts have, four hours are left.
            till.advance(6 * DAY_S + 20 * 3_600).await;
            let paid = till.payments_of(&invoice).await;
            let (large, small) = (paid[0].clone(), paid[1].clone());
            for fact in order.chars() {
                match fact {
                    'L' => reverse(&till, &large).await,
                    'S' => reverse(&till, &small).await,
                    'i' => is_seen_again(&till, &invoice, "included").await,
                    _ => comes_back(&till, &invoice).await,
                }
                till.advance(1).await;
            }
            till.advance(8 * DAY_S).await;
            assert_eq!(payable(&till, &made).await, [invoice.as_str()], "{order}: it has the days of all its attempts again");
            assert_eq!(due(&till, &made, BASE).await, "25.00", "{order}");
            till.simulate(&invoice, json!({})).await;
            assert_eq!(look(&till, &made).await["status"], "active", "{order}");
            assert_conserved(&till).await;
        }
    }

    async fn what_comes_back_counts_before_credit_in_whatever_order_that_is_told(world: World) {
        let (till, _) = begin(&world).await;
        let mut seen = Vec::new();
        // P: the payment leaves the chain, p: it is there again, T: the top-up leaves.
        for order in ["PpT", "TPp", "PTp"] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "amount": "7.00" })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let first = text(&made["latest_invoice"]);
            till.simulate(&first, json!({})).await;
            let top_up = top_up(&till, &customer, "30.00", BASE).await;
            to(&till, "2095-02-08T12:00:00Z").await;
            for fact in order.chars() {
                match fact {
                    'P' => reverse(&till, &till.payments_of(&first).await[0]).await,
                    'p' => comes_back(&till, &first).await,
                    _ => reverse(&till, &till.payments_of(&top_up).await[0]).await,
                }
                till.advance(1).await;
            }
            let stood = stands(&till, &made).await;
            let payment = till.payments_of(&first).await[0]["status"].clone();
            seen.push(json!([stood["status"], stood["open"], stood["credit"], payment, balances(&till).await]));
            assert_conserved(&till).await;
        }
        assert_eq!(seen[0], seen[1]);
        assert_eq!(seen[0], seen[2]);
        assert_eq!(seen[0][3], "credited");
    }

    async fn a_part_that_comes_back_waits_for_the_credit_that_paid_meanwhile_to_leave(world: World) {
        let (till, _) = begin(&world).await;
        let mut seen = Vec::new();
        for order in ["pT", "Tp"] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 30 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let first = text(&made["latest_invoice"]);
            for amount in ["3", "7"] {
                till.simulate(&first, json!({ "amount": amount })).await;
            }
            let top_up = top_up(&till, &customer, "10.00", BASE).await;
            for payment in till.payments_of(&first).await {
                reverse(&till, &payment).await;
            }
            till.advance(1).await;
            assert_eq!(credit(&till, &customer).await, json!([]), "credit pays");
            for fact in order.chars() {
                match fact {
                    'p' => comes_back(&till, &first).await,
                    _ => reverse(&till, &till.payments_of(&top_up).await[0]).await,
                }
                till.advance(1).await;
            }
            let stood = stands(&till, &made).await;
            seen.push(json!([stood["status"], stood["open"], stood["credit"], balances(&till).await]));
            assert_eq!(till.retrieve(&first).await["status"], "partially_paid");
            till.simulate(&first, json!({ "amount": "7" })).await;
            till.advance(1).await;
            assert_eq!(payable(&till, &made).await, [""; 0]);
            assert_conserved(&till).await;
        }
        assert_eq!(seen[0], seen[1]);
    }

    async fn what_waits_for_its_turn_keeps_the_credit_that_lowered_it(world: World) {
        let (till, _) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 30, "max_attempts": 7 })).await;
        for order in [[0, 1], [1, 0]] {
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let first = text(&made["latest_invoice"]);
            till.simulate(&first, json!({})).await;
            top_up(&till, &customer, "2.50", BASE).await;
            till.advance(6 * DAY_S + 60).await;
            let second = text(&look(&till, &made).await["latest_invoice"]);
            for amount in ["2.25", "5.25"] {
                till.simulate(&second, json!({ "amount": amount })).await;
            }
            let of_second = till.payments_of(&second).await;
            let larger = of_second.iter().find(|payment| payment["amount"] == "5.25").unwrap().clone();
            let of_first = till.payments_of(&first).await[0].clone();
            for which in order {
                reverse(&till, [&larger, &of_first][which]).await;
                till.advance(1).await;
            }
            let asks = |invoice: Value| text(&invoice["payment_options"][0]["amount_due"]);
            assert_eq!(asks(till.retrieve(&second).await), "7.50");
            assert_eq!(credit(&till, &customer).await, json!([]));
            let open = payable(&till, &made).await;
            let other = open.iter().find(|open| **open != second).unwrap();
            assert_eq!(asks(till.retrieve(other).await), "10.00", "no credit lowers two invoices");
            till.simulate(&second, json!({ "amount": "5.25" })).await;
            till.advance(1).await;
            assert_eq!(till.retrieve(&second).await["status"], "paid", "what was told as paid stays paid");
            till.simulate(other, json!({})).await;
            till.advance(1).await;
            assert_eq!(look(&till, &made).await["status"], "active");
            assert_eq!(payable(&till, &made).await, [""; 0]);
            assert_conserved(&till).await;
        }
    }

    async fn parts_of_one_payment_are_reversed_together_or_one_after_the_other(world: World) {
        let (till, _) = begin(&world).await;
        for max_attempts in [1, 2] {
            let plan = weekly(&till, json!({ "grace_days": 0, "max_attempts": max_attempts })).await;
            let mut seen = Vec::new();
            for apart_s in [0, 1] {
                let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
                let made = subscribe(&till, &customer, &plan).await;
                let invoice = text(&made["latest_invoice"]);
                for amount in ["3", "7"] {
                    till.simulate(&invoice, json!({ "amount": amount })).await;
                }
                till.advance(4 * DAY_S).await;
                for payment in till.payments_of(&invoice).await {
                    reverse(&till, &payment).await;
                    till.advance(apart_s).await;
                }
                till.advance(2 - 2 * apart_s).await;
                till.advance(1).await;
                let stood = stands(&till, &made).await;
                seen.push(json!([stood["status"], stood["attempt"], stood["open"], stood["reason"]]));
            }
            assert_eq!(seen[0], seen[1], "{max_attempts} attempts");
            assert_eq!(seen[0][0], "past_due", "what was paid and is not any more is asked for again");
        }
    }

    async fn what_comes_back_of_a_closed_attempt_is_not_taken_beside_what_paid_the_period(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({ "grace_days": 0, "max_attempts": 1 })).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        for amount in ["3", "7"] {
            till.simulate(&invoice, json!({ "amount": amount })).await;
        }
        till.advance(4 * DAY_S).await;
        act(&till, &made, "pause", json!({})).await.ok(200);
        for payment in till.payments_of(&invoice).await {
            reverse(&till, &payment).await;
        }
        till.advance(1).await;
        top_up(&till, &customer, "10.00", BASE).await;
        act(&till, &made, "resume", json!({})).await.ok(200);
        assert_eq!((&look(&till, &made).await["status"], credit(&till, &customer).await), (&json!("active"), json!([])));
        act(&till, &made, "cancel", json!({})).await.ok(200);
        comes_back(&till, &invoice).await;
        till.advance(1).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "cancelled");
        assert_eq!(balances(&till).await, books(&[
            ("received", BASE, -13_000_000), ("settled", BASE, 10_000_000), ("refundable", BASE, 3_000_000),
        ]));
        assert_conserved(&till).await;
    }

    async fn two_reversals_leave_an_invoice_that_ends_at_one_time_in_either_order(world: World) {
        let (till, _) = begin(&world).await;
        for (interval, grace_days, max_attempts) in [("day", 0, 1), ("day", 0, 3), ("day", 1, 2), ("week", 7, 1), ("week", 7, 2), ("week", 30, 3)] {
            let mut seen = Vec::new();
            for order in [[0, 1], [1, 0]] {
                let till = till.another_account().await;
                to(&till, START).await;
                let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
                let plan = weekly(&till, json!({ "interval": interval, "grace_days": grace_days, "max_attempts": max_attempts })).await;
                let made = subscribe(&till, &customer, &plan).await;
                let first = text(&made["latest_invoice"]);
                till.simulate(&first, json!({})).await;
                till.advance(if interval == "day" { 1 } else { 6 * DAY_S + 1 }).await;
                assert_eq!(payable(&till, &made).await.len(), 1, "the second period is asked for");
                let top_up = top_up(&till, &customer, "10.00", BASE).await;
                till.advance(60).await;
                assert_eq!((payable(&till, &made).await.len(), credit(&till, &customer).await), (0, json!([])), "credit pays it");
                for which in order {
                    reverse(&till, &till.payments_of([&first, &top_up][which]).await[0]).await;
                    till.advance(0).await;
                }
                let mut stood = Vec::new();
                // Until what was paid once, and was let close, was asked for once more.
                for _ in 0..8 {
                    let now = stands(&till, &made).await;
                    let mut ends = Vec::new();
                    for invoice in payable(&till, &made).await {
                        ends.push(till.retrieve(&invoice).await["expires_at"].clone());
                    }
                    stood.push(json!([now["status"], now["attempt"], now["open"], now["reason"], ends]));
                    till.advance(DAY_S).await;
                }
                assert_conserved(&till).await;
                seen.push(stood);
            }
            assert_eq!(seen[0], seen[1], "{interval}, {grace_days} days of grace, {max_attempts} attempts");
        }
    }

    async fn who_was_active_for_a_moment_is_past_due_and_who_never_was_is_incomplete(world: World) {
        let (till, _) = begin(&world).await;
        for (order, renewed, status) in [([0, 1], 1, "past_due"), ([1, 0], 0, "incomplete")] {
            let till = till.another_account().await;
            to(&till, START).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let mut credits = vec![top_up(&till, &customer, "4.00", BASE).await];
            top_up(&till, &customer, "10.00", BASE).await;
            let small = weekly(&till, json!({})).await;
            let paused = subscribe(&till, &customer, &small).await;
            credits.push(top_up(&till, &customer, "20.00", BASE).await);
            let large = weekly(&till, json!({ "amount": "24.99", "max_attempts": 7 })).await;
            let made = subscribe(&till, &customer, &large).await;
            assert_eq!(due(&till, &made, BASE).await, "0.99");
            act(&till, &paused, "pause", json!({})).await.ok(200);
            for which in order {
                reverse(&till, &till.payments_of(&credits[which]).await[0]).await;
                till.advance(1).await;
            }
            // Credit that came free paid it before its own left, or did not: the merchant was told so or was not.
            let told = till.event_types(&id(&made)).await;
            assert_eq!(told.iter().filter(|event| *event == "subscription.renewed").count(), renewed, "{order:?}");
            assert_eq!(due(&till, &made, BASE).await, "14.99", "{order:?}: what is asked for is the same");
            till.advance(4 * DAY_S).await;
            assert_eq!(look(&till, &made).await["status"], status, "{order:?}");
            assert_conserved(&till).await;
        }
    }

    async fn an_invoice_whose_excess_was_promised_is_asked_for_again_in_either_order(world: World) {
        let (till, _) = begin(&world).await;
        // F: the first payment leaves the chain, T: the top-up that nobody needed, t: it is there again.
        for order in ["FT", "TF", "FTtT"] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({})).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            for _ in 0..2 {
                till.simulate(&invoice, json!({})).await;
                till.advance(1).await;
            }
            let first = till.payments_of(&invoice).await.into_iter().min_by_key(id).unwrap();
            let back = till.post(&format!("/v1/invoices/{invoice}/refunds"), json!({})).await.ok(201);
            assert_eq!(back["amount"], "10.00");
            let top_up = top_up(&till, &customer, "10.00", BASE).await;
            for fact in order.chars() {
                match fact {
                    'F' => reverse(&till, &first).await,
                    't' => comes_back(&till, &top_up).await,
                    _ => reverse(&till, &till.payments_of(&top_up).await[0]).await,
                }
                till.advance(1).await;
            }
            let asks = till.retrieve(&invoice).await;
            assert_eq!((&asks["status"], &asks["amount_remaining"]["amount"]), (&json!("partially_paid"), &json!("10.00")), "{order}");
            assert_eq!(payable(&till, &made).await, [invoice.as_str()], "{order}");
            till.post(&format!("/v1/refunds/{}/cancel", id(&back)), json!({})).await.ok(200);
            till.advance(1).await;
            assert_eq!((&till.retrieve(&invoice).await["status"], &look(&till, &made).await["status"]), (&json!("paid"), &json!("active")), "{order}");
            assert_eq!(balances(&till).await, books(&[("received", BASE, -10_000_000), ("settled", BASE, 10_000_000)]), "{order}");
            assert_conserved(&till).await;
        }
    }

    async fn credit_stays_where_all_that_was_paid_to_the_invoice_is_promised(world: World) {
        let (till, customer) = begin(&world).await;
        let plan = weekly(&till, json!({})).await;
        let made = subscribe(&till, &customer, &plan).await;
        let invoice = text(&made["latest_invoice"]);
        for _ in 0..2 {
            till.simulate(&invoice, json!({})).await;
            till.advance(1).await;
        }
        let first = till.payments_of(&invoice).await.into_iter().min_by_key(id).unwrap();
        till.post(&format!("/v1/invoices/{invoice}/refunds"), json!({})).await.ok(201);
        let idle = top_up(&till, &customer, "10.00", BASE).await;
        reverse(&till, &first).await;
        till.advance(1).await;
        let stood = |till: &Till| {
            let (till, made, customer) = (till.clone(), made.clone(), customer.clone());
            async move { (look(&till, &made).await["status"].clone(), payable(&till, &made).await, credit(&till, &customer).await) }
        };
        let paid = (json!("active"), Vec::new(), json!([]));
        assert_eq!(stood(&till).await, paid, "credit pays");
        // What comes to the invoice now is too late, and leaves the chain, too: it is looked at each time.
        till.simulate(&invoice, json!({ "amount": "3" })).await;
        till.advance(1).await;
        assert_eq!(stood(&till).await, paid);
        reverse(&till, till.payments_of(&invoice).await.iter().find(|it| it["amount"] == "3.00").unwrap()).await;
        till.advance(1).await;
        assert_eq!(stood(&till).await, paid);
        assert_eq!(till.payments_of(&idle).await[0]["status"], "credited");
        assert_conserved(&till).await;
    }

    async fn what_was_sent_back_of_what_left_is_asked_for_in_whatever_order_that_is_told(world: World) {
        let (till, _) = begin(&world).await;
        // P: the payment of which a part was sent back leaves the chain, T: the top-up from before, c: more credit comes in.
        let alone = ["Pc", "cP"];
        let with_top_up = ["PTc", "PcT", "TPc", "TcP", "cPT", "cTP"];
        for (first_credit, pays, back, orders, asked) in [
            (None, "4.00", "4.00", &alone[..], "11.00"),
            (Some("3.00"), "4.00", "4.00", &with_top_up, "11.00"),
            // It was excess as long as the first credit was there.
            (Some("3.00"), "10.00", "3.00", &with_top_up, "10.00"),
        ] {
            for order in orders {
                let till = till.another_account().await;
                to(&till, START).await;
                let plan = weekly(&till, json!({ "grace_days": 30 })).await;
                let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
                let before = match first_credit {
                    Some(amount) => Some(top_up(&till, &customer, amount, BASE).await),
                    None => None,
                };
                let made = subscribe(&till, &customer, &plan).await;
                let invoice = text(&made["latest_invoice"]);
                till.simulate(&invoice, json!({ "amount": pays })).await;
                let sent = refund(&till, &invoice, json!({ "amount": back })).await.ok(201);
                claim(&till, &sent, "eip155:84532", PAYER).await.ok(200);
                let by = json!({ "tx_hash": tx(7) });
                till.post(&format!("/v1/refunds/{}/mark_sent", id(&sent)), by).await.ok(200);
                let paid = till.payments_of(&invoice).await[0].clone();
                for fact in order.chars() {
                    match (fact, &before) {
                        ('P', _) => reverse(&till, &paid).await,
                        ('T', Some(before)) => reverse(&till, &till.payments_of(before).await[0]).await,
                        _ => drop(top_up(&till, &customer, "3.00", BASE).await),
                    }
                    till.advance(1).await;
                }
                assert_eq!(due(&till, &made, BASE).await, asked, "{order}: with what was sent back, less the credit");
                assert_eq!(payable(&till, &made).await, [invoice.as_str()], "{order}");
                till.simulate(&invoice, json!({})).await;
                till.advance(1).await;
                assert_eq!(look(&till, &made).await["status"], "active", "{order}");
                assert_eq!(credit(&till, &customer).await, json!([]), "{order}");
                assert_conserved(&till).await;
            }
        }
    }

    async fn credit_that_stood_in_for_a_payment_is_given_back_when_that_is_back(world: World) {
        let (till, _) = begin(&world).await;
        let mut seen = Vec::new();
        // L: most of what was paid leaves the chain, i: it is in a block again, l: it is final again, S: the small rest leaves.
        for order in ["S", "LlS", "LSl", "SLl", "LilS", "LSil", "SLil"] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 30 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            for amount in ["9.50", "0.50"] {
                till.simulate(&invoice, json!({ "amount": amount })).await;
            }
            let paid = till.payments_of(&invoice).await;
            let (small, large) = (paid[0].clone(), paid[1].clone());
            top_up(&till, &customer, "20.00", BASE).await;
            for fact in order.chars() {
                match fact {
                    'L' => reverse(&till, &large).await,
                    'S' => reverse(&till, &small).await,
                    'i' => is_seen_again(&till, &invoice, "included").await,
                    _ => comes_back(&till, &invoice).await,
                }
                till.advance(1).await;
            }
            assert_eq!(till.retrieve(&invoice).await["status"], "paid", "{order}");
            let stood = stands(&till, &made).await;
            seen.push(json!([order, stood["status"], stood["open"], stood["credit"][0]["amount"]]));
            assert_conserved(&till).await;
        }
        for seen in seen {
            assert_eq!(seen, json!([seen[0], "active", [], "19.50"]), "credit pays what is missing and no more");
        }
    }

    async fn a_paused_subscription_has_its_own_credit_again_when_that_is_back(world: World) {
        let (till, _) = begin(&world).await;
        let mut seen = Vec::new();
        for is_looked_at in [false, true] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 30 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let top_up = top_up(&till, &customer, "4.00", BASE).await;
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            for amount in ["2", "4"] {
                till.simulate(&invoice, json!({ "amount": amount })).await;
            }
            act(&till, &made, "pause", json!({})).await;
            reverse(&till, &till.payments_of(&invoice).await[0]).await;
            reverse(&till, &till.payments_of(&top_up).await[0]).await;
            if is_looked_at {
                till.advance(1).await;
            }
            comes_back(&till, &top_up).await;
            till.advance(1).await;
            assert_eq!(credit(&till, &customer).await, json!([]), "it is set aside for what it was set aside for before");
            act(&till, &made, "resume", json!({})).await;
            till.advance(1).await;
            let stood = stands(&till, &made).await;
            seen.push(json!([stood["status"], stood["open"], stood["credit"], balances(&till).await]));
            assert_conserved(&till).await;
        }
        assert_eq!(seen[0], seen[1]);
        assert_eq!(seen[0][1][0][2]["amount"], "4.00");
    }

    async fn an_attempt_that_made_room_at_once_takes_no_time_from_the_next_one(world: World) {
        let (till, _) = begin(&world).await;
        let mut seen = Vec::new();
        // P and Q: what paid the first and the second week leaves the chain, C: the credit that pays the first one meanwhile.
        for order in ["CPQ", "PQC", "PCQ"] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 1, "max_attempts": 4 })).await;
            let (made, payments) = two_weeks(&till, &plan, [ByInvoice, ByInvoice]).await;
            let customer = text(&made["customer"]);
            let top_up = top_up(&till, &customer, "10.00", BASE).await;
            till.advance(4 * DAY_S).await;
            for fact in order.chars() {
                match fact {
                    'P' => reverse(&till, &payments[0]).await,
                    'Q' => reverse(&till, &payments[1]).await,
                    _ => reverse(&till, &till.payments_of(&top_up).await[0]).await,
                }
                till.advance(1).await;
            }
            // What the pause cancels is forgiven: the second week is what is asked for after it.
            act(&till, &made, "pause", json!({})).await;
            till.advance(3 * DAY_S).await;
            act(&till, &made, "resume", json!({})).await;
            till.advance(2 * DAY_S).await;
            let stood = stands(&till, &made).await;
            seen.push(json!([stood["status"], stood["attempt"], stood["open"], stood["credit"]]));
            assert_conserved(&till).await;
        }
        assert_eq!(seen[0], seen[1]);
        assert_eq!(seen[0], seen[2]);
    }

    async fn of_two_weeks_that_are_owed_at_once_only_the_first_is_asked_for(world: World) {
        let (till, _) = begin(&world).await;
        for order in [[0, 1], [1, 0]] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 30, "max_attempts": 3 })).await;
            let (made, payments) = two_weeks(&till, &plan, [ByInvoice, ByInvoice]).await;
            // Nobody looks in between.
            for week in order {
                reverse(&till, &payments[week]).await;
            }
            till.advance(1).await;
            let first = text(&payments[0]["invoice"]);
            assert_eq!(payable(&till, &made).await, [first], "{order:?}");
            assert_conserved(&till).await;
        }
    }

    async fn a_paused_subscription_s_period_is_not_paid_with_a_part_of_its_price(world: World) {
        let (till, _) = begin(&world).await;
        // T: the top-up that lowered the invoice leaves the chain and is missed, t: it is there again, R: all that was paid to the invoice
        // is refunded.
        for order in ["R", "TRt", "TtR", "RTt"] {
            let till = till.another_account().await;
            to(&till, START).await;
            let plan = weekly(&till, json!({ "grace_days": 30 })).await;
            let customer = id(&till.post("/v1/customers", json!({})).await.ok(201));
            let top_up = top_up(&till, &customer, "4.00", BASE).await;
            let made = subscribe(&till, &customer, &plan).await;
            let invoice = text(&made["latest_invoice"]);
            for amount in ["2", "4"] {
                till.simulate(&invoice, json!({ "amount": amount })).await;
            }
            act(&till, &made, "pause", json!({})).await;
            reverse(&till, &till.payments_of(&invoice).await[0]).await;
            till.advance(1).await;
            for fact in order.chars() {
                match fact {
                    'T' => reverse(&till, &till.payments_of(&top_up).await[0]).await,
                    't' => comes_back(&till, &top_up).await,
                    _ => drop(refund(&till, &invoice, json!({ "amount": "2" })).await.ok(201)),
                }
                till.advance(1).await;
            }
            let stood = stands(&till, &made).await;
            assert_eq!(stood["status"], "paused", "{order}");
            act(&till, &made, "resume", json!({})).await;
            till.advance(1).await;
            assert_ne!(stands(&till, &made).await["open"], json!([]), "{order}: the price is not paid");
            assert_conserved(&till).await;
        }
    }
}

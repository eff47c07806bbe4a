//! Reconciliation: the three views, the balances, the table, and exactly the discrepancies that are there.

use serde_json::{Value, json};
use till_core::asset::Family;
use till_core::money::Units;
use till_store::transfers::TransferRow;
use till_store::{Queries, StoreError};

use crate::claims::{PAYER, TRON_PAYER, claim};
use crate::harness::{BASE, NILE, SEPOLIA, Till, address, id, text};
use crate::refunds::{act, received, refund, reverse, tx};

async fn report(till: &Till, query: &str) -> Value {
    till.get(&format!("/v1/reconciliation{query}"))
        .await
        .ok(200)
}

/// The payments that a refund is drawn from.
async fn source_ids(till: &Till, refund: &Value) -> Vec<String> {
    let mut reader = till.engine().db.read().await.unwrap();
    let row = till_store::refunds::find(&mut reader, &till.scope(), &id(refund)).await;
    let sources = row.unwrap().unwrap().sources.into_iter();
    sources.map(|(payment, _)| payment).collect()
}

fn figure(report: &Value, view: &str, item: &str) -> String {
    let figures = report["assets"][0][view].as_array().unwrap();
    let found = figures.iter().find(|figure| figure["item"] == item);
    text(&found.unwrap()["amount"])
}

fn kinds(report: &Value) -> Vec<(String, String, String)> {
    let found = report["discrepancies"].as_array().unwrap().iter();
    let mut kinds: Vec<_> = found
        .map(|one| {
            (
                text(&one["kind"]),
                text(&one["amount"]),
                text(&one["severity"]),
            )
        })
        .collect();
    kinds.sort();
    kinds
}

pub async fn run(till: &Till, sql: &str) {
    let done: Result<(), StoreError> = till
        .engine()
        .db
        .write(|tx| {
            scoped_futures::ScopedFutureExt::scope_boxed(
                async move { tx.run(sql, &[]).await.map(drop) },
            )
        })
        .await;
    done.expect("the statement runs");
}

async fn write(till: &Till, transfers: &[TransferRow]) {
    let write = till_store::transfers::facts_and_meaning(transfers);
    let write = &write;
    let done: Result<(), StoreError> = till
        .engine()
        .db
        .write(|tx| {
            scoped_futures::ScopedFutureExt::scope_boxed(
                async move { tx.write(write).await.map(drop) },
            )
        })
        .await;
    done.expect("the transfers are written");
}

/// A transfer of the transaction with that number.
fn moved(number: u8, place: i64, recipient: &str, units: u128) -> TransferRow {
    TransferRow {
        network: "eip155:84532".to_owned(),
        tx_hash: tx(number),
        place,
        asset: BASE.to_owned(),
        units: Units(units),
        arrived: None,
        whole: false,
        registers: None,
        senders: Vec::new(),
        recipient: recipient.to_owned(),
        simulated: false,
        first_seen_at: 0,
        height: None,
        block_hash: None,
        block_time: None,
        gone: false,
        payment: None,
        unattributed: None,
    }
}

/// The chain turns out to have another amount than was taken in.
async fn observe_otherwise(till: &Till, invoice: &str, units: u128) {
    let payment = till.payments_of(invoice).await.remove(0);
    let row = TransferRow {
        network: text(&payment["network"]),
        tx_hash: text(&payment["tx_hash"]),
        simulated: true,
        payment: Some(id(&payment)),
        ..moved(
            0,
            payment["index"].as_i64().unwrap(),
            &text(&payment["to"]),
            units,
        )
    };
    write(till, &[row]).await;
}

/// An invoice of which this much was refunded and marked sent by the transaction with that number.
async fn sent_by(till: &Till, amount: &str, number: u8) -> String {
    let invoice = received(till, "25").await;
    let made = refund(till, &invoice, json!({ "amount": amount }))
        .await
        .ok(201);
    claim(till, &made, "eip155:84532", PAYER).await.ok(200);
    act(till, &made, "mark_sent", json!({ "tx_hash": tx(number) }))
        .await
        .ok(200);
    invoice
}

on_every_engine! {
    async fn views_that_agree_are_shown_side_by_side(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "28").await;
        let made = refund(&till, &invoice, json!({})).await.ok(201);
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        let seen = report(&till, "").await;
        assert_eq!((&seen["object"], &seen["discrepancies"]), (&json!("reconciliation"), &json!([])));
        assert_eq!(seen["assets"][0]["asset"], BASE);
        let ledger = ["received", "settled", "overpaid", "refunds_due", "refunds_sent"].map(|item| figure(&seen, "ledger", item));
        assert_eq!(ledger, ["28.00", "20.00", "0.00", "5.00", "3.00"]);
        assert_eq!(figure(&seen, "chain", "final"), "28.00");
        let invoices = ["received", "overpaid", "refunds_open", "refunds_sent"].map(|item| figure(&seen, "invoices", item));
        assert_eq!(invoices, ["28.00", "3.00", "5.00", "3.00"]);
        assert_eq!(report(&till, &format!("?asset={NILE}")).await["assets"], json!([]));
        assert_eq!(report(&till, &format!("?asset={BASE}")).await["assets"], seen["assets"]);
        assert_eq!(report(&till.another_account().await, "").await["assets"], json!([]));
    }

    async fn exactly_the_discrepancies_that_are_there_are_found(world: World) {
        let till = world.till().await;
        received(&till, "25").await;
        // One of each kind.
        let shown_wrong = received(&till, "25").await;
        run(&till, &format!("UPDATE invoices SET summary = replace(summary, '25000000', '26000000') WHERE id = '{shown_wrong}'")).await;
        let posted_wrong = received(&till, "25").await;
        run(&till, &format!("UPDATE payments SET units = '24000000' WHERE invoice = '{posted_wrong}'")).await;
        run(&till, &format!("UPDATE invoices SET summary = replace(summary, '25000000', '24000000') WHERE id = '{posted_wrong}'")).await;
        run(&till, "UPDATE transfers SET units = '24000000' WHERE payment IN (SELECT id FROM payments WHERE units = '24000000')").await;
        let observed_wrong = received(&till, "25").await;
        observe_otherwise(&till, &observed_wrong, 22_000_000).await;
        let gone = received(&till, "25").await;
        refund(&till, &gone, json!({ "amount": "7" })).await.ok(201);
        let payment = id(&till.payments_of(&gone).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        let exposed = received(&till, "25").await;
        till.simulate(&exposed, json!({ "amount": "8" })).await;
        refund(&till, &exposed, json!({})).await.ok(201);
        let payment = till.payments_of(&exposed).await.into_iter().find(|payment| payment["amount"] == "8.00").unwrap();
        till.post(&format!("/v1/test_helpers/payments/{}/reverse", id(&payment)), json!({})).await.ok(200);
        let waiting = id(&till.invoice().await);
        till.simulate(&waiting, json!({ "amount": "9", "finality_steps": ["included"] })).await;
        let held = id(&till.invoice().await);
        let listed = till_chains::test_screening().iter().find(|(family, ..)| *family == Family::Evm).unwrap().2;
        till.simulate(&held, json!({ "amount": "11", "sender": listed })).await;
        let account = till.scope().account;
        run(&till, &format!("INSERT INTO journal (entry, line, account, mode, kind, invoice, subject, step, asset, debit, credit, amount, created_at) \
            SELECT 'jrn_none', 0, '{account}', 'test', 'receipt', NULL, 'pay_none', 1, '{BASE}', 'received', 'settled', '4000000', max(created_at) FROM journal")).await;
        let elsewhere = sent_by(&till, "6", 21).await;
        let short = sent_by(&till, "5", 22).await;
        let right = sent_by(&till, "5", 23).await;
        let unseen = sent_by(&till, "5", 24).await;
        write(&till, &[
            moved(21, 0, "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb", 6_000_000),
            moved(22, 0, PAYER, 4_999_999),
            moved(23, 1, PAYER, 2_000_000),
            moved(23, 4, PAYER, 3_000_000),
        ]).await;
        let first_seen_at = till.engine().clock.now_ms() - 1;
        let stray = TransferRow { first_seen_at, unattributed: Some("no_lease".to_owned()), ..moved(8, 3, &address(&till.invoice().await, BASE), 2_000_000) };
        write(&till, &[stray]).await;
        let seen = report(&till, "").await;
        let expected = [
            ("chain", "3.00", "flagged"),
            ("held", "11.00", "explained"),
            ("invoice_chain", "1.00", "flagged"),
            ("ledger_chain", "1.00", "flagged"),
            ("pending", "9.00", "explained"),
            ("refund_not_paid", "0.000001", "flagged"),
            ("refund_not_paid", "6.00", "flagged"),
            ("refunded_and_reversed", "8.00", "explained"),
            ("refunded_beyond_received", "7.00", "flagged"),
            ("reversed", "25.00", "explained"),
            ("reversed", "8.00", "explained"),
            ("unattributed", "2.00", "flagged"),
            ("unknown_payment", "4.00", "flagged"),
        ].map(|(kind, amount, severity)| (kind.to_owned(), amount.to_owned(), severity.to_owned()));
        assert_eq!(kinds(&seen), expected, "not {right}, which was paid in two parts, nor {unseen}, which nobody observed");
        let all = seen["discrepancies"].as_array().unwrap();
        let one = |kind: &str| all.iter().find(|one| one["kind"] == kind).unwrap();
        let nobodys = one("unattributed");
        assert_eq!((&nobodys["tx_hash"], &nobodys["index"], &nobodys["invoice"]), (&json!(tx(8)), &json!(3), &Value::Null));
        for (kind, invoice) in [("invoice_chain", &shown_wrong), ("ledger_chain", &posted_wrong), ("chain", &observed_wrong), ("refunded_beyond_received", &gone), ("refunded_and_reversed", &exposed), ("pending", &waiting), ("held", &held)] {
            assert_eq!(one(kind)["invoice"], json!(invoice), "{kind}");
        }
        let unpaid: Vec<_> = all.iter().filter(|one| one["kind"] == "refund_not_paid").map(|one| text(&one["invoice"])).collect();
        assert!(unpaid.contains(&elsewhere) && unpaid.contains(&short), "{unpaid:?}");
        assert_eq!(figure(&seen, "chain", "unattributed"), "2.00");
    }

    async fn dust_above_the_price_is_explained_and_is_no_excess(world: World) {
        let till = world.till().await;
        let dusty = received(&till, "25").await;
        for _ in 0..30 {
            till.simulate(&dusty, json!({ "amount": "0.009" })).await;
        }
        assert_eq!(till.retrieve(&dusty).await["status"], "paid");
        let seen = report(&till, "").await;
        assert_eq!((figure(&seen, "ledger", "overpaid"), figure(&seen, "invoices", "overpaid")), ("0.27".into(), "0.00".into()));
        assert_eq!(kinds(&seen), [("dust".to_owned(), "0.27".to_owned(), "explained".to_owned())]);
        assert_eq!(seen["discrepancies"][0]["invoice"], json!(dusty));
        refund(&till, &dusty, json!({})).await.refused(400, "amount_required", "amount");
        // It is the payer's all the same, who may have it.
        refund(&till, &dusty, json!({ "amount": "0.27" })).await.ok(201);
        assert_eq!(kinds(&report(&till, "").await), []);
        // With a real excess, dust is part of that.
        let over = received(&till, "26").await;
        till.simulate(&over, json!({ "amount": "0.009" })).await;
        assert_eq!(kinds(&report(&till, "").await), []);
        assert_eq!(refund(&till, &over, json!({})).await.ok(201)["amount"], "1.009");
    }

    async fn an_excess_that_the_invoice_does_not_show_is_explained(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "26").await;
        till.simulate(&invoice, json!({ "amount": "3", "asset": NILE })).await;
        let explained = |amount: &str| ("excess_not_shown".to_owned(), amount.to_owned(), "explained".to_owned());
        assert_eq!(kinds(&report(&till, "").await), [explained("1.00")], "three are shown in the other asset");
        let listed = till_chains::test_screening().iter().find(|(family, ..)| *family == Family::Evm).unwrap().2;
        till.simulate(&invoice, json!({ "amount": "11", "sender": listed })).await;
        assert_eq!(till.retrieve(&invoice).await["status"], "under_review");
        let held = ("held".to_owned(), "11.00".to_owned(), "explained".to_owned());
        assert_eq!(kinds(&report(&till, "").await), [explained("1.00"), explained("3.00"), held]);
    }

    async fn a_loss_across_assets_is_flagged_and_an_untouched_source_is_not(world: World) {
        let till = world.till().await;
        let twice = received(&till, "25").await;
        till.simulate(&twice, json!({ "amount": "25", "asset": NILE })).await;
        let made = refund(&till, &twice, json!({ "amount": "25", "asset": NILE })).await.ok(201);
        claim(&till, &made, "tron:3448148188", TRON_PAYER).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1).trim_start_matches("0x") })).await.ok(200);
        let payments = till.payments_of(&twice).await;
        reverse(&till, &id(payments.iter().find(|it| it["asset"] == BASE).unwrap())).await;
        // Given back while the price was not paid, it was drawn from a payment that is there.
        let partly = received(&till, "10").await;
        till.simulate(&partly, json!({ "amount": "5" })).await;
        let some = refund(&till, &partly, json!({ "amount": "5" })).await.ok(201);
        claim(&till, &some, "eip155:84532", PAYER).await.ok(200);
        act(&till, &some, "mark_sent", json!({ "tx_hash": tx(2) })).await.ok(200);
        let sources = source_ids(&till, &some).await;
        let payments = till.payments_of(&partly).await;
        let other = payments.iter().map(id).find(|it| !sources.contains(it)).unwrap();
        reverse(&till, &other).await;
        let seen = kinds(&report(&till, "").await);
        let lost: Vec<_> = seen.iter().filter(|one| one.0 == "refunded_and_reversed").collect();
        assert_eq!(lost, [&("refunded_and_reversed".to_owned(), "25.00".to_owned(), "flagged".to_owned())]);
    }

    async fn a_reversal_in_another_asset_exposes_no_refund(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        till.simulate(&invoice, json!({ "amount": "3", "asset": NILE })).await;
        refund(&till, &invoice, json!({ "amount": "3", "asset": NILE })).await.ok(201);
        let payments = till.payments_of(&invoice).await;
        let paid = payments.iter().find(|payment| payment["asset"] == BASE).unwrap();
        reverse(&till, &id(paid)).await;
        assert_eq!(kinds(&report(&till, "").await), [("reversed".to_owned(), "25.00".to_owned(), "explained".to_owned())]);
    }

    async fn a_refund_sent_on_another_network_shows_both_assets(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        claim(&till, &made, "eip155:11155111", PAYER).await.ok(200);
        let sent = act(&till, &made, "mark_sent", json!({ "tx_hash": tx(1) })).await.ok(200);
        assert_eq!((&sent["asset"], &sent["payout"]["asset"]), (&json!(BASE), &json!(SEPOLIA)));
        let seen = report(&till, "").await;
        assert_eq!(figure(&seen, "ledger", "refunds_sent"), "5.00");
        assert_eq!(kinds(&seen), [("sent_in_another_asset".to_owned(), "5.00".to_owned(), "explained".to_owned())]);
        let one = &seen["discrepancies"][0];
        assert_eq!((&one["asset"], &one["network"]), (&json!(BASE), &json!("eip155:11155111")));
        assert!(text(&one["detail"]).contains(SEPOLIA), "{one}");
    }

    async fn only_what_was_asked_about_is_reported(world: World) {
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        till.simulate(&invoice, json!({ "amount": "9", "finality_steps": ["included"] })).await;
        assert_eq!(kinds(&report(&till, &format!("?asset={BASE}")).await).len(), 1);
        assert_eq!(report(&till, &format!("?asset={NILE}")).await["discrepancies"], json!([]));
        assert_eq!(report(&till, "?from=2020-01-01&to=2020-02-01").await["discrepancies"], json!([]));
        assert_eq!(report(&till.another_account().await, "").await["discrepancies"], json!([]));
    }

    async fn balances_are_the_same_before_and_after_folding(world: World) {
        let till = world.till().await;
        received(&till, "25").await;
        let invoice = received(&till, "28").await;
        refund(&till, &invoice, json!({})).await.ok(201);
        till.advance(3 * 86_400).await;
        received(&till, "25").await;
        let clock = till.get("/v1/test_helpers/clock").await.ok(200);
        let now = till_core::time::parse(&text(&clock["now"])).unwrap();
        let to = till_core::time::show(now + 1);
        let path = format!("/v1/reconciliation/balances?to={to}");
        let before = till.get(&path).await.ok(200);
        till_engine::workers::sums::fold(till.engine()).await.unwrap();
        assert_eq!(till.get(&path).await.ok(200), before);
        let row = before["balances"].as_array().unwrap().iter().find(|row| row["account"] == "received").unwrap();
        assert_eq!((&row["opening"], &row["closing"]), (&json!("0.00"), &json!("78.00")));
        // At midnight, where whole days end.
        let midnight = till_core::time::show((now / 86_400_000) * 86_400_000);
        let seen = till.get(&format!("/v1/reconciliation/balances?to={midnight}")).await.ok(200);
        let row = seen["balances"].as_array().unwrap().iter().find(|row| row["account"] == "received").unwrap();
        assert_eq!(row["closing"], "53.00");
    }

    async fn balances_open_move_and_close(world: World) {
        let till = world.till().await;
        received(&till, "25").await;
        till.advance(10 * 86_400).await;
        let second = received(&till, "28").await;
        refund(&till, &second, json!({})).await.ok(201);
        let clock = till.get("/v1/test_helpers/clock").await.ok(200);
        let now = till_core::time::parse(&text(&clock["now"])).unwrap();
        let from = till_core::time::show(now - 5 * 86_400_000);
        let seen = till.get(&format!("/v1/reconciliation/balances?from={from}")).await.ok(200);
        let row = |account: &str| {
            let rows = seen["balances"].as_array().unwrap();
            let row = rows.iter().find(|row| row["account"] == account).unwrap();
            ["opening", "postings", "closing", "previous_period"].map(|name| text(&row[name]))
        };
        assert_eq!(seen["object"], "ledger_balances");
        assert_eq!(row("received"), ["25.00", "28.00", "53.00", "0.00"]);
        assert_eq!(row("settled"), ["25.00", "25.00", "50.00", "0.00"]);
        assert_eq!(row("refunds_due"), ["0.00", "3.00", "3.00", "0.00"]);
        let from = till_core::time::show(now - 9 * 86_400_000);
        let seen = till.get(&format!("/v1/reconciliation/balances?from={from}")).await.ok(200);
        let received = seen["balances"].as_array().unwrap().iter().find(|row| row["account"] == "received").unwrap();
        assert_eq!(received["previous_period"], "25.00");
    }

    async fn periods_are_checked(world: World) {
        let till = world.till().await;
        for path in ["/v1/reconciliation", "/v1/reconciliation/balances", "/v1/reconciliation/export"] {
            for (query, param) in [
                ("from=yesterday", "from"),
                ("to=2026-02-30", "to"),
                ("from=2026-01-02&to=2026-01-01", "from"),
                ("from=2026-01-01&to=2026-01-01", "from"),
                ("from=2025-01-01&to=2026-01-03", "from"),
                ("asset=GOLD", "asset"),
                ("asset=USDC@eip155:1", "asset"),
            ] {
                till.get(&format!("{path}?{query}")).await.refused(400, "parameter_invalid", param);
            }
            till.get(&format!("{path}?until=2026-01-01")).await.refused(400, "parameter_unknown", "until");
            let key = &till.account.test.publishable_key;
            till.call("GET", path).key(key).send().await.refused(403, "publishable_key_not_allowed", None);
        }
        report(&till, "?from=2025-01-01&to=2026-01-02T00:00:00Z").await;
    }

    async fn the_export_has_a_row_for_each_figure_and_discrepancy(world: World) {
        let till = world.till().await;
        let gone = received(&till, "25").await;
        let payment = id(&till.payments_of(&gone).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        let reply = till.get("/v1/reconciliation/export").await;
        assert_eq!(reply.status, 200);
        assert!(reply.header("content-type").unwrap().starts_with("text/csv"));
        let body = String::from_utf8(reply.body.clone()).unwrap();
        let lines: Vec<_> = body.split("\r\n").collect();
        assert_eq!(lines[0], "section,asset,item,amount,severity,invoice,network,tx_hash,index,detail");
        assert!(lines[1].starts_with(&format!("discrepancies,{BASE},reversed,25.00,explained,{gone},,,,")), "{}", lines[1]);
        assert_eq!(lines[2], format!("ledger,{BASE},received,0.00,,,,,,"));
        assert!(lines.iter().any(|line| *line == format!("chain,{BASE},reversed,25.00,,,,,,")));
        assert_eq!((lines.len(), lines[lines.len() - 1]), (1 + 1 + 8 + 4 + 4 + 1, ""));
    }
}

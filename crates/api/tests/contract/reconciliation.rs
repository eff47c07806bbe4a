//! Reconciliation: the three views, the balances, the table, and exactly the discrepancies that are there.

use serde_json::{Value, json};
use till_core::money::Units;
use till_store::transfers::TransferRow;
use till_store::{Queries, StoreError};

use crate::claims::{PAYER, claim};
use crate::harness::{BASE, NILE, Till, address, id, text};
use crate::refunds::{act, received, refund, tx};

async fn report(till: &Till, query: &str) -> Value {
    till.get(&format!("/v1/reconciliation{query}"))
        .await
        .ok(200)
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

async fn run(till: &Till, sql: &str) {
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
        let gone = received(&till, "25").await;
        refund(&till, &gone, json!({ "amount": "7" })).await.ok(201);
        let payment = id(&till.payments_of(&gone).await[0]);
        till.post(&format!("/v1/test_helpers/payments/{payment}/reverse"), json!({})).await.ok(200);
        let waiting = id(&till.invoice().await);
        till.simulate(&waiting, json!({ "amount": "9", "finality_steps": ["included"] })).await;
        let stray = TransferRow {
            network: "eip155:84532".to_owned(),
            tx_hash: tx(8),
            place: 3,
            asset: BASE.to_owned(),
            units: Units(2_000_000),
            sender: None,
            recipient: address(&till.invoice().await, BASE),
            simulated: false,
            first_seen_at: till.engine().clock.now_ms() - 1,
            height: None,
            block_hash: None,
            block_time: None,
            gone: false,
            payment: None,
            unattributed: Some("no_lease".to_owned()),
        };
        let stray = &stray;
        let done: Result<(), StoreError> = till.engine().db.write(|tx| {
            scoped_futures::ScopedFutureExt::scope_boxed(async move { tx.write(&till_store::transfers::facts_and_meaning([stray])).await.map(drop) })
        }).await;
        done.unwrap();
        let seen = report(&till, "").await;
        let expected = [
            ("invoice_chain", "1.00", "flagged"),
            ("ledger_chain", "1.00", "flagged"),
            ("pending", "9.00", "explained"),
            ("refunded_beyond_received", "7.00", "flagged"),
            ("reversed", "25.00", "explained"),
            ("unattributed", "2.00", "flagged"),
        ].map(|(kind, amount, severity)| (kind.to_owned(), amount.to_owned(), severity.to_owned()));
        assert_eq!(kinds(&seen), expected);
        let nobodys = seen["discrepancies"].as_array().unwrap().iter().find(|one| one["kind"] == "unattributed").unwrap();
        assert_eq!((&nobodys["tx_hash"], &nobodys["index"], &nobodys["invoice"]), (&json!(tx(8)), &json!(3), &Value::Null));
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
        assert_eq!(lines[1], format!("ledger,{BASE},received,0.00,,,,,,"));
        assert!(lines.iter().any(|line| *line == format!("chain,{BASE},reversed,25.00,,,,,,")));
        let last = lines[lines.len() - 2];
        assert!(last.starts_with(&format!("discrepancies,{BASE},reversed,25.00,explained,{gone},,,,")), "{last}");
        assert_eq!((lines.len(), lines[lines.len() - 1]), (1 + 8 + 4 + 4 + 1 + 1, ""));
    }
}

//! Signed books, as far as they show over HTTP: the public keys, and the days whose journal was changed.

use serde_json::{Value, json};
use till_core::digest;
use till_engine::digests::key;
use till_engine::workers::digests::make_due;

use crate::harness::{BASE, Call, Till, text};
use crate::reconciliation::run;
use crate::refunds::received;

const KEYS: &str = "/.well-known/till-ledger.json";

async fn keys(till: &Till) -> Vec<Value> {
    let reply = Call::new(till.server.address, "GET", KEYS).send().await;
    let shown = reply.ok(200);
    assert_eq!(shown["object"], "ledger_keys");
    shown["keys"].as_array().unwrap().clone()
}

async fn mismatches(till: &Till, query: &str) -> Vec<Value> {
    let path = format!("/v1/reconciliation{query}");
    let report = till.get(&path).await.ok(200);
    let found = report["discrepancies"].as_array().unwrap().iter();
    let is_one = |one: &&Value| one["kind"] == "digest_mismatch";
    found.filter(is_one).cloned().collect()
}

on_every_engine! {
    async fn anybody_may_see_the_public_keys_that_sign_digests(world: World) {
        let till = world.till().await;
        key::ensure(till.engine()).await.unwrap();
        let first = keys(&till).await;
        assert_eq!(first.len(), 1);
        let public_key = text(&first[0]["public_key"]);
        assert_eq!(Some(text(&first[0]["key_id"])), digest::key_id(&public_key));
        assert_eq!(first[0]["algorithm"], "ed25519");
        assert!(first[0].get("secret").is_none());
        key::renew(till.engine()).await.unwrap();
        let both = keys(&till).await;
        assert_eq!((both.len(), &both[0]), (2, &first[0]));
        let asked = Call::new(till.server.address, "GET", &format!("{KEYS}?x=1")).send().await;
        asked.refused(400, "parameter_unknown", "x");
    }

    async fn reconciliation_flags_a_day_whose_journal_was_changed(world: World) {
        let till = world.till().await;
        received(&till, "25").await;
        world.clock.advance_s(86_400);
        received(&till, "25").await;
        make_due(till.engine()).await.unwrap();
        assert_eq!(mismatches(&till, "").await, [] as [Value; 0]);
        match world.is_postgres() {
            true => run(&till, "DROP TRIGGER journal_no_update ON journal").await,
            false => run(&till, "DROP TRIGGER journal_no_update").await,
        }
        run(&till, "UPDATE journal SET amount = '24000000' WHERE entry = (SELECT MIN(entry) FROM journal)").await;
        let found = mismatches(&till, "").await;
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0]["severity"], &found[0]["asset"], &found[0]["amount"]), (&json!("flagged"), &Value::Null, &json!("0")));
        let mut reader = till.engine().db.read().await.unwrap();
        let digests = till_store::digests::of_days(&mut reader, &till.scope(), (0, i64::MAX), 9).await.unwrap();
        let day = till_core::time::show_day(digests[0].day);
        assert!(text(&found[0]["detail"]).contains(&day), "{}", found[0]);
        // It is about all assets of that day, and about no other day.
        assert_eq!(mismatches(&till, &format!("?asset={BASE}")).await.len(), 1);
        assert_eq!(mismatches(&till, "?from=2020-01-01&to=2020-02-01").await, [] as [Value; 0]);
        assert_eq!(mismatches(&till.another_account().await, "").await, [] as [Value; 0]);
        let export = till.get("/v1/reconciliation/export").await;
        let table = String::from_utf8(export.body.clone()).unwrap();
        assert!(table.contains("\r\ndiscrepancies,,digest_mismatch,0,flagged,,,,,\"The journal of"), "{table}");
    }
}

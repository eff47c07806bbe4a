//! Who changed what is kept with the change, and nobody rewrites it.

use serde_json::{Value, json};
use till_core::asset::Family;

use crate::claims::{PAYER, claim};
use crate::harness::{Till, id};
use crate::refunds::{act, received, refund, tx};
use crate::reviews::{decide, listed};

/// The log, the oldest first: who, what, and what it was done to.
async fn log(till: &Till) -> Vec<(String, &'static str, String, Value)> {
    let mut reader = till.engine().db.read().await.unwrap();
    let scope = till.scope();
    let rows = till_store::audit::list(&mut reader, &scope, 100).await;
    let rows = rows.unwrap().into_iter().rev();
    rows.map(|row| {
        let details = serde_json::from_str(&row.details).unwrap();
        (row.actor.show(), row.action.as_str(), row.target, details)
    })
    .collect()
}

fn is_key(actor: &str) -> bool {
    actor.starts_with("api_key:key_")
}

on_every_engine! {
    async fn what_keys_payers_and_the_operator_change_is_in_the_audit_log(world: World) {
        let till = world.till().await;
        let before = log(&till).await;
        assert!(before.len() >= 2, "the keys of the account");
        assert!(before.iter().all(|(actor, action, ..)| actor == "cli" && *action == "api_key.created"));
        till.set(json!({ "display_name": "Anna's", "manual_review_amount": null })).await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(3) })).await.ok(200);
        let second = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        act(&till, &second, "cancel", json!({})).await.ok(200);
        act(&till, &second, "cancel", json!({})).await.ok(200);
        let held = id(&till.invoice().await);
        till.simulate(&held, json!({ "sender": listed(Family::Evm, "sanctions") })).await;
        decide(&till, &held, "reject").await.ok(200);
        let log = log(&till).await.split_off(before.len());
        let done: Vec<(bool, &str, &str)> = log.iter().map(|(actor, action, target, _)| (is_key(actor), *action, &**target)).collect();
        let (account, made, second) = (till.scope().account.to_string(), id(&made), id(&second));
        let expected: [(bool, &str, &str); 7] = [
            (true, "settings.updated", &account),
            (true, "refund.created", &made),
            (false, "refund.claimed", &made),
            (true, "refund.sent", &made),
            (true, "refund.created", &second),
            (true, "refund.cancelled", &second),
            (true, "review.resolved", &held),
        ];
        assert_eq!(done, expected);
        assert_eq!(log[2].0, "payer");
        assert_eq!(log[0].3, json!({ "settings": ["display_name", "manual_review_amount"] }));
        assert_eq!(log[6].3, json!({ "decision": "reject" }));
    }

    async fn a_refused_change_leaves_nothing_in_the_audit_log(world: World) {
        let till = world.till().await;
        let before = log(&till).await.len();
        let wrong = json!({ "underpay_tolerance_bps": 10001 });
        till.post("/v1/merchant/settings", wrong).await.refused(400, "parameter_invalid", "underpay_tolerance_bps");
        let invoice = received(&till, "25").await;
        refund(&till, &invoice, json!({ "amount": "26" })).await.refused(409, "refund_exceeds_received", "amount");
        assert_eq!(log(&till).await.len(), before);
    }

    async fn a_refund_keeps_who_made_it_take_each_step(world: World) {
        let till = world.till().await;
        let invoice = received(&till, "25").await;
        let made = refund(&till, &invoice, json!({ "amount": "5" })).await.ok(201);
        claim(&till, &made, "eip155:84532", PAYER).await.ok(200);
        act(&till, &made, "mark_sent", json!({ "tx_hash": tx(3) })).await.ok(200);
        let mut reader = till.engine().db.read().await.unwrap();
        let history = till_store::refunds::history(&mut reader, &till.scope(), &id(&made)).await.unwrap();
        let actors: Vec<String> = history.iter().map(|step| step.actor.show()).collect();
        assert!(is_key(&actors[0]) && actors[1] == "payer" && is_key(&actors[2]), "{actors:?}");
    }

    async fn the_database_refuses_to_rewrite_the_audit_log(world: World) {
        let till = world.till().await;
        till.set(json!({ "display_name": "Anna's" })).await;
        for sql in ["UPDATE audit_events SET actor = 'system'", "DELETE FROM audit_events"] {
            let done: Result<_, till_store::StoreError> = till.engine().db.write(|tx| {
                scoped_futures::ScopedFutureExt::scope_boxed(async move { till_store::Queries::run(tx, sql, &[]).await.map(drop) })
            }).await;
            assert!(done.is_err(), "{sql}");
        }
    }
}

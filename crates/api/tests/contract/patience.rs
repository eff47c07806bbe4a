//! Waiting for the database: whoever is told that it was not available finds that nothing happened, then or later.

use std::time::Duration;

use serde_json::json;
use till_store::{Db, Queries as _};

use crate::harness::{Setup, Till, World, data, id};

/// A server that does not wait long.
async fn hasty(world: &World, first: &Till) -> Till {
    let mut hasty = world.clone();
    hasty.config.patience = Duration::from_millis(200);
    hasty.beside(first, Setup::default()).await
}

fn create(till: &Till, key: &str) -> crate::harness::Call {
    let body = json!({ "amount": "25.00", "currency": "USD" });
    till.posting("/v1/invoices", body).once(key)
}

async fn count(till: &Till) -> usize {
    data(&till.get("/v1/invoices?limit=100").await.ok(200)).len()
}

on_every_engine! {
    async fn a_writer_that_another_process_has_is_waited_for_and_then_nothing_was_done(world: World) {
        if world.is_postgres() || world.is_in_memory() {
            return;
        }
        let first = world.till().await;
        let till = hasty(&world, &first).await;
        let invoice = id(&first.invoice().await);
        let cancel = till.posting(&format!("/v1/invoices/{invoice}/cancel"), json!({})).once("c");
        let other = Db::open(&world.config).await.unwrap();
        let held = other.begin().await.unwrap();
        let (one, two) = futures::join!(create(&till, "k").send(), create(&till, "l").send());
        one.refused(503, "service_unavailable", None);
        two.refused(503, "service_unavailable", None);
        assert!(one.header("retry-after").is_some());
        cancel.clone().send().await.refused(503, "service_unavailable", None);
        drop(held);
        other.close().await;
        // Whatever was still under way would come before these.
        for key in ["m", "k", "l"] {
            let made = create(&till, key).send().await;
            made.ok(201);
            assert!(!made.is_replay(), "{key}");
        }
        assert_eq!(count(&till).await, 4);
        let cancelled = cancel.send().await;
        assert_eq!(cancelled.ok(200)["status"], "cancelled");
        assert!(!cancelled.is_replay());
    }

    async fn a_row_that_another_process_has_is_no_key_in_use(world: World) {
        if !world.is_postgres() {
            return;
        }
        let till = world.till().await;
        let invoice = id(&till.invoice().await);
        let cancel = till.posting(&format!("/v1/invoices/{invoice}/cancel"), json!({})).once("c");
        let other = Db::open(&world.config).await.unwrap();
        let mut held = other.begin().await.unwrap();
        let lock = "SELECT id FROM invoices WHERE id = $1 FOR UPDATE";
        let locked: Option<(String,)> = held.one(lock, &[invoice.as_str().into()]).await.unwrap();
        assert!(locked.is_some());
        cancel.clone().send().await.refused(503, "service_unavailable", None);
        drop(held);
        other.close().await;
        let cancelled = cancel.send().await;
        assert_eq!(cancelled.ok(200)["status"], "cancelled");
        assert!(!cancelled.is_replay());
    }
}

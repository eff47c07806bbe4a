//! What signing in leaves behind is forgotten.

use serde_json::json;
use till_engine::workers::retention;
use till_store::Queries as _;

use crate::browser::{Browser, owner};
use crate::harness::{Setup, Till};
use crate::links::link_for;

const DAY_S: i64 = 86_400;

async fn count(till: &Till, table: &str) -> i64 {
    let mut reader = till.engine().db.read().await.unwrap();
    let sql = format!("SELECT COUNT(*) FROM {table}");
    let counted: Option<(i64,)> = reader.one(&sql, &[]).await.unwrap();
    counted.unwrap().0
}

on_every_engine! {
    async fn old_links_ceremonies_confirmations_attempts_and_sessions_go(world: World) {
        let till = world.till_with(Setup { mail: true, ..Setup::default() }).await;
        let mut owner = owner(&till).await;
        owner.register_passkey().await;
        owner.confirm("passkeys/begin", &serde_json::Value::Null).await;
        let mut fresh = Browser::new(&till);
        link_for(&till, &mut fresh, "owner@example.com").await;
        fresh.post("sign_in/link/confirm", json!({ "token": "wrong" })).await.refused(401, "magic_link_invalid", None);
        let entry = ["sign_in_links", "ceremonies", "confirmations", "attempts", "attempt_subjects"];
        retention::forget(till.engine()).await.unwrap();
        for table in entry {
            assert!(count(&till, table).await > 0, "{table}");
        }
        world.clock.advance_s(2 * DAY_S);
        retention::forget(till.engine()).await.unwrap();
        for table in entry {
            assert_eq!(count(&till, table).await, 0, "{table}");
        }
        assert_eq!(count(&till, "sessions").await, 1);
        world.clock.advance_s(40 * DAY_S);
        retention::forget(till.engine()).await.unwrap();
        assert_eq!(count(&till, "sessions").await, 0);
        assert_eq!((count(&till, "users").await, count(&till, "passkeys").await), (1, 1));
    }
}

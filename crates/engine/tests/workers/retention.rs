//! What is forgotten, and what is not.

use bytes::Bytes;
use till_core::time::DAY_MS;
use till_engine::outbound::Outcome;
use till_engine::workers::retention::forget;
use till_engine::workers::webhooks::{self, Deliver};
use till_store::testing::migrated;
use till_store::{Dialect, Queries as _};

use crate::world::{World, pay};

struct Willing;

impl Deliver for Willing {
    async fn post(&self, _: &str, _: &[(&'static str, String)], _: Bytes) -> Outcome {
        Outcome {
            delivered: true,
            status_code: Some(200),
            response_body: String::new(),
            error: None,
        }
    }
}

async fn count(world: &World, table: &str) -> i64 {
    let mut reader = world.db.read().await.unwrap();
    let sql = format!("SELECT COUNT(*) FROM {table}");
    let counted: Option<(i64,)> = reader.one(&sql, &[]).await.unwrap();
    counted.unwrap().0
}

async fn what_is_old_goes_and_what_is_needed_stays(dialect: Dialect) {
    let Some(test) = migrated(dialect).await else {
        return;
    };
    let world = World::new(test.db.clone()).await;
    let url = "UPDATE merchants SET webhook_url = 'https://shop.example/'";
    world.run_sql(url, &[]).await;
    let (paid, open) = (world.invoice().await, world.invoice().await);
    pay(&world.engine, &world.scope, &paid, &["final"]).await;
    assert_eq!(world.status(&paid).await, "paid");
    webhooks::run_due(&world.engine, &Willing).await.unwrap();
    let (journal, deliveries) = (
        count(&world, "journal").await,
        count(&world, "deliveries").await,
    );
    assert!(journal > 0 && deliveries >= 4, "{journal} {deliveries}");
    world.clock.advance(89 * DAY_MS);
    forget(&world.engine).await.unwrap();
    assert_eq!(count(&world, "deliveries").await, deliveries);
    world.clock.advance(2 * DAY_MS);
    forget(&world.engine).await.unwrap();
    assert_eq!(count(&world, "deliveries").await, 0);
    assert_eq!(world.event_types(&paid).await.len(), 3);
    world.clock.advance(310 * DAY_MS);
    forget(&world.engine).await.unwrap();
    assert!(world.event_types(&paid).await.is_empty());
    // Nobody looked at the deadline of the other: its stream may still be followed.
    assert_eq!(world.event_types(&open).await, ["invoice.created"]);
    assert_eq!(count(&world, "journal").await, journal);
    assert_eq!(count(&world, "payments").await, 1);
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_old_goes_and_what_is_needed_stays_on_sqlite() {
    what_is_old_goes_and_what_is_needed_stays(Dialect::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_old_goes_and_what_is_needed_stays_on_postgres() {
    what_is_old_goes_and_what_is_needed_stays(Dialect::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivery_that_is_still_tried_is_kept_with_its_event() {
    let test = migrated(Dialect::Sqlite).await.unwrap();
    let world = World::new(test.db.clone()).await;
    let url = "UPDATE merchants SET webhook_url = 'https://shop.example/'";
    world.run_sql(url, &[]).await;
    let invoice = world.invoice().await;
    pay(&world.engine, &world.scope, &invoice, &["final"]).await;
    let before = count(&world, "deliveries").await;
    world.clock.advance(1_000 * DAY_MS);
    forget(&world.engine).await.unwrap();
    assert_eq!(count(&world, "deliveries").await, before);
    assert_eq!(world.event_types(&invoice).await.len(), 3);
    test.remove().await;
}

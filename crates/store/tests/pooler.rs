//! Through a pooler that gives every transaction another session (`scripts/with-pgbouncer`), and without one nothing.

use futures::future::join_all;
use till_store::testing::{TestDb, fresh, pooler_url};
use till_store::{Db, DbConfig, Dialect, Queries, StoreError};

mod common;

use common::{ids, put, thing, with_things};

async fn pooled() -> Option<TestDb> {
    if pooler_url().is_none() {
        eprintln!("skipped: TILL_TEST_PGBOUNCER is not set (see scripts/with-pgbouncer)");
        return None;
    }
    fresh(Dialect::Postgres).await
}

async fn setting(q: &mut impl Queries, name: &str) -> String {
    let shown: Option<(String,)> = q
        .one("SELECT current_setting($1)", &[name.into()])
        .await
        .unwrap();
    shown.unwrap().0
}

#[tokio::test]
async fn every_unit_and_every_read_is_bounded_in_time_whatever_session_it_meets() {
    let Some(test) = pooled().await else { return };
    let (mut tx, mut reader) = (
        test.db.begin().await.unwrap(),
        test.db.read().await.unwrap(),
    );
    for (name, value) in [
        ("lock_timeout", "2s"),
        ("statement_timeout", "30s"),
        ("idle_in_transaction_session_timeout", "5s"),
        ("enable_seqscan", "off"),
        ("jit", "off"),
        ("transaction_isolation", "read committed"),
    ] {
        assert_eq!(setting(&mut tx, name).await, value, "{name}");
        assert_eq!(setting(&mut reader, name).await, value, "{name}");
    }
    assert_eq!(setting(&mut tx, "transaction_read_only").await, "off");
    assert_eq!(setting(&mut reader, "transaction_read_only").await, "on");
    drop((tx, reader));
    test.remove().await;
}

#[tokio::test]
async fn a_pooler_may_be_one_of_several_servers() {
    let Some(test) = pooled().await else { return };
    with_things(&test.db).await;
    // The first is not there.
    let url = test.config.url.replacen('@', "@127.0.0.1:1,", 1);
    let db = Db::open(&DbConfig::new(url)).await.unwrap();
    let mut tx = db.begin().await.unwrap();
    put(&mut tx, &thing("a", 1)).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(ids(&db).await, ["a"]);
    db.close().await;
    test.remove().await;
}

/// More at a time than there are sessions: whoever prepared something in one would meet another's there.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn statements_of_many_clients_never_meet_in_a_session() {
    let Some(test) = pooled().await else { return };
    with_things(&test.db).await;
    let work = |number: i64| {
        let db = test.db.clone();
        tokio::spawn(async move {
            for round in 0..20 {
                let id = format!("{number} {round}");
                let mut tx = db.begin().await?;
                put(&mut tx, &thing(&id, number * 100 + round)).await?;
                tx.commit().await?;
                let mut reader = db.read().await?;
                // Texts of one length and kind, each with an answer of its own.
                let sql = format!(
                    "SELECT id, CAST({} AS BIGINT) FROM things WHERE id = $1",
                    1_000 + number
                );
                let found: Option<(String, i64)> = reader.one(&sql, &[id.clone().into()]).await?;
                assert_eq!(found, Some((id, 1_000 + number)));
            }
            Ok::<(), StoreError>(())
        })
    };
    for done in join_all((0..16).map(work)).await {
        done.unwrap().unwrap();
    }
    assert_eq!(ids(&test.db).await.len(), 320);
    let mut reader = test.db.read().await.unwrap();
    let kept: Vec<(String,)> = reader
        .all("SELECT name FROM pg_prepared_statements", &[])
        .await
        .unwrap();
    assert_eq!(kept, [], "nothing is left in a session");
    drop(reader);
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_is_migrated_through_it_by_several_at_once() {
    let Some(test) = pooled().await else { return };
    let migrating = (0..4).map(|_| test.db.migrate(7));
    for done in join_all(migrating).await {
        done.unwrap();
    }
    assert!(test.db.schema_fits().await.unwrap());
    test.remove().await;
}

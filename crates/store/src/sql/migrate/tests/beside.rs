//! Migrations of PostgreSQL beside servers that work.

use std::time::Duration;

use tokio::time::timeout;

use super::super::*;
use crate::testing::{TestDb, fresh};

const BASE: Migration = migration(
    1,
    "0001_base",
    "CREATE TABLE things (id BIGINT PRIMARY KEY);",
);
const COLUMN: Migration = migration(
    2,
    "0002_column",
    "-- step: brief
ALTER TABLE things ADD COLUMN IF NOT EXISTS note TEXT;
-- step: repeat
UPDATE things SET note = 'n' WHERE id IN (SELECT id FROM things WHERE note IS NULL ORDER BY id LIMIT 3);
",
);
const INDEX: Migration = migration(
    2,
    "0002_index",
    "-- step: concurrently
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS things_half ON things ((id / 2));
",
);

const fn migration(version: i64, name: &'static str, postgres: &'static str) -> Migration {
    Migration {
        version,
        name,
        serves_from: 1,
        sqlite: "",
        postgres,
    }
}

async fn postgres() -> Option<TestDb> {
    let test = fresh(Dialect::Postgres).await?;
    apply(&test.db, &[BASE], 7).await.expect("migrated");
    Some(test)
}

/// Whoever writes must get through in time, whatever is being migrated.
async fn insert(db: &Db, id: i64) {
    let insert = db.write(move |tx| {
        async move {
            tx.run("INSERT INTO things (id) VALUES ($1)", &[id.into()])
                .await
        }
        .scope_boxed()
    });
    let done: Result<u64, StoreError> = timeout(Duration::from_secs(1), insert)
        .await
        .expect("it is written within a second");
    done.expect("it is written");
}

/// Until somebody waits for a lock that nobody else could have beside it.
async fn somebody_waits(db: &Db, sql: &str) {
    loop {
        let waiting: Vec<(String,)> = db.read().await.unwrap().all(sql, &[]).await.unwrap();
        if !waiting.is_empty() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_wait_less_than_a_second_for_a_migration_that_waits_for_a_table() {
    let Some(test) = postgres().await else { return };
    for id in 0..10 {
        insert(&test.db, id).await;
    }
    // A report that takes long: nothing may change the table under it, and whoever asks for that holds up the others.
    let mut long = test.db.begin().await.unwrap();
    long.batch("SET LOCAL idle_in_transaction_session_timeout = 0")
        .await
        .unwrap();
    long.all::<(i64,)>("SELECT id FROM things", &[])
        .await
        .unwrap();
    let db = test.db.clone();
    let migrating = tokio::spawn(async move { apply(&db, &[BASE, COLUMN], 8).await });
    let waiting = "SELECT CAST(mode AS TEXT) FROM pg_locks \
                   WHERE NOT granted AND mode = 'AccessExclusiveLock' AND relation = CAST('things' AS regclass)";
    for id in 10..13 {
        somebody_waits(&test.db, waiting).await;
        insert(&test.db, id).await;
    }
    assert!(
        fits(&test.db, &[BASE]).await.unwrap(),
        "the older ones serve"
    );
    long.commit().await.unwrap();
    migrating.await.unwrap().unwrap();
    assert!(fits(&test.db, &[BASE]).await.unwrap(), "and go on serving");
    let sql = "SELECT id FROM things WHERE note IS NULL";
    let unfilled: Vec<(i64,)> = test.db.read().await.unwrap().all(sql, &[]).await.unwrap();
    assert_eq!(
        unfilled,
        [],
        "rows are filled in some at a time until all are"
    );
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_is_built_beside_writers_and_again_after_it_failed() {
    let Some(test) = postgres().await else { return };
    for id in [0, 1] {
        insert(&test.db, id).await;
    }
    // Two rows with one key: the index is begun, fails, and is left behind.
    apply(&test.db, &[BASE, INDEX], 8).await.unwrap_err();
    let valid = "SELECT CAST(i.indisvalid AS TEXT) FROM pg_index i WHERE i.indexrelid = CAST('things_half' AS regclass)";
    let found: Option<(String,)> = test.db.read().await.unwrap().one(valid, &[]).await.unwrap();
    assert_eq!(found, Some(("false".to_owned(),)));
    let done: Result<u64, StoreError> = test
        .db
        .write(|tx| {
            async move { tx.run("DELETE FROM things WHERE id = 1", &[]).await }.scope_boxed()
        })
        .await;
    done.unwrap();
    let mut writing = test.db.begin().await.unwrap();
    writing
        .batch("SET LOCAL idle_in_transaction_session_timeout = 0")
        .await
        .unwrap();
    writing
        .run("INSERT INTO things (id) VALUES (2)", &[])
        .await
        .unwrap();
    let db = test.db.clone();
    let migrating = tokio::spawn(async move { apply(&db, &[BASE, INDEX], 9).await });
    // The builder waits for whoever was writing before, and nobody waits for the builder.
    let waiting =
        "SELECT CAST(mode AS TEXT) FROM pg_locks WHERE NOT granted AND locktype = 'virtualxid'";
    somebody_waits(&test.db, waiting).await;
    insert(&test.db, 4).await;
    writing.commit().await.unwrap();
    migrating.await.unwrap().unwrap();
    let found: Option<(String,)> = test.db.read().await.unwrap().one(valid, &[]).await.unwrap();
    assert_eq!(found, Some(("true".to_owned(),)));
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_connection_is_enough_to_migrate() {
    let Some(test) = fresh(Dialect::Postgres).await else {
        return;
    };
    let narrow = crate::DbConfig {
        writers_max: 1,
        readers_max: 1,
        ..test.config.clone()
    };
    let db = Db::open(&narrow).await.unwrap();
    apply(&db, &[BASE, COLUMN], 7).await.unwrap();
    assert!(fits(&db, &[BASE, COLUMN]).await.unwrap());
    db.close().await;
    test.remove().await;
}

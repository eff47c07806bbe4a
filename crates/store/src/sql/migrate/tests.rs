//! Schemas that change, on both engines.

mod beside;

use std::path::Path;

use futures::future::join_all;

use super::*;
use crate::both_engines;
use crate::testing::{Dialect, TestDb, fresh, migrated};

const ONE: Migration = step(1, "0001_one", "CREATE TABLE one (id TEXT PRIMARY KEY);");
const TWO: Migration = step(
    2,
    "0002_two",
    "CREATE TABLE two (id TEXT PRIMARY KEY, one_id TEXT REFERENCES one (id));
     INSERT INTO one (id) VALUES ('a; b'); -- a comment
     INSERT INTO two (id, one_id) VALUES ('t', 'a; b');",
);
const BROKEN: Migration = step(
    3,
    "0003_broken",
    "CREATE TABLE three (id TEXT); INSERT INTO nowhere VALUES (1);",
);

const fn step(version: i64, name: &'static str, sql: &'static str) -> Migration {
    Migration {
        version,
        name,
        serves_from: version,
        sqlite: sql,
        postgres: sql,
    }
}

#[test]
fn the_list_is_in_order_and_named_after_its_versions() {
    let versions: Vec<i64> = MIGRATIONS.iter().map(|of| of.version).collect();
    assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
    for Migration { version, name, .. } in MIGRATIONS {
        assert!(name.starts_with(&format!("{version:04}_")), "{name}");
    }
}

#[tokio::test]
async fn a_copy_of_an_older_version_is_brought_on_with_what_is_in_it() {
    let test = fresh(Dialect::Sqlite).await.expect("a file");
    apply(&test.db, &[ONE], 7).await.unwrap();
    let insert = "INSERT INTO one (id) VALUES ('of old')";
    let done: Result<u64, StoreError> = test.db.write(|tx| tx.run(insert, &[]).scope_boxed()).await;
    done.unwrap();
    let file = test.config.url.replacen("sqlite:", "", 1) + ".copy";
    test.db.copy_to(Path::new(&file)).await.unwrap();
    let copy = Db::open(&crate::DbConfig::new(format!("sqlite:{file}"))).await;
    let copy = copy.unwrap();
    assert_eq!(schema(&copy, &[ONE, TWO]).await.unwrap(), Schema::Older(1));
    apply(&copy, &[ONE, TWO], 8).await.unwrap();
    assert_eq!(schema(&copy, &[ONE, TWO]).await.unwrap(), Schema::Fits);
    let sql = "SELECT id FROM one ORDER BY id";
    let rows: Vec<(String,)> = copy.read().await.unwrap().all(sql, &[]).await.unwrap();
    assert_eq!(rows, [("a; b".to_owned(),), ("of old".to_owned(),)]);
    copy.close().await;
    test.remove().await;
}

/// Every column as `table.column`, and whether it may be null, in an order of its own.
async fn columns(test: &TestDb) -> Vec<(String, i64)> {
    let sql = match test.db.dialect() {
        Dialect::Sqlite | Dialect::SqliteMemory => {
            "SELECT t.name || '.' || c.name, CASE WHEN c.\"notnull\" + c.pk > 0 THEN 0 ELSE 1 END \
             FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1"
        }
        Dialect::Postgres => {
            "SELECT CAST(table_name || '.' || column_name AS TEXT) COLLATE \"C\", \
             CAST(CASE is_nullable WHEN 'NO' THEN 0 ELSE 1 END AS BIGINT) \
             FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1"
        }
    };
    test.db.read().await.unwrap().all(sql, &[]).await.unwrap()
}

/// Every index that was made by hand, as `table.index`.
async fn indexes(test: &TestDb) -> Vec<(String,)> {
    let sql = match test.db.dialect() {
        Dialect::Sqlite | Dialect::SqliteMemory => {
            "SELECT tbl_name || '.' || name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1"
        }
        Dialect::Postgres => {
            "SELECT CAST(tablename || '.' || indexname AS TEXT) COLLATE \"C\" FROM pg_indexes \
             WHERE schemaname = current_schema() AND indexname NOT LIKE '%_pkey' ORDER BY 1"
        }
    };
    test.db.read().await.unwrap().all(sql, &[]).await.unwrap()
}

#[tokio::test]
async fn both_engines_have_the_same_columns_and_indexes() {
    let Some(postgres) = migrated(Dialect::Postgres).await else {
        return;
    };
    let sqlite = migrated(Dialect::SqliteMemory).await.expect("in memory");
    assert_eq!(columns(&sqlite).await, columns(&postgres).await);
    assert_eq!(indexes(&sqlite).await, indexes(&postgres).await);
    postgres.remove().await;
    sqlite.remove().await;
}

async fn eight_at_once(dialect: Dialect) {
    let Some(test) = fresh(dialect).await else {
        return;
    };
    let runs = (0..8).map(|_| {
        let config = test.config.clone();
        tokio::spawn(async move {
            let db = Db::open(&config).await?;
            let done = apply(&db, &[ONE, TWO], 7).await;
            db.close().await;
            done
        })
    });
    for run in join_all(runs).await {
        run.expect("no panic").expect("migrated");
    }
    assert!(fits(&test.db, &[ONE, TWO]).await.expect("readable"));
    let mut reader = test.db.read().await.expect("a reader");
    let rows: Vec<(String,)> = reader
        .all("SELECT id FROM two", &[])
        .await
        .expect("the table is there");
    assert_eq!(rows, [("t".to_owned(),)], "applied once");
    drop(reader);
    test.remove().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_who_start_at_once_migrate_once_on_sqlite() {
    eight_at_once(Dialect::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_who_start_at_once_migrate_once_on_postgres() {
    eight_at_once(Dialect::Postgres).await;
}

both_engines! { fresh
    async fn a_schema_is_current_only_when_every_migration_is_applied(db: Db) {
        assert!(!fits(&db, &[ONE]).await.unwrap());
        apply(&db, &[ONE], 7).await.unwrap();
        assert!(fits(&db, &[ONE]).await.unwrap());
        assert!(!fits(&db, &[ONE, TWO]).await.unwrap());
        apply(&db, &[ONE, TWO], 8).await.unwrap();
        apply(&db, &[ONE, TWO], 9).await.unwrap();
        assert!(fits(&db, &[ONE, TWO]).await.unwrap());
        let sql = "SELECT version, applied_at FROM schema_migrations ORDER BY version";
        let rows: Vec<(i64, i64)> = db.read().await.unwrap().all(sql, &[]).await.unwrap();
        assert_eq!(rows, [(1, 7), (2, 8)]);
    }

    async fn a_newer_schema_that_serves_nobody_else_is_refused(db: Db) {
        apply(&db, &[ONE, TWO], 7).await.unwrap();
        let refused = apply(&db, &[ONE], 7).await.unwrap_err();
        assert!(matches!(&refused, StoreError::Schema(text) if text.contains("version 2")), "{refused}");
        assert!(!fits(&db, &[ONE]).await.unwrap());
    }

    async fn a_program_that_is_too_old_is_told_how_new_the_database_is(db: Db) {
        const THREE: Migration = step(3, "0003_three", "CREATE TABLE three (id TEXT);");
        apply(&db, &[ONE, TWO, THREE], 7).await.unwrap();
        let refused = apply(&db, &[ONE], 7).await.unwrap_err().to_string();
        assert!(refused.contains("is at version 3, this program knows versions up to 1"), "{refused}");
        let refused = schema(&db, &[ONE]).await.unwrap_err().to_string();
        assert!(refused.contains("run a newer program"), "{refused}");
    }

    async fn a_schema_that_can_be_brought_on_says_how_old_it_is(db: Db) {
        assert_eq!(schema(&db, &[ONE]).await.unwrap(), Schema::Missing);
        apply(&db, &[ONE], 7).await.unwrap();
        assert_eq!(schema(&db, &[ONE, TWO]).await.unwrap(), Schema::Older(1));
        assert_eq!(schema(&db, &[ONE]).await.unwrap(), Schema::Fits);
    }

    async fn programs_of_the_version_before_go_on_and_start_again(db: Db) {
        const THREE: Migration = Migration { serves_from: 2, ..step(3, "0003_three", "CREATE TABLE three (id TEXT);") };
        apply(&db, &[ONE, TWO, THREE], 7).await.unwrap();
        assert!(fits(&db, &[ONE, TWO]).await.unwrap());
        apply(&db, &[ONE, TWO], 8).await.unwrap();
        assert!(!fits(&db, &[ONE]).await.unwrap(), "two versions older");
        apply(&db, &[ONE], 8).await.unwrap_err();
    }

    async fn a_changed_migration_is_refused(db: Db) {
        const CHANGED: Migration = step(1, "0001_one", "CREATE TABLE one (id TEXT PRIMARY KEY, more TEXT);");
        apply(&db, &[ONE], 7).await.unwrap();
        let refused = apply(&db, &[CHANGED, TWO], 7).await.unwrap_err();
        assert!(matches!(&refused, StoreError::Schema(text) if text.contains("0001_one")), "{refused}");
        assert!(!fits(&db, &[CHANGED]).await.unwrap());
    }

    async fn a_migration_that_fails_leaves_nothing_behind(db: Db) {
        apply(&db, &[ONE, TWO, BROKEN], 7).await.unwrap_err();
        assert!(fits(&db, &[ONE, TWO]).await.unwrap());
        let three: Result<Vec<(String,)>, _> = db.read().await.unwrap().all("SELECT id FROM three", &[]).await;
        assert!(three.is_err());
    }

    async fn the_schema_of_this_program_applies(db: Db) {
        assert!(!db.schema_fits().await.unwrap());
        db.migrate(7).await.unwrap();
        assert!(db.schema_fits().await.unwrap());
    }
}

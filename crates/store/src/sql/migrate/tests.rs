//! Schemas that change, on both engines.

mod beside;

use futures::future::join_all;

use super::*;
use crate::both_engines;
use crate::testing::{Dialect, fresh};

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

    async fn a_database_from_before_migrations_said_whom_they_serve_is_brought_on(db: Db) {
        let before = "CREATE TABLE schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, \
             checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)";
        let done: Result<(), StoreError> = db.write(|tx| tx.batch(before).scope_boxed()).await;
        done.unwrap();
        assert!(!fits(&db, &[ONE]).await.unwrap());
        apply(&db, &[ONE], 7).await.unwrap();
        assert!(fits(&db, &[ONE]).await.unwrap());
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

    async fn payments_from_before_their_going_and_their_turn_were_kept_stay_what_they_were(db: Db) {
        apply(&db, &MIGRATIONS[..6], 7).await.unwrap();
        let row = |id: &str, status: &str, verdict: &str, reversed: i64| format!(
            "INSERT INTO payments (account, mode, id, invoice, status, level, first_level, credit_at, verdict, asset, network, \
             units, tx_hash, place, recipient, attributed_by, simulated, first_seen_at, reversed, position, entries, suffix) \
             VALUES ('a', 'test', '{id}', 'i', '{status}', 'final', 'final', 'final', {verdict}, 'x', 'n', '1', '{id}', 0, 'r', \
             'deposit_address', 0, 5, {reversed}, '{{}}', 0, '0')"
        );
        let mut tx = db.begin().await.unwrap();
        let invoice = "INSERT INTO invoices (account, mode, id, status, amount_minor, currency, metadata, options, tolerance_bps, \
             created_at, expires_at, stream_seq) VALUES ('a', 'test', 'i', 'paid', 1, 'USD', '{}', '[]', 0, 1, 9, 0)";
        for sql in [
            invoice,
            &row("credited", "credited", "'passed'", 0),
            &row("gone", "reversed", "NULL", 1),
            &row("held", "held", "'held:sanctions'", 0),
            &row("rejected", "refundable", "'held:sanctions'", 0),
            &row("late", "refundable", "NULL", 0),
        ] {
            tx.run(sql, &[]).await.unwrap();
        }
        tx.commit().await.unwrap();
        db.migrate(8).await.unwrap();
        let sql = "SELECT id, verdict, gone_at, credit_turn FROM payments ORDER BY id";
        type Found = (String, Option<String>, Option<i64>, Option<i64>);
        let rows: Vec<Found> = db.read().await.unwrap().all(sql, &[]).await.unwrap();
        let found = |id: &str, verdict: Option<&str>, gone_at, turn| (id.to_owned(), verdict.map(str::to_owned), gone_at, turn);
        assert_eq!(rows, [
            found("credited", Some("passed"), None, Some(0)),
            found("gone", None, Some(5), None),
            found("held", Some("held:sanctions"), None, None),
            found("late", None, None, None),
            found("rejected", Some("rejected"), None, None),
        ]);
    }

    async fn the_schema_of_this_program_applies(db: Db) {
        assert!(!db.schema_fits().await.unwrap());
        db.migrate(7).await.unwrap();
        assert!(db.schema_fits().await.unwrap());
    }
}

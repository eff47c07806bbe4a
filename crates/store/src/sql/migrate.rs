//! Bringing the schema to this program's version.
//!
//! A migration's first statement inserts its own row, so the table's primary key is what keeps two processes
//! apart: the second waits for the first, then finds the row there and moves on.

use scoped_futures::ScopedFutureExt as _;
use sha2::{Digest, Sha256};

use crate::{Db, Dialect, Queries, StoreError, Tx, Val};

/// The same step for both engines. `name` is the file's, without its extension, in either folder.
pub(crate) struct Migration {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

macro_rules! migrations {
    ($($version:literal => $name:literal),+ $(,)?) => {
        &[$(Migration {
            version: $version,
            name: $name,
            sqlite: include_str!(concat!("../../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../../migrations/postgres/", $name, ".sql")),
        }),+]
    };
}

pub(crate) const MIGRATIONS: &[Migration] = migrations![
    1 => "0001_base",
    2 => "0002_notices",
    3 => "0003_links",
    4 => "0004_lighter_writes",
    5 => "0005_subjects",
    6 => "0006_chains",
    7 => "0007_payment_facts",
    8 => "0008_workers",
    9 => "0009_refunds",
    10 => "0010_customers",
    11 => "0011_addresses",
    12 => "0012_key_credentials",
    13 => "0013_review_decisions",
    14 => "0014_few_of_many",
    15 => "0015_screening",
    16 => "0016_journal_sums",
    17 => "0017_subscriptions",
    18 => "0018_refunds_and_the_rest",
    19 => "0019_watching",
    20 => "0020_link_openings",
    21 => "0021_installation",
    22 => "0022_lists",
    23 => "0023_retention",
    24 => "0024_taken_until",
    25 => "0025_arrived",
    26 => "0026_registers",
];

const CREATE_ATTEMPTS_MAX: u32 = 8;

#[derive(sqlx::FromRow)]
struct Applied {
    version: i64,
    checksum: String,
}

impl Migration {
    fn sql(&self, dialect: Dialect) -> &'static str {
        match dialect {
            Dialect::Sqlite | Dialect::SqliteMemory => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }

    fn checksum(&self, dialect: Dialect) -> String {
        let digest = Sha256::digest(self.sql(dialect));
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

pub(crate) async fn apply(
    db: &Db,
    known: &'static [Migration],
    now_ms: i64,
) -> Result<(), StoreError> {
    create_table(db).await?;
    let applied = applied(db).await?.unwrap_or_default();
    check(db.dialect(), known, &applied)?;
    for migration in known {
        if applied
            .iter()
            .all(|applied| applied.version != migration.version)
        {
            patiently(db, migration, now_ms).await?;
        }
    }
    // Another process may have been faster, with another idea of what belongs here.
    check(
        db.dialect(),
        known,
        &self::applied(db).await?.unwrap_or_default(),
    )
}

pub(crate) async fn is_current(db: &Db, known: &[Migration]) -> Result<bool, StoreError> {
    let Some(applied) = applied(db).await? else {
        return Ok(false);
    };
    Ok(applied.len() == known.len() && check(db.dialect(), known, &applied).is_ok())
}

/// Waits longer than a unit of work does for another process that may be at a large table.
async fn patiently(db: &Db, migration: &'static Migration, now_ms: i64) -> Result<(), StoreError> {
    let mut attempt = 1;
    loop {
        let applied = db.write(move |tx| apply_one(tx, migration, now_ms).scope_boxed());
        match applied.await {
            Err(StoreError::Busy) if attempt < CREATE_ATTEMPTS_MAX => attempt += 1,
            done => return done,
        }
    }
}

async fn apply_one(tx: &mut Tx, migration: &Migration, now_ms: i64) -> Result<(), StoreError> {
    if tx.dialect() == Dialect::Postgres {
        // Whoever is migrating may take its time, and so may a large table.
        tx.batch("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
            .await?;
    }
    let inserted = tx
        .run(
            "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT DO NOTHING",
            &[
                migration.version.into(),
                migration.name.into(),
                migration.checksum(tx.dialect()).into(),
                now_ms.into(),
            ],
        )
        .await?;
    if inserted == 1 {
        tx.batch(migration.sql(tx.dialect())).await?;
        tracing::info!(
            version = migration.version,
            name = migration.name,
            "schema migrated"
        );
    }
    Ok(())
}

/// Every migration in the database must be one of ours, unchanged.
fn check(dialect: Dialect, known: &[Migration], applied: &[Applied]) -> Result<(), StoreError> {
    let newest = known
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or_default();
    for applied in applied {
        let Some(migration) = known.iter().find(|known| known.version == applied.version) else {
            return Err(StoreError::Schema(format!(
                "the database is at version {}, this program knows versions up to {newest}: run a newer program",
                applied.version,
            )));
        };
        if migration.checksum(dialect) != applied.checksum {
            return Err(StoreError::Schema(format!(
                "migration {} was applied with another content than this program's",
                migration.name,
            )));
        }
    }
    Ok(())
}

/// Nothing if the database has no schema yet.
async fn applied(db: &Db) -> Result<Option<Vec<Applied>>, StoreError> {
    let mut reader = db.read().await?;
    let exists = match db.dialect() {
        Dialect::Sqlite | Dialect::SqliteMemory => {
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1"
        }
        Dialect::Postgres => {
            "SELECT CAST(table_name AS TEXT) FROM information_schema.tables \
             WHERE table_schema = current_schema() AND table_name = $1"
        }
    };
    let table: Option<(String,)> = reader
        .one(exists, &[Val::from("schema_migrations")])
        .await?;
    if table.is_none() {
        return Ok(None);
    }
    let sql = "SELECT version, checksum FROM schema_migrations ORDER BY version";
    reader.all(sql, &[]).await.map(Some)
}

async fn create_table(db: &Db) -> Result<(), StoreError> {
    let mut attempt = 1;
    while applied(db).await?.is_none() {
        let created = db.write(|tx| {
            tx.batch(
                "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, \
                 checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)",
            )
            .scope_boxed()
        });
        match created.await {
            Ok(()) => return Ok(()),
            Err(error) if attempt == CREATE_ATTEMPTS_MAX => return Err(error),
            // PostgreSQL fails one of two who create a table at once, in more ways than one.
            Err(_) => db.back_off(attempt).await,
        }
        attempt += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
        assert!(is_current(&test.db, &[ONE, TWO]).await.expect("readable"));
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
            assert!(!is_current(&db, &[ONE]).await.unwrap());
            apply(&db, &[ONE], 7).await.unwrap();
            assert!(is_current(&db, &[ONE]).await.unwrap());
            assert!(!is_current(&db, &[ONE, TWO]).await.unwrap());
            apply(&db, &[ONE, TWO], 8).await.unwrap();
            apply(&db, &[ONE, TWO], 9).await.unwrap();
            assert!(is_current(&db, &[ONE, TWO]).await.unwrap());
            let sql = "SELECT version, applied_at FROM schema_migrations ORDER BY version";
            let rows: Vec<(i64, i64)> = db.read().await.unwrap().all(sql, &[]).await.unwrap();
            assert_eq!(rows, [(1, 7), (2, 8)]);
        }

        async fn a_newer_schema_is_refused(db: Db) {
            apply(&db, &[ONE, TWO], 7).await.unwrap();
            let refused = apply(&db, &[ONE], 7).await.unwrap_err();
            assert!(matches!(&refused, StoreError::Schema(text) if text.contains("version 2")), "{refused}");
            assert!(!is_current(&db, &[ONE]).await.unwrap());
        }

        async fn a_changed_migration_is_refused(db: Db) {
            const CHANGED: Migration = step(1, "0001_one", "CREATE TABLE one (id TEXT PRIMARY KEY, more TEXT);");
            apply(&db, &[ONE], 7).await.unwrap();
            let refused = apply(&db, &[CHANGED, TWO], 7).await.unwrap_err();
            assert!(matches!(&refused, StoreError::Schema(text) if text.contains("0001_one")), "{refused}");
            assert!(!is_current(&db, &[CHANGED]).await.unwrap());
        }

        async fn a_migration_that_fails_leaves_nothing_behind(db: Db) {
            apply(&db, &[ONE, TWO, BROKEN], 7).await.unwrap_err();
            assert!(is_current(&db, &[ONE, TWO]).await.unwrap());
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
            assert!(!db.schema_current().await.unwrap());
            db.migrate(7).await.unwrap();
            assert!(db.schema_current().await.unwrap());
        }
    }
}

//! Bringing the schema to this program's version, while programs of the version before go on with their work.
//!
//! One process at a time does it. On PostgreSQL that is who has an advisory lock, held by a transaction of its own that
//! does nothing else: a session's lock would not survive a pooler. On SQLite, a migration's first statement inserts its own
//! row: the second process waits for the first, then finds the row there and moves on.

use std::time::Duration;

use scoped_futures::ScopedFutureExt as _;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Executor as _, raw_sql};

use super::migration::{Migration, MigrationStep, migrations};
use super::postgres::{Connections, Sessions};
use crate::{Db, Dialect, Queries, StoreError, Tx};

pub(crate) const MIGRATIONS: &[Migration] = migrations![1 => "0001_base"];

const CREATE_ATTEMPTS_MAX: u32 = 8;
/// How often a step asks for a lock that others hold before the start is given up: for some minutes.
const LOCK_ATTEMPTS_MAX: u32 = 240;
/// Between those, so that whoever queued behind us gets on.
const LOCK_PAUSE: Duration = Duration::from_millis(1_000);
/// Between two looks whether another process has done with the migrations.
const GUARD_PAUSE: Duration = Duration::from_millis(250);

/// Whoever waits for a lock holds up those behind it, and whoever has it everybody: together at most a second.
const BRIEFLY: &str = "SET LOCAL lock_timeout = '500ms'; SET LOCAL statement_timeout = '1s'";
/// The base schema is applied whole, to an empty database: nobody waits for its locks.
const AT_LENGTH: &str = "SET LOCAL lock_timeout = '1s'; SET LOCAL statement_timeout = 0";

#[derive(sqlx::FromRow)]
struct Applied {
    version: i64,
    checksum: String,
}

pub(crate) async fn apply(
    db: &Db,
    known: &'static [Migration],
    now_ms: i64,
) -> Result<(), StoreError> {
    create_table(db).await?;
    let Some(mut applied) = missing_some(db, known).await? else {
        return Ok(());
    };
    let mut guard = match db.server() {
        None => None,
        Some(server) => {
            let guard = Guard::take(server).await?;
            // Whoever had it before us may have done everything.
            applied = self::applied(db).await?.unwrap_or_default();
            check(db, known, &applied).await?;
            Some(guard)
        }
    };
    for migration in known {
        if applied.iter().any(|of| of.version == migration.version) {
            continue;
        }
        match &mut guard {
            None => patiently(db, migration, now_ms).await?,
            Some(guard) => in_steps(db, guard, migration, now_ms).await?,
        }
    }
    // Another process may have been faster, with another idea of what belongs here.
    let applied = self::applied(db).await?.unwrap_or_default();
    check(db, known, &applied).await
}

/// What is applied, if that is not all.
async fn missing_some(db: &Db, known: &[Migration]) -> Result<Option<Vec<Applied>>, StoreError> {
    let applied = applied(db).await?.unwrap_or_default();
    check(db, known, &applied).await?;
    Ok((!has_all(known, &applied)).then_some(applied))
}

fn has_all(known: &[Migration], applied: &[Applied]) -> bool {
    let is_applied = |of: &Migration| applied.iter().any(|applied| applied.version == of.version);
    known.iter().all(is_applied)
}

/// What the schema of a database is to a program that can work with it, or bring it to its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schema {
    /// Nothing of ours.
    Missing,
    /// Not everything is applied; the newest that is.
    Older(i64),
    Fits,
}

/// Fails with what to do where a program that knows these migrations can do nothing with it.
pub(crate) async fn schema(db: &Db, known: &[Migration]) -> Result<Schema, StoreError> {
    let Some(applied) = applied(db).await? else {
        return Ok(Schema::Missing);
    };
    check(db, known, &applied).await?;
    Ok(match applied.last() {
        None => Schema::Missing,
        Some(_) if has_all(known, &applied) => Schema::Fits,
        Some(newest) => Schema::Older(newest.version),
    })
}

/// Whether a program that knows these migrations can work with the schema there is.
pub(crate) async fn fits(db: &Db, known: &[Migration]) -> Result<bool, StoreError> {
    match schema(db, known).await {
        Ok(schema) => Ok(schema == Schema::Fits),
        Err(StoreError::Schema(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits longer than a unit of work does for another process that may be at a large table.
async fn patiently(db: &Db, migration: &'static Migration, now_ms: i64) -> Result<(), StoreError> {
    let mut attempt = 1;
    loop {
        let applied = db.write(move |tx| apply_whole(tx, migration, now_ms).scope_boxed());
        match applied.await {
            Err(StoreError::Busy) if attempt < CREATE_ATTEMPTS_MAX => attempt += 1,
            done => return done,
        }
    }
}

async fn apply_whole(tx: &mut Tx, migration: &Migration, now_ms: i64) -> Result<(), StoreError> {
    if record(tx, migration, now_ms).await? == 1 {
        tx.batch(migration.sql(tx.dialect())).await?;
        // A database in memory is always new, and that it is made is no news.
        if tx.dialect() != Dialect::SqliteMemory {
            told(migration);
        }
    }
    Ok(())
}

/// On PostgreSQL: step by step, each committed before the next, so that a migration that was cut off begins again
/// and finds some of its steps done.
async fn in_steps(
    db: &Db,
    guard: &mut Guard,
    migration: &'static Migration,
    now_ms: i64,
) -> Result<(), StoreError> {
    let steps = migration.steps();
    if let [MigrationStep::Whole(_)] = steps[..] {
        guard.check().await?;
        return retry_locked(db, AT_LENGTH, move |tx| {
            apply_whole(tx, migration, now_ms).scope_boxed()
        })
        .await;
    }
    for step in steps {
        guard.check().await?;
        match step {
            MigrationStep::Whole(sql) | MigrationStep::Brief(sql) => {
                retry_locked(db, BRIEFLY, move |tx| tx.batch(sql).scope_boxed()).await?;
            }
            MigrationStep::Repeat(sql) => {
                while retry_locked(db, BRIEFLY, move |tx| tx.run(sql, &[]).scope_boxed()).await? > 0
                {
                }
            }
            MigrationStep::Concurrently { index, sql } => build_index(db, index, sql).await?,
        }
    }
    let done: Result<u64, StoreError> = db
        .write(move |tx| record(tx, migration, now_ms).scope_boxed())
        .await;
    done?;
    told(migration);
    Ok(())
}

/// One unit of work, again and again while others have what it must lock.
async fn retry_locked<T: Send>(
    db: &Db,
    limits: &'static str,
    work: impl for<'t> Fn(
        &'t mut Tx,
    ) -> scoped_futures::ScopedBoxFuture<'static, 't, Result<T, StoreError>>
    + Copy
    + Send
    + Sync,
) -> Result<T, StoreError> {
    let mut attempt = 1;
    loop {
        let done = db.write(move |tx| {
            async move {
                tx.batch(limits).await?;
                work(tx).await
            }
            .scope_boxed()
        });
        match done.await {
            Err(StoreError::LockTimeout { .. }) if attempt < LOCK_ATTEMPTS_MAX => {
                if attempt % 10 == 0 {
                    tracing::warn!(
                        "a migration waits for a table lock that a long transaction holds; it tries again: end that transaction if this lasts"
                    );
                }
                attempt += 1;
                tokio::time::sleep(LOCK_PAUSE).await;
            }
            done => return done,
        }
    }
}

/// What is built beside the work cannot be a unit of work, and one that was cut off leaves an index behind that nobody
/// may use.
async fn build_index(db: &Db, index: &str, sql: &str) -> Result<(), StoreError> {
    let Some(server) = db.server() else {
        return Ok(());
    };
    let mut conn = server.connect_apart().await?;
    let broken = format!(
        "SELECT CAST(c.relname AS TEXT) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = current_schema() AND c.relname = '{index}' AND NOT i.indisvalid"
    );
    // One by one: in one message they would be a transaction. A pooler's session is not ours to set: there the server's own
    // limits hold, of which there are commonly none.
    if server.sessions == Sessions::Own {
        conn.execute(raw_sql("SET statement_timeout = 0")).await?;
        conn.execute(raw_sql("SET lock_timeout = 0")).await?;
    }
    if conn
        .fetch_optional(raw_sql(AssertSqlSafe(broken)))
        .await?
        .is_some()
    {
        let drop = format!("DROP INDEX CONCURRENTLY IF EXISTS {index}");
        conn.execute(raw_sql(AssertSqlSafe(drop))).await?;
    }
    conn.execute(raw_sql(AssertSqlSafe(sql))).await?;
    Ok(())
}

/// How many rows it wrote: none if the migration is there already.
async fn record(tx: &mut Tx, migration: &Migration, now_ms: i64) -> Result<u64, StoreError> {
    tx.run(
        "INSERT INTO schema_migrations (version, name, checksum, applied_at, serves_from) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
        &[
            migration.version.into(),
            migration.name.into(),
            migration.checksum(tx.dialect()).into(),
            now_ms.into(),
            migration.serves_from.into(),
        ],
    )
    .await
}

fn told(migration: &Migration) {
    tracing::info!(
        version = migration.version,
        name = migration.name,
        "schema migrated"
    );
}

/// Keeps other processes from migrating as long as it lives.
struct Guard(PgConnection);

impl Guard {
    async fn take(server: &Connections) -> Result<Guard, StoreError> {
        let mut conn = server.connect_apart().await?;
        let mut is_told = false;
        loop {
            // A transaction that does nothing for long, and that an index being built has no need to wait for.
            conn.execute(raw_sql(
                "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0",
            ))
            .await?;
            // Namespaces of one database are databases of their own to us.
            let taken = conn
                .fetch_one(raw_sql(
                    "SELECT pg_try_advisory_xact_lock(hashtextextended('till migrates ' || current_schema(), 0))",
                ))
                .await?;
            if sqlx::Row::try_get(&taken, 0)? {
                return Ok(Guard(conn));
            }
            conn.execute(raw_sql("ROLLBACK")).await?;
            if !is_told {
                tracing::info!("another server migrates the database; waiting for it");
                is_told = true;
            }
            tokio::time::sleep(GUARD_PAUSE).await;
        }
    }

    /// Without its connection somebody else may be at it.
    async fn check(&mut self) -> Result<(), StoreError> {
        self.0.execute(raw_sql("SELECT 1")).await?;
        Ok(())
    }
}

/// Every migration in the database must be one of ours, unchanged, or a newer one that serves us, too.
async fn check(db: &Db, known: &[Migration], applied: &[Applied]) -> Result<(), StoreError> {
    let newest = known.iter().map(|of| of.version).max().unwrap_or_default();
    let theirs = applied.iter().map(|of| of.version).max();
    for applied in applied {
        match known.iter().find(|known| known.version == applied.version) {
            Some(migration) if migration.checksum(db.dialect()) != applied.checksum => {
                return Err(StoreError::Schema(format!(
                    "migration {} was applied with another content than this program's",
                    migration.name,
                )));
            }
            Some(_) => {}
            None if applied.version > newest && serves(db, applied.version, newest).await? => {}
            None => {
                return Err(StoreError::Schema(format!(
                    "the database is at version {}, this program knows versions up to {newest}: run a newer program",
                    theirs.unwrap_or(applied.version),
                )));
            }
        }
    }
    Ok(())
}

async fn serves(db: &Db, version: i64, newest: i64) -> Result<bool, StoreError> {
    let sql = "SELECT version FROM schema_migrations WHERE version = $1 AND serves_from <= $2";
    let args = [version.into(), newest.into()];
    let found: Option<(i64,)> = db.read().await?.one(sql, &args).await?;
    Ok(found.is_some())
}

/// Nothing if the database has no schema yet.
async fn applied(db: &Db) -> Result<Option<Vec<Applied>>, StoreError> {
    if !has_table(db).await? {
        return Ok(None);
    }
    let sql = "SELECT version, checksum FROM schema_migrations ORDER BY version";
    db.read().await?.all(sql, &[]).await.map(Some)
}

async fn has_table(db: &Db) -> Result<bool, StoreError> {
    let sql = match db.dialect() {
        Dialect::Sqlite | Dialect::SqliteMemory => {
            "SELECT name FROM sqlite_master WHERE name = 'schema_migrations'"
        }
        Dialect::Postgres => {
            "SELECT CAST(relname AS TEXT) FROM pg_class \
             WHERE oid = to_regclass(quote_ident(current_schema()) || '.schema_migrations')"
        }
    };
    let found: Option<(String,)> = db.read().await?.one(sql, &[]).await?;
    Ok(found.is_some())
}

async fn create_table(db: &Db) -> Result<(), StoreError> {
    let sql = "CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, \
         checksum TEXT NOT NULL, applied_at BIGINT NOT NULL, serves_from BIGINT)";
    let mut attempt = 1;
    while !has_table(db).await? {
        let done = db.write(move |tx| tx.batch(sql).scope_boxed());
        match done.await {
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
mod tests;

//! Units of work, alike on both engines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::postgres::Postgres;
use sqlx::{AssertSqlSafe, Transaction, raw_sql};
use tokio::sync::Mutex;

use super::look_up::LookUp;
use super::write::{self, Write};
use crate::sql::conn::{Conn, Queries};
use crate::sql::error::connection_lost;
use crate::sql::group::{self, Slot, Unit};
use crate::sql::postgres::{CLOCK_MS, Connections, Sessions};
use crate::sql::rows::sqlite_arguments;
use crate::sql::servers::Term;
use crate::{Dialect, Row, StoreError, Val};

/// The steps of units of work, counted: each statement before it is sent, each COMMIT before and after.
pub(crate) struct Steps {
    taken: AtomicU64,
    last: AtomicU64,
}

impl Default for Steps {
    fn default() -> Steps {
        Steps {
            taken: AtomicU64::new(0),
            last: AtomicU64::new(u64::MAX),
        }
    }
}

impl Steps {
    pub(crate) async fn take_one(&self) {
        let taken = self.taken.fetch_add(1, Ordering::Relaxed) + 1;
        if taken >= self.last.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) fn stop_after(&self, steps: u64) {
        let taken = self.taken.load(Ordering::Relaxed);
        self.last
            .store(taken.saturating_add(steps), Ordering::Relaxed);
    }

    pub(crate) fn have_stopped(&self) -> bool {
        self.taken.load(Ordering::Relaxed) >= self.last.load(Ordering::Relaxed)
    }
}

/// A unit of work: all of it is committed, or none. Dropped, it is rolled back.
///
/// After a statement failed, or was cancelled half-way, the unit answers nothing but errors.
pub struct Tx {
    inner: Inner,
    /// Set while a statement is under way, and left set when it does not succeed.
    failed: bool,
    commits: Arc<AtomicU64>,
    steps: Arc<Steps>,
}

enum Inner {
    Sqlite(Unit),
    Postgres(Transaction<'static, Postgres>, Sessions, Term),
}

impl Tx {
    pub(crate) fn sqlite(unit: Unit, commits: Arc<AtomicU64>, steps: Arc<Steps>) -> Tx {
        Tx {
            inner: Inner::Sqlite(unit),
            failed: false,
            commits,
            steps,
        }
    }

    pub(crate) fn postgres(
        (transaction, term): (Transaction<'static, Postgres>, Term),
        sessions: Sessions,
        commits: Arc<AtomicU64>,
        steps: Arc<Steps>,
    ) -> Tx {
        Tx {
            inner: Inner::Postgres(transaction, sessions, term),
            failed: false,
            commits,
            steps,
        }
    }

    /// What the database's own clock shows; nothing where that is ours.
    pub async fn clock_ms(&mut self) -> Result<Option<i64>, StoreError> {
        if self.dialect() != Dialect::Postgres {
            return Ok(None);
        }
        let shown: Option<(i64,)> = self.one(CLOCK_MS, &[]).await?;
        Ok(shown.map(|(ms,)| ms))
    }

    /// Appended to a SELECT, keeps its rows from changing until this unit ends. SQLite has one writer anyway.
    pub fn for_update(&self) -> &'static str {
        match self.inner {
            Inner::Sqlite(_) => "",
            Inner::Postgres(..) => " FOR UPDATE",
        }
    }

    /// The same for rows that others may read under the same promise, and nobody changes.
    pub fn for_share(&self) -> &'static str {
        match self.inner {
            Inner::Sqlite(_) => "",
            Inner::Postgres(..) => " FOR SHARE",
        }
    }

    /// Appended to a SELECT, takes only rows that no other unit has taken.
    pub fn skip_locked(&self) -> &'static str {
        match self.inner {
            Inner::Sqlite(_) => "",
            Inner::Postgres(..) => " FOR UPDATE SKIP LOCKED",
        }
    }

    /// Writes rows of one table, in as few statements as it takes. Answers how many rows were touched.
    pub async fn write(&mut self, write: &Write) -> Result<u64, StoreError> {
        let mut count = 0;
        match self.dialect() {
            Dialect::Postgres if write.is_empty() => {}
            Dialect::Postgres => {
                let sql = write::one(write, "")?;
                let rows = std::iter::once(write.rows.as_slice());
                let done = self.start().await?.run_columns(sql, rows).await;
                count = self.finish(done)?;
            }
            Dialect::Sqlite | Dialect::SqliteMemory => {
                for (sql, rows) in write::chunks(write, "")? {
                    let done = self.start().await?.run(sql, rows.iter().flatten()).await;
                    count += self.finish(done)?;
                }
            }
        }
        write::check_touched(std::slice::from_ref(write), count)?;
        Ok(count)
    }

    /// Writes rows of several tables, in as few trips to the database as it takes. No row may be written twice.
    pub async fn write_all(&mut self, writes: &[Write]) -> Result<(), StoreError> {
        let mut count = 0;
        match self.dialect() {
            Dialect::Postgres => {
                let Some(together) = write::combined(writes)? else {
                    return Ok(());
                };
                let tables = writes.iter().map(|write| write.rows.as_slice());
                let done = self.start().await?.run_together(together, tables).await;
                count = self.finish(done)?;
            }
            Dialect::Sqlite | Dialect::SqliteMemory => {
                for (sql, rows) in write::steps(writes)? {
                    let values = rows.into_iter().flatten().flatten();
                    let done = self.start().await?.run(sql, values).await;
                    count += self.finish(done)?;
                }
            }
        }
        write::check_touched(writes, count)
    }

    /// Writes rows of one table and reads what `returning` names of each. They may come back in any order.
    pub(crate) async fn write_returning<T: Row>(
        &mut self,
        write: &Write,
        returning: &str,
    ) -> Result<Vec<T>, StoreError> {
        let mut returned = Vec::new();
        let returning = format!(" RETURNING {returning}");
        match self.dialect() {
            Dialect::Postgres if write.is_empty() => {}
            Dialect::Postgres => {
                let sql = write::one(write, &returning)?;
                let done = self.start().await?.all_columns(&sql, &write.rows).await;
                returned = self.finish(done)?;
            }
            Dialect::Sqlite | Dialect::SqliteMemory => {
                for (sql, rows) in write::chunks(write, &returning)? {
                    let done = self.start().await?.all(sql, rows.iter().flatten()).await;
                    returned.extend(self.finish(done)?);
                }
            }
        }
        Ok(returned)
    }

    pub async fn commit(self) -> Result<(), StoreError> {
        if self.failed {
            return Err(after_failure());
        }
        self.steps.take_one().await;
        match self.inner {
            Inner::Sqlite(unit) => unit.commit().await?,
            Inner::Postgres(transaction, _, mut term) => {
                term.within(transaction.commit()).await?;
                self.commits.fetch_add(1, Ordering::Relaxed);
            }
        }
        // Committed, and whoever waits for it does not know yet: a place to stop at, too.
        self.steps.take_one().await;
        Ok(())
    }

    /// Undoes it before it returns: whoever comes next does not find its locks. (Dropped, it is undone soon after.)
    pub(crate) async fn roll_back(self) {
        if let Inner::Postgres(transaction, _, mut term) = self.inner {
            // A connection that broke has taken the transaction with it.
            term.within(transaction.rollback()).await.ok();
        }
    }

    /// Several statements without arguments.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        let sql = raw_sql(AssertSqlSafe(sql));
        let done = match self.start().await? {
            Conn::Sqlite(conn) => sql.execute(conn).await.map(drop),
            Conn::Postgres(conn, _, term) => term.within(sql.execute(conn)).await.map(drop),
        };
        self.finish(done)
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self.inner {
            Inner::Sqlite(_) => Dialect::Sqlite,
            Inner::Postgres(..) => Dialect::Postgres,
        }
    }

    async fn start(&mut self) -> Result<Conn<'_>, StoreError> {
        if self.failed {
            return Err(after_failure());
        }
        self.failed = true;
        self.steps.take_one().await;
        Ok(match &mut self.inner {
            Inner::Sqlite(unit) => Conn::Sqlite(unit.conn()?),
            Inner::Postgres(transaction, sessions, term) => {
                Conn::Postgres(&mut *transaction, *sessions, term)
            }
        })
    }

    fn finish<T>(&mut self, done: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        self.failed = done.is_err();
        Ok(done?)
    }
}

/// Writes rows of several tables as a unit of work of their own, in one trip to the database: a statement
/// by itself is a transaction, where the session is ours.
///
/// A connection that broke may have died in the pool, or after the commit. The rows are sent again on another
/// one: were they there already, their keys are taken, which says so.
pub(crate) async fn write_postgres(
    connections: &Connections,
    writes: &[Write],
) -> Result<(), StoreError> {
    let Some(together) = write::combined(writes)? else {
        return Ok(());
    };
    let mut stale_left = connections.pool().options().get_max_connections();
    loop {
        let tables = writes.iter().map(|write| write.rows.as_slice());
        let done = match connections.sessions {
            Sessions::Own => {
                let (mut conn, mut term) = connections.acquire().await?;
                let alone = Conn::Postgres(&mut conn, Sessions::Own, &mut term);
                let done = alone.run_together(together.clone(), tables).await;
                if done.as_ref().is_err_and(connection_lost) {
                    conn.close_on_drop();
                }
                done
            }
            Sessions::Shared => {
                let (mut tx, mut term) = connections.begin().await?;
                let conn = Conn::Postgres(&mut tx, Sessions::Shared, &mut term);
                match conn.run_together(together.clone(), tables).await {
                    Ok(count) => term.within(tx.commit()).await.map(|()| count),
                    Err(error) => Err(error),
                }
            }
        };
        match done {
            Err(error) if connections.is_lost(&error) && stale_left > 0 => stale_left -= 1,
            done => return done.map(drop).map_err(StoreError::from),
        }
    }
}

/// The same on SQLite, in as few trips as it takes.
pub(crate) async fn write_sqlite(
    writer: &Arc<Mutex<Slot>>,
    wait: Option<Duration>,
    writes: &[Write],
) -> Result<(), StoreError> {
    let mut statements = Vec::new();
    for (sql, rows) in write::steps(writes)? {
        let arguments = sqlite_arguments(rows.into_iter().flatten().flatten());
        statements.push((sql, arguments.map_err(sqlx::Error::Encode)?));
    }
    group::run_and_commit(writer, wait, statements).await
}

fn after_failure() -> StoreError {
    StoreError::Other(
        "a statement of this unit of work failed before; it can only be rolled back".into(),
    )
}

impl Queries for Tx {
    async fn look_up<T: Row>(
        &mut self,
        look_up: &LookUp,
        keys: &[Vec<Val>],
    ) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::new();
        match self.dialect() {
            Dialect::Postgres if keys.is_empty() => {}
            Dialect::Postgres => {
                let sql = look_up.lateral(keys)?;
                let done = self.start().await?.all_columns(&sql, keys).await;
                found = self.finish(done)?;
            }
            Dialect::Sqlite | Dialect::SqliteMemory => {
                for (sql, keys) in look_up.chunks(keys)? {
                    let done = self.start().await?.all(sql, keys.iter().flatten()).await;
                    found.extend(self.finish(done)?);
                }
            }
        }
        Ok(found)
    }

    async fn all<T: Row>(&mut self, sql: &str, args: &[Val]) -> Result<Vec<T>, StoreError> {
        let done = self.start().await?.all(sql, args.iter()).await;
        self.finish(done)
    }

    async fn one<T: Row>(&mut self, sql: &str, args: &[Val]) -> Result<Option<T>, StoreError> {
        let done = self.start().await?.one(sql, args).await;
        self.finish(done)
    }

    async fn run(&mut self, sql: &str, args: &[Val]) -> Result<u64, StoreError> {
        let done = self.start().await?.run(sql, args.iter()).await;
        self.finish(done)
    }
}

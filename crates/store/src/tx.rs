//! Units of work and reads, alike on both engines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::future::Future;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnection, PgPool, Postgres};
use sqlx::sqlite::{Sqlite, SqliteConnection, SqlitePool};
use sqlx::{AssertSqlSafe, Transaction, query_as_with, query_with, raw_sql};
use tokio::sync::Mutex;

use crate::error::connection_lost;
use crate::group::{self, Slot, Unit};
use crate::insert::Insert;
use crate::rows::{add_columns, postgres_arguments, sqlite_arguments};
use crate::{Engine, Row, StoreError, Val, insert};

/// Statements that run in a unit of work as well as in a read.
pub trait Queries: Send {
    fn all<T: Row>(
        &mut self,
        sql: &str,
        args: &[Val],
    ) -> impl Future<Output = Result<Vec<T>, StoreError>> + Send;

    /// The first row, if any.
    fn one<T: Row>(
        &mut self,
        sql: &str,
        args: &[Val],
    ) -> impl Future<Output = Result<Option<T>, StoreError>> + Send;

    /// How many rows the statement touched. A [`Reader`] refuses it.
    fn run(
        &mut self,
        sql: &str,
        args: &[Val],
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}

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
    Postgres(Transaction<'static, Postgres>),
}

/// Reads what is committed, each statement what is so at its moment. In a database in memory, a read waits
/// for the units of work before it: to read while holding a [`Tx`] waits for ever, so read through the `Tx`.
pub struct Reader(pub(crate) Source);

pub(crate) enum Source {
    Memory(Arc<Mutex<Slot>>),
    Sqlite {
        pool: SqlitePool,
        held: Option<PoolConnection<Sqlite>>,
    },
    Postgres {
        pool: PgPool,
        held: Option<PoolConnection<Postgres>>,
        /// How many more connections that died idle are put up with.
        stale_left: u32,
    },
}

enum Conn<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

impl Conn<'_> {
    async fn all<'v, T: Row>(
        self,
        sql: impl Into<String>,
        args: impl Iterator<Item = &'v Val> + Send,
    ) -> Result<Vec<T>, sqlx::Error> {
        let sql = AssertSqlSafe(sql.into());
        match self {
            Conn::Sqlite(conn) => {
                let args = sqlite_arguments(args).map_err(sqlx::Error::Encode)?;
                query_as_with::<Sqlite, T, _>(sql, args)
                    .fetch_all(conn)
                    .await
            }
            Conn::Postgres(conn) => {
                let args = postgres_arguments(args).map_err(sqlx::Error::Encode)?;
                query_as_with::<Postgres, T, _>(sql, args)
                    .fetch_all(conn)
                    .await
            }
        }
    }

    /// With one array for each column of the rows; SQLite has no arrays.
    async fn all_columns<T: Row>(
        self,
        sql: &str,
        rows: &[Vec<Val>],
    ) -> Result<Vec<T>, sqlx::Error> {
        match self {
            Conn::Sqlite(_) => Err(no_arrays()),
            Conn::Postgres(conn) => {
                let args = columns(std::iter::once(rows))?;
                query_as_with::<Postgres, T, _>(AssertSqlSafe(sql), args)
                    .fetch_all(conn)
                    .await
            }
        }
    }

    async fn run_columns<'v>(
        self,
        sql: String,
        tables: impl Iterator<Item = &'v [Vec<Val>]> + Send,
    ) -> Result<u64, sqlx::Error> {
        match self {
            Conn::Sqlite(_) => Err(no_arrays()),
            Conn::Postgres(conn) => {
                let args = columns(tables)?;
                let query = query_with::<Postgres, _>(AssertSqlSafe(sql), args);
                Ok(query.execute(conn).await?.rows_affected())
            }
        }
    }

    async fn one<T: Row>(self, sql: &str, args: &[Val]) -> Result<Option<T>, sqlx::Error> {
        let sql = AssertSqlSafe(sql);
        match self {
            Conn::Sqlite(conn) => {
                let args = sqlite_arguments(args.iter()).map_err(sqlx::Error::Encode)?;
                query_as_with::<Sqlite, T, _>(sql, args)
                    .fetch_optional(conn)
                    .await
            }
            Conn::Postgres(conn) => {
                let args = postgres_arguments(args.iter()).map_err(sqlx::Error::Encode)?;
                query_as_with::<Postgres, T, _>(sql, args)
                    .fetch_optional(conn)
                    .await
            }
        }
    }

    async fn run<'v>(
        self,
        sql: impl Into<String>,
        args: impl Iterator<Item = &'v Val> + Send,
    ) -> Result<u64, sqlx::Error> {
        let sql = AssertSqlSafe(sql.into());
        match self {
            Conn::Sqlite(conn) => {
                let args = sqlite_arguments(args).map_err(sqlx::Error::Encode)?;
                let done = query_with::<Sqlite, _>(sql, args).execute(conn).await?;
                Ok(done.rows_affected())
            }
            Conn::Postgres(conn) => {
                let args = postgres_arguments(args).map_err(sqlx::Error::Encode)?;
                let done = query_with::<Postgres, _>(sql, args).execute(conn).await?;
                Ok(done.rows_affected())
            }
        }
    }
}

/// The columns of each table's rows, one table after the other.
fn columns<'v>(tables: impl Iterator<Item = &'v [Vec<Val>]>) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    for rows in tables {
        add_columns(&mut arguments, rows).map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

fn no_arrays() -> sqlx::Error {
    sqlx::Error::Encode("SQLite has no arrays".into())
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
        transaction: Transaction<'static, Postgres>,
        commits: Arc<AtomicU64>,
        steps: Arc<Steps>,
    ) -> Tx {
        Tx {
            inner: Inner::Postgres(transaction),
            failed: false,
            commits,
            steps,
        }
    }

    /// Appended to a SELECT, keeps its rows from changing until this unit ends. SQLite has one writer anyway.
    pub fn for_update(&self) -> &'static str {
        match self.inner {
            Inner::Sqlite(_) => "",
            Inner::Postgres(_) => " FOR UPDATE",
        }
    }

    /// Appended to a SELECT, takes only rows that no other unit has taken.
    pub fn skip_locked(&self) -> &'static str {
        match self.inner {
            Inner::Sqlite(_) => "",
            Inner::Postgres(_) => " FOR UPDATE SKIP LOCKED",
        }
    }

    /// Inserts many rows with few statements. `head` is `INSERT INTO t (a, b) VALUES`, `tail` what follows the
    /// rows, such as `ON CONFLICT DO NOTHING`. Answers how many rows went in.
    pub async fn insert_many(
        &mut self,
        head: &str,
        tail: &str,
        rows: &[Vec<Val>],
    ) -> Result<u64, StoreError> {
        let mut count = 0;
        match self.engine() {
            Engine::Postgres if rows.is_empty() => {}
            Engine::Postgres => {
                let sql = insert::unnested(head, tail, insert::width(head, rows)?)?;
                let done = self
                    .start()
                    .await?
                    .run_columns(sql, std::iter::once(rows))
                    .await;
                count = self.finish(done)?;
            }
            Engine::Sqlite | Engine::SqliteMemory => {
                for (sql, rows) in insert::chunks(head, tail, rows)? {
                    let done = self.start().await?.run(sql, rows.iter().flatten()).await;
                    count += self.finish(done)?;
                }
            }
        }
        Ok(count)
    }

    /// Inserts rows into several tables, in as few trips to the database as it takes.
    pub async fn insert_all(&mut self, inserts: &[Insert]) -> Result<(), StoreError> {
        match self.engine() {
            Engine::Postgres => {
                if let Some(sql) = insert::together(inserts)? {
                    let tables = inserts.iter().map(|insert| insert.rows.as_slice());
                    let done = self.start().await?.run_columns(sql, tables).await;
                    self.finish(done)?;
                }
            }
            Engine::Sqlite | Engine::SqliteMemory => {
                for (sql, rows) in insert::steps(inserts)? {
                    let values = rows.into_iter().flatten().flatten();
                    let done = self.start().await?.run(sql, values).await;
                    self.finish(done)?;
                }
            }
        }
        Ok(())
    }

    /// Like [`Tx::insert_many`], with a `RETURNING` in `tail`, or any statement around a list of rows that
    /// answers with rows. They may come back in any order.
    pub async fn insert_many_returning<T: Row>(
        &mut self,
        head: &str,
        tail: &str,
        rows: &[Vec<Val>],
    ) -> Result<Vec<T>, StoreError> {
        let mut returned = Vec::new();
        match self.engine() {
            Engine::Postgres if rows.is_empty() => {}
            Engine::Postgres => {
                let sql = insert::unnested(head, tail, insert::width(head, rows)?)?;
                let done = self.start().await?.all_columns(&sql, rows).await;
                returned = self.finish(done)?;
            }
            Engine::Sqlite | Engine::SqliteMemory => {
                for (sql, rows) in insert::chunks(head, tail, rows)? {
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
            Inner::Postgres(transaction) => {
                transaction.commit().await?;
                self.commits.fetch_add(1, Ordering::Relaxed);
            }
        }
        // Committed, and whoever waits for it does not know yet: a place to stop at, too.
        self.steps.take_one().await;
        Ok(())
    }

    /// Several statements without arguments.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        let sql = raw_sql(AssertSqlSafe(sql));
        let done = match self.start().await? {
            Conn::Sqlite(conn) => sql.execute(conn).await.map(drop),
            Conn::Postgres(conn) => sql.execute(conn).await.map(drop),
        };
        self.finish(done)
    }

    pub(crate) fn engine(&self) -> Engine {
        match self.inner {
            Inner::Sqlite(_) => Engine::Sqlite,
            Inner::Postgres(_) => Engine::Postgres,
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
            Inner::Postgres(transaction) => Conn::Postgres(&mut *transaction),
        })
    }

    fn finish<T>(&mut self, done: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        self.failed = done.is_err();
        Ok(done?)
    }
}

/// Inserts rows into several tables as a unit of work of their own, in one trip to the database: a statement
/// by itself is a transaction.
///
/// A connection that broke may have died in the pool, or after the commit. The rows are sent again on another
/// one: were they there already, their keys are taken, which says so.
pub(crate) async fn insert_postgres(pool: &PgPool, inserts: &[Insert]) -> Result<(), StoreError> {
    let Some(sql) = insert::together(inserts)? else {
        return Ok(());
    };
    let mut stale_left = pool.options().get_max_connections();
    loop {
        let mut conn = pool.acquire().await?;
        let tables = inserts.iter().map(|insert| insert.rows.as_slice());
        let done = Conn::Postgres(&mut conn).run_columns(sql.clone(), tables);
        match done.await {
            Err(error) if connection_lost(&error) && stale_left > 0 => {
                stale_left -= 1;
                conn.close_on_drop();
            }
            done => return done.map(drop).map_err(StoreError::from),
        }
    }
}

/// The same on SQLite, in as few trips as it takes.
pub(crate) async fn insert_sqlite(
    writer: &Arc<Mutex<Slot>>,
    wait: Option<Duration>,
    inserts: &[Insert],
) -> Result<(), StoreError> {
    let mut statements = Vec::new();
    for (sql, rows) in insert::steps(inserts)? {
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

/// Runs a query on a reader's connection, taking one at the first. A pool may hold connections that died
/// while idle (the server was restarted); a read can simply be asked again on another.
macro_rules! read_on {
    ($reader:ident, $conn:ident => $query:expr) => {
        match &mut $reader.0 {
            Source::Memory(writer) => {
                let mut slot = group::lock(writer, None).await?;
                let $conn = Conn::Sqlite(slot.conn()?);
                Ok($query.await?)
            }
            Source::Sqlite { pool, held } => {
                let conn = match held {
                    Some(conn) => conn,
                    None => held.insert(pool.acquire().await?),
                };
                let $conn = Conn::Sqlite(conn);
                Ok($query.await?)
            }
            Source::Postgres {
                pool,
                held,
                stale_left,
            } => loop {
                let conn = match held {
                    Some(conn) => conn,
                    None => held.insert(pool.acquire().await?),
                };
                let $conn = Conn::Postgres(conn);
                match $query.await {
                    Err(error) if connection_lost(&error) && *stale_left > 0 => {
                        *stale_left -= 1;
                        if let Some(mut conn) = held.take() {
                            conn.close_on_drop();
                        }
                    }
                    done => break Ok(done?),
                }
            },
        }
    };
}

impl Reader {
    /// Rows by their keys, in few statements and any order. `select` finds one, by `$1` and so on.
    pub async fn look_up<T: Row>(
        &mut self,
        select: &str,
        keys: &[Vec<Val>],
    ) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::new();
        match &self.0 {
            Source::Postgres { .. } if keys.is_empty() => {}
            Source::Postgres { .. } => {
                let sql = insert::lateral(select, insert::width(select, keys)?);
                let rows: Result<Vec<T>, StoreError> =
                    read_on!(self, conn => conn.all_columns(&sql, keys));
                found = rows?;
            }
            Source::Sqlite { .. } | Source::Memory(_) => {
                for (sql, keys) in insert::lookups(select, keys)? {
                    let rows: Result<Vec<T>, StoreError> =
                        read_on!(self, conn => conn.all(sql.as_str(), keys.iter().flatten()));
                    found.extend(rows?);
                }
            }
        }
        Ok(found)
    }
}

impl Queries for Reader {
    async fn all<T: Row>(&mut self, sql: &str, args: &[Val]) -> Result<Vec<T>, StoreError> {
        read_on!(self, conn => conn.all(sql, args.iter()))
    }

    async fn one<T: Row>(&mut self, sql: &str, args: &[Val]) -> Result<Option<T>, StoreError> {
        read_on!(self, conn => conn.one(sql, args))
    }

    async fn run(&mut self, sql: &str, _: &[Val]) -> Result<u64, StoreError> {
        Err(StoreError::Other(format!("a read cannot run {sql}")))
    }
}

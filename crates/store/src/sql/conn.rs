//! Statements, alike on both engines.

use futures::future::Future;
use sqlx::postgres::{PgArguments, PgConnection, Postgres};
use sqlx::sqlite::{Sqlite, SqliteConnection};
use sqlx::{AssertSqlSafe, query_as_with, query_with};

use super::look_up::LookUp;
use super::postgres::Sessions;
use super::servers::Term;
use super::write::CombinedStatement;
use crate::sql::rows::{add_columns, postgres_arguments, sqlite_arguments};
use crate::{Row, StoreError, Val};

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

    /// Rows by their keys, in few statements and any order.
    fn look_up<T: Row>(
        &mut self,
        look_up: &LookUp,
        keys: &[Vec<Val>],
    ) -> impl Future<Output = Result<Vec<T>, StoreError>> + Send;

    /// How many rows the statement touched. A [`crate::Reader`] refuses it.
    fn run(
        &mut self,
        sql: &str,
        args: &[Val],
    ) -> impl Future<Output = Result<u64, StoreError>> + Send;
}

/// A connection of either engine, for one statement.
pub(crate) enum Conn<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection, Sessions, &'c mut Term),
}

impl Conn<'_> {
    pub(crate) async fn all<'v, T: Row>(
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
            Conn::Postgres(conn, sessions, term) => {
                let args = postgres_arguments(args).map_err(sqlx::Error::Encode)?;
                let query = query_as_with::<Postgres, T, _>(sql, args);
                let query = query.persistent(sessions.keep());
                term.within(query.fetch_all(conn)).await
            }
        }
    }

    /// With one array for each column of the rows; SQLite has no arrays.
    pub(crate) async fn all_columns<T: Row>(
        self,
        sql: &str,
        rows: &[Vec<Val>],
    ) -> Result<Vec<T>, sqlx::Error> {
        match self {
            Conn::Sqlite(_) => Err(no_arrays()),
            Conn::Postgres(conn, sessions, term) => {
                let args = columns(std::iter::once(rows))?;
                let query = query_as_with::<Postgres, T, _>(AssertSqlSafe(sql), args);
                let query = query.persistent(sessions.keep());
                term.within(query.fetch_all(conn)).await
            }
        }
    }

    pub(crate) async fn run_columns<'v>(
        self,
        sql: String,
        tables: impl Iterator<Item = &'v [Vec<Val>]> + Send,
    ) -> Result<u64, sqlx::Error> {
        match self {
            Conn::Sqlite(_) => Err(no_arrays()),
            Conn::Postgres(conn, sessions, term) => {
                let args = columns(tables)?;
                let query = query_with::<Postgres, _>(AssertSqlSafe(sql), args);
                let query = query.persistent(sessions.keep());
                Ok(term.within(query.execute(conn)).await?.rows_affected())
            }
        }
    }

    /// How many rows were touched.
    pub(crate) async fn run_together<'v>(
        self,
        together: CombinedStatement,
        tables: impl Iterator<Item = &'v [Vec<Val>]> + Send,
    ) -> Result<u64, sqlx::Error> {
        match self {
            Conn::Postgres(conn, sessions, term) if together.is_counted => {
                let args = columns(tables)?;
                let sql = AssertSqlSafe(together.sql);
                let query = query_as_with::<Postgres, (i64,), _>(sql, args);
                let query = query.persistent(sessions.keep());
                let counted = term.within(query.fetch_one(conn)).await?;
                Ok(counted.0.cast_unsigned())
            }
            conn => conn.run_columns(together.sql, tables).await,
        }
    }

    pub(crate) async fn one<T: Row>(
        self,
        sql: &str,
        args: &[Val],
    ) -> Result<Option<T>, sqlx::Error> {
        let sql = AssertSqlSafe(sql);
        match self {
            Conn::Sqlite(conn) => {
                let args = sqlite_arguments(args.iter()).map_err(sqlx::Error::Encode)?;
                query_as_with::<Sqlite, T, _>(sql, args)
                    .fetch_optional(conn)
                    .await
            }
            Conn::Postgres(conn, sessions, term) => {
                let args = postgres_arguments(args.iter()).map_err(sqlx::Error::Encode)?;
                let query = query_as_with::<Postgres, T, _>(sql, args);
                let query = query.persistent(sessions.keep());
                term.within(query.fetch_optional(conn)).await
            }
        }
    }

    pub(crate) async fn run<'v>(
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
            Conn::Postgres(conn, sessions, term) => {
                let args = postgres_arguments(args).map_err(sqlx::Error::Encode)?;
                let query = query_with::<Postgres, _>(sql, args);
                let query = query.persistent(sessions.keep());
                Ok(term.within(query.execute(conn)).await?.rows_affected())
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

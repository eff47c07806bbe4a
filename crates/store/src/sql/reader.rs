//! Reads outside of units of work.

use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::postgres::Postgres;
use sqlx::sqlite::{Sqlite, SqlitePool};
use tokio::sync::Mutex;

use super::look_up::LookUp;
use crate::sql::conn::{Conn, Queries};
use crate::sql::group::{self, Slot};
use crate::sql::postgres::{Connections, Sessions};
use crate::sql::servers::Term;
use crate::{Row, StoreError, Val};

/// Reads what is committed, each statement what is so at its moment. In a database in memory, a read waits
/// for the units of work before it: to read while holding a [`crate::Tx`] waits for ever, so read through the `Tx`.
pub struct Reader(pub(crate) ReaderConnection);

/// Where a reader gets the connection that it asks on.
pub(crate) enum ReaderConnection {
    Memory(Arc<Mutex<Slot>>),
    Sqlite {
        pool: SqlitePool,
        held: Option<PoolConnection<Sqlite>>,
    },
    Postgres {
        connections: Connections,
        held: Option<(PoolConnection<Postgres>, Term)>,
        /// How many more connections that died idle are put up with.
        stale_left: u32,
    },
}

/// Runs a query on a reader's connection, taking one at the first. A pool may hold connections that died
/// while idle (the server was restarted); a read can simply be asked again on another.
macro_rules! read_on {
    ($reader:ident, $conn:ident => $query:expr) => {
        match &mut $reader.0 {
            ReaderConnection::Memory(writer) => {
                let mut slot = group::lock(writer, None).await?;
                let $conn = Conn::Sqlite(slot.conn()?);
                Ok($query.await?)
            }
            ReaderConnection::Sqlite { pool, held } => {
                let conn = match held {
                    Some(conn) => conn,
                    None => held.insert(pool.acquire().await?),
                };
                let $conn = Conn::Sqlite(conn);
                Ok($query.await?)
            }
            ReaderConnection::Postgres {
                connections,
                stale_left,
                ..
            } if connections.sessions == Sessions::Shared => loop {
                let (mut tx, mut term) = connections.begin().await?;
                let $conn = Conn::Postgres(&mut tx, Sessions::Shared, &mut term);
                match $query.await {
                    Err(error) if connections.is_lost(&error) && *stale_left > 0 => {
                        *stale_left -= 1
                    }
                    done => {
                        // It has answered: what becomes of the transaction is no part of it.
                        term.within(tx.commit()).await.ok();
                        break Ok(done?);
                    }
                }
            },
            ReaderConnection::Postgres {
                connections,
                held,
                stale_left,
            } => loop {
                let (conn, term) = match held {
                    Some(held) => held,
                    None => held.insert(connections.acquire().await?),
                };
                let $conn = Conn::Postgres(conn, Sessions::Own, term);
                match $query.await {
                    Err(error) if connections.is_lost(&error) && *stale_left > 0 => {
                        *stale_left -= 1;
                        if let Some((mut conn, _)) = held.take() {
                            conn.close_on_drop();
                        }
                    }
                    done => break Ok(done?),
                }
            },
        }
    };
}

impl Queries for Reader {
    async fn look_up<T: Row>(
        &mut self,
        look_up: &LookUp,
        keys: &[Vec<Val>],
    ) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::new();
        match &self.0 {
            ReaderConnection::Postgres { .. } if keys.is_empty() => {}
            ReaderConnection::Postgres { .. } => {
                let sql = look_up.lateral(keys)?;
                let rows: Result<Vec<T>, StoreError> =
                    read_on!(self, conn => conn.all_columns(&sql, keys));
                found = rows?;
            }
            ReaderConnection::Sqlite { .. } | ReaderConnection::Memory(_) => {
                for (sql, keys) in look_up.chunks(keys)? {
                    let rows: Result<Vec<T>, StoreError> =
                        read_on!(self, conn => conn.all(sql.as_str(), keys.iter().flatten()));
                    found.extend(rows?);
                }
            }
        }
        Ok(found)
    }

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

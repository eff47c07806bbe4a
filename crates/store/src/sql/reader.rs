//! Reads outside of units of work.

use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::postgres::Postgres;
use sqlx::sqlite::{Sqlite, SqlitePool};
use tokio::sync::Mutex;

use super::look_up::LookUp;
use super::position::{Position, REPLAYED, WRITTEN};
use super::replica::{ChosenReplica, ReplicaConnection};
use crate::sql::conn::{Conn, Queries};
use crate::sql::group::{self, Slot};
use crate::sql::postgres::{Connections, Sessions};
use crate::sql::servers::Term;
use crate::{Row, StoreError, Val};

/// Where a request reads what it only shows: at the primary, or at a replica for as long as that answers. All of it comes from one
/// place, and never from an earlier moment than what was read before.
#[derive(Clone)]
pub struct ReadSource {
    primary: Primary,
    replica: Option<Arc<ChosenReplica>>,
    /// Whether somebody else could be asked next, who is not as far.
    has_replicas: bool,
}

/// How readers of the primary get their connections.
#[derive(Clone)]
pub(crate) enum Primary {
    Memory(Arc<Mutex<Slot>>),
    Sqlite(SqlitePool),
    Postgres(Connections),
}

impl Primary {
    fn connection(&self) -> ReaderConnection {
        match self {
            Primary::Memory(writer) => ReaderConnection::Memory(Arc::clone(writer)),
            Primary::Sqlite(pool) => ReaderConnection::Sqlite {
                pool: pool.clone(),
                held: None,
            },
            Primary::Postgres(connections) => ReaderConnection::Postgres {
                connections: connections.clone(),
                held: None,
                stale_left: connections.pool().options().get_max_connections(),
            },
        }
    }
}

impl ReadSource {
    /// The primary and nobody else.
    pub(crate) fn primary(primary: Primary) -> ReadSource {
        ReadSource {
            primary,
            replica: None,
            has_replicas: false,
        }
    }

    /// For requests that replicas may answer: this one, unless none will do.
    pub(crate) fn with_replica(primary: Primary, replica: Option<ChosenReplica>) -> ReadSource {
        ReadSource {
            primary,
            replica: replica.map(Arc::new),
            has_replicas: true,
        }
    }

    pub fn read(&self) -> Reader {
        let replica = self.replica.as_ref().filter(|_| self.is_replica());
        Reader {
            primary: self.primary.connection(),
            replica: replica.map(ReplicaConnection::of),
        }
    }

    /// Whether a replica is read from. It changes once at most, when that fails: what was read before is older than what is read
    /// from then on, and the two are not to be held against each other.
    pub fn is_replica(&self) -> bool {
        self.replica.as_ref().is_some_and(|it| !it.has_failed())
    }

    /// A position that has everything that was read so far. Whoever reads on elsewhere asks for it.
    pub async fn position(&self) -> Result<Position, StoreError> {
        if !self.has_replicas {
            return Ok(Position::START);
        }
        if self.is_replica() {
            let replayed: Option<(i64,)> = self.read().one(REPLAYED, &[]).await?;
            // What the primary says of it is nothing: the replica has failed meanwhile.
            if let Some((bytes,)) = replayed.filter(|_| self.is_replica()) {
                return Ok(Position::new(bytes));
            }
        }
        self.read().written().await
    }
}

/// Reads what is committed, each statement what is so at its moment. In a database in memory, a read waits
/// for the units of work before it: to read while holding a [`crate::Tx`] waits for ever, so read through the `Tx`.
pub struct Reader {
    primary: ReaderConnection,
    /// Asked in its place until it fails.
    replica: Option<ReplicaConnection>,
}

impl Reader {
    /// How far a primary has written.
    async fn written(&mut self) -> Result<Position, StoreError> {
        let written: Option<(i64,)> = self.one(WRITTEN, &[]).await?;
        written
            .map(|(bytes,)| Position::new(bytes))
            .ok_or(StoreError::Unavailable)
    }
}

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

/// Runs a query on a reader's connection, taking one at the first. Whatever goes wrong at a replica, the primary is asked instead.
macro_rules! read_on {
    ($reader:ident, $conn:ident => $query:expr) => {
        'answered: {
            if let Some(replica) = &mut $reader.replica {
                let silence = replica.silence();
                // Boxed to keep the future small: most installations have no replicas.
                let asked = Box::pin(async {
                    let $conn = replica.conn().await?;
                    $query.await.ok()
                });
                let answer = tokio::select! {
                    biased;
                    answer = asked => answer,
                    () = silence => None,
                };
                if let Some(answer) = answer {
                    replica.end_statement().await;
                    break 'answered Ok(answer);
                }
                if let Some(replica) = $reader.replica.take() {
                    replica.fail();
                }
            }
            read_on_primary!($reader, $conn => $query)
        }
    };
}

/// A pool may hold connections that died while idle (the server was restarted); a read can simply be asked again on another.
macro_rules! read_on_primary {
    ($reader:ident, $conn:ident => $query:expr) => {
        match &mut $reader.primary {
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
        match &self.primary {
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

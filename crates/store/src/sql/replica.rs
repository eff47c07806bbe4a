//! One replica, as its readers meet it: how it stands, and a reader's connection to it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::Transaction;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, Postgres};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::position::{Position, REPLAYED};
use super::postgres::{Connections, Sessions};
use super::servers::Term;
use crate::sql::conn::Conn;

/// How a replica stood when it was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    pub answers: bool,
    /// It may be read from.
    pub is_usable: bool,
    pub replayed: Position,
    pub lag_ms: i64,
}

pub(crate) struct Replica {
    /// Where it is, without a word that could be a password.
    pub name: String,
    pub options: PgConnectOptions,
    /// Those who read. There are some once it has answered.
    pub readers: OnceLock<Connections>,
    pub standing: watch::Sender<Standing>,
    /// How many wait for it to replay more, and the first of them to come.
    waiting: AtomicUsize,
    pub awaited: Notify,
    pub reads: AtomicU64,
}

/// Somebody who waits, as long as they do.
struct Waiting<'r>(&'r AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Replica {
    pub(crate) fn new(name: String, options: PgConnectOptions) -> Replica {
        Replica {
            name,
            options,
            readers: OnceLock::new(),
            standing: watch::Sender::default(),
            waiting: AtomicUsize::new(0),
            awaited: Notify::new(),
            reads: AtomicU64::new(0),
        }
    }

    pub(crate) fn stands(&self) -> Standing {
        *self.standing.borrow()
    }

    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether it gets as far within this time.
    pub(crate) async fn reaches(&self, position: Position, within: Duration) -> bool {
        let mut standing = self.standing.subscribe();
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        self.awaited.notify_one();
        let there = standing.wait_for(|it| !it.is_usable || it.replayed >= position);
        match timeout(within, there).await {
            Ok(Ok(standing)) => standing.is_usable,
            Ok(Err(_)) | Err(_) => false,
        }
    }
}

/// A replica that was chosen for the reads of one request.
pub(crate) struct ChosenReplica {
    replica: Arc<Replica>,
    /// What it must have replayed to be read from.
    at_least: Position,
    /// Once it failed, the primary answers what else the request reads: there is no way back to what was before.
    has_failed: AtomicBool,
    failures: Arc<AtomicU64>,
}

impl ChosenReplica {
    pub(crate) fn new(
        replica: Arc<Replica>,
        at_least: Position,
        failures: Arc<AtomicU64>,
    ) -> ChosenReplica {
        ChosenReplica {
            replica,
            at_least,
            has_failed: AtomicBool::new(false),
            failures,
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    async fn connect(&self) -> Option<Held> {
        let connections = self.replica.readers.get()?;
        let mut held = match connections.sessions {
            // The pool's own error: that a replica is away is told once, by whoever follows it.
            Sessions::Own => {
                let conn = connections.pool().acquire().await.ok()?;
                Held::Own((conn, Term::endless()))
            }
            Sessions::Shared => Held::Shared(connections.begin().await.ok()?),
        };
        // Asked on the very connection: the replica may have been restarted since it was last asked, and begun further back.
        if self.at_least > Position::START {
            let replayed: Option<(i64,)> = held.conn().one(REPLAYED, &[]).await.ok()?;
            replayed.filter(|(bytes,)| Position::new(*bytes) >= self.at_least)?;
        }
        Some(held)
    }
}

enum Held {
    Own((PoolConnection<Postgres>, Term)),
    /// A transaction for each statement, as everywhere behind a pooler.
    Shared((Transaction<'static, Postgres>, Term)),
}

impl Held {
    fn conn(&mut self) -> Conn<'_> {
        match self {
            Held::Own((conn, term)) => Conn::Postgres(conn, Sessions::Own, term),
            Held::Shared((tx, term)) => Conn::Postgres(tx, Sessions::Shared, term),
        }
    }
}

/// A reader's connection to a replica, made when it is first asked.
pub(crate) struct ReplicaConnection {
    chosen: Arc<ChosenReplica>,
    held: Option<Held>,
}

impl ReplicaConnection {
    pub(crate) fn of(chosen: &Arc<ChosenReplica>) -> ReplicaConnection {
        ReplicaConnection {
            chosen: Arc::clone(chosen),
            held: None,
        }
    }

    /// None where it cannot be reached, or is not as far as it must be.
    pub(crate) async fn conn(&mut self) -> Option<Conn<'_>> {
        if self.held.is_none() {
            self.held = self.chosen.connect().await;
        }
        self.held.as_mut().map(Held::conn)
    }

    /// Until the replica stops answering: what is asked of it then may never be answered.
    pub(crate) fn silence(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut standing = self.chosen.replica.standing.subscribe();
        async move {
            if standing.wait_for(|it| !it.answers).await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// It has answered.
    pub(crate) async fn end_statement(&mut self) {
        if let Some(Held::Shared(_)) = self.held
            && let Some(Held::Shared((tx, _))) = self.held.take()
        {
            tx.commit().await.ok();
        }
    }

    /// It has not, so the request goes on at the primary.
    pub(crate) fn fail(self) {
        if let Some(Held::Own((mut conn, _))) = self.held {
            conn.close_on_drop();
        }
        if !self.chosen.has_failed.swap(true, Ordering::Relaxed) {
            self.chosen.failures.fetch_add(1, Ordering::Relaxed);
            let replica = &*self.chosen.replica.name;
            tracing::debug!(replica, "a replica did not answer; the primary is asked");
        }
    }
}

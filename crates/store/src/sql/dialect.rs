//! The one place that knows how each engine is opened, asked and kept alive.

use std::path::Path;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;

use scoped_futures::ScopedBoxFuture;
use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tokio::sync::Mutex;

use super::backoff::backoff_ms;
use super::config::DbConfig;
use super::copies::{self, make_for_owner_alone};
use super::migrate::{self, Schema};
use super::position::Position;
use super::postgres::{self, Connections};
use super::replicas::{self, ReplicaFound, ReplicaUse, Replicas};
use super::sqlite;
use crate::sql::checkpoint::Checkpointer;
use crate::sql::group::{self, Slot, Unit};
use crate::sql::reader::{Primary, ReadSource};
use crate::sql::tx::{Steps, write_postgres, write_sqlite};
use crate::{Queries as _, Reader, Retryable, StoreError, Tx, Unwritable, Write};

const OPEN_ATTEMPTS_MAX: u32 = 10;
const WRITE_ATTEMPTS_MAX: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    SqliteMemory,
    Postgres,
}

/// A database. Cheap to clone.
#[derive(Clone)]
pub struct Db(Arc<Inner>);

struct Inner {
    backend: Backend,
    commits: Arc<AtomicU64>,
    steps: Arc<Steps>,
    /// How often units were tried again; spreads those that collided.
    retries: AtomicU64,
    patience: Duration,
    /// Why the last unit of work that failed for it could not be written; see [`Db::unwritable`].
    unwritable: StdMutex<Option<Unwritable>>,
}

enum Backend {
    Sqlite {
        writer: Arc<Mutex<Slot>>,
        readers: SqlitePool,
        checkpointer: Mutex<Checkpointer>,
    },
    Memory {
        writer: Arc<Mutex<Slot>>,
    },
    Postgres {
        writers: Connections,
        readers: Connections,
        /// None where none are configured.
        replicas: Option<Replicas>,
    },
}

impl Db {
    pub async fn open(config: &DbConfig) -> Result<Db, StoreError> {
        let commits = Arc::new(AtomicU64::new(0));
        let backend =
            if config.url.starts_with("postgres:") || config.url.starts_with("postgresql:") {
                let (writers, readers) = postgres::open(config).await?;
                Backend::Postgres {
                    replicas: Replicas::follow(config, &readers)?,
                    writers,
                    readers,
                }
            } else if matches!(&*config.url, "sqlite::memory:" | "sqlite://:memory:") {
                let conn = sqlite::options(SqliteConnectOptions::new().in_memory(true))
                    .connect()
                    .await?;
                Backend::Memory {
                    writer: group::writer(conn, None, Arc::clone(&commits)),
                }
            } else if config.url.starts_with("sqlite:") {
                open_sqlite(config, &commits).await?
            } else {
                // Not quoting the URL: it may hold a password.
                return Err(StoreError::Other(
                    "the database URL is neither sqlite: nor postgres:".into(),
                ));
            };
        Ok(Db(Arc::new(Inner {
            backend,
            commits,
            steps: Arc::default(),
            retries: AtomicU64::new(0),
            patience: config.patience,
            unwritable: StdMutex::new(None),
        })))
    }

    pub fn dialect(&self) -> Dialect {
        match self.0.backend {
            Backend::Sqlite { .. } => Dialect::Sqlite,
            Backend::Memory { .. } => Dialect::SqliteMemory,
            Backend::Postgres { .. } => Dialect::Postgres,
        }
    }

    /// How many units of work may write at a time; none where there is one writer, which units share.
    pub fn writers(&self) -> Option<u32> {
        match &self.0.backend {
            Backend::Postgres { writers, .. } => {
                Some(writers.pool().options().get_max_connections())
            }
            Backend::Sqlite { .. } | Backend::Memory { .. } => None,
        }
    }

    /// The pools of connections by name: how many are open, and how many of them nobody uses.
    pub fn pools(&self) -> Vec<(&'static str, u32, u32)> {
        let idle = |idle: usize| u32::try_from(idle).unwrap_or(u32::MAX);
        match &self.0.backend {
            Backend::Memory { .. } => Vec::new(),
            Backend::Sqlite { readers, .. } => {
                vec![("readers", readers.size(), idle(readers.num_idle()))]
            }
            Backend::Postgres {
                writers,
                readers,
                replicas,
            } => {
                let (mut size, mut unused) = (0, 0);
                for pool in replicas.iter().flat_map(Replicas::pools) {
                    size += pool.size();
                    unused += idle(pool.num_idle());
                }
                let (writers, readers) = (writers.pool(), readers.pool());
                let mut pools = vec![
                    ("readers", readers.size(), idle(readers.num_idle())),
                    ("writers", writers.size(), idle(writers.num_idle())),
                ];
                if replicas.is_some() {
                    pools.push(("replicas", size, unused));
                }
                pools
            }
        }
    }

    /// Brings the schema to this program's version. Any number of processes may do so at once.
    pub async fn migrate(&self, now_ms: i64) -> Result<(), StoreError> {
        migrate::apply(self, migrate::MIGRATIONS, now_ms).await
    }

    /// Whether this program can work with the schema: it is the one it was built with, or a newer one that serves
    /// programs of its age, too.
    pub async fn schema_fits(&self) -> Result<bool, StoreError> {
        migrate::fits(self, migrate::MIGRATIONS).await
    }

    /// What the schema is to this program. Fails where it can do nothing with it, as with a newer one that does not serve it.
    pub async fn schema(&self) -> Result<Schema, StoreError> {
        migrate::schema(self, migrate::MIGRATIONS).await
    }

    /// What the database's own clock shows; nothing where that is ours.
    pub async fn clock_ms(&self) -> Result<Option<i64>, StoreError> {
        if self.dialect() != Dialect::Postgres {
            return Ok(None);
        }
        let shown: Option<(i64,)> = self.read().await?.one(postgres::CLOCK_MS, &[]).await?;
        Ok(shown.map(|(ms,)| ms))
    }

    /// Starts a unit of work that writes.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        let commits = Arc::clone(&self.0.commits);
        let steps = Arc::clone(&self.0.steps);
        match &self.0.backend {
            Backend::Sqlite { writer, .. } => {
                let unit = Unit::begin(writer, Some(self.0.patience)).await?;
                Ok(Tx::sqlite(unit, commits, steps))
            }
            // No limit: nothing but this process can hold it up, and simulated time passes as it likes.
            Backend::Memory { writer } => {
                let unit = Unit::begin(writer, None).await?;
                Ok(Tx::sqlite(unit, commits, steps))
            }
            Backend::Postgres { writers, .. } => {
                let sessions = writers.sessions;
                Ok(Tx::postgres(
                    writers.begin().await?,
                    sessions,
                    commits,
                    steps,
                ))
            }
        }
    }

    /// Those who write, where there is a server to speak to.
    pub(crate) fn server(&self) -> Option<&Connections> {
        match &self.0.backend {
            Backend::Postgres { writers, .. } => Some(writers),
            Backend::Sqlite { .. } | Backend::Memory { .. } => None,
        }
    }

    pub async fn read(&self) -> Result<Reader, StoreError> {
        Ok(self.primary().read())
    }

    /// Reads at the primary, which has everything.
    pub fn primary(&self) -> ReadSource {
        ReadSource::primary(match &self.0.backend {
            Backend::Memory { writer } => Primary::Memory(Arc::clone(writer)),
            Backend::Sqlite { readers, .. } => Primary::Sqlite(readers.clone()),
            Backend::Postgres { readers, .. } => Primary::Postgres(readers.clone()),
        })
    }

    /// Reads at a replica that has replayed this much, and at the primary where none has. Only for what is shown: what decides
    /// something is read at the primary.
    pub async fn replica(&self, at_least: Position) -> ReadSource {
        match &self.0.backend {
            Backend::Postgres {
                readers,
                replicas: Some(replicas),
                ..
            } => {
                let primary = Primary::Postgres(readers.clone());
                ReadSource::with_replica(primary, replicas.choose(at_least).await)
            }
            _ => self.primary(),
        }
    }

    /// A position that has everything that was committed so far; nothing where the primary does not say. Where there are no replicas
    /// nobody is asked.
    pub async fn position(&self) -> Option<Position> {
        match self.replicas() {
            None => Some(Position::START),
            Some(replicas) => replicas.position().await,
        }
    }

    /// How the replicas are used; nothing where there are none.
    pub fn replica_use(&self) -> Option<ReplicaUse> {
        self.replicas().map(Replicas::used)
    }

    /// Asks the replica that this URL names how it stands to this database.
    pub async fn find_replica(&self, url: &str) -> Result<ReplicaFound, StoreError> {
        match &self.0.backend {
            Backend::Postgres { readers, .. } => replicas::find(readers, url).await,
            _ => Err(StoreError::Other("only PostgreSQL has replicas".into())),
        }
    }

    fn replicas(&self) -> Option<&Replicas> {
        match &self.0.backend {
            Backend::Postgres { replicas, .. } => replicas.as_ref(),
            Backend::Sqlite { .. } | Backend::Memory { .. } => None,
        }
    }

    /// Runs a unit of work: commits on `Ok`, rolls back on `Err`, and runs it again, a limited number of
    /// times, when the database says that it lost to another. `work` must therefore have no effect but
    /// through its `Tx`.
    pub async fn write<'e, T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: for<'t> Fn(&'t mut Tx) -> ScopedBoxFuture<'e, 't, Result<T, E>> + Send + Sync,
        T: Send,
        E: From<StoreError> + Retryable + Send,
    {
        let mut attempt = 1;
        loop {
            match self.attempt(&work).await {
                Err(error) if error.retryable() && attempt < WRITE_ATTEMPTS_MAX => {
                    self.back_off(attempt).await;
                    attempt += 1;
                }
                done => {
                    self.note(done.as_ref().err().and_then(Retryable::unwritable));
                    return done;
                }
            }
        }
    }

    /// A unit of work that does nothing but write these rows, for those who write many: it costs fewer trips
    /// to the database than [`Db::write`], and commits without waiting for others.
    pub async fn write_rows(&self, writes: &[Write]) -> Result<(), StoreError> {
        let mut attempt = 1;
        loop {
            match self.attempt_rows(writes).await {
                Err(error) if error.retryable() && attempt < WRITE_ATTEMPTS_MAX => {
                    self.back_off(attempt).await;
                    attempt += 1;
                }
                done => {
                    self.note(done.as_ref().err().and_then(Retryable::unwritable));
                    return done;
                }
            }
        }
    }

    fn note(&self, why: Option<Unwritable>) {
        if why.is_some() {
            *lock(&self.0.unwritable) = why;
            self.seek_server();
        }
    }

    /// Has another of several servers looked for, as this one takes nothing in or does not answer.
    fn seek_server(&self) {
        if let Some(server) = self.server() {
            server.seek();
        }
    }

    /// Work that shows whether the database is there: where another server could do it, this one has only so much time.
    pub(crate) async fn unless_silent<T>(
        &self,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if !self.server().is_some_and(Connections::has_choice) {
            return work.await;
        }
        let done = tokio::time::timeout(self.0.patience, work).await;
        let done = done.unwrap_or(Err(StoreError::Unavailable));
        if matches!(done, Err(StoreError::Unavailable)) {
            self.seek_server();
        }
        done
    }

    /// As much as a request writes has been written.
    pub(crate) fn is_writable(&self) {
        *lock(&self.0.unwritable) = None;
    }

    /// Why nothing can be written, from the first unit of work that failed for it until
    /// [`crate::installation::try_writing`] succeeds.
    pub fn unwritable(&self) -> Option<Unwritable> {
        *lock(&self.0.unwritable)
    }

    /// Which of the two it is, where the database is read-only: PostgreSQL says the same of both.
    pub(crate) async fn explained(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Unwritable(Unwritable::ReadOnly) if self.is_replica().await => {
                self.note(Some(Unwritable::Replica));
                StoreError::Unwritable(Unwritable::Replica)
            }
            error => error,
        }
    }

    async fn is_replica(&self) -> bool {
        let asked = async {
            if self.dialect() != Dialect::Postgres {
                return Ok::<_, StoreError>(false);
            }
            let sql = postgres::IS_REPLICA;
            let found: Option<(i64,)> = self.read().await?.one(sql, &[]).await?;
            Ok(found == Some((1,)))
        };
        asked.await.unwrap_or(false)
    }

    async fn attempt_rows(&self, writes: &[Write]) -> Result<(), StoreError> {
        let steps = &self.0.steps;
        steps.take_one().await;
        match &self.0.backend {
            Backend::Sqlite { writer, .. } => {
                write_sqlite(writer, Some(self.0.patience), writes).await?;
            }
            Backend::Memory { writer } => write_sqlite(writer, None, writes).await?,
            Backend::Postgres { writers, .. } => {
                write_postgres(writers, writes).await?;
                self.0.commits.fetch_add(1, Ordering::Relaxed);
            }
        }
        // Committed, and whoever waits for it does not know yet.
        steps.take_one().await;
        Ok(())
    }

    async fn attempt<'e, T, E, F>(&self, work: &F) -> Result<T, E>
    where
        F: for<'t> Fn(&'t mut Tx) -> ScopedBoxFuture<'e, 't, Result<T, E>> + Send + Sync,
        T: Send,
        E: From<StoreError> + Send,
    {
        let mut tx = self.begin().await?;
        match work(&mut tx).await {
            Ok(value) => {
                tx.commit().await?;
                Ok(value)
            }
            Err(error) => {
                tx.roll_back().await;
                Err(error)
            }
        }
    }

    pub(crate) async fn back_off(&self, attempt: u32) {
        let retry = self.0.retries.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(backoff_ms(attempt, retry))).await;
    }

    /// How many COMMITs were made. Units that committed together count once.
    pub fn commits(&self) -> u64 {
        self.0.commits.load(Ordering::Relaxed)
    }

    /// For tests: units of work stand still for ever at the given step from now (a statement, a COMMIT, or
    /// just after it), the same in every run, so that a process can be made to die there. With `u64::MAX`
    /// nothing stops.
    #[doc(hidden)]
    pub fn stop_after(&self, steps: u64) {
        self.0.steps.stop_after(steps);
    }

    #[doc(hidden)]
    pub fn has_stopped(&self) -> bool {
        self.0.steps.have_stopped()
    }

    /// A copy of a SQLite database as it is at one moment, while others read and write. `to` must not be there yet.
    pub async fn copy_to(&self, to: &Path) -> Result<(), StoreError> {
        let Backend::Sqlite { readers, .. } = &self.0.backend else {
            return Err(StoreError::Other("only a SQLite file can be copied".into()));
        };
        let mut conn = readers.acquire().await?;
        copies::copy(&mut conn, to).await
    }

    /// Reads every page of a SQLite database, while others read and write, and says what is wrong with the first that is
    /// damaged.
    pub async fn find_damage(&self) -> Result<Option<String>, StoreError> {
        let Backend::Sqlite { readers, .. } = &self.0.backend else {
            return Ok(None);
        };
        let mut conn = readers.acquire().await?;
        let found: (String,) = sqlx::query_as("PRAGMA quick_check(1)")
            .fetch_one(&mut *conn)
            .await
            // What cannot even be read is the damage.
            .unwrap_or_else(|error| (error.to_string(),));
        Ok((found.0 != "ok").then_some(found.0))
    }

    /// Waits for what is under way, and closes every connection.
    pub async fn close(self) {
        match &self.0.backend {
            Backend::Sqlite {
                writer,
                readers,
                checkpointer,
            } => {
                checkpointer.lock().await.stop().await;
                readers.close().await;
                group::close(writer).await;
            }
            Backend::Memory { writer } => group::close(writer).await,
            Backend::Postgres {
                writers,
                readers,
                replicas,
            } => {
                if let Some(replicas) = replicas {
                    replicas.close().await;
                }
                writers.pool().close().await;
                readers.pool().close().await;
            }
        }
    }
}

fn lock(unwritable: &StdMutex<Option<Unwritable>>) -> MutexGuard<'_, Option<Unwritable>> {
    unwritable.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn open_sqlite(config: &DbConfig, commits: &Arc<AtomicU64>) -> Result<Backend, StoreError> {
    let options = sqlite::options(SqliteConnectOptions::from_str(&config.url)?);
    if !config.url.contains("mode=") {
        // Where it is there already, or cannot be made, opening it says so.
        make_for_owner_alone(options.get_filename()).ok();
    }
    // A unit of work that finds the writer taken is tried again so often.
    let writing = sqlite::writer(&options, config.patience / WRITE_ATTEMPTS_MAX);
    let mut attempt = 1;
    let conn = loop {
        match writing.connect().await.map_err(StoreError::from) {
            // Turning WAL on does not wait for others who are at it.
            Err(error) if error.retryable() && attempt < OPEN_ATTEMPTS_MAX => {
                tokio::time::sleep(Duration::from_millis(backoff_ms(
                    attempt,
                    u64::from(attempt),
                )))
                .await;
                attempt += 1;
            }
            done => break done?,
        }
    };
    let readers = SqlitePoolOptions::new()
        .max_connections(config.readers_max.max(1))
        .acquire_timeout(config.patience)
        .test_before_acquire(false)
        .max_lifetime(None)
        .idle_timeout(None)
        .connect_lazy_with(sqlite::reader(options));
    let writer = group::writer(conn, Some(writing.clone()), Arc::clone(commits));
    let checkpointer = Checkpointer::start(
        writing,
        Arc::clone(&writer),
        Arc::clone(commits),
        config.log_pages_max,
    );
    Ok(Backend::Sqlite {
        writer,
        readers,
        checkpointer: Mutex::new(checkpointer),
    })
}

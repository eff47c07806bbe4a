//! PostgreSQL's connections: to the server itself, or through a pooler that gives every transaction another session.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgRow, Postgres};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Executor as _, FromRow, SqlSafeStr as _, Transaction,
    raw_sql,
};
use tokio::time::{sleep, timeout};

use super::config::{DbConfig, STATEMENTS_CACHED_MAX};
use super::error::connection_lost;
use super::servers::{
    NOTICE_TIME, Named, Pool, ServerOptions, Servers, TargetServer, Term, Unfit, get,
};
use crate::StoreError;

/// What holds for every unit of work and every read.
const SETTINGS: [(&str, &str); 7] = [
    ("default_transaction_isolation", "read committed"),
    // Plans are kept: one made while a table was empty must not go on reading the whole of it when it
    // has grown. Every question has an index; what is disabled is only taken when nothing else is there.
    ("enable_seqscan", "off"),
    ("jit", "off"),
    // Nobody's question takes every processor from the others.
    ("max_parallel_workers_per_gather", "0"),
    ("lock_timeout", "2s"),
    ("statement_timeout", "30s"),
    // A process that was paused in the middle of one must not keep its rows.
    ("idle_in_transaction_session_timeout", "5s"),
];

/// Whoever waits longer for a connection to a replica asks the primary.
const REPLICA_PATIENCE: Duration = Duration::from_secs(1);

/// What its own clock shows.
pub(crate) const CLOCK_MS: &str =
    "SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT)";

/// 1 on a standby.
pub(crate) const IS_REPLICA: &str =
    "SELECT CASE WHEN pg_is_in_recovery() THEN CAST(1 AS BIGINT) ELSE 0 END";

/// A setting that nobody else has: who finds it in a session knows that the others have arrived, too.
const MARK: (&str, &str) = ("till.session", "own");

/// Whose the session behind a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sessions {
    /// The connection's, as long as it lasts: what is set and prepared in it stays.
    Own,
    /// Each transaction has another, as PgBouncer's transaction mode gives them. Whatever is set or prepared outlasts
    /// none, and nothing may be asked outside of one: the driver sends a statement in two parts, and the second
    /// could meet what somebody else has prepared.
    Shared,
}

impl Sessions {
    /// Whether what is prepared is there the next time.
    pub(crate) fn keep(self) -> bool {
        self == Sessions::Own
    }
}

/// Connections of one kind.
#[derive(Clone)]
pub(crate) struct Connections {
    pool: Pool,
    pub sessions: Sessions,
    /// What begins a transaction in a session that is not ours.
    begin: Arc<str>,
    /// Where there are several servers, or one that has to be of a kind.
    servers: Option<Arc<Servers>>,
}

/// Those who write and those who read, apart, so that neither can starve the other.
pub(crate) async fn open(config: &DbConfig) -> Result<(Connections, Connections), StoreError> {
    let named = Named::parse(&config.url)?;
    let place = match named.is_choice() {
        true => named.find().await.map_err(unfit)?,
        false => 0,
    };
    let wanted = named.wanted;
    let pool = |connections_max: u32| {
        let options = PgPoolOptions::new()
            .max_connections(connections_max.max(1))
            .acquire_timeout(config.patience)
            .test_before_acquire(false);
        match wanted {
            TargetServer::Any => options,
            TargetServer::Primary | TargetServer::Writable => {
                options.after_connect(|conn, _| Box::pin(refuse_standby(conn)))
            }
        }
    };
    let options = named.all.get(place).cloned().unwrap_or_default();
    let direct = match config.pooled {
        true => None,
        false => direct(pool(config.writers_max), &own(options.clone())).await?,
    };
    let (writers, sessions) = match direct {
        Some(writers) => (writers, Sessions::Own),
        None => {
            tracing::info!("PostgreSQL is reached through a pooler; nothing is kept in sessions");
            let connected = pool(config.writers_max).connect_with(shared(options.clone()));
            (connected.await.map_err(not_opened)?, Sessions::Shared)
        }
    };
    let readers =
        pool(config.readers_max).connect_lazy_with(server_options(&options, sessions).reading);
    let (writers, readers) = (
        Arc::new(RwLock::new(writers)),
        Arc::new(RwLock::new(readers)),
    );
    let servers = named.is_choice().then(|| {
        let per_server: Vec<ServerOptions> = named
            .all
            .iter()
            .map(|it| server_options(it, sessions))
            .collect();
        let pools = (Arc::clone(&writers), Arc::clone(&readers));
        Servers::new(named, per_server, pools, place)
    });
    let connections = |pool, access| Connections {
        pool,
        sessions,
        begin: begin_with(access).into(),
        servers: servers.clone(),
    };
    Ok((
        connections(writers, "READ WRITE"),
        connections(readers, "READ ONLY"),
    ))
}

/// Those who read at a replica. Fails while it does not answer.
pub(crate) async fn open_replica(
    options: &PgConnectOptions,
    config: &DbConfig,
) -> Result<Connections, StoreError> {
    let pool = PgPoolOptions::new()
        .max_connections(config.readers_max.max(1))
        .acquire_timeout(REPLICA_PATIENCE)
        .test_before_acquire(false);
    let reading = |sessions| server_options(options, sessions).reading;
    let direct = match config.pooled {
        true => None,
        false => direct(pool.clone(), &reading(Sessions::Own)).await?,
    };
    let (pool, sessions) = match direct {
        Some(pool) => (pool, Sessions::Own),
        None => {
            let lazy = pool.connect_lazy_with(reading(Sessions::Shared));
            (lazy, Sessions::Shared)
        }
    };
    Ok(Connections {
        pool: Arc::new(RwLock::new(pool)),
        sessions,
        begin: begin_with("READ ONLY").into(),
        servers: None,
    })
}

fn own(options: PgConnectOptions) -> PgConnectOptions {
    options
        .statement_cache_capacity(STATEMENTS_CACHED_MAX)
        .options(SETTINGS.into_iter().chain([MARK]))
}

/// Poolers refuse what they cannot set for each session anew.
fn shared(options: PgConnectOptions) -> PgConnectOptions {
    options.statement_cache_capacity(0).extra_float_digits(None)
}

fn server_options(options: &PgConnectOptions, sessions: Sessions) -> ServerOptions {
    match sessions {
        Sessions::Own => ServerOptions {
            writing: own(options.clone()),
            reading: own(options.clone()).options([("default_transaction_read_only", "on")]),
        },
        Sessions::Shared => ServerOptions {
            writing: shared(options.clone()),
            reading: shared(options.clone()),
        },
    }
}

/// A primary that came back as a standby answers everything, late.
async fn refuse_standby(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    let row = conn
        .fetch_one(raw_sql("SELECT pg_is_in_recovery()"))
        .await?;
    match sqlx::Row::try_get(&row, 0)? {
        true => Err(sqlx::Error::Protocol("it is a standby now".into())),
        false => Ok(()),
    }
}

fn unfit(why: Unfit) -> StoreError {
    match why {
        Unfit::Failed(error) => not_opened(error),
        Unfit::Takes(why) => StoreError::Unwritable(why),
    }
}

/// Nothing where the settings are refused, or do not arrive: between us and the server is a pooler.
async fn direct(
    pool: PgPoolOptions,
    options: &PgConnectOptions,
) -> Result<Option<PgPool>, StoreError> {
    let pool = match pool.connect_with(options.clone()).await {
        Ok(pool) => pool,
        Err(error) if refuses_settings(&error) => return Ok(None),
        Err(error) => return Err(not_opened(error)),
    };
    let (name, value) = MARK;
    // Without arguments, which would be prepared.
    let sql = format!("SELECT coalesce(current_setting('{name}', true), '') = '{value}'");
    let row = pool.fetch_one(raw_sql(AssertSqlSafe(sql))).await?;
    if sqlx::Row::try_get(&row, 0)? {
        return Ok(Some(pool));
    }
    pool.close().await;
    Ok(None)
}

/// That TLS was not agreed on is for the operator to mend, and not for time.
fn not_opened(error: sqlx::Error) -> StoreError {
    let tls: &dyn std::fmt::Display = match &error {
        sqlx::Error::Tls(error) => error,
        // A certificate that is not trusted, or is not this host's.
        sqlx::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => error,
        _ => return error.into(),
    };
    StoreError::Other(format!(
        "TLS is not agreed on with it: {tls}; correct sslmode and sslrootcert in database.url, or turn TLS on in PostgreSQL"
    ))
}

fn refuses_settings(error: &sqlx::Error) -> bool {
    let said = error.as_database_error();
    said.is_some_and(|said| {
        said.code().as_deref() == Some("08P01") && said.message().contains("startup parameter")
    })
}

/// One trip, although it is several statements.
fn begin_with(access: &str) -> String {
    let mut sql = format!("BEGIN ISOLATION LEVEL READ COMMITTED {access}");
    // The isolation is said already.
    for (name, value) in &SETTINGS[1..] {
        sql += &format!("; SET LOCAL {name} = '{value}'");
    }
    sql
}

impl Connections {
    pub(crate) fn pool(&self) -> PgPool {
        get(&self.pool)
    }

    pub(crate) fn has_choice(&self) -> bool {
        self.servers.is_some()
    }

    /// Has other servers asked, where there are several and this one does not do what it must.
    pub(crate) fn seek(&self) {
        if let Some(servers) = &self.servers {
            servers.seek();
        }
    }

    /// Whether a connection is of no use any more, so that another may be tried.
    pub(crate) fn is_lost(&self, error: &sqlx::Error) -> bool {
        let is_lost = connection_lost(error);
        if is_lost {
            self.seek();
        }
        is_lost
    }

    /// A connection, and how long what is asked on it is worth waiting for.
    pub(crate) async fn acquire(&self) -> Result<(PoolConnection<Postgres>, Term), StoreError> {
        let Some(servers) = &self.servers else {
            return Ok((self.pool().acquire().await?, Term::endless()));
        };
        let patience = self.pool().options().get_acquire_timeout();
        let acquired = timeout(patience, self.acquire_from(servers)).await;
        Ok(acquired.unwrap_or(Err(sqlx::Error::PoolTimedOut))?)
    }

    /// Goes on until there is one, or the database is closed.
    async fn acquire_from(
        &self,
        servers: &Arc<Servers>,
    ) -> Result<(PoolConnection<Postgres>, Term), sqlx::Error> {
        loop {
            let mut finds = servers.finds();
            let term = servers.term();
            let acquiring = async {
                let acquired = self.pool().acquire().await;
                if acquired.is_err() && !self.pool().is_closed() {
                    servers.seek();
                    std::future::pending::<()>().await;
                }
                acquired
            };
            let noticing = async {
                sleep(NOTICE_TIME).await;
                servers.seek();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                acquired = acquiring => return acquired.map(|conn| (conn, term)),
                () = noticing => {}
                _ = finds.changed() => {}
            }
        }
    }

    /// Passes over connections that died in the pool: nothing has been done yet, so another will do.
    pub(crate) async fn begin(&self) -> Result<(Transaction<'static, Postgres>, Term), StoreError> {
        let mut stale_left = self.pool().options().get_max_connections();
        loop {
            let (conn, mut term) = self.acquire().await?;
            let begin = match self.sessions {
                Sessions::Own => None,
                Sessions::Shared => Some(AssertSqlSafe(Arc::clone(&self.begin)).into_sql_str()),
            };
            // In a task: cancelled between BEGIN and its answer, the driver would give the connection back to the
            // pool with the transaction open.
            let beginning = tokio::spawn(Transaction::begin(conn, begin));
            let begun = async { beginning.await.map_err(|_| sqlx::Error::WorkerCrashed)? };
            match term.within(begun).await {
                Err(error) if self.is_lost(&error) && stale_left > 0 => stale_left -= 1,
                done => return Ok((done?, term)),
            }
        }
    }

    /// How long what is asked of the server in use is worth waiting for.
    fn term(&self) -> Term {
        self.servers
            .as_ref()
            .map_or_else(Term::endless, Servers::term)
    }

    /// A connection outside of the pool, for what takes longer than a unit of work.
    pub(crate) async fn connect_apart(&self) -> Result<PgConnection, StoreError> {
        Ok(self.pool().connect_options().connect().await?)
    }
}

/// A connection of somebody's own to the server in use: however busy the pools are, they do not wait for one of them.
pub(crate) struct OwnConnection {
    connections: Connections,
    held: Option<(PgConnection, Term)>,
}

impl OwnConnection {
    pub(crate) fn of(connections: Connections) -> OwnConnection {
        OwnConnection {
            connections,
            held: None,
        }
    }

    /// The one row of a statement without arguments. Nothing is prepared for it, so that it does not matter whose session it is. One
    /// that did not answer is given up: what was asked on it may never be answered.
    pub(crate) async fn one<T>(&mut self, sql: &'static str) -> Result<T, StoreError>
    where
        T: for<'r> FromRow<'r, PgRow>,
    {
        let (mut conn, mut term) = match self.held.take() {
            Some(held) => held,
            None => {
                let term = self.connections.term();
                (self.connections.connect_apart().await?, term)
            }
        };
        match term.within(conn.fetch_one(raw_sql(sql))).await {
            Ok(row) => {
                self.held = Some((conn, term));
                Ok(T::from_row(&row)?)
            }
            Err(error) => {
                self.connections.is_lost(&error);
                Err(error.into())
            }
        }
    }
}

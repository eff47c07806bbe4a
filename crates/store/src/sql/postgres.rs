//! PostgreSQL's connections: to the server itself, or through a pooler that gives every transaction another session.

use std::str::FromStr as _;
use std::sync::Arc;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, Postgres};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Executor as _, SqlSafeStr as _, Transaction, raw_sql,
};

use super::config::{DbConfig, STATEMENTS_CACHED_MAX};
use super::error::connection_lost;
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
    pub pool: PgPool,
    pub sessions: Sessions,
    /// What begins a transaction in a session that is not ours.
    begin: Arc<str>,
}

/// Those who write and those who read, apart, so that neither can starve the other.
pub(crate) async fn open(config: &DbConfig) -> Result<(Connections, Connections), StoreError> {
    let options = PgConnectOptions::from_str(&config.url)?
        .application_name("till")
        .disable_statement_logging();
    let pool = |connections_max: u32| {
        PgPoolOptions::new()
            .max_connections(connections_max.max(1))
            .acquire_timeout(config.patience)
            .test_before_acquire(false)
    };
    let own = options
        .clone()
        .statement_cache_capacity(STATEMENTS_CACHED_MAX)
        .options(SETTINGS.into_iter().chain([MARK]));
    let direct = match config.pooled {
        true => None,
        false => direct(pool(config.writers_max), &own).await?,
    };
    let (writers, reading, sessions) = match direct {
        Some(writers) => {
            let reading = own.options([("default_transaction_read_only", "on")]);
            (writers, reading, Sessions::Own)
        }
        None => {
            tracing::info!("PostgreSQL is reached through a pooler; nothing is kept in sessions");
            // Poolers refuse what they cannot set for each session anew.
            let shared = options.statement_cache_capacity(0).extra_float_digits(None);
            let writers = pool(config.writers_max)
                .connect_with(shared.clone())
                .await
                .map_err(not_opened)?;
            (writers, shared, Sessions::Shared)
        }
    };
    let connections = |pool, access| Connections {
        pool,
        sessions,
        begin: begin_with(access).into(),
    };
    let readers = pool(config.readers_max).connect_lazy_with(reading);
    Ok((
        connections(writers, "READ WRITE"),
        connections(readers, "READ ONLY"),
    ))
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
    match error {
        sqlx::Error::Tls(error) => StoreError::Other(format!(
            "TLS is not agreed on with it: {error}; correct sslmode and sslrootcert in database.url, or turn TLS on in PostgreSQL"
        )),
        error => error.into(),
    }
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
    /// Passes over connections that died in the pool: nothing has been done yet, so another will do.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        let mut stale_left = self.pool.options().get_max_connections();
        loop {
            let conn = self.pool.acquire().await?;
            let begin = match self.sessions {
                Sessions::Own => None,
                Sessions::Shared => Some(AssertSqlSafe(Arc::clone(&self.begin)).into_sql_str()),
            };
            // In a task: cancelled between BEGIN and its answer, the driver would give the connection back to the
            // pool with the transaction open.
            let begun = tokio::spawn(Transaction::begin(conn, begin)).await;
            match begun.map_err(|_| StoreError::Unavailable)? {
                Err(error) if connection_lost(&error) && stale_left > 0 => stale_left -= 1,
                done => return Ok(done?),
            }
        }
    }

    /// A connection outside of the pool, for what takes longer than a unit of work.
    pub(crate) async fn connect_apart(&self) -> Result<PgConnection, StoreError> {
        Ok(self.pool.connect_options().connect().await?)
    }
}

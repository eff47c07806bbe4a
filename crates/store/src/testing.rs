//! Brand-new databases for tests, on every engine. Not part of the store's interface.
//!
//! PostgreSQL is the server that `TILL_TEST_POSTGRES` names (`scripts/with-postgres` starts one). Without it,
//! tests on PostgreSQL say that they are skipped, or fail if `TILL_REQUIRE_POSTGRES` is 1. Where `TILL_TEST_PGBOUNCER` names
//! a pooler before that server (`scripts/with-pgbouncer`), what is tested goes through it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection};

use crate::sql::{MIGRATIONS, apply};
pub use crate::{Db, DbConfig, Dialect};

pub struct TestDb {
    pub db: Db,
    pub config: DbConfig,
    server: Option<Server>,
    _folder: Option<Folder>,
}

/// What to remove from PostgreSQL afterwards.
struct Server {
    url: String,
    removal: String,
}

/// Removed when dropped, also by a test that fails.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

static COUNTER: AtomicU32 = AtomicU32::new(0);

fn unique_name() -> String {
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("till_test_{}_{count}", std::process::id())
}

/// An empty database, not yet migrated. Nothing if there is no PostgreSQL to make it in.
///
/// # Panics
/// If it cannot be made, as a test wants.
pub async fn fresh(dialect: Dialect) -> Option<TestDb> {
    let (url, server, folder) = match dialect {
        Dialect::SqliteMemory => ("sqlite::memory:".to_owned(), None, None),
        Dialect::Sqlite => {
            let folder = new_folder();
            let url = format!("sqlite:{}", folder.0.join("till.db").display());
            (url, None, Some(folder))
        }
        Dialect::Postgres => {
            let server = postgres_url()?;
            let name = unique_name();
            // A server that outlives its tests may remember a process of the same number.
            command(
                &server,
                &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
            )
            .await;
            command(&server, &format!("CREATE DATABASE {name}")).await;
            (
                with_database(&pooler_url().unwrap_or(server.clone()), &name),
                Some(Server {
                    url: server,
                    removal: format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
                }),
                None,
            )
        }
    };
    Some(open(url, server, folder).await)
}

async fn open(url: String, server: Option<Server>, folder: Option<Folder>) -> TestDb {
    let config = DbConfig {
        readers_max: 4,
        ..DbConfig::new(url)
    };
    let db = Db::open(&config).await.expect("a new database opens");
    TestDb {
        db,
        config,
        server,
        _folder: folder,
    }
}

/// A database with this program's schema. On PostgreSQL it is a copy of one that was migrated before: to make hundreds of tables and
/// indexes takes several times as long.
pub async fn migrated(dialect: Dialect) -> Option<TestDb> {
    let test = match dialect {
        Dialect::Postgres => copied(postgres_url()?).await,
        dialect => fresh(dialect).await?,
    };
    test.db.migrate(0).await.expect("a new database migrates");
    Some(test)
}

/// A SQLite file that misses the newest migration of this program.
///
/// # Panics
/// If it cannot be made, as a test wants.
pub async fn one_migration_behind(file: &Path) -> Db {
    let url = format!("sqlite:{}", file.display());
    let db = Db::open(&DbConfig::new(url)).await.expect("it opens");
    let older = &MIGRATIONS[..MIGRATIONS.len() - 1];
    apply(&db, older, 0).await.expect("it migrates");
    db
}

async fn copied(server: String) -> TestDb {
    let template = template(&server).await;
    let name = unique_name();
    let removal = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    command(&server, &removal).await;
    command(
        &server,
        &format!("CREATE DATABASE {name} TEMPLATE {template}"),
    )
    .await;
    let url = with_database(&pooler_url().unwrap_or(server.clone()), &name);
    let server = Server {
        url: server,
        removal,
    };
    open(url, Some(server), None).await
}

/// The name of the migrated database that others are copied from. Whoever comes first makes it, and the others wait.
async fn template(server: &str) -> String {
    const LOCK: i64 = 7_401;
    let mut checksums = MIGRATIONS.iter().map(|it| it.checksum(Dialect::Postgres));
    let newest = checksums.next_back().expect("there is a base schema");
    let name = format!("till_template_{}", &newest[..32]);
    let mut conn = PgConnection::connect(server)
        .await
        .expect("the test server answers");
    let is_there = async |conn: &mut PgConnection| {
        let sql = "SELECT 1 FROM pg_database WHERE datname = $1";
        let found: Option<(i32,)> = sqlx::query_as(sql)
            .bind(&name)
            .fetch_optional(conn)
            .await
            .expect("the test server lists its databases");
        found.is_some()
    };
    if is_there(&mut conn).await {
        return name;
    }
    let lock = format!("SELECT pg_advisory_lock({LOCK})");
    run_on(&mut conn, &lock).await;
    if !is_there(&mut conn).await {
        // Under another name until it is whole.
        let making = format!("{name}_new");
        run_on(
            &mut conn,
            &format!("DROP DATABASE IF EXISTS {making} WITH (FORCE)"),
        )
        .await;
        run_on(&mut conn, &format!("CREATE DATABASE {making}")).await;
        let made = open(with_database(server, &making), None, None).await;
        made.db.migrate(0).await.expect("the template migrates");
        made.db.close().await;
        run_on(
            &mut conn,
            &format!("ALTER DATABASE {making} RENAME TO {name}"),
        )
        .await;
    }
    // The lock goes with the connection.
    conn.close().await.ok();
    name
}

impl TestDb {
    pub async fn remove(self) {
        self.db.close().await;
        if let Some(Server { url, removal }) = &self.server {
            command(url, removal).await;
        }
    }
}

/// What `both_engines!` runs.
pub async fn run<F: Future<Output = ()>>(test: Option<TestDb>, body: impl FnOnce(Db) -> F) {
    if let Some(test) = test {
        body(test.db.clone()).await;
        test.remove().await;
    }
}

fn postgres_url() -> Option<String> {
    let url = std::env::var("TILL_TEST_POSTGRES").ok();
    if url.is_none() {
        let required = std::env::var("TILL_REQUIRE_POSTGRES").is_ok_and(|value| value == "1");
        assert!(
            !required,
            "TILL_REQUIRE_POSTGRES is 1 but TILL_TEST_POSTGRES names no server"
        );
        eprintln!("skipped: TILL_TEST_POSTGRES is not set (see scripts/with-postgres)");
    }
    url
}

/// The pooler that connections are to go through, if any.
pub fn pooler_url() -> Option<String> {
    std::env::var("TILL_TEST_PGBOUNCER").ok()
}

fn with_database(server: &str, name: &str) -> String {
    let (base, parameters) = server
        .split_once('?')
        .map_or((server, None), |(base, rest)| (base, Some(rest)));
    let authority_at = base.find("://").map_or(0, |at| at + 3);
    let end = base[authority_at..]
        .find('/')
        .map_or(base.len(), |at| authority_at + at);
    match parameters {
        Some(parameters) => format!("{}/{name}?{parameters}", &base[..end]),
        None => format!("{}/{name}", &base[..end]),
    }
}

async fn command(server: &str, sql: &str) {
    let mut conn = PgConnection::connect(server)
        .await
        .expect("the test server answers");
    run_on(&mut conn, sql).await;
    conn.close().await.ok();
}

async fn run_on(conn: &mut PgConnection, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(conn).await;
    done.expect("the test server obeys");
}

fn new_folder() -> Folder {
    loop {
        let path = std::env::temp_dir().join(unique_name());
        match std::fs::create_dir(&path) {
            Ok(()) => return Folder(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => panic!("no temporary folder: {error}"),
        }
    }
}

/// Makes three tests of each function: on a SQLite file, in memory, and on PostgreSQL, each with a database of
/// its own that has the schema. Starts with an empty one if the first word is `fresh`.
///
/// ```ignore
/// both_engines! {
///     async fn a_unique_key_is_reported(db: Db) { … }
/// }
/// ```
#[macro_export]
macro_rules! both_engines {
    (fresh $($tests:tt)+) => { $crate::both_engines!(@ fresh, $($tests)+); };
    (@ $start:ident, $($(#[$attribute:meta])* async fn $name:ident($db:ident: Db) $body:block)+) => {
        $(async fn $name($db: $crate::Db) $body

        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$attribute])*
            async fn on_a_sqlite_file() {
                $crate::testing::run($crate::testing::$start($crate::Dialect::Sqlite).await, super::$name).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$attribute])*
            async fn on_sqlite_in_memory() {
                $crate::testing::run($crate::testing::$start($crate::Dialect::SqliteMemory).await, super::$name).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$attribute])*
            async fn on_postgres() {
                $crate::testing::run($crate::testing::$start($crate::Dialect::Postgres).await, super::$name).await;
            }
        })+
    };
    ($($tests:tt)+) => { $crate::both_engines!(@ migrated, $($tests)+); };
}

//! Opening the database, and saying why it does not open in words an operator can act on.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use till_engine::base::clock::Clock;
use till_store::{Db, DbConfig, Schema, StoreError};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use url::Url;

use crate::config::Database;
use crate::failure::{Failure, remedy};

const PROBE_TIME: Duration = Duration::from_secs(3);
const POSTGRES_PORT: u16 = 5432;

/// Who waits for a database that others are busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Whoever asked is answered soon, and may ask again.
    Server,
    /// It is run once, often beside a server that is busy.
    Command,
}

impl Patience {
    /// Only SQLite's writer is worth a long wait: a server that does not answer within seconds is not there.
    fn time(self, config: &Database) -> Duration {
        match (self, config.sqlite_path()) {
            (Patience::Command, Some(_)) => Duration::from_secs(30),
            (Patience::Command, None) | (Patience::Server, _) => Duration::from_secs(5),
        }
    }

    /// A command asks the primary: it is gone before it could be told which replicas are fit.
    fn replicas(self, config: &Database) -> Vec<String> {
        match self {
            Patience::Server => config.replicas.clone(),
            Patience::Command => Vec::new(),
        }
    }
}

/// Made if missing, brought to this program's schema.
pub async fn open_migrated(
    config: &Database,
    clock: &dyn Clock,
    patience: Patience,
) -> Result<Db, Failure> {
    let db = open(config, patience).await?;
    if let Err(error) = db.migrate(clock.now_ms()).await {
        db.close().await;
        let line = format!("the database cannot be migrated: {error}");
        return Err(Failure::new(line));
    }
    Ok(db)
}

/// As it is: a command that only looks must neither make a database nor change the schema below a server
/// of another version.
pub async fn open_existing(config: &Database) -> Result<Db, Failure> {
    if let Some(path) = config.sqlite_path()
        && !path.exists()
    {
        let line = format!(
            "there is no database at {}; `till serve` or `till account create` makes it",
            path.display()
        );
        return Err(Failure::new(line));
    }
    let db = open(config, Patience::Command).await?;
    let in_memory = config.sqlite_path().is_none() && config.url.starts_with("sqlite:");
    let failure = match db.schema().await {
        Ok(Schema::Fits) => return Ok(db),
        Ok(_) if in_memory => return Ok(db),
        Ok(Schema::Missing | Schema::Older(_)) => {
            Failure::new("the database does not have this version's schema; run `till migrate`")
        }
        Err(error) => error.into(),
    };
    db.close().await;
    Err(failure)
}

/// Of which version of the schema a copied file is: this one's or an older one's. `from` is what it was copied from.
pub async fn schema_of_copy(
    config: &Database,
    file: &Path,
    from: &Path,
) -> Result<Schema, Failure> {
    let named = |what: &str| Failure::new(format!("{}: {what}", from.display()));
    let db = open(&at(config, file), Patience::Command).await?;
    let schema = db.schema().await;
    db.close().await;
    match schema {
        Ok(Schema::Missing) => Err(named("this is no copy that `till backup` made")),
        Ok(schema) => Ok(schema),
        Err(error) => Err(named(&error.to_string())),
    }
}

/// The same settings for another file.
pub fn at(config: &Database, file: &Path) -> Database {
    Database {
        url: format!("sqlite:{}", file.display()),
        ..config.clone()
    }
}

async fn open(config: &Database, patience: Patience) -> Result<Db, Failure> {
    let settings = DbConfig {
        readers_max: config.readers,
        writers_max: config.writers,
        pooled: config.transaction_pooler,
        patience: patience.time(config),
        replicas: patience.replicas(config),
        ..DbConfig::new(&config.url)
    };
    match Db::open(&settings).await {
        Ok(db) => Ok(db),
        Err(error) => Err(Failure::new(format!(
            "the database {} cannot be opened: {}",
            name(config),
            match till_store::server_urls(&config.url).as_slice() {
                [_] => explain(config, &error).await,
                urls => explain_each(&settings, urls).await,
            }
        ))),
    }
}

/// What is wrong with each of several servers.
async fn explain_each(settings: &DbConfig, urls: &[String]) -> String {
    let mut told = Vec::new();
    for url in urls {
        let alone = DbConfig {
            url: url.clone(),
            ..settings.clone()
        };
        let why = match Db::open(&alone).await {
            Ok(db) => {
                db.close().await;
                "it can be opened now; try again".to_owned()
            }
            Err(StoreError::Unavailable) => explain_server(url).await,
            Err(error) => error.to_string(),
        };
        told.push(format!("{}: {why}", place(url)));
    }
    told.join("; ")
}

/// Where the database is, without a word that could be a password.
pub fn name(config: &Database) -> String {
    if let Some(path) = config.sqlite_path() {
        return path.display().to_string();
    }
    if config.url.starts_with("sqlite:") {
        return "in memory".to_owned();
    }
    let names: Vec<String> = till_store::server_urls(&config.url)
        .iter()
        .map(|url| place(url))
        .collect();
    names.join(", ")
}

fn place(url: &str) -> String {
    match Url::parse(url) {
        Ok(url) if url.has_host() => {
            let host = url.host_str().unwrap_or_default();
            let port = url.port().unwrap_or(POSTGRES_PORT);
            format!("{host}:{port}{}", url.path())
        }
        _ => "postgres".to_owned(),
    }
}

/// The store says only that there is no connection; why is found out by trying what it must have tried.
async fn explain(config: &Database, error: &StoreError) -> String {
    if error.to_string().contains("malformed") {
        return format!(
            "the file is damaged ({error}); keep it, and restore the newest copy (`till restore`)"
        );
    }
    if *error != StoreError::Unavailable {
        return error.to_string();
    }
    match config.sqlite_path() {
        Some(path) => explain_file(path),
        None => explain_server(&config.url).await,
    }
}

fn explain_file(path: &Path) -> String {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return format!("there is no folder {}", folder.display());
    }
    if path.is_dir() {
        return "it is a folder: name a file in it, as in sqlite:folder/till.db".to_owned();
    }
    match std::fs::OpenOptions::new().append(true).open(path) {
        Err(error) if path.exists() => format!("{error}{}", remedy(&error)),
        _ => "is its folder writable, and is the disk full?".to_owned(),
    }
}

/// Why a PostgreSQL server gives no connection.
pub async fn explain_server(url: &str) -> String {
    let Ok(url) = Url::parse(url) else {
        return "its address is malformed".to_owned();
    };
    if let Some(problem) = unreadable_file(&url) {
        return problem;
    }
    let Some(host) = url.host_str().filter(|host| !host.is_empty()) else {
        return "no server answers at its socket".to_owned();
    };
    match reach(host, url.port().unwrap_or(POSTGRES_PORT)).await {
        Ok(_) => "it answers, but does not let us in".to_owned(),
        Err(problem) => problem,
    }
}

/// Of the files that the URL names for TLS, the first that cannot be read.
fn unreadable_file(url: &Url) -> Option<String> {
    url.query_pairs().find_map(|(name, path)| {
        let is_file = matches!(&*name, "sslrootcert" | "sslcert" | "sslkey");
        let error = std::fs::read(&*path).err().filter(|_| is_file)?;
        let mend = remedy(&error);
        Some(format!("{name} {path} cannot be read: {error}{mend}"))
    })
}

/// Whether anything listens there.
async fn reach(host: &str, port: u16) -> Result<SocketAddr, String> {
    let host = host.trim_matches(['[', ']']);
    let attempt = async {
        let mut last = "the name has no address".to_owned();
        let found = lookup_host((host, port)).await;
        for address in found.map_err(|error| error.to_string())? {
            match TcpStream::connect(address).await {
                Ok(_) => return Ok(address),
                Err(error) => last = error.to_string(),
            }
        }
        Err(last)
    };
    match timeout(PROBE_TIME, attempt).await {
        Ok(done) => done,
        Err(_) => Err(format!("no answer within {} s", PROBE_TIME.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_named_without_its_password() {
        let named = |url: &str| {
            name(&Database {
                url: url.to_owned(),
                readers: 1,
                writers: 1,
                transaction_pooler: false,
                replicas: Vec::new(),
            })
        };
        let postgres = named("postgres://till:hunter2@db.example.com/till?password=hunter2");
        assert_eq!(postgres, "db.example.com:5432/till");
        let several = named("postgres://till:hunter2@one,two:5433/till");
        assert_eq!(several, "one:5432/till, two:5433/till");
        assert_eq!(named("sqlite:data/till.db"), "data/till.db");
        assert_eq!(named("sqlite::memory:"), "in memory");
    }
}

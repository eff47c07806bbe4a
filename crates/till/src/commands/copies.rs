//! What `till backup` and `till restore` have in common: what is looked at before a copy counts, and what may lie where one goes.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use till_engine::base::vault::Vault;
use till_store::Db;
use url::Url;

use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::keyfile::{self, Key};
use crate::output;

/// At the end of the name of the file that has a copy's digest, in the form that `sha256sum --check` reads.
pub const DIGEST: &str = ".sha256";

/// PostgreSQL's own tools make and take back copies: says how, for this very database, and fails.
pub fn refuse_postgres(config: &Config) -> Result<(), Failure> {
    let url = without_password(&config.database.url);
    output::print(&format!(
        "To back up, while servers run:\n  pg_dump --format=custom --file=till.dump --dbname='{url}'\n  till backup --made-elsewhere\n\
         To restore, into an empty database, with no server running:\n  \
         pg_restore --no-owner --exit-on-error --dbname='{url}' till.dump\n  till restore --pass-over\n\
         The last one sees to it that no address is handed out twice. The password is asked for, or read from PGPASSWORD or \
         ~/.pgpass.\nThe key file is not in it: keep a copy of {} apart.\n",
        key_files(config)
    ))?;
    Err(Failure::Usage(
        "this database is PostgreSQL's, which is copied by its own tools: nothing was done; run the lines above".to_owned(),
    ))
}

fn without_password(url: &str) -> String {
    let servers = till_store::server_urls(url);
    let parsed: Result<Vec<Url>, _> = servers.iter().map(|it| Url::parse(it)).collect();
    let hosts = parsed.as_deref().unwrap_or_default().iter().map(host);
    let hosts = hosts.collect::<Vec<_>>().join(",");
    let Some(mut url) = parsed.unwrap_or_default().into_iter().next() else {
        return "DATABASE_URL".to_owned();
    };
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| name != "password")
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
    // It fails only where there is no host, and then there is no password either.
    url.set_password(None).ok();
    let before = match url.username() {
        "" => "//",
        _ => "@",
    };
    let first = format!("{before}{}", host(&url));
    let all = format!("{before}{hosts}");
    url.to_string()
        .replacen(&first, &all, 1)
        .replace('\'', "%27")
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Whether a copy is whole: what it was when it was made, where that is known, and sound in itself. Says whether it was known.
pub async fn check(file: &Path) -> Result<bool, Failure> {
    if !file.is_file() {
        let line = format!("{}: there is no such file", file.display());
        return Err(Failure::new(line));
    }
    let known = written_digest(file)?;
    if let Some(known) = &known
        && *known != digest(file)?
    {
        return Err(Failure::new(format!(
            "{0} is damaged: it is not what {0}{DIGEST} says it was; take another copy",
            file.display()
        )));
    }
    till_store::check_file(file).await?;
    Ok(known.is_some())
}

/// Puts down what a copy is, beside it.
pub fn write_digest(file: &Path) -> Result<(), Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let path = beside(file, DIGEST);
    fs::write(&path, format!("{}  {name}\n", digest(file)?))
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

fn written_digest(file: &Path) -> Result<Option<String>, Failure> {
    let path = beside(file, DIGEST);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.split_whitespace().next().map(str::to_owned)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(format!("{}: {error}", path.display()))),
    }
}

fn digest(file: &Path) -> Result<String, Failure> {
    let read = || {
        let mut file = File::open(file)?;
        let mut hash = Sha256::new();
        let mut part = vec![0; 1024 * 1024];
        loop {
            match file.read(&mut part)? {
                0 => return Ok::<_, io::Error>(hex::encode(hash.finalize())),
                size => hash.update(part.get(..size).unwrap_or_default()),
            }
        }
    };
    read().map_err(|error| Failure::new(format!("{}: {error}", file.display())))
}

/// The name of the key that a database is encrypted with, once the key files that there are have opened what it holds. A copy
/// without its key is refused: its secrets could never be read again.
pub async fn key_that_fits(config: &Config, db: &Db) -> Result<Option<String>, Failure> {
    if compose::is_new(db).await? {
        return Ok(None);
    }
    let name = till_store::installation::key_name(&mut db.read().await?).await?;
    let paths = config.key_files();
    let wanted = |cause: &str| {
        Failure::new(format!(
            "{cause}; the copy is encrypted with the key {}: put its file where secrets.key_file says ({}), then try again",
            name.as_deref().unwrap_or("of the first start"),
            key_files(config)
        ))
    };
    let keys: Result<Vec<Key>, Failure> = paths.iter().map(|path| keyfile::read(path)).collect();
    let keys = keys.map_err(|failure| wanted(&failure.to_string()))?;
    let vault = Vault::new(&keys).map_err(|error| Failure::new(error.to_string()))?;
    if let Some(name) = &name
        && !vault.has(name)
    {
        return Err(wanted("none of the key files is the copy's"));
    }
    compose::keys_open(config, db.clone(), &keys).await?;
    Ok(name)
}

pub fn key_files(config: &Config) -> String {
    let paths = config.key_files();
    let shown: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    shown.join(", ")
}

/// Nothing may be there, and nothing beside it that a database there would take for its own: what was committed last may be
/// in there alone.
pub fn refuse_existing(path: &Path) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let line = format!("there is no folder {}; make it first", folder.display());
        return Err(Failure::new(line));
    }
    if path.exists() {
        let line = format!("{} is there already; move it away first", path.display());
        return Err(Failure::new(line));
    }
    for suffix in ["-wal", "-shm", "-journal"] {
        let beside = beside(path, suffix);
        if beside.exists() {
            return Err(Failure::new(format!(
                "{} is there and belongs to the database that was here, which is not whole without it; move it to where that went, \
                 under its name with {suffix} at the end",
                beside.display()
            )));
        }
    }
    Ok(())
}

pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_written_for_postgresqls_tools_with_all_its_servers_and_no_password() {
        for (url, shown) in [
            (
                "postgres://till:hunter2@till/till?password=hunter2&sslmode=require",
                "postgres://till@till/till?sslmode=require",
            ),
            (
                "postgres://till:hunter2@one:5433,two/till?target_session_attrs=primary",
                "postgres://till@one:5433,two/till?target_session_attrs=primary",
            ),
            ("postgres://one/till", "postgres://one/till"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}

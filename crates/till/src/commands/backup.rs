//! `till backup`

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use scoped_futures::ScopedFutureExt as _;
use till_core::time;
use till_engine::base::clock::Clock as _;
use till_store::{Db, StoreError, Tx, installation};

use crate::commands::copies::{self, DIGEST, beside, key_files, refuse_existing};
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::output;
use crate::progress;
use crate::system::SystemClock;

#[derive(Debug, Args)]
pub struct Backup {
    /// Where the copy goes; nothing may be there yet
    #[arg(long, value_name = "FILE", required_unless_present = "made_elsewhere")]
    to: Option<PathBuf>,
    /// --to is a folder, of whose copies the newest N stay
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    keep: Option<u16>,
    /// Only note that other tools made a copy just now
    #[arg(long, conflicts_with_all = ["to", "keep"])]
    made_elsewhere: bool,
}

pub async fn backup(config: &Config, backup: &Backup) -> Result<(), Failure> {
    let Some(given) = &backup.to else {
        let db = database::open_existing(&config.database).await?;
        let noted = note(&db).await;
        db.close().await;
        noted?;
        return output::print("Noted: a copy was made just now.\n");
    };
    if config.database.sqlite_path().is_none() {
        return copies::refuse_postgres(config);
    }
    let to = match backup.keep {
        Some(_) => in_folder(given)?,
        None if given.is_dir() => {
            return Err(Failure::Usage(format!(
                "{} is a folder: name a file in it, or say with --keep how many copies stay there",
                given.display()
            )));
        }
        None => given.clone(),
    };
    refuse_existing(&to)?;
    let db = database::open_existing(&config.database).await?;
    let copied = copy(config, &db, &to).await;
    let noted = match copied {
        Ok(_) => note(&db).await,
        Err(_) => Ok(()),
    };
    db.close().await;
    let key = match copied {
        Ok(key) => key,
        Err(failure) => {
            // What does not count must not look like a copy.
            fs::remove_file(&to).ok();
            fs::remove_file(beside(&to, DIGEST)).ok();
            return Err(failure);
        }
    };
    let gone = match backup.keep {
        Some(keep) => forget(given, keep.into())?,
        None => 0,
    };
    let secrets = match key {
        Some(key) => format!(
            "Its secrets are encrypted with the key {key}, which is not in it: keep a copy of {} apart.\n",
            key_files(config)
        ),
        None => String::new(),
    };
    let gone = match gone {
        0 => String::new(),
        gone => format!("{gone} older than the newest that stay are deleted.\n"),
    };
    if let Err(failure) = noted {
        output::remark(&[format!(
            "the copy is made, but that could not be noted in the database: {failure}"
        )]);
    }
    output::print(&format!(
        "{} has everything that was committed a moment ago, was read again and is whole.\n{secrets}{gone}",
        to.display()
    ))
}

/// The copy, looked at as whoever restores it would.
async fn copy(config: &Config, db: &Db, to: &Path) -> Result<Option<String>, Failure> {
    let key = copies::key_that_fits(config, db).await?;
    progress::during("copying the database", db.copy_to(to)).await?;
    progress::during("reading the copy again", copies::check(to)).await?;
    copies::write_digest(to)?;
    Ok(key)
}

/// `till check` and the dashboard ask for a copy where none was noted for days.
async fn note(db: &Db) -> Result<(), Failure> {
    let now = SystemClock::start().now_ms();
    let noted: Result<(), StoreError> = db
        .write(move |tx: &mut Tx| installation::note_backup(tx, now).scope_boxed())
        .await;
    noted.map_err(Failure::from)
}

const NAME: (&str, &str) = ("till-", ".db");

/// `till-20260102T030405Z.db`: names sort as the times do.
fn in_folder(folder: &Path) -> Result<PathBuf, Failure> {
    if !folder.is_dir() {
        let line = format!("there is no folder {}; make it first", folder.display());
        return Err(Failure::new(line));
    }
    let now = SystemClock::start().now_ms();
    let shown = time::show(now - now % 1_000).replace(['-', ':'], "");
    Ok(folder.join(format!("{}{shown}{}", NAME.0, NAME.1)))
}

fn is_ours(name: &str) -> bool {
    let middle = name
        .strip_prefix(NAME.0)
        .and_then(|name| name.strip_suffix(NAME.1));
    let fits = |(at, c): (usize, char)| match at {
        8 => c == 'T',
        15 => c == 'Z',
        _ => c.is_ascii_digit(),
    };
    middle.is_some_and(|middle| middle.len() == 16 && middle.chars().enumerate().all(fits))
}

/// Deletes all copies that this command named but the newest, and says how many.
fn forget(folder: &Path, keep: usize) -> Result<usize, Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("{}: {error}", folder.display()));
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if let Some(name) = name.to_str().filter(|name| is_ours(name)) {
            names.push(name.to_owned());
        }
    }
    names.sort_unstable();
    names.truncate(names.len().saturating_sub(keep));
    for name in &names {
        let copy = folder.join(name);
        fs::remove_file(&copy).map_err(failed)?;
        fs::remove_file(beside(&copy, DIGEST)).ok();
    }
    Ok(names.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_copies_that_the_command_named_are_ever_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let made = in_folder(folder.path()).unwrap();
        assert!(is_ours(made.file_name().unwrap().to_str().unwrap()));
        let names = [
            "till-20260102T030405Z.db",
            "till-20260103T030405Z.db",
            "till-20260104T030405Z.db",
            "till-before.db",
            "till-20260101T030405Z.db.old",
            "till.db",
        ];
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(forget(folder.path(), 2).unwrap(), 1);
        let left = names.map(|name| folder.path().join(name).exists());
        assert_eq!(left, [false, true, true, true, true, true]);
        assert_eq!(forget(folder.path(), 2).unwrap(), 0);
    }
}

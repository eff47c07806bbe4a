//! `till backup` and `till restore`

use std::path::{Path, PathBuf};

use clap::Args;
use till_core::time::HOUR_MS;
use till_engine::addresses::restored::{self, Pools};
use till_engine::base::clock::Clock as _;
use till_store::networks::NetworkRow;
use till_store::{Db, Schema};

use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::output;
use crate::system::SystemClock;

#[derive(Debug, Args)]
pub struct Backup {
    /// Where the copy goes; nothing may be there yet
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

#[derive(Debug, Args)]
pub struct Restore {
    /// A copy by `till backup`, of this version or before
    #[arg(long, value_name = "FILE", required_unless_present = "pass_over")]
    from: Option<PathBuf>,
    /// Pass over addresses that may be out already
    #[arg(long, conflicts_with = "from")]
    pass_over: bool,
}

const POSTGRES: &str = "PostgreSQL has its own tools. To back up, while servers run:\n  \
    pg_dump --format=custom --file=till.dump DATABASE_URL\nTo restore, into an empty database, with no server running:\n  \
    pg_restore --no-owner --dbname=DATABASE_URL till.dump\n  till restore --pass-over\nThe last one sees to it that no address is handed out twice. The key file is not in it: keep a copy of it apart.\n";

pub async fn backup(config: &Config, backup: &Backup) -> Result<(), Failure> {
    if config.database.sqlite_path().is_none() {
        return output::print(POSTGRES);
    }
    refuse_existing(&backup.to)?;
    let db = database::open_existing(&config.database).await?;
    let copied = copy(&db, &backup.to).await;
    db.close().await;
    let key = copied?;
    output::print(&format!(
        "{} has everything that was committed a moment ago.\nIts secrets are encrypted with the key {key}, which is not in it: \
         keep a copy of {} apart.\n",
        backup.to.display(),
        key_files(config)
    ))
}

async fn copy(db: &Db, to: &Path) -> Result<String, Failure> {
    db.copy_to(to).await?;
    key_name(db).await
}

async fn key_name(db: &Db) -> Result<String, Failure> {
    let name = till_store::installation::key_name(&mut db.read().await?).await?;
    Ok(name.unwrap_or_else(|| "of the first start".to_owned()))
}

const PASSED_OVER: &str = "Addresses that may have been handed out since are not handed out again: what is paid to one has no invoice any more, \
    and `till sweep` finds it.\n";

/// Addresses that were handed out since the copy was made are others' for good.
async fn pass_over(config: &Config, db: &Db) -> Result<(), Failure> {
    let pools = Pools {
        pool_max: config.addresses.pool_max.into(),
        bitcoin_gap_limit: config.addresses.bitcoin_gap_limit.into(),
        cooldown_ms: i64::from(config.addresses.cooldown_h) * HOUR_MS,
    };
    Ok(restored::pass_over(db, pools, SystemClock::start().now_ms()).await?)
}

pub async fn restore(config: &Config, restore: &Restore) -> Result<(), Failure> {
    let Some(from) = &restore.from else {
        let db = database::open_existing(&config.database).await?;
        let done = pass_over(config, &db).await;
        db.close().await;
        done?;
        return output::print(PASSED_OVER);
    };
    let Some(path) = config.database.sqlite_path() else {
        return output::print(POSTGRES);
    };
    refuse_existing(path)?;
    // Under another name until it is whole: nobody may start with it before.
    let unfinished = beside(path, UNFINISHED);
    if unfinished.exists() {
        return Err(Failure::new(format!(
            "{} is of a restore that was cut off, or that is under way; remove it first",
            unfinished.display()
        )));
    }
    let made = make(config, from, &unfinished).await;
    let restored = made.and_then(|made| {
        put_in_place(&unfinished, path)?;
        Ok(made)
    });
    for suffix in ["", "-wal", "-shm", "-journal"] {
        std::fs::remove_file(beside(&unfinished, suffix)).ok();
    }
    tell(config, path, &restored?)
}

fn put_in_place(unfinished: &Path, path: &Path) -> Result<(), Failure> {
    // Somebody may have started a server meanwhile.
    refuse_existing(path)?;
    // What was committed last may be in its log alone, which goes first: without it the database would not be whole.
    let log = beside(unfinished, "-wal");
    let has_log = log.metadata().is_ok_and(|log| log.len() > 0);
    let moved = match has_log {
        true => std::fs::rename(&log, beside(path, "-wal")),
        false => Ok(()),
    };
    moved
        .and_then(|()| std::fs::rename(unfinished, path))
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// At the end of the name of a database that is being restored.
const UNFINISHED: &str = ".restoring";

/// What a copy was and is.
struct Restored {
    key: String,
    networks: Vec<NetworkRow>,
    /// The version of its schema, where that is not this program's.
    older: Option<i64>,
}

/// Puts a copy of the copy there and makes it fit for a server of this version. The copy itself stays what it is.
async fn make(config: &Config, from: &Path, to: &Path) -> Result<Restored, Failure> {
    let (copied, schema) = database::open_copy(&config.database, from).await?;
    let done = copied.copy_to(to).await;
    copied.close().await;
    done?;
    let to = database::at(&config.database, to);
    let db = database::open_migrated(&to, &SystemClock::start()).await?;
    let done = async {
        pass_over(config, &db).await?;
        let networks = till_store::networks::all(&mut db.read().await?).await?;
        Ok::<_, Failure>((key_name(&db).await?, networks))
    };
    let done = done.await;
    db.close().await;
    let (key, networks) = done?;
    let older = match schema {
        Schema::Older(version) => Some(version),
        Schema::Missing | Schema::Fits => None,
    };
    Ok(Restored {
        key,
        networks,
        older,
    })
}

fn tell(config: &Config, path: &Path, restored: &Restored) -> Result<(), Failure> {
    let older = restored.older.map(|version| {
        format!("The copy was made at version {version} of the schema; it was brought to this program's.\n")
    });
    let again: String = restored.networks.iter().map(asked_again).collect();
    output::print(&format!(
        "{} is as it was when the copy was made. Its key is {}: put its file at {}.\n{}What happened since is lost, but not \
         what payers sent: the next start asks the chains again.\n{again}{PASSED_OVER}",
        path.display(),
        restored.key,
        key_files(config),
        older.unwrap_or_default()
    ))
}

fn asked_again(network: &NetworkRow) -> String {
    match network.cursor_height {
        Some(height) => format!("  {} from block {}\n", network.id, height + 1),
        None => format!("  {} from the oldest open invoice\n", network.id),
    }
}

fn key_files(config: &Config) -> String {
    let paths = config.key_files();
    let shown: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    shown.join(", ")
}

/// Nothing may be there, and nothing beside it that a database there would take for its own: what was committed last may be
/// in there alone.
fn refuse_existing(path: &Path) -> Result<(), Failure> {
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

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

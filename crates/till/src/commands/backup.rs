//! `till backup` and `till restore`

use std::path::{Path, PathBuf};

use clap::Args;
use till_core::time::HOUR_MS;
use till_engine::addresses::restored::{self, Pools};
use till_engine::base::clock::Clock as _;
use till_store::Db;
use till_store::networks::NetworkRow;

use crate::config::{Config, Database};
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
    /// A copy that `till backup` made
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
    let name = till_store::installation::key_name(&mut db.read().await?).await?;
    Ok(name.unwrap_or_else(|| "of the first start".to_owned()))
}

const PASSED_OVER: &str = "Addresses that may have been handed out since are not handed out again: what is paid to one has no invoice any more, \
    and `till sweep` finds it.\n";

/// Addresses that were handed out since the copy was made are others' for good.
async fn pass_over(config: &Config) -> Result<(), Failure> {
    let db = database::open_existing(&config.database).await?;
    let pools = Pools {
        pool_max: config.addresses.pool_max.into(),
        bitcoin_gap_limit: config.addresses.bitcoin_gap_limit.into(),
        cooldown_ms: i64::from(config.addresses.cooldown_h) * HOUR_MS,
    };
    let done = restored::pass_over(&db, pools, SystemClock::start().now_ms()).await;
    db.close().await;
    Ok(done?)
}

pub async fn restore(config: &Config, restore: &Restore) -> Result<(), Failure> {
    let Some(from) = &restore.from else {
        pass_over(config).await?;
        return output::print(PASSED_OVER);
    };
    let Some(path) = config.database.sqlite_path() else {
        return output::print(POSTGRES);
    };
    refuse_existing(path)?;
    let from = Database {
        url: format!("sqlite:{}", from.display()),
        ..config.database.clone()
    };
    let db = database::open_existing(&from).await?;
    let restored = async {
        let key = copy(&db, path).await?;
        let networks = till_store::networks::all(&mut db.read().await?).await?;
        Ok::<_, Failure>((key, networks))
    };
    let restored = restored.await;
    db.close().await;
    let (key, networks) = restored?;
    pass_over(config).await?;
    let again: String = networks.iter().map(asked_again).collect();
    output::print(&format!(
        "{} is as it was when the copy was made. Its key is {key}: put its file at {}.\nWhat happened since is lost, but not \
         what payers sent: the next start asks the chains again.\n{again}{PASSED_OVER}",
        path.display(),
        key_files(config)
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
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        let beside = PathBuf::from(beside);
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

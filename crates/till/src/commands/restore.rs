//! `till restore`

use std::path::{Path, PathBuf};

use clap::Args;
use till_core::time::HOUR_MS;
use till_engine::addresses::restored::{self, Pools};
use till_engine::base::clock::Clock as _;
use till_store::networks::NetworkRow;
use till_store::{Db, Schema};

use crate::commands::copies::{self, beside, key_files, refuse_existing};
use crate::config::Config;
use crate::database::{self, Patience};
use crate::failure::Failure;
use crate::output;
use crate::progress;
use crate::system::SystemClock;

#[derive(Debug, Args)]
pub struct Restore {
    /// A copy by `till backup`, of this version or before
    #[arg(long, value_name = "FILE", required_unless_present = "pass_over")]
    from: Option<PathBuf>,
    /// Pass over addresses that may be out already
    #[arg(long, conflicts_with = "from")]
    pass_over: bool,
}

const PASSED_OVER: &str = "Addresses that may have been handed out since are not handed out again: what is paid to one has no invoice any more, \
    and `till sweep` finds it. Bitcoin's may be, if some of them were paid: give each account that takes Bitcoin another account \
    key before its next invoice.\n";

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
        return copies::refuse_postgres(config);
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
    /// Nothing where nothing was encrypted yet.
    key: Option<String>,
    networks: Vec<NetworkRow>,
    /// The version of its schema, where that is not this program's.
    older: Option<i64>,
    /// Whether its digest was beside it.
    is_what_it_was: bool,
}

/// Puts a copy of the copy there and makes it fit for a server of this version. The copy itself stays what it is.
async fn make(config: &Config, from: &Path, to: &Path) -> Result<Restored, Failure> {
    let is_what_it_was = progress::during("reading the copy", copies::check(from)).await?;
    progress::during("putting it in place", till_store::copy_file(from, to)).await?;
    let schema = database::schema_of_copy(&config.database, to, from).await?;
    let to = database::at(&config.database, to);
    let clock = SystemClock::start();
    let migrated = database::open_migrated(&to, &clock, Patience::Command);
    let db = progress::during("bringing it to this version's schema", migrated).await?;
    let done = async {
        let key = copies::key_that_fits(config, &db).await?;
        pass_over(config, &db).await?;
        let networks = till_store::networks::all(&mut db.read().await?).await?;
        Ok::<_, Failure>((key, networks))
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
        is_what_it_was,
    })
}

fn tell(config: &Config, path: &Path, restored: &Restored) -> Result<(), Failure> {
    let older = restored.older.map(|version| {
        format!("The copy was made at version {version} of the schema; it was brought to this program's.\n")
    });
    let unknown = match restored.is_what_it_was {
        true => "",
        false => {
            "Its digest was not beside it: it is whole, but whether every value is what it was cannot be told.\n"
        }
    };
    let key = restored.key.as_ref().map(|key| {
        format!(
            "Its secrets open with the key {key} in {}.\n",
            key_files(config)
        )
    });
    let again: String = restored.networks.iter().map(asked_again).collect();
    output::print(&format!(
        "{} is as it was when the copy was made.\n{}{}{unknown}What happened since is lost, but not \
         what payers sent: the next start asks the chains again.\n{again}{PASSED_OVER}",
        path.display(),
        key.unwrap_or_default(),
        older.unwrap_or_default()
    ))
}

fn asked_again(network: &NetworkRow) -> String {
    match network.cursor_height {
        Some(height) => format!("  {} from block {}\n", network.id, height + 1),
        None => format!("  {} from the oldest open invoice\n", network.id),
    }
}

//! `till key-file create`, `rotate`, `show` and `renew-ledger-key`

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use till_engine::base::vault::Vault;
use till_engine::view::{LedgerKeyView, LedgerKeysView};
use till_engine::{digests, rotation};
use till_store::{Db, installation, ledger_keys};

use crate::compose;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::keyfile;
use crate::output;
use crate::system::SystemEntropy;

/// Within two beats of their pulse, servers have looked which key encrypts, and have finished what they began before.
const SERVERS_FOLLOW_TIME: Duration = Duration::from_secs(15);

#[derive(Debug, Args)]
pub struct Create {
    /// Where to; nothing may be there yet
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

pub fn create(create: &Create) -> Result<(), Failure> {
    let to = create.to.display();
    if create.to.exists() {
        return Err(Failure::new(format!("{to} is there already")));
    }
    keyfile::make(&create.to, &SystemEntropy)
        .map_err(|error| Failure::new(format!("the key file {to} cannot be made: {error}")))?;
    output::print(&format!(
        "{to} is made; copy it to every server, put it in front of the others in secrets.key_file, and restart them in turn\n"
    ))
}

pub async fn rotate(config: &Config) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    if compose::is_new(&engine.db).await? {
        return Err(Failure::new(
            "nothing is encrypted in this database yet: the first start or account takes the first key file; are --config and --database right?",
        ));
    }
    let newest = engine.vault.first_name();
    if engine.vault.name() != newest {
        rotation::encrypt_with(&engine, &newest).await?;
        output::print(&format!("the key {newest} encrypts from now on\n"))?;
    }
    let done = rotation::finish(&engine, || tokio::time::sleep(SERVERS_FOLLOW_TIME)).await?;
    output::print(&format!("{} values are encrypted anew\n", done.rewritten))?;
    if done.unreadable > 0 {
        return Err(Failure::new(format!(
            "{} values do not open with any of the key files, and stay as they are; the log names them",
            done.unreadable
        )));
    }
    let files = config.key_files();
    let first = files.first().map(|path| path.display().to_string());
    output::print(&format!(
        "everything is encrypted with {}: the other key files may go from secrets.key_file; keep them as long as backups\n",
        first.unwrap_or_default()
    ))
}

#[derive(Debug, Args)]
pub struct Show {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ShownKeyFiles {
    files: Vec<ShownFile>,
    ledger_keys: Vec<LedgerKeyView>,
}

/// A key file by the name of its key, which tells nothing of the key.
#[derive(Serialize)]
struct ShownFile {
    file: String,
    key: Option<String>,
    /// Whether it is the one that encrypts.
    encrypts: bool,
    /// Why it cannot be read.
    error: Option<String>,
}

pub async fn show(config: &Config, show: &Show) -> Result<(), Failure> {
    let db = database::open_existing(&config.database).await?;
    let shown = shown(config, &db).await;
    db.close().await;
    let shown = shown?;
    match show.json {
        true => output::print_json(&shown),
        false => output::print(&text(&shown)),
    }
}

async fn shown(config: &Config, db: &Db) -> Result<ShownKeyFiles, Failure> {
    let mut reader = db.read().await?;
    let newest = installation::key_name(&mut reader).await?;
    let keys = ledger_keys::all(&mut reader).await?;
    let file = |path: &PathBuf| {
        let named = keyfile::read(path).and_then(|key| {
            let vault = Vault::new(&[key]).map_err(|error| Failure::new(error.to_string()))?;
            Ok(vault.name())
        });
        ShownFile {
            file: path.display().to_string(),
            encrypts: named.is_ok() && named.as_ref().ok() == newest.as_ref(),
            error: named.as_ref().err().map(Failure::to_string),
            key: named.ok(),
        }
    };
    Ok(ShownKeyFiles {
        files: config.key_files().iter().map(file).collect(),
        ledger_keys: LedgerKeysView::of(&keys).keys,
    })
}

fn text(shown: &ShownKeyFiles) -> String {
    let file = |of: &ShownFile| match (&of.key, of.encrypts) {
        (Some(key), true) => format!("{}  {key}  encrypts\n", of.file),
        (Some(key), false) => format!("{}  {key}\n", of.file),
        (None, _) => format!("{}\n", of.error.as_deref().unwrap_or_default()),
    };
    let last = shown.ledger_keys.len().saturating_sub(1);
    let key = |(at, of): (usize, &LedgerKeyView)| {
        let signs = if at == last {
            "signs digests"
        } else {
            "signed digests"
        };
        format!("{}  {}  {signs}\n", of.key_id, of.public_key)
    };
    let files = shown.files.iter().map(file);
    let keys = shown.ledger_keys.iter().enumerate().map(key);
    files.chain(keys).collect()
}

pub async fn renew_ledger_key(config: &Config) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    if compose::is_new(&engine.db).await? {
        return Err(Failure::new(
            "there is no key in this database yet: the first start or account makes it; are --config and --database right?",
        ));
    }
    let new = digests::key::renew(&engine).await?;
    output::print(&format!(
        "the key {} signs digests from now on; tell whoever checks them its public half: {}\n",
        new.id, new.public_key
    ))
}

//! `till key create`, `till key roll`, `till key list`

use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;
use till_core::asset;
use till_core::error::Code;
use till_core::scope::Scope;
use till_core::time;
use till_engine::merchants::accounts::KeyKind;
use till_engine::shell;
use till_engine::{Engine, Fail};
use till_store::keys::ListedKey;

use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

/// Longer than any running server believes a key that it has looked up.
const SERVERS_FORGET_TIME: Duration = Duration::from_millis(50);

#[derive(Debug, Args)]
pub struct NewKey {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: Mode,
    #[arg(long, value_enum)]
    kind: KeyKindArg,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct List {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Mode {
    Test,
    Live,
}

impl Mode {
    pub fn of_assets(self) -> asset::Mode {
        match self {
            Mode::Test => asset::Mode::Test,
            Mode::Live => asset::Mode::Live,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeyKindArg {
    Secret,
    Publishable,
}

impl NewKey {
    fn scope(&self) -> Scope {
        Scope::new(&self.account, self.mode.of_assets())
    }

    fn kind(&self) -> KeyKind {
        match self.kind {
            KeyKindArg::Secret => KeyKind::Secret,
            KeyKindArg::Publishable => KeyKind::Publishable,
        }
    }
}

#[derive(Serialize)]
struct ShownKey<'a> {
    key: &'a str,
    account: &'a str,
    mode: &'a str,
    kind: &'a str,
}

pub async fn create(config: &Config, new: &NewKey) -> Result<(), Failure> {
    let engine = engine_for(config, &new.account).await?;
    let key = shell::create_key(&engine, &new.scope(), new.kind()).await;
    finish(engine, new, key).await
}

pub async fn roll(config: &Config, new: &NewKey) -> Result<(), Failure> {
    let engine = engine_for(config, &new.account).await?;
    let key = shell::roll_key(&engine, &new.scope(), new.kind()).await;
    // When this command returns, the old key works nowhere.
    tokio::time::sleep(SERVERS_FORGET_TIME).await;
    finish(engine, new, key).await
}

/// An engine on a database that has the account.
pub async fn engine_for(config: &Config, account: &str) -> Result<Engine, Failure> {
    let engine = compose::engine_without_secrets(config).await?;
    let mut reader = engine.db.read().await?;
    let found = till_core::id::is(till_core::id::IdKind::Account, account)
        && till_store::accounts::account_exists(&mut reader, account).await?;
    drop(reader);
    if found {
        return Ok(engine);
    }
    engine.db.close().await;
    let account: String = account.chars().take(64).collect();
    Err(Failure::new(format!("there is no account {account:?}")))
}

async fn finish(engine: Engine, new: &NewKey, key: Result<String, Fail>) -> Result<(), Failure> {
    engine.db.close().await;
    let (scope, kind) = (new.scope(), new.kind().as_str());
    let mode = scope.mode.as_str();
    let key = key.map_err(|fail| match fail {
        Fail::Refused(refusal) if refusal.code == Code::ModeNotConfigured => {
            Failure::new(format!("account {} has no {mode} mode", scope.account))
        }
        fail => fail.into(),
    })?;
    if new.json {
        return output::print_json(&ShownKey {
            key: &key,
            account: &scope.account,
            mode,
            kind,
        });
    }
    output::print(&format!("{key}\n"))
}

#[derive(Serialize)]
struct ShownList<'a> {
    account: &'a str,
    keys: Vec<ShownHint<'a>>,
}

/// Hints only: the keys themselves are not kept.
#[derive(Serialize)]
struct ShownHint<'a> {
    id: &'a str,
    mode: &'a str,
    kind: &'a str,
    hint: &'a str,
    created_at: String,
    rolled_at: Option<String>,
    exposed_at: Option<String>,
}

pub async fn list(config: &Config, list: &List) -> Result<(), Failure> {
    let engine = engine_for(config, &list.account).await?;
    let mut reader = engine.db.read().await?;
    let keys = till_store::keys::keys_of(&mut reader, &list.account).await;
    drop(reader);
    engine.db.close().await;
    let keys = keys?;
    if list.json {
        return output::print_json(&ShownList {
            account: &list.account,
            keys: keys.iter().map(hint).collect(),
        });
    }
    output::print(&keys.iter().map(line).collect::<String>())
}

fn hint(key: &ListedKey) -> ShownHint<'_> {
    ShownHint {
        id: &key.id,
        mode: &key.mode,
        kind: &key.kind,
        hint: &key.hint,
        created_at: time::show(key.created_at),
        rolled_at: key.rolled_at.map(time::show),
        exposed_at: key.exposed_at.map(time::show),
    }
}

fn line(key: &ListedKey) -> String {
    let fate = match (key.rolled_at, key.exposed_at) {
        (Some(at), _) => format!("rolled {}", time::show(at)),
        (None, Some(at)) => format!("EXPOSED in a URL {}: roll it", time::show(at)),
        (None, None) => "works".to_owned(),
    };
    format!(
        "{}  {:4}  {:11}  {}  {}  {fate}\n",
        key.id,
        key.mode,
        key.kind,
        key.hint,
        time::show(key.created_at)
    )
}

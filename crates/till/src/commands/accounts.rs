//! `till account list`, `disable` and `enable`

use std::time::Duration;

use clap::Args;
use serde::Serialize;
use till_core::time;
use till_engine::team::operator;
use till_store::accounts::{self, AccountRow};

use crate::compose;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::output;

/// How long servers may believe a key that they looked up.
const SERVERS_FORGET_TIME: Duration = Duration::from_millis(50);

#[derive(Debug, Args)]
pub struct List {
    /// Print a JSON array instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct AccountArg {
    /// The account's id
    #[arg(long, value_name = "ID")]
    pub account: String,
}

#[derive(Serialize)]
struct ShownAccount<'a> {
    account: &'a str,
    name: &'a str,
    live: bool,
    created_at: String,
    disabled_at: Option<String>,
}

pub async fn list(config: &Config, list: &List) -> Result<(), Failure> {
    let db = database::open_existing(&config.database).await?;
    let found = accounts::all(&mut db.read().await?).await;
    db.close().await;
    let found = found?;
    if list.json {
        let shown: Vec<ShownAccount<'_>> = found.iter().map(shown).collect();
        return output::print_json(&shown);
    }
    output::print(&found.iter().map(line).collect::<String>())
}

fn shown(row: &AccountRow) -> ShownAccount<'_> {
    ShownAccount {
        account: &row.id,
        name: &row.name,
        live: row.has_live > 0,
        created_at: time::show(row.created_at),
        disabled_at: row.disabled_at.map(time::show),
    }
}

fn line(row: &AccountRow) -> String {
    let modes = match row.has_live {
        0 => "test",
        _ => "live",
    };
    let fate = match row.disabled_at {
        Some(at) => format!("DISABLED {}", time::show(at)),
        None => "enabled".to_owned(),
    };
    let made = time::show(row.created_at);
    format!("{}  {modes}  {made}  {fate}  {}\n", row.id, row.name)
}

/// Its keys stop working at once. What was promised to payers goes on: observing, crediting, webhooks.
pub async fn disable(config: &Config, which: &AccountArg) -> Result<(), Failure> {
    set(config, &which.account, true).await?;
    servers_notice().await;
    output::print(&format!("{} is disabled\n", which.account))
}

pub async fn enable(config: &Config, which: &AccountArg) -> Result<(), Failure> {
    set(config, &which.account, false).await?;
    output::print(&format!("{} is enabled\n", which.account))
}

/// Until every server has forgotten what it believed of a key.
pub async fn servers_notice() {
    tokio::time::sleep(SERVERS_FORGET_TIME).await;
}

/// What is typed is cut to the length of any real id.
pub fn no_account(typed: &str) -> Failure {
    let account: String = typed.chars().take(64).collect();
    Failure::new(format!("there is no account {account:?}"))
}

async fn set(config: &Config, account: &str, disable: bool) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let done = operator::set_disabled_at_command_line(&engine, account, disable).await;
    engine.db.clone().close().await;
    done?.map(drop).ok_or_else(|| no_account(account))
}

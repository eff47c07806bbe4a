//! `till journal export`: the canonical lines of the journal.

use clap::Args;
use till_core::scope::Scope;
use till_core::time;
use till_engine::Engine;
use till_engine::digests::Export as Lines;

use super::key::Mode;
use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct Export {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: Mode,
    /// The first day, such as 2026-01-01 (UTC)
    #[arg(long, value_name = "DAY", value_parser = day)]
    from: i64,
    /// The last day
    #[arg(long, value_name = "DAY", value_parser = day)]
    to: i64,
}

/// A UTC day that was typed.
pub fn day(text: &str) -> Result<i64, String> {
    time::parse_day(text).ok_or_else(|| "a day is written 2026-01-31".to_owned())
}

pub async fn export(config: &Config, export: &Export) -> Result<(), Failure> {
    if export.from > export.to {
        return Err(Failure::Usage("--from is after --to".to_owned()));
    }
    let engine = compose::engine_without_secrets(config).await?;
    let scope = existing(&engine, &export.account, export.mode).await?;
    let printed = print(&engine, &scope, (export.from, export.to)).await;
    engine.db.close().await;
    printed
}

/// The account, if there is one of this id.
pub async fn existing(engine: &Engine, account: &str, mode: Mode) -> Result<Scope, Failure> {
    let mut reader = engine.db.read().await?;
    if !till_store::accounts::account_exists(&mut reader, account).await? {
        let account: String = account.chars().take(64).collect();
        return Err(Failure::new(format!("there is no account {account:?}")));
    }
    Ok(Scope::new(account, mode.of_assets()))
}

async fn print(engine: &Engine, scope: &Scope, days: (i64, i64)) -> Result<(), Failure> {
    let mut lines = Lines::begin(engine, scope, days).await?;
    while let Some(some) = lines.next().await? {
        let text: String = some.iter().flat_map(|line| [&*line.text, "\n"]).collect();
        output::print(&text)?;
    }
    if lines.late > 0 {
        output::remark(&[format!(
            "{} entries came late for days that have a digest; they are in the next one",
            lines.late
        )]);
    }
    Ok(())
}

//! `till digest list`, `till digest verify`

mod files;

pub use files::{Files, verify_files};

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use till_core::scope::Scope;
use till_core::time;
use till_engine::Engine;
use till_engine::digests::{self, Checks, check_open_days};
use till_engine::view::DigestView;
use till_store::digests::DigestRow;

use super::journal::{day, existing};
use super::key::Mode;
use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct List {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: Mode,
    #[command(flatten)]
    days: Days,
    /// Print a JSON array instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct Verify {
    /// The account's id
    #[arg(long, value_name = "ID", required_unless_present = "journal")]
    account: Option<String>,
    #[arg(long, value_enum, required_unless_present = "journal")]
    mode: Option<Mode>,
    #[command(flatten)]
    days: Days,
    /// What `till journal export` printed
    #[arg(long, value_name = "FILE", requires_all = ["digests", "public_key"])]
    journal: Option<PathBuf>,
    /// What `till digest list --json` printed
    #[arg(long, value_name = "FILE", requires = "journal")]
    digests: Option<PathBuf>,
    /// From /.well-known/till-ledger.json; may be repeated
    #[arg(long, value_name = "KEY", requires = "journal")]
    public_key: Vec<String>,
}

#[derive(Debug, Args)]
struct Days {
    /// The first day, such as 2026-01-01 (UTC)
    #[arg(long, value_name = "DAY", value_parser = day)]
    from: Option<i64>,
    /// The last day
    #[arg(long, value_name = "DAY", value_parser = day)]
    to: Option<i64>,
}

impl Days {
    fn range(&self) -> (i64, i64) {
        let first = self.from.unwrap_or(i64::MIN);
        (first, self.to.unwrap_or(i64::MAX))
    }
}

/// A digest with what its signature is about, so that a file of them can be checked by itself.
#[derive(Serialize)]
struct ShownDigest<'a> {
    account: &'a str,
    mode: &'a str,
    #[serde(flatten)]
    digest: DigestView,
}

impl ShownDigest<'_> {
    fn of(row: &DigestRow) -> ShownDigest<'_> {
        ShownDigest {
            account: &row.scope.account,
            mode: row.scope.mode.as_str(),
            digest: DigestView::of(row),
        }
    }
}

/// The files to be checked, if it is about files.
pub fn files(verify: &Verify) -> Option<Files> {
    let (journal, digests) = verify.journal.clone().zip(verify.digests.clone())?;
    Some(Files { journal, digests })
}

pub async fn list(config: &Config, list: &List) -> Result<(), Failure> {
    let engine = compose::engine_without_secrets(config).await?;
    let scope = existing(&engine, &list.account, list.mode).await?;
    let found = all(&engine, &scope, list.days.range()).await;
    engine.db.close().await;
    let found = found?;
    if list.json {
        let shown: Vec<ShownDigest<'_>> = found.iter().map(ShownDigest::of).collect();
        return output::print_json(&shown);
    }
    let line = |row: &DigestRow| {
        let day = time::show_day(row.day);
        format!("{day}  {}  {:6}  {}\n", row.id, row.entries, row.root)
    };
    output::print(&found.iter().map(line).collect::<String>())
}

async fn all(
    engine: &Engine,
    scope: &Scope,
    (mut first, last): (i64, i64),
) -> Result<Vec<DigestRow>, Failure> {
    let mut all = Vec::new();
    loop {
        let some = digests::of_days(engine, scope, (first, last)).await?;
        let Some(reached) = some.last() else {
            return Ok(all);
        };
        first = reached.day + 1;
        all.extend(some);
    }
}

pub async fn verify(config: &Config, verify: &Verify) -> Result<(), Failure> {
    let Some((account, mode)) = verify.account.as_deref().zip(verify.mode) else {
        return Err(Failure::Usage("--account and --mode are missing".into()));
    };
    let engine = compose::engine_without_secrets(config).await?;
    let scope = existing(&engine, account, mode).await?;
    let verified = compare(&engine, &scope, verify.days.range()).await;
    engine.db.close().await;
    verified
}

async fn compare(engine: &Engine, scope: &Scope, days: (i64, i64)) -> Result<(), Failure> {
    let mut checks = Checks::begin(engine, scope, days).await?;
    let mut fitting = Fitting::default();
    while let Some(checked) = checks.next().await? {
        match checked.misfit {
            Some(why) => return Err(misfit(checked.day, &why)),
            None => fitting.add(checked.day, checked.entries),
        }
    }
    if let Some(checked) = check_open_days(engine, scope, days).await? {
        return Err(misfit(checked.day, &checked.misfit.unwrap_or_default()));
    }
    output::print(&fitting.shown())
}

fn misfit(day: i64, why: &str) -> Failure {
    Failure::new(format!("{} does not fit: {why}", time::show_day(day)))
}

/// What was found to be in order.
#[derive(Default)]
struct Fitting {
    days: Option<(i64, i64)>,
    digests: u64,
    entries: u64,
}

impl Fitting {
    fn add(&mut self, day: i64, entries: u64) {
        let first = self.days.map_or(day, |(first, _)| first);
        self.days = Some((first, day));
        self.digests += 1;
        self.entries += entries;
    }

    fn shown(&self) -> String {
        let Some((first, last)) = self.days else {
            return "there is no digest of these days\n".to_owned();
        };
        let (first, last) = (time::show_day(first), time::show_day(last));
        let (digests, entries) = (self.digests, self.entries);
        format!("all {digests} digests from {first} to {last} fit, with {entries} entries\n")
    }
}

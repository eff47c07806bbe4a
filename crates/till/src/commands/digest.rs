//! `till digest list`, `till digest verify`

mod files;
mod verification;

pub use files::{Files, verify_files};
pub use verification::Verify;

use clap::Args;
use serde::Serialize;
use till_core::scope::Scope;
use till_core::time;
use till_engine::Engine;
use till_engine::digests::{self, Checks, check_open_days};
use till_engine::view::DigestView;
use till_store::digests::DigestRow;
use verification::{Days, Fitting, misfit};

use super::journal::existing;
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

//! What is verified, and what was found to be in order.

use std::path::PathBuf;

use clap::Args;
use till_core::time;

use crate::commands::journal::day;
use crate::commands::key::Mode;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub struct Verify {
    /// The account's id
    #[arg(long, value_name = "ID", required_unless_present = "journal")]
    pub(super) account: Option<String>,
    #[arg(long, value_enum, required_unless_present = "journal")]
    pub(super) mode: Option<Mode>,
    #[command(flatten)]
    pub(super) days: Days,
    /// What `till journal export` printed
    #[arg(long, value_name = "FILE", requires_all = ["digests", "public_key"])]
    pub(super) journal: Option<PathBuf>,
    /// What `till digest list --json` printed
    #[arg(long, value_name = "FILE", requires = "journal")]
    pub(super) digests: Option<PathBuf>,
    /// From /.well-known/till-ledger.json; may be repeated
    #[arg(long, value_name = "KEY", requires = "journal")]
    pub(super) public_key: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct Days {
    /// The first day, such as 2026-01-01 (UTC)
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(super) from: Option<i64>,
    /// The last day
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(super) to: Option<i64>,
}

impl Days {
    pub(super) fn range(&self) -> (i64, i64) {
        let first = self.from.unwrap_or(i64::MIN);
        (first, self.to.unwrap_or(i64::MAX))
    }
}

pub(super) fn misfit(day: i64, why: &str) -> Failure {
    Failure::new(format!("{} does not fit: {why}", time::show_day(day)))
}

/// What was found to be in order.
#[derive(Default)]
pub(super) struct Fitting {
    pub(super) days: Option<(i64, i64)>,
    pub(super) digests: u64,
    pub(super) entries: u64,
}

impl Fitting {
    pub(super) fn add(&mut self, day: i64, entries: u64) {
        let first = self.days.map_or(day, |(first, _)| first);
        self.days = Some((first, day));
        self.digests += 1;
        self.entries += entries;
    }

    pub(super) fn shown(&self) -> String {
        let Some((first, last)) = self.days else {
            return "there is no digest of these days\n".to_owned();
        };
        let (first, last) = (time::show_day(first), time::show_day(last));
        let (digests, entries) = (self.digests, self.entries);
        format!("all {digests} digests from {first} to {last} fit, with {entries} entries\n")
    }
}

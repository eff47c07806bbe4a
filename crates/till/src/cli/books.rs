//! What can be typed about the books: digests of the journal, and the journal itself.

use clap::Subcommand;

use super::invocation::Invocation;
use crate::commands::{digest, journal};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum DigestCommand {
    /// List the digests of an account, the first of them first
    #[command(after_help = "Example: till digest list --account acct_… --mode live --json")]
    List(digest::List),
    /// Say whether the journal still is what was signed
    #[command(
        override_usage = "till digest verify --account <ID> --mode <MODE> [OPTIONS]\n       \
                          till digest verify --journal <FILE> --digests <FILE> \\\n         \
                          --public-key <KEY>",
        after_help = "Exits with 1 and names the first day that does not fit.\n\n\
                      Example: till digest verify --account acct_… --mode live"
    )]
    Verify(digest::Verify),
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum JournalCommand {
    /// Print the journal of some days, an entry on each line
    #[command(
        override_usage = "till journal export [OPTIONS] --account <ID> --mode <MODE> \\\n         \
                          --from <DAY> --to <DAY>",
        after_help = "Example: till journal export --account acct_… --mode live \\\n           \
                      --from 2026-01-01 --to 2026-12-31 > journal.jsonl"
    )]
    Export(journal::Export),
}

impl DigestCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            DigestCommand::List(list) => {
                invocation.run_once(async |config| digest::list(&config, &list).await)
            }
            // Whoever checks files needs no configuration, and may have none.
            DigestCommand::Verify(verify) => match digest::files(&verify) {
                Some(files) => digest::verify_files(&verify, &files),
                None => invocation.run_once(async |config| digest::verify(&config, &verify).await),
            },
        }
    }
}

impl JournalCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        let JournalCommand::Export(export) = self;
        invocation.run_once(async |config| journal::export(&config, &export).await)
    }
}

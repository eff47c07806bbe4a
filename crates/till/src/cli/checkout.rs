//! `till checkout`: the pages for payers.

use clap::Subcommand;

use super::invocation::Invocation;
use crate::commands::checkout;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum CheckoutCommand {
    /// Write the pages and a config.json that pins the account's destinations
    #[command(after_help = "Example: till checkout export --account acct_… --mode live --to pay")]
    Export(checkout::Export),
}

impl CheckoutCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            CheckoutCommand::Export(export) => {
                invocation.run_once(async |config| checkout::export(&config, &export).await)
            }
        }
    }
}

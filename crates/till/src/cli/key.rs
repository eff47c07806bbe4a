//! `till key`: API keys.

use clap::Subcommand;

use super::invocation::Invocation;
use crate::commands::key;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum KeyCommand {
    /// Make another key beside those there are
    #[command(after_help = "Example: till key create --account acct_… --mode test --kind secret")]
    Create(key::NewKey),
    /// Make a new key; all others of its mode and kind stop working at once
    #[command(after_help = "Example: till key roll --account acct_… --mode live --kind secret")]
    Roll(key::NewKey),
    /// List an account's keys by their hints
    #[command(after_help = "Example: till key list --account acct_…")]
    List(key::List),
}

impl KeyCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            KeyCommand::Create(new) => {
                invocation.run_once(async |config| key::create(&config, &new).await)
            }
            KeyCommand::Roll(new) => {
                invocation.run_once(async |config| key::roll(&config, &new).await)
            }
            KeyCommand::List(list) => {
                invocation.run_once(async |config| key::list(&config, &list).await)
            }
        }
    }
}

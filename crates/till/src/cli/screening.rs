//! `till screening`: the lists that senders are held against.

use clap::Subcommand;

use super::invocation::Invocation;
use crate::commands::screening;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum ScreeningCommand {
    /// Show each list's edition, size and age
    #[command(after_help = "Example: till screening status --json")]
    Status(screening::Status),
}

impl ScreeningCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            ScreeningCommand::Status(status) => {
                invocation.run_once(async |config| screening::status(&config, &status).await)
            }
        }
    }
}

//! `till review`: decisions about held payments.

use clap::Subcommand;
use till_engine::invoices::Decision;

use super::invocation::Invocation;
use crate::commands::review;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum ReviewCommand {
    /// Credit what is held
    #[command(after_help = "Example: till review accept inv_… --reason \"Known customer\"")]
    Accept(review::Resolve),
    /// Do not credit it; it can be refunded
    #[command(after_help = "Example: till review reject inv_… --reason \"Sanctioned sender\"")]
    Reject(review::Resolve),
}

impl ReviewCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        let (resolve, decision) = match self {
            ReviewCommand::Accept(resolve) => (resolve, Decision::Accept),
            ReviewCommand::Reject(resolve) => (resolve, Decision::Reject),
        };
        invocation.run_once(async |config| review::resolve(&config, &resolve, decision).await)
    }
}

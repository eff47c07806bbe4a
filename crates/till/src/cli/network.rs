//! `till network`: the watched networks.

use clap::Subcommand;

use super::invocation::Invocation;
use crate::commands::network;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum NetworkCommand {
    /// Show how far each network was read and is final
    #[command(after_help = "Example: till network list --json")]
    List(network::List),
    /// End a freeze: the chain as it is now is believed
    #[command(
        after_help = "Look first at what was replaced: payments in replaced blocks are reversed\n\
                      unless they are found again. Without --network, all that are frozen.\n\n\
                      Example: till network thaw --network eip155:8453"
    )]
    Thaw(network::Thaw),
}

impl NetworkCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            NetworkCommand::List(list) => {
                invocation.run_once(async |config| network::list(&config, &list).await)
            }
            NetworkCommand::Thaw(thaw) => {
                invocation.run_once(async |config| network::thaw(&config, &thaw).await)
            }
        }
    }
}

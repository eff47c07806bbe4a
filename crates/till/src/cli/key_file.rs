//! `till key-file`: the files whose keys encrypt what must not be readable in the database.

use clap::Subcommand;

use super::invocation::Invocation;
use crate::commands::key_file;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum KeyFileCommand {
    /// Make a key file that is to take over from those there are
    #[command(after_help = "Example: till key-file create --to new.key")]
    Create(key_file::Create),
    /// Encrypt everything with the first file of secrets.key_file
    #[command(
        after_help = "Servers go on serving meanwhile; all of them must have the first file already,\n\
                      and those before it. It may be run again at any time.\n\n\
                      Example: till key-file rotate"
    )]
    Rotate,
    /// Show the key files, and the public keys that sign digests
    #[command(after_help = "Example: till key-file show --json")]
    Show(key_file::Show),
    /// Make a new key that signs digests; earlier public keys stay
    #[command(
        name = "renew-ledger-key",
        after_help = "For a key that may have been seen by others, or that no key file opens.\n\n\
                      Example: till key-file renew-ledger-key"
    )]
    RenewLedgerKey,
}

impl KeyFileCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            KeyFileCommand::Create(create) => key_file::create(&create),
            KeyFileCommand::Rotate => {
                invocation.run_once(async |config| key_file::rotate(&config).await)
            }
            KeyFileCommand::Show(show) => {
                invocation.run_once(async |config| key_file::show(&config, &show).await)
            }
            KeyFileCommand::RenewLedgerKey => {
                invocation.run_once(async |config| key_file::renew_ledger_key(&config).await)
            }
        }
    }
}

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
}

impl KeyFileCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            KeyFileCommand::Create(create) => key_file::create(&create),
            KeyFileCommand::Rotate => {
                invocation.run_once(async |config| key_file::rotate(&config).await)
            }
        }
    }
}

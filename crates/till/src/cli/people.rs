//! `till operator`, `till user` and `till live`: people at the dashboard, and who takes real payments.

use clap::Subcommand;

use super::invocation::Invocation;
use crate::commands::{accounts, live, people};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum OperatorCommand {
    /// Make somebody an operator, and print a link to sign in with
    #[command(after_help = "Example: till operator create --email ada@example.com")]
    Create(people::Person),
    /// Make somebody an ordinary user again
    #[command(after_help = "Example: till operator remove --email ada@example.com")]
    Remove(people::Address),
}

impl OperatorCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            OperatorCommand::Create(person) => {
                invocation.run_once(async |config| people::create_operator(&config, &person).await)
            }
            OperatorCommand::Remove(address) => {
                invocation.run_once(async |config| people::remove_operator(&config, &address).await)
            }
        }
    }
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum UserCommand {
    /// Print a link to sign in with, for who cannot get a mail
    #[command(after_help = "Example: till user link --email ada@example.com")]
    Link(people::Person),
    /// Remove passkeys and codes, end sessions, and print a link
    #[command(after_help = "Example: till user reset --email ada@example.com")]
    Reset(people::Person),
}

impl UserCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            UserCommand::Link(person) => {
                invocation.run_once(async |config| people::user_link(&config, &person).await)
            }
            UserCommand::Reset(person) => {
                invocation.run_once(async |config| people::reset_user(&config, &person).await)
            }
        }
    }
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum LiveCommand {
    /// Approve an account's application for live mode
    #[command(after_help = "Example: till live enable --account acct_…")]
    Enable(accounts::AccountArg),
    /// End an account's live mode: its live keys are refused
    #[command(after_help = "Example: till live disable --account acct_…")]
    Disable(accounts::AccountArg),
}

impl LiveCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            LiveCommand::Enable(account) => {
                invocation.run_once(async |config| live::enable(&config, &account).await)
            }
            LiveCommand::Disable(account) => {
                invocation.run_once(async |config| live::disable(&config, &account).await)
            }
        }
    }
}

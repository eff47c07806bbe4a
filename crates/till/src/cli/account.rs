//! `till account`: accounts, where they are paid, and where their webhooks go.

use clap::Subcommand;

use super::invocation::Invocation;
use crate::commands::{account, accounts, destination, people, webhook};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum AccountCommand {
    /// Make an account and print its keys, once
    #[command(
        after_help = "FAMILY is eip155, tron, solana (an address) or bip122 (an account xpub).\n\
                      Without a destination, test mode gets documented examples.\n\n\
                      Example: till account create --name Acme --live \\\n           \
                      --destination eip155=0xYourWallet"
    )]
    Create(account::Create),
    /// List all accounts
    #[command(after_help = "Example: till account list --json")]
    List(accounts::List),
    /// Invite somebody to the dashboard and print the link
    #[command(after_help = "Example: till account invite --account acct_… --email ada@example.com")]
    Invite(people::Invite),
    /// Refuse an account's keys; observing and crediting go on
    #[command(after_help = "Example: till account disable --account acct_…")]
    Disable(accounts::AccountArg),
    /// Let a disabled account's keys work again
    #[command(after_help = "Example: till account enable --account acct_…")]
    Enable(accounts::AccountArg),
    /// Show where an account is paid, in both modes
    #[command(after_help = "Example: till account destinations --account acct_…")]
    Destinations(destination::List),
    /// Add a destination of a family that has none yet
    #[command(
        override_usage = "till account add-destination [OPTIONS] \\\n         \
                          --account <ID> --mode <MODE> --destination <FAMILY=ADDRESS>",
        after_help = "FAMILY is eip155, tron, solana (an address) or bip122 (an account xpub).\n\n\
                      Example: till account add-destination --account acct_… --mode live \\\n           \
                      --destination eip155=0xYourWallet"
    )]
    AddDestination(destination::Add),
    /// Ask for another destination, or take that back
    #[command(
        override_usage = "till account change-destination [OPTIONS] \\\n         \
                          --account <ID> --mode <MODE> --destination <FAMILY=ADDRESS>",
        after_help = "In test mode, and before the first live invoice, it takes effect at once; later\n\
                      after dashboard.change_delay_s. Addresses that were shown keep the old one.\n\n\
                      Example: till account change-destination --account acct_… --mode live \\\n           \
                      --destination eip155=0xYourWallet"
    )]
    ChangeDestination(destination::Change),
    /// Say where webhooks go, in live mode, too
    #[command(
        override_usage = "till account set-webhook [OPTIONS] \\\n         \
                          --account <ID> --mode <MODE> --url <URL>",
        after_help = "Example: till account set-webhook --account acct_… --mode live \\\n           \
                      --url https://shop.example/till"
    )]
    SetWebhook(webhook::SetWebhook),
    /// Make a new webhook secret and print it, once
    #[command(
        override_usage = "till account roll-webhook-secret [OPTIONS] \\\n         \
                          --account <ID> --mode <MODE>",
        after_help = "Example: till account roll-webhook-secret --account acct_… --mode live"
    )]
    RollWebhookSecret(webhook::RollWebhookSecret),
}

impl AccountCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        match self {
            AccountCommand::Create(create) => {
                invocation.run_once(async |config| account::create(&config, &create).await)
            }
            AccountCommand::List(list) => {
                invocation.run_once(async |config| accounts::list(&config, &list).await)
            }
            AccountCommand::Invite(invite) => {
                invocation.run_once(async |config| people::invite(&config, &invite).await)
            }
            AccountCommand::Disable(account) => {
                invocation.run_once(async |config| accounts::disable(&config, &account).await)
            }
            AccountCommand::Enable(account) => {
                invocation.run_once(async |config| accounts::enable(&config, &account).await)
            }
            AccountCommand::Destinations(list) => {
                invocation.run_once(async |config| destination::list(&config, &list).await)
            }
            AccountCommand::AddDestination(add) => {
                invocation.run_once(async |config| destination::add(&config, &add).await)
            }
            AccountCommand::ChangeDestination(change) => {
                invocation.run_once(async |config| destination::change(&config, &change).await)
            }
            AccountCommand::SetWebhook(set) => {
                invocation.run_once(async |config| webhook::set_webhook(&config, &set).await)
            }
            AccountCommand::RollWebhookSecret(roll) => invocation
                .run_once(async |config| webhook::roll_webhook_secret(&config, &roll).await),
        }
    }
}

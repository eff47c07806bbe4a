//! `till events`, `till listen`, `till logs`, `till mcp` and `till trigger`: the API's clients, for those who build on it.

use clap::Subcommand;

use super::invocation::{Invocation, run_client};
use crate::commands::{events, listen, logs, mcp, trigger};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum EventsCommand {
    /// List events, the newest first
    #[command(
        after_help = "If there are more, standard error says with which --cursor they begin;\n\
                      with --json it has the line {\"next_cursor\":\"…\"}.\n\n\
                      Example: till events list --type invoice.paid --from 2026-11-01"
    )]
    List(events::List),
    /// Deliver an event to the webhook URL once more
    #[command(after_help = "Example: till events resend evt_…")]
    Resend(events::Resend),
}

#[derive(Debug, Subcommand)]
#[command(disable_help_subcommand = true)]
pub enum LogsCommand {
    /// Follow the attempts to deliver an account's webhooks
    #[command(after_help = "Example: till logs tail")]
    Tail(logs::Tail),
}

impl EventsCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        let filter = invocation.log_filter.as_deref();
        match self {
            EventsCommand::List(list) => run_client(filter, events::list(&list)),
            EventsCommand::Resend(resend) => run_client(filter, events::resend(&resend)),
        }
    }
}

impl LogsCommand {
    pub fn run(self, invocation: &Invocation) -> Result<(), Failure> {
        let LogsCommand::Tail(tail) = self;
        run_client(invocation.log_filter.as_deref(), logs::tail(&tail))
    }
}

pub fn listen(listen: &listen::Listen, invocation: &Invocation) -> Result<(), Failure> {
    run_client(invocation.log_filter.as_deref(), listen::run(listen))
}

pub fn mcp(mcp: &mcp::Mcp, invocation: &Invocation) -> Result<(), Failure> {
    run_client(invocation.log_filter.as_deref(), mcp::run(mcp))
}

pub fn trigger(trigger: &trigger::Trigger, invocation: &Invocation) -> Result<(), Failure> {
    run_client(invocation.log_filter.as_deref(), trigger::run(trigger))
}

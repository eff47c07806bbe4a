//! `till live enable|disable`: an account's live mode, decided by whoever has the server's shell.

use till_engine::team::applications;

use crate::commands::accounts::{AccountArg, no_account, servers_notice};
use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

/// Approves the account's application, whatever state it is in.
pub async fn enable(config: &Config, which: &AccountArg) -> Result<(), Failure> {
    let changed = decide(config, &which.account, true).await?;
    if !config.server.live_mode {
        eprintln!(
            "till: server.live_mode is false, so live mode stays off until it is set to true"
        );
    }
    let line = match changed {
        true => "may take real payments",
        false => "may take real payments already",
    };
    output::print(&format!("{} {line}\n", which.account))
}

/// Its live keys are refused from now on; what is open is observed and credited to its end.
pub async fn disable(config: &Config, which: &AccountArg) -> Result<(), Failure> {
    let changed = decide(config, &which.account, false).await?;
    servers_notice().await;
    let line = match changed {
        true => "takes no real payments any more",
        false => "takes no real payments anyway",
    };
    output::print(&format!("{} {line}\n", which.account))
}

async fn decide(config: &Config, account: &str, is_approved: bool) -> Result<bool, Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let decided = applications::decide_at_command_line(&engine, account, is_approved).await;
    engine.db.clone().close().await;
    decided?.ok_or_else(|| no_account(account))
}

//! `till account set-webhook` and `till account roll-webhook-secret`: in live mode they ask for a person at the server's shell.

use clap::Args;
use serde_json::json;
use till_core::scope::Scope;
use till_engine::shell;

use crate::commands::key::Mode;
use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct SetWebhook {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: Mode,
    /// Where webhooks go from now on
    #[arg(long)]
    url: String,
}

#[derive(Debug, Args)]
pub struct RollWebhookSecret {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: Mode,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub async fn set_webhook(config: &Config, set: &SetWebhook) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let scope = Scope::new(&set.account, set.mode.of_assets());
    let done = shell::set_webhook(&engine, &scope, &set.url).await;
    engine.db.clone().close().await;
    done?;
    output::print("webhooks go there from now on, those that are retried as well\n")
}

pub async fn roll_webhook_secret(config: &Config, roll: &RollWebhookSecret) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let scope = Scope::new(&roll.account, roll.mode.of_assets());
    let rolled = shell::roll_webhook_secret(&engine, &scope).await;
    engine.db.clone().close().await;
    let secret = rolled?;
    match roll.json {
        true => output::print_json(&json!({ "webhook_secret": secret })),
        false => output::print(&format!(
            "Webhook secret  {secret}\nKeep it: it is not shown again. Webhooks are signed with the one before, too, for a day.\n"
        )),
    }
}

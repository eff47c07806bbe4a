//! `till account set-webhook`, `till account roll-webhook-secret`, `till review accept|reject`: what live mode asks a person for, at
//! the shell of the server's machine.

use clap::Args;
use serde_json::json;
use till_core::limits::{REVIEW_REASON_CHARS_MAX, REVIEW_REASON_CHARS_MIN, chars};
use till_core::scope::Scope;
use till_engine::invoices::{self, Decision};
use till_engine::merchants::operator;

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

#[derive(Debug, Args)]
pub struct Resolve {
    /// The invoice's id
    invoice: String,
    /// Why, for the merchant's records
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub async fn set_webhook(config: &Config, set: &SetWebhook) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let scope = Scope::new(&set.account, set.mode.of_assets());
    let done = operator::set_webhook(&engine, &scope, &set.url).await;
    engine.db.clone().close().await;
    done?;
    output::print("webhooks go there from now on, those that are retried as well\n")
}

pub async fn roll_webhook_secret(config: &Config, roll: &RollWebhookSecret) -> Result<(), Failure> {
    let engine = compose::engine_on_existing(config).await?;
    let scope = Scope::new(&roll.account, roll.mode.of_assets());
    let rolled = operator::roll_webhook_secret(&engine, &scope).await;
    engine.db.clone().close().await;
    let secret = rolled?;
    match roll.json {
        true => output::print_json(&json!({ "webhook_secret": secret })),
        false => output::print(&format!(
            "Webhook secret  {secret}\nKeep it: it is not shown again. Webhooks are signed with the one before, too, for a day.\n"
        )),
    }
}

pub async fn resolve(
    config: &Config,
    resolve: &Resolve,
    decision: Decision,
) -> Result<(), Failure> {
    let reason = resolve.reason.trim();
    if !(REVIEW_REASON_CHARS_MIN..=REVIEW_REASON_CHARS_MAX).contains(&chars(reason)) {
        return Err(Failure::Usage(format!(
            "--reason must have {REVIEW_REASON_CHARS_MIN} to {REVIEW_REASON_CHARS_MAX} characters"
        )));
    }
    let engine = compose::engine_on_existing(config).await?;
    let done = invoices::resolve_by_operator(&engine, &resolve.invoice, decision, reason).await;
    engine.db.clone().close().await;
    match done? {
        Some(invoice) => output::print(&format!(
            "{} is {}; the merchant is told by the event invoice.review_resolved\n",
            invoice.id,
            invoice.status.as_str()
        )),
        None => {
            let id: String = resolve.invoice.chars().take(64).collect();
            Err(Failure::new(format!("there is no invoice {id:?}")))
        }
    }
}

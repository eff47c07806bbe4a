//! `till review accept|reject`: in live mode a held payment is decided about by a person at the server's shell.

use clap::Args;
use till_core::limits::{REVIEW_REASON_CHARS_MAX, REVIEW_REASON_CHARS_MIN, chars};
use till_engine::invoices::Decision;
use till_engine::shell;

use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct Resolve {
    /// The invoice's id
    invoice: String,
    /// Why, for the merchant's records
    #[arg(long, value_name = "TEXT")]
    reason: String,
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
    let done = shell::decide_review(&engine, &resolve.invoice, decision, reason).await;
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

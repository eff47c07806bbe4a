//! `till logs tail`: the log that an account has at the server, as it grows: each attempt to deliver a webhook.

use clap::Args;
use serde_json::Value;
use till_core::id::IdKind;

use super::follower::Follower;
use crate::api_client::{ApiArgs, ApiClient};
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct Tail {
    /// Print each attempt as JSON on a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: ApiArgs,
}

pub async fn tail(tail: &Tail) -> Result<(), Failure> {
    let api = ApiClient::new(&tail.api)?;
    let path = "/v1/webhook_deliveries";
    let mut deliveries = Follower::from_now(&api, IdKind::Delivery, path).await?;
    eprintln!("till: waiting for deliveries");
    let has_ended = |delivery: &Value| delivery["status"] != "pending";
    loop {
        for delivery in deliveries.next(&api, has_ended).await? {
            output::print(&match tail.json {
                true => format!("{}\n", delivery.raw.get()),
                false => line(&delivery.json),
            })?;
            deliveries.took(&delivery.id);
        }
    }
}

fn line(delivery: &Value) -> String {
    let field = |name: &str| delivery[name].as_str().unwrap_or("-");
    let result = match delivery["status_code"].as_i64() {
        Some(code) => code.to_string(),
        None => field("error").to_owned(),
    };
    let latency = delivery["latency_ms"].as_i64();
    let latency = latency.map_or_else(String::new, |ms| format!(" in {ms} ms"));
    let retry = delivery["next_attempt_at"].as_str();
    let retry = retry.map_or_else(String::new, |at| format!(", again at {at}"));
    format!(
        "{}  {}  {}  attempt {}: {result}{latency}{retry}\n",
        field("attempted_at"),
        field("event_type"),
        field("event"),
        delivery["attempt"]
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_attempt_is_a_line_that_says_what_became_of_it() {
        let mut delivery = json!({
            "attempted_at": "2026-11-17T12:00:00Z", "event_type": "invoice.paid", "event": "evt_1", "attempt": 2,
            "status_code": 500, "latency_ms": 12, "error": null, "next_attempt_at": "2026-11-17T12:01:00Z",
        });
        let start = "2026-11-17T12:00:00Z  invoice.paid  evt_1  attempt 2: ";
        let expected = format!("{start}500 in 12 ms, again at 2026-11-17T12:01:00Z\n");
        assert_eq!(line(&delivery), expected);
        delivery["status_code"] = Value::Null;
        delivery["latency_ms"] = Value::Null;
        delivery["next_attempt_at"] = Value::Null;
        delivery["error"] = json!("connection failed");
        assert_eq!(line(&delivery), format!("{start}connection failed\n"));
    }
}

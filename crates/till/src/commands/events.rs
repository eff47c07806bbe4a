//! `till events`: the log of events, and one of them delivered once more.

use clap::Args;
use serde_json::{Value, json};

use crate::api_client::{ApiArgs, ApiClient};
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct List {
    /// Only events of this type, such as invoice.paid
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,
    /// The first moment, as a date or RFC 3339
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// The moment after the last
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// How many, 1 to 100
    #[arg(long, default_value = "10", value_name = "COUNT")]
    limit: String,
    /// The next page, by the cursor that was printed
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Print each event as JSON on a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: ApiArgs,
}

#[derive(Debug, Args)]
pub struct Resend {
    /// The event's id, evt_…
    event: String,
    #[command(flatten)]
    api: ApiArgs,
}

pub async fn list(list: &List) -> Result<(), Failure> {
    let api = ApiClient::new(&list.api)?;
    let mut query = vec![("limit", &*list.limit)];
    let filters = [
        ("type", &list.event_type),
        ("from", &list.from),
        ("to", &list.to),
        ("cursor", &list.cursor),
    ];
    let given = filters
        .iter()
        .filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    query.extend(given);
    let page = api.list("/v1/events", &query).await?;
    let mut text = String::new();
    for event in &page.data {
        text.push_str(&match list.json {
            true => format!("{}\n", event.get()),
            false => line(&serde_json::from_str(event.get()).unwrap_or(Value::Null)),
        });
    }
    output::print(&text)?;
    if let Some(cursor) = &page.next_cursor {
        tell_next(cursor, list.json)?;
    }
    Ok(())
}

/// Where the next page begins, on standard error: standard output has nothing but events.
fn tell_next(cursor: &str, as_json: bool) -> Result<(), Failure> {
    match as_json {
        true => output::remark_json(&json!({ "next_cursor": cursor })),
        false => {
            output::remark(&[format!("there are more: add --cursor {cursor}")]);
            Ok(())
        }
    }
}

fn line(event: &Value) -> String {
    let field = |name: &str| event[name].as_str().unwrap_or("-").to_owned();
    let subject = event["data"]["object"]["id"].as_str().unwrap_or("-");
    format!(
        "{}  {:29}  {}  {subject}\n",
        field("created_at"),
        field("type"),
        field("id")
    )
}

/// Replays the newest delivery of the event.
pub async fn resend(resend: &Resend) -> Result<(), Failure> {
    let api = ApiClient::new(&resend.api)?;
    let query = [("event", &*resend.event), ("limit", "1")];
    let found = api.get("/v1/webhook_deliveries", &query).await?;
    let Some(delivery) = found["data"][0]["id"].as_str() else {
        return Err(Failure::new(format!(
            "{} was never delivered: no webhook URL was set when it happened, or its deliveries are forgotten; \
             `till events list` shows it",
            resend.event
        )));
    };
    let path = format!("/v1/webhook_deliveries/{delivery}/replay");
    let new = api.post(&path, &json!({})).await?;
    let field = |name: &str| new[name].as_str().unwrap_or_default();
    output::print(&format!("{} goes to {}\n", field("id"), field("url")))
}

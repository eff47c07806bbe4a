//! Events on the wire: the webhook's body.

use serde::Deserialize;
use serde_json::value::RawValue;
use till_core::time;

/// Written by hand around what is rendered already: the object is rendered once for the answer and the event.
pub fn event_body(
    id: &str,
    event_type: &str,
    livemode: bool,
    created_at: i64,
    invoice: Option<&str>,
    object: &str,
    extra: Option<(&str, &str)>,
) -> String {
    let created_at = time::show(created_at);
    let invoice = invoice.map_or_else(|| "null".to_owned(), |invoice| format!("\"{invoice}\""));
    let extra = extra
        .map(|(name, value)| format!(",\"{name}\":{value}"))
        .unwrap_or_default();
    format!(
        "{{\"id\":\"{id}\",\"object\":\"event\",\"type\":\"{event_type}\",\"livemode\":{livemode},\
         \"created_at\":\"{created_at}\",\"invoice_id\":{invoice},\"data\":{{\"object\":{object}{extra}}}}}"
    )
}

/// The object of an event's body, byte for byte as [`event_body`] was given it.
pub fn event_object(body: &str) -> Result<&str, serde_json::Error> {
    #[derive(Deserialize)]
    struct Event<'b> {
        #[serde(borrow)]
        data: Data<'b>,
    }
    #[derive(Deserialize)]
    struct Data<'b> {
        #[serde(borrow)]
        object: &'b RawValue,
    }
    let event: Event<'_> = serde_json::from_str(body)?;
    Ok(event.data.object.get())
}

//! Events on the wire: the webhook's body, and the live stream's data for the payer.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use till_core::invoice::PayOption;
use till_core::time;
use till_store::StoreError;
use till_store::events::StreamedEvent;

use crate::addresses;

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

/// Fields of an invoice that its payer must never see.
const PRIVATE: [&str; 6] = [
    "metadata",
    "customer_ref",
    "customer",
    "subscription",
    "review",
    "checkout_url",
];

/// The stream's data: the merchant's view as it was then, without what is private, with what payers need.
pub fn stream_event(
    event: &StreamedEvent,
    account: &str,
    invoice: &str,
    options: &[PayOption],
    display_name: Option<&str>,
) -> Result<String, StoreError> {
    let corrupt =
        |detail: &dyn std::fmt::Display| StoreError::corrupt("events", "body", invoice, detail);
    let mut body: Value = serde_json::from_str(&event.body).map_err(|error| corrupt(&error))?;
    let Some(Value::Object(mut view)) = body.pointer_mut("/data/object").map(Value::take) else {
        return Err(corrupt(&"no object"));
    };
    for field in PRIVATE {
        view.shift_remove(field);
    }
    view.insert("object".into(), "checkout_invoice".into());
    if let Some(Value::Array(shown)) = view.get_mut("payment_options") {
        for option in shown {
            add_derivation(option, account, options);
        }
    }
    view.insert("merchant".into(), json!({ "display_name": display_name }));
    let payments = event.payments.as_deref().unwrap_or("[]");
    view.insert(
        "payments".into(),
        serde_json::from_str(payments).map_err(|error| corrupt(&error))?,
    );
    let mut data = Map::new();
    data.insert("id".into(), event.stream_seq.into());
    data.insert("type".into(), event.event_type.as_str().into());
    data.insert("invoice_id".into(), invoice.into());
    data.insert("created_at".into(), time::show(event.created_at).into());
    data.insert("invoice".into(), Value::Object(view));
    Ok(Value::Object(data).to_string())
}

fn add_derivation(shown: &mut Value, account: &str, options: &[PayOption]) {
    let (Some(asset), Some(network)) = (shown["asset"].as_str(), shown["network"].as_str()) else {
        return;
    };
    let deposit = options
        .iter()
        .find(|option| option.asset == asset)
        .and_then(|option| option.deposit.as_ref());
    let derivation = deposit.and_then(|deposit| addresses::derivation(account, network, deposit));
    shown["address_derivation"] = json!(derivation);
}

//! Events on the wire: the webhook's body.
//!
//! Put together by hand and not by serde: the object is rendered once, for the answer and for its event, and serde would read
//! every object again to be sure that it is JSON. A test holds it against what serde writes.

use serde::Deserialize;
use serde_json::value::RawValue;
use till_core::time;

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_is_what_serde_would_write_and_gives_its_object_back() {
        let object = json!({ "id": "inv_1", "description": "\"quoted\" \n é" }).to_string();
        let parsed: serde_json::Value = serde_json::from_str(&object).unwrap();
        for (invoice, extra) in [
            (Some("inv_1"), Some(("payment", "{\"id\":\"pay_1\"}"))),
            (None, None),
        ] {
            let body = event_body(
                "evt_1",
                "invoice.paid",
                true,
                1_794_712_419_000,
                invoice,
                &object,
                extra,
            );
            let mut data = json!({ "object": parsed });
            if extra.is_some() {
                data["payment"] = json!({ "id": "pay_1" });
            }
            let by_serde = json!({
                "id": "evt_1", "object": "event", "type": "invoice.paid", "livemode": true,
                "created_at": time::show(1_794_712_419_000), "invoice_id": invoice, "data": data,
            });
            assert_eq!(body, by_serde.to_string());
            assert_eq!(event_object(&body).unwrap(), object);
        }
    }
}

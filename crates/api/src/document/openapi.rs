//! The OpenAPI document, generated from the handlers and completed with what macros cannot say: the codes of
//! errors and the webhooks.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use till_core::error::Code;
use till_core::event::EventType;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use super::{answers, codes};
use crate::handler::Api;
use crate::handler::access::{self, Access};
use crate::handler::errors::ErrorEnvelope;
use crate::handler::words::{
    DeliveryStatus, InvoiceStatus, PaymentStatus, PlanStatus, RefundStatus, SubscriptionStatus,
};
use crate::{checkout, dashboard, health, v1, well_known};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Till API",
        version = "1.0.0",
        description = "Non-custodial crypto payments: invoices, checkout, webhooks, live streams.\n\nEvery successful answer to a POST, PUT, PATCH or DELETE has the header `Till-Min-Seq`, an opaque number. A GET of a list, of balances or of a report that sends it back is answered with at least what that request wrote, also where the server reads them at replicas, which may be some moments behind. An object by its id is always as it is now.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(
        ErrorEnvelope,
        InvoiceStatus,
        PaymentStatus,
        DeliveryStatus,
        PlanStatus,
        RefundStatus,
        SubscriptionStatus
    ))
)]
struct Document;

/// Where a server is that was configured to be nowhere else. One that is asked for the document puts its own address there.
pub const DEFAULT_ADDRESS: &str = "http://127.0.0.1:4242";

/// Every endpoint of the API: the one list that both the router and the document come from.
pub fn endpoints() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(v1::invoices::routes())
        .merge(v1::refunds::routes())
        .merge(v1::reconciliation::routes())
        .merge(v1::payments::routes())
        .merge(v1::events::routes())
        .merge(v1::webhook_deliveries::routes())
        .merge(v1::merchant::routes())
        .merge(v1::payment_links::routes())
        .merge(v1::customers::routes())
        .merge(v1::plans::routes())
        .merge(v1::subscriptions::routes())
        .merge(checkout::routes())
        .merge(v1::test_helpers::routes())
        .merge(dashboard::routes())
        .merge(well_known::routes())
        .merge(health::routes())
}

/// The document, pretty and with a line break at its end, as it is checked in.
pub fn openapi_json() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let described = endpoints().into_openapi();
        let mut document = serde_json::to_value(described).unwrap_or(Value::Null);
        complete(&mut document);
        let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text.push('\n');
        text
    })
}

fn complete(document: &mut Value) {
    document["openapi"] = json!("3.1.0");
    document["servers"] = json!([{ "url": DEFAULT_ADDRESS }]);
    let components = &mut document["components"];
    components["securitySchemes"] = json!({
        "secret_key": {
            "type": "http", "scheme": "bearer",
            "description": "A secret key (`till_test_sk_…` or `till_live_sk_…`). Server-side only, never in a URL. HTTP Basic with the key as the user name works too."
        },
        "publishable_key": {
            "type": "http", "scheme": "bearer",
            "description": "A publishable key (`till_test_pk_…` or `till_live_pk_…`), for checkout endpoints."
        },
        "publishable_key_query": { "type": "apiKey", "in": "query", "name": "key" },
        "session": {
            "type": "apiKey", "in": "cookie", "name": "__Host-till_session",
            "description": "A person who is signed in at the dashboard (`till_session` on http://localhost). A POST repeats the session's `csrf_token` in `Till-CSRF`; resources and what has a mode take `Till-Mode`, and `Till-Account` where the user is in several organizations."
        }
    });
    let schemas = &mut components["schemas"];
    let all: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    schemas["Error"]["properties"]["code"]["enum"] = json!(all);
    schemas["Error"]["properties"]["type"]["enum"] = json!([
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "idempotency_error",
        "rate_limit_error",
        "api_error"
    ]);
    answers::say_words(schemas);
    answers::limit_metadata(schemas);
    fix_object_names(schemas);
    schemas["Event"] = any_event();
    answers::name_items(schemas);
    codes::declare(document);
    answers::say_headers(document);
    add_sessions(document);
    document["webhooks"] = webhooks();
}

/// The API's resources take a session in the place of a key, and say which permission that needs.
fn add_sessions(document: &mut Value) {
    for (method, route, access) in access::TABLE {
        let Access::Resource(permission) = access else {
            continue;
        };
        let method = method.as_str().to_ascii_lowercase();
        let Some(operation) = document["paths"][*route].get_mut(&method) else {
            continue;
        };
        if let Some(security) = operation["security"].as_array_mut() {
            security.push(json!({ "session": [] }));
        }
        operation["x-permission"] = json!(permission.as_str());
    }
}

/// `object` is a constant, and generated clients tell resources apart by it.
fn fix_object_names(schemas: &mut Value) {
    let Some(schemas) = schemas.as_object_mut() else {
        return;
    };
    for schema in schemas.values_mut() {
        let Some(object) = schema.pointer_mut("/properties/object") else {
            continue;
        };
        if let Some(name) = object["example"].as_str().map(str::to_owned) {
            *object = json!({ "type": "string", "const": name });
        }
    }
}

fn event_schema(object: &Value, more: &Value, required: &[&str]) -> Value {
    let mut data = json!({ "object": object });
    if let (Some(data), Some(more)) = (data.as_object_mut(), more.as_object()) {
        data.extend(more.clone());
    }
    let mut required_data = vec!["object"];
    required_data.extend(required);
    json!({
        "type": "object",
        "description": "What a webhook delivers.",
        "required": ["id", "object", "type", "livemode", "created_at", "invoice_id", "data"],
        "properties": {
            "id": { "type": "string", "description": "The same for every retry and replay." },
            "object": { "type": "string", "const": "event" },
            "type": { "type": "string" },
            "livemode": { "type": "boolean" },
            "created_at": { "type": "string", "format": "date-time" },
            "invoice_id": { "type": ["string", "null"] },
            "data": { "type": "object", "required": required_data, "properties": data }
        }
    })
}

/// An event of any type, as a list has them.
fn any_event() -> Value {
    let schema = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    let subjects = ["Invoice", "Refund", "PaymentLink", "Subscription"].map(schema);
    let more = json!({
        "payment": schema("Payment"), "review": review_schema(), "invoice": schema("Invoice"),
    });
    let mut event = event_schema(&json!({ "anyOf": subjects }), &more, &[]);
    event["properties"]["type"]["enum"] = json!(EventType::WEBHOOKS.map(EventType::as_str));
    event
}

fn review_schema() -> Value {
    json!({
        "type": "object",
        "required": ["decision", "reason", "via"],
        "properties": {
            "decision": { "type": "string", "enum": ["accept", "reject"] },
            "reason": { "type": "string" },
            "via": { "type": "string", "enum": ["api", "dashboard"] }
        }
    })
}

fn webhooks() -> Value {
    let invoice = json!({ "$ref": "#/components/schemas/Invoice" });
    let payment = json!({ "payment": { "$ref": "#/components/schemas/Payment" } });
    let review = json!({ "review": review_schema() });
    let link = json!({ "$ref": "#/components/schemas/PaymentLink" });
    let refund = json!({ "$ref": "#/components/schemas/Refund" });
    let subscription = json!({ "$ref": "#/components/schemas/Subscription" });
    let of_invoice = json!({ "invoice": { "$ref": "#/components/schemas/Invoice" } });
    let nothing = json!({});
    let mut all = serde_json::Map::new();
    for event in EventType::WEBHOOKS {
        let name = event.as_str();
        let (more, required): (&Value, &[&str]) = match event {
            EventType::InvoicePaymentReversed
            | EventType::InvoiceWrongAsset
            | EventType::InvoiceLatePayment => (&payment, &["payment"]),
            EventType::InvoiceReviewResolved => (&review, &["review"]),
            EventType::SubscriptionInvoiceCreated => (&of_invoice, &["invoice"]),
            EventType::SubscriptionRenewed => (&of_invoice, &[]),
            _ => (&nothing, &[]),
        };
        let object = match name.split('.').next() {
            Some("payment_link") => &link,
            Some("refund") => &refund,
            Some("subscription") => &subscription,
            _ => &invoice,
        };
        let mut schema = event_schema(object, more, required);
        schema["properties"]["type"] = json!({ "type": "string", "const": name });
        let header = |name: &str, description: &str| json!({ "name": name, "in": "header", "required": true, "description": description, "schema": { "type": "string" } });
        all.insert(
            name.to_owned(),
            json!({ "post": {
                "operationId": format!("on_{}", name.replace('.', "_")),
                "tags": ["Webhooks"],
                "parameters": [
                    header("x-service-signature", "`t=<unix seconds>,v1=<hex HMAC-SHA256>` over `{t}.{raw body}`"),
                    header("x-service-event-id", "The event's id"),
                    header("x-service-event-type", "The event's type")
                ],
                "requestBody": { "required": true, "content": { "application/json": { "schema": schema } } },
                "responses": { "2XX": { "description": "Received. Anything else is retried for about 72 hours." } }
            }}),
        );
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_in_the_document_resolves() {
        let document: Value = serde_json::from_str(openapi_json()).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        let mut stack = vec![&document];
        let mut seen = 0;
        while let Some(value) = stack.pop() {
            match value {
                Value::Object(map) => {
                    if let Some(Value::String(reference)) = map.get("$ref") {
                        let pointer = reference.strip_prefix('#').unwrap();
                        assert!(document.pointer(pointer).is_some(), "{reference}");
                        seen += 1;
                    }
                    stack.extend(map.values());
                }
                Value::Array(items) => stack.extend(items),
                _ => {}
            }
        }
        assert!(seen > 20);
    }

    #[test]
    fn every_resource_takes_a_session_and_says_what_it_needs() {
        let document: Value = serde_json::from_str(openapi_json()).unwrap();
        for (method, route, access) in access::TABLE {
            if let Access::Resource(permission) = access {
                let operation = &document["paths"][*route][method.as_str().to_ascii_lowercase()];
                assert_eq!(
                    operation["x-permission"],
                    permission.as_str(),
                    "{method} {route}"
                );
            }
        }
    }

    #[test]
    fn confirming_is_no_webhook() {
        let document: Value = serde_json::from_str(openapi_json()).unwrap();
        let webhooks = document["webhooks"].as_object().unwrap();
        assert!(webhooks.contains_key("invoice.paid"));
        assert!(!webhooks.contains_key("invoice.confirming"));
    }
}

//! What the macros cannot say of answers: the words that a field of text may have, the limits of metadata, the names of a list's
//! items, and headers.

use serde_json::{Value, json};
use till_core::application::ApplicationStatus;
use till_core::asset::{Family, Mode};
use till_core::change::ChangeStatus;
use till_core::invoice::Status;
use till_core::ledger::Group;
use till_core::limits::{METADATA_KEY_CHARS_MAX, METADATA_PAIRS_MAX, METADATA_VALUE_CHARS_MAX};
use till_core::payment::Hold;
use till_core::refund::ReviewReason;
use till_core::screening::Finding;
use till_engine::team::deposits::DepositStatus;

/// Fields whose words have a name of their own in the document.
const NAMED: &[(&str, &str, &str)] = &[
    ("ApiKey", "kind", "KeyKind"),
    ("Change", "kind", "ChangeKind"),
    ("CheckoutInvoice", "status", "InvoiceStatus"),
    ("CheckoutPayment", "finality", "Finality"),
    ("CheckoutPayment", "status", "PaymentStatus"),
    ("CheckoutPaymentLink", "amount_type", "AmountType"),
    ("Invoice", "status", "InvoiceStatus"),
    ("Payment", "finality", "Finality"),
    ("Payment", "status", "PaymentStatus"),
    ("PaymentLink", "amount_type", "AmountType"),
    ("Plan", "interval", "IntervalUnit"),
    ("Plan", "status", "PlanStatus"),
    ("Refund", "reason", "RefundReason"),
    ("Refund", "status", "RefundStatus"),
    ("RefundClaim", "status", "RefundStatus"),
    ("StreamedInvoice", "status", "InvoiceStatus"),
    ("Subscription", "status", "SubscriptionStatus"),
    ("WebhookDelivery", "status", "DeliveryStatus"),
];

/// Fields whose words are written where the field is.
const LISTED: &[(&str, &str, &[&str])] = &[
    ("ApiKeyCreator", "type", &["user", "cli"]),
    ("AuditActor", "type", &["user", "api_key", "cli", "system"]),
    (
        "Asset",
        "unavailable_reason",
        &["no_destination", "not_watched", "no_price"],
    ),
    (
        "CheckoutPaymentLink",
        "status",
        &[
            "active",
            "inactive",
            "expired",
            "sold_out",
            "fully_reserved",
        ],
    ),
    ("Confirmation", "status", &["pending", "confirmed"]),
    ("DecidedBy", "type", &["operator", "cli"]),
    ("Discrepancy", "severity", &["explained", "flagged"]),
    (
        "HomeNeed",
        "kind",
        &[
            "review_open",
            "refund_ready_to_send",
            "refund_in_review",
            "webhook_failing",
            "change_pending",
            "unattributed_deposit",
            "network_degraded",
            "key_exposed",
        ],
    ),
    (
        "Invite",
        "status",
        &["open", "accepted", "withdrawn", "expired"],
    ),
    (
        "LookedUpTransfer",
        "reason",
        &[
            "not_for_this_invoice",
            "not_in_the_chain_any_more",
            "not_observed_yet",
            "asset_not_offered",
        ],
    ),
    ("MailTest", "status", &["sent", "failed"]),
    (
        "NetworkEndpoint",
        "status",
        &["ok", "failing", "wrong", "contradicted", "doubted"],
    ),
    (
        "NetworkHealth",
        "status",
        &["ok", "behind", "halted", "simulated"],
    ),
    ("Notice", "mail", &["sent", "queued", "failed", "off"]),
    (
        "OperatedNetwork",
        "status",
        &["ok", "behind", "halted", "simulated"],
    ),
    ("PayerNotice", "status", &["scheduled", "sent"]),
    (
        "Payment",
        "attributed_by",
        &["deposit_address", "wallet_binding"],
    ),
    ("Queue", "queue", &["webhooks", "mail", "timers"]),
    ("Session", "state", &["active", "second_factor_pending"]),
    (
        "SetupStep",
        "step",
        &[
            "passkey",
            "destinations",
            "webhook_url",
            "api_key_used",
            "first_payment",
            "application",
        ],
    ),
    (
        "Subscription",
        "cancellation_reason",
        &["requested", "unpaid"],
    ),
    (
        "UnattributedDeposit",
        "reason",
        &["no_lease", "ambiguous", "unknown_token"],
    ),
];

/// Says of fields of text which words they may have.
pub(super) fn say_words(schemas: &mut Value) {
    for (schema, field, name) in NAMED {
        let to = json!({ "$ref": format!("#/components/schemas/{name}") });
        narrow(schemas, schema, field, to);
    }
    for (schema, field, words) in LISTED {
        say(schemas, schema, field, words.iter().copied());
    }
    let modes = Mode::ALL.map(Mode::as_str);
    let families = Family::ALL.map(Family::namespace);
    let applications = ApplicationStatus::ALL.map(ApplicationStatus::as_str);
    let findings = Finding::ALL.map(Finding::as_str);
    say(schemas, "Application", "status", applications);
    say(schemas, "ReviewedApplication", "status", applications);
    say(schemas, "Asset", "family", families);
    say(schemas, "Change", "family", families);
    let changes = ChangeStatus::ALL.map(ChangeStatus::as_str);
    say(schemas, "Change", "status", changes);
    say(schemas, "AuditEvent", "mode", modes);
    say(schemas, "OperatedNetwork", "mode", modes);
    let groups = Group::ALL.map(Group::as_str);
    say(schemas, "LedgerBalance", "account", groups);
    say(schemas, "Review", "hold", Hold::ALL.map(Hold::as_str));
    let reasons = ReviewReason::ALL.map(ReviewReason::as_str);
    say(schemas, "Refund", "review_reason", reasons);
    say(schemas, "Screening", "result", findings);
    say(schemas, "ScreenedList", "result", findings);
    let deposits = DepositStatus::ALL.map(DepositStatus::as_str);
    say(schemas, "UnattributedDeposit", "status", deposits);
    let streamed = Status::ALL.map(|status| format!("invoice.{}", status.as_str()));
    let streamed = ["invoice.created".to_owned()].into_iter().chain(streamed);
    let streamed: Vec<String> = streamed.collect();
    let streamed = streamed.iter().map(String::as_str);
    say(schemas, "InvoiceEvent", "type", streamed);
}

fn say<'w>(
    schemas: &mut Value,
    schema: &str,
    field: &str,
    words: impl IntoIterator<Item = &'w str>,
) {
    let words: Vec<&str> = words.into_iter().collect();
    let narrowed = json!({ "type": "string", "enum": words });
    narrow(schemas, schema, field, narrowed);
}

/// Puts a narrower schema in the place of a field's, beside null where the field may be null.
fn narrow(schemas: &mut Value, schema: &str, field: &str, narrowed: Value) {
    let target = &mut schemas[schema]["properties"][field];
    let may_be_null = target["type"]
        .as_array()
        .is_some_and(|types| types.contains(&json!("null")));
    let description = target["description"].take();
    *target = match may_be_null {
        true => json!({ "oneOf": [narrowed, { "type": "null" }] }),
        false => narrowed,
    };
    if !description.is_null() {
        target["description"] = description;
    }
}

/// Every object's metadata is held to the same limits.
pub(super) fn limit_metadata(schemas: &mut Value) {
    let schemas = schemas.as_object_mut().into_iter().flatten();
    for (_, schema) in schemas {
        if let Some(metadata) = schema.pointer_mut("/properties/metadata") {
            metadata["maxProperties"] = json!(METADATA_PAIRS_MAX);
            metadata["propertyNames"]["maxLength"] = json!(METADATA_KEY_CHARS_MAX);
            metadata["additionalProperties"]["maxLength"] = json!(METADATA_VALUE_CHARS_MAX);
        }
    }
}

/// A list has its items by their name, with all that is said of them there.
pub(super) fn name_items(schemas: &mut Value) {
    let lists = schemas.as_object_mut().into_iter().flatten();
    for (name, schema) in lists {
        if let Some(item) = name.strip_prefix("List_") {
            schema["properties"]["data"]["items"] =
                json!({ "$ref": format!("#/components/schemas/{item}") });
        }
    }
}

/// The headers that answers have beside those of HTTP.
pub(super) fn say_headers(document: &mut Value) {
    let header = |about: &str, schema: Value| json!({ "description": about, "schema": schema });
    document["components"]["headers"] = json!({
        "RequestId": header("Names the request, in errors and in the server's log.", json!({ "type": "string" })),
        "RetryAfter": header("Seconds to wait before the next try.", json!({ "type": "integer", "minimum": 0 })),
        "IdempotentReplayed": header(
            "There when this is the first answer to the same `Idempotency-Key`, once more.",
            json!({ "type": "string", "const": "true" }),
        ),
    });
    let named = |name: &str| json!({ "$ref": format!("#/components/headers/{name}") });
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    let operations = paths.flat_map(|(_, methods)| methods.as_object_mut().into_iter().flatten());
    for (method, operation) in operations {
        let answers = operation["responses"].as_object_mut().into_iter().flatten();
        for (status, answer) in answers {
            answer["headers"]["x-request-id"] = named("RequestId");
            if status == "429" {
                answer["headers"]["Retry-After"] = named("RetryAfter");
            }
            if method == "post" && status.starts_with('2') {
                answer["headers"]["idempotent-replayed"] = named("IdempotentReplayed");
            }
        }
    }
}

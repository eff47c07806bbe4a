//! The merchant's view of a webhook delivery: one object per attempt.

use serde::Serialize;
use till_core::id::{self, IdKind};
use till_core::time;
use till_store::deliveries::DeliveryRow;
use utoipa::ToSchema;

/// One attempt to deliver an event.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
pub struct DeliveryView {
    pub id: String,
    #[schema(example = "webhook_delivery", pattern = "^webhook_delivery$")]
    pub object: &'static str,
    pub livemode: bool,
    /// The event's id, the same for every retry and replay.
    pub event: String,
    pub event_type: String,
    #[schema(required)]
    pub invoice: Option<String>,
    pub url: String,
    /// `pending`, `succeeded` or `failed`.
    pub status: String,
    pub attempt: i64,
    #[schema(required)]
    pub status_code: Option<i64>,
    #[schema(required)]
    pub latency_ms: Option<i64>,
    #[schema(required)]
    pub error: Option<String>,
    /// The first 1 KiB of what the endpoint answered.
    #[schema(required)]
    pub response_body: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(required, format = DateTime)]
    pub attempted_at: Option<String>,
    /// When a failed attempt will be retried; null when it will not.
    #[schema(required, format = DateTime)]
    pub next_attempt_at: Option<String>,
}

impl DeliveryView {
    pub fn of(row: &DeliveryRow) -> DeliveryView {
        DeliveryView {
            id: row.id.clone(),
            object: "webhook_delivery",
            livemode: row.scope.mode.is_live(),
            event: row.event.clone(),
            event_type: row.event_type.clone(),
            invoice: row
                .subject
                .clone()
                .filter(|subject| id::is(IdKind::Invoice, subject)),
            url: row.url.clone(),
            status: row.status.as_str().to_owned(),
            attempt: row.attempt,
            status_code: row.status_code,
            latency_ms: row.latency_ms,
            error: row.error.clone(),
            response_body: row.response_body.clone(),
            created_at: time::show(row.created_at),
            attempted_at: row.attempted_at.map(time::show),
            next_attempt_at: row.next_attempt_at.map(time::show),
        }
    }
}

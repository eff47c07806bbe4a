//! The merchant's view of a subscription.

use std::collections::BTreeMap;

use serde::Serialize;
use till_core::time;
use till_store::StoreError;
use till_store::subscriptions::SubscriptionRow;
use utoipa::ToSchema;

/// A customer on a plan.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Subscription)]
pub struct SubscriptionView {
    pub id: String,
    #[schema(example = "subscription", pattern = "^subscription$")]
    pub object: &'static str,
    pub livemode: bool,
    /// `active`, `past_due`, `incomplete`, `paused` or `cancelled`.
    #[schema(example = "active")]
    pub status: &'static str,
    pub customer: String,
    pub plan: String,
    pub metadata: BTreeMap<String, String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// The period that was paid last, the trial, or the first period while it is unpaid.
    #[schema(format = DateTime)]
    pub current_period_start: String,
    #[schema(format = DateTime)]
    pub current_period_end: String,
    #[schema(required, format = DateTime)]
    pub trial_end: Option<String>,
    /// When the next renewal is invoiced; null while one is open, and when there will be none.
    #[schema(required, format = DateTime)]
    pub next_invoice_at: Option<String>,
    #[schema(required)]
    pub latest_invoice: Option<String>,
    /// Which attempt to charge the period is under way; 0 when none is.
    pub attempt: u32,
    #[schema(required, format = DateTime)]
    pub past_due_since: Option<String>,
    #[schema(required, format = DateTime)]
    pub paused_at: Option<String>,
    pub cancel_at_period_end: bool,
    #[schema(required, format = DateTime)]
    pub cancelled_at: Option<String>,
    /// `requested` or `unpaid`; null unless cancelled.
    #[schema(required)]
    pub cancellation_reason: Option<&'static str>,
}

impl SubscriptionView {
    pub fn of(row: &SubscriptionRow) -> Result<SubscriptionView, StoreError> {
        Ok(SubscriptionView {
            id: row.id.clone(),
            object: "subscription",
            livemode: row.scope.mode.is_live(),
            status: row.status.as_str(),
            customer: row.customer.clone(),
            plan: row.plan.clone(),
            metadata: row.metadata.entries()?,
            created_at: time::show(row.created_at),
            current_period_start: time::show(row.current_period_start),
            current_period_end: time::show(row.current_period_end),
            trial_end: row.trial_end.map(time::show),
            next_invoice_at: row.next_invoice_at.map(time::show),
            latest_invoice: row.latest_invoice.clone(),
            attempt: row.attempt,
            past_due_since: row.past_due_since.map(time::show),
            paused_at: row.paused_at.map(time::show),
            cancel_at_period_end: row.cancel_at_period_end,
            cancelled_at: row.cancelled_at.map(time::show),
            cancellation_reason: row.cancellation_reason.map(|reason| reason.as_str()),
        })
    }
}

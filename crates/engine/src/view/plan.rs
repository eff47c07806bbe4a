//! The merchant's view of a plan.

use serde::Serialize;
use till_core::money::{Units, show};
use till_core::time;
use till_store::plans::PlanRow;
use utoipa::ToSchema;

/// What subscriptions are charged, and how often.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Plan)]
pub struct PlanView {
    pub id: String,
    #[schema(example = "plan", pattern = "^plan$")]
    pub object: &'static str,
    pub livemode: bool,
    /// `active` or `archived`.
    #[schema(example = "active")]
    pub status: &'static str,
    pub name: String,
    /// Price per period, in major units of the currency.
    #[schema(example = "25.00")]
    pub amount: String,
    #[schema(example = "USD")]
    pub currency: &'static str,
    /// `day`, `week`, `month` or `year`.
    #[schema(example = "month")]
    pub interval: &'static str,
    pub interval_count: u32,
    pub trial_days: u32,
    /// How long a renewal may stay unpaid before the subscription is past due.
    pub grace_days: u32,
    /// Invoices per period before the subscription is cancelled.
    pub max_attempts: u32,
    /// Null: the merchant's defaults at the time each invoice is made.
    #[schema(required)]
    pub assets: Option<Vec<String>>,
    /// IANA name of the time zone in which periods are counted.
    #[schema(example = "UTC")]
    pub billing_timezone: String,
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl PlanView {
    pub fn of(row: &PlanRow) -> PlanView {
        PlanView {
            id: row.id.clone(),
            object: "plan",
            livemode: row.scope.mode.is_live(),
            status: row.status.as_str(),
            name: row.name.clone(),
            amount: show(Units(row.amount_minor.into()), row.currency.decimals()),
            currency: row.currency.code(),
            interval: row.interval_unit.as_str(),
            interval_count: row.interval_count,
            trial_days: row.trial_days,
            grace_days: row.grace_days,
            max_attempts: row.max_attempts,
            assets: row.assets.clone(),
            billing_timezone: row.billing_timezone.name().to_owned(),
            created_at: time::show(row.created_at),
        }
    }
}

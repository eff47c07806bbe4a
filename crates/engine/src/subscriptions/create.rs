//! Creates subscriptions.

use std::collections::BTreeMap;

use till_core::calendar::{self, Unit};
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::id::IdKind;
use till_core::plan::PlanStatus;
use till_core::scope::Scope;
use till_core::subscription::Status;
use till_store::plans::PlanRow;
use till_store::subscriptions::{self, SubscriptionRow};
use till_store::{Metadata, Tx};

use super::charge::{Occasion, charge, invoice_failed};
use super::find::find;
use super::hold::{Locked, hold_all, lock_all};
use super::purse::{Purse, top_ups};
use super::step::catch_up;
use super::up_to_date::bring_up_to_date;
use crate::base::Context;
use crate::base::fail::{Fail, missing_or_in_mode};
use crate::outbox;
use crate::settlement::follow::period::rhythm;
use crate::settlement::follow::subscription::{refresh, told};
use crate::view::SubscriptionView;

/// A request for a subscription, its shape read but its values unjudged.
#[derive(Clone, Debug)]
pub struct NewSubscription {
    pub customer: String,
    pub plan: String,
    /// In place of the plan's own; 0 starts billing now.
    pub trial_days: Option<u32>,
    pub metadata: BTreeMap<String, String>,
}

pub async fn create(
    tx: &mut Tx,
    context: &Context<'_>,
    request: &NewSubscription,
) -> Result<SubscriptionView, Fail> {
    let scope = &context.scope;
    let customer = till_store::customers::find(tx, scope, &request.customer).await?;
    let Some(customer) = customer else {
        let (other, id) = (scope.in_other_mode(), &*request.customer);
        let other = till_store::customers::find(tx, &other, id).await?;
        return Err(missing_inside("customer", id, scope, other).into());
    };
    lock_all(tx, context, &customer.id, &[]).await?;
    Box::pin(bring_up_to_date(tx, context, &customer.id)).await?;
    let credit = top_ups(tx, scope, &customer.id, None).await?;
    let credit = hold_all(tx, scope, &credit).await?;
    // Locked: archiving the plan and subscribing to it happen one after the other.
    let plan = till_store::plans::lock(tx, scope, &request.plan).await?;
    let Some(plan) = plan else {
        let other = till_store::plans::find(tx, &scope.in_other_mode(), &request.plan).await?;
        return Err(missing_inside("plan", &request.plan, scope, other).into());
    };
    if plan.status == PlanStatus::Archived {
        return Err(Refusal::of(Code::PlanArchived).into());
    }
    let mut row = begin(context, request, &plan);
    refresh(context, context.now, &mut row, &plan)?;
    subscriptions::insert(tx, &row).await?;
    let created = EventType::SubscriptionCreated;
    let event = told(context, context.now, created, &row, None)?;
    outbox::record(tx, context, &[event]).await?;
    let mut locked = Locked {
        row,
        plan,
        charge: None,
        invoice: None,
        other: None,
        purse: Purse::open(tx, scope, credit, None).await?,
        is_stale: false,
    };
    if locked.row.paid_until.is_none() {
        let charged = charge(tx, context, &mut locked, Occasion::Asked).await;
        charged.map_err(invoice_failed)?;
    }
    let row = Box::pin(catch_up(tx, context, locked)).await?;
    Box::pin(bring_up_to_date(tx, context, &row.customer)).await?;
    let row = find(tx, scope, &row.id).await?;
    Ok(SubscriptionView::of(&row)?)
}

/// A trial is a period that costs nothing; the first that does begins where it ends.
fn begin(context: &Context<'_>, request: &NewSubscription, plan: &PlanRow) -> SubscriptionRow {
    let (now, zone) = (context.now, &plan.billing_timezone);
    let trial_days = request.trial_days.unwrap_or(plan.trial_days);
    let trial_end =
        (trial_days > 0).then(|| calendar::after(now, zone, Unit::Day, trial_days.into()));
    let mut row = SubscriptionRow {
        scope: context.scope.clone(),
        id: context.engine.ids.make(IdKind::Subscription),
        customer: request.customer.clone(),
        plan: plan.id.clone(),
        status: Status::Incomplete,
        metadata: Metadata::new(&request.metadata),
        created_at: now,
        trial_end,
        anchor: trial_end.unwrap_or(now),
        anchor_period: 0,
        current_period_start: now,
        current_period_end: trial_end.unwrap_or(now),
        paid_until: trial_end,
        served_until: trial_end,
        next_period: 0,
        reached: 0,
        charge: None,
        charge_invoice: None,
        charges: 0,
        attempt: 0,
        grace_end: None,
        charge_closed: false,
        retry_at: None,
        latest_invoice: None,
        next_invoice_at: None,
        past_due_since: None,
        paused_at: None,
        cancelled_at: None,
        cancellation_reason: None,
        cancel_at_period_end: false,
    };
    if trial_end.is_none() {
        (row.current_period_start, row.current_period_end) = rhythm(&row, plan).period(0);
    }
    row
}

/// The refusal of an unknown id in a request body: status 400, with the parameter's name.
fn missing_inside<T>(what: &str, id: &str, scope: &Scope, in_other_mode: Option<T>) -> Refusal {
    let missing = missing_or_in_mode(what, id, scope, in_other_mode);
    missing.param(what).in_body()
}

//! Pausing, resuming and cancelling, as merchants ask for it.

use till_core::event::EventType;
use till_core::subscription::{self, Asked, LEAD_MS, Reason, When};
use till_store::Tx;
use till_store::credits::{self, CreditRow};
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};

use super::charge::{Occasion, charge, earlier, grace_end, invoice_failed, rhythm};
use super::find;
use super::hold::{Locked, hold, hold_with};
use super::step::{catch_up, end};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox;
use crate::settlement::follow::subscription::{refresh, told};
use crate::view::SubscriptionView;

/// Periods that may be paid before they begin: two at creation where they are days, and no more for safety than this.
const AHEAD_MAX: i64 = 4;

impl Locked {
    /// The next period begins now. What was partly paid before is the invoice of this one, and has its time again.
    async fn start_anew(&mut self, tx: &mut Tx, context: &Context<'_>) -> Result<(), Fail> {
        let (scope, now, row) = (&context.scope, context.now, &mut self.row);
        let paid = subscriptions::paid_from(tx, scope, &row.id, row.next_period).await?;
        let after_paid = paid.last().map_or(row.next_period, |last| last.period + 1);
        row.next_period = match &self.charge {
            Some(charge) => charge.period,
            None => after_paid,
        };
        (row.anchor, row.anchor_period) = (now, row.next_period);
        let (start, end) = rhythm(row, &self.plan).period(row.next_period);
        (row.current_period_start, row.current_period_end) = (start, end);
        row.grace_end = None;
        let Some(charge) = &mut self.charge else {
            return Ok(());
        };
        (charge.period_start, charge.period_end) = (start, end);
        tx.write(&subscriptions::charge_states([&*charge])?).await?;
        row.grace_end = Some(grace_end(&self.plan, start).max(now + LEAD_MS));
        self.give_time(tx, context).await
    }

    async fn tell(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        event: EventType,
    ) -> Result<(), Fail> {
        let now = context.now;
        let late = refresh(context, now, &mut self.row, &self.plan)?;
        let mut events = vec![told(context, now, event, &self.row, None)?];
        events.extend(late);
        outbox::record(tx, context, &events).await
    }
}

async fn found(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<Locked, Fail> {
    let seen = find(tx, &context.scope, id).await?;
    hold(tx, context, &seen).await
}

/// Periods that credit alone has paid for and that have not begun, the last first, with what they took.
async fn ahead(
    tx: &mut Tx,
    context: &Context<'_>,
    row: &SubscriptionRow,
) -> Result<Vec<(ChargeRow, Vec<CreditRow>)>, Fail> {
    let (scope, now) = (&context.scope, context.now);
    // At most a few lie ahead: a period is charged a day before it begins.
    let paid = subscriptions::paid_from(tx, scope, &row.id, row.next_period - AHEAD_MAX).await?;
    let is_ahead = |paid: &ChargeRow| paid.invoice.is_none() && paid.period_start > now;
    let mut ahead = Vec::new();
    for charge in paid.into_iter().rev().filter(is_ahead) {
        let taken = credits::of_charge(tx, scope, &row.id, charge.number).await?;
        ahead.push((charge, taken));
    }
    Ok(ahead)
}

async fn finish(
    tx: &mut Tx,
    context: &Context<'_>,
    locked: Locked,
) -> Result<SubscriptionView, Fail> {
    let row = catch_up(tx, context, locked).await?;
    Ok(SubscriptionView::of(&row)?)
}

pub async fn pause(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<SubscriptionView, Fail> {
    let mut locked = found(tx, context, id).await?;
    subscription::pause(locked.row.status)?;
    locked.drop_charge(tx, context).await?;
    locked.row.paused_at = Some(context.now);
    let paused = EventType::SubscriptionPaused;
    locked.tell(tx, context, paused).await?;
    finish(tx, context, locked).await
}

/// Nothing that is paid for reaches beyond now, be it after a period that is owed.
async fn is_over(tx: &mut Tx, context: &Context<'_>, row: &SubscriptionRow) -> Result<bool, Fail> {
    let paid = subscriptions::paid_from(tx, &context.scope, &row.id, row.next_period).await?;
    let ends = paid.iter().map(|paid| paid.period_end);
    let last = ends.chain(row.paid_until).max();
    Ok(last.is_none_or(|end| end <= context.now))
}

/// Inside what is paid for it goes on; after it, billing starts anew from now.
pub async fn resume(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
) -> Result<SubscriptionView, Fail> {
    let mut locked = found(tx, context, id).await?;
    if subscription::resume(locked.row.status)? == Asked::Unchanged {
        return Ok(SubscriptionView::of(&locked.row)?);
    }
    // What ended while nobody was charged counts for nothing: no attempt was due.
    if locked.row.charge_closed {
        locked.drop_charge(tx, context).await?;
    }
    locked.row.paused_at = None;
    let restarts = is_over(tx, context, &locked.row).await? && !locked.row.cancel_at_period_end;
    if restarts {
        locked.start_anew(tx, context).await?;
    }
    let resumed = EventType::SubscriptionResumed;
    locked.tell(tx, context, resumed).await?;
    let is_charged = locked.row.charge.is_some() || earlier(tx, &locked.row).await?.is_some();
    if restarts && !is_charged {
        let charged = charge(tx, context, &mut locked, Occasion::Asked).await;
        charged.map_err(invoice_failed)?;
    }
    finish(tx, context, locked).await
}

pub async fn cancel(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    when: When,
) -> Result<SubscriptionView, Fail> {
    let seen = find(tx, &context.scope, id).await?;
    let top_ups: Vec<String> = ahead(tx, context, &seen)
        .await?
        .iter()
        .flat_map(|(_, taken)| taken.iter().map(|entry| entry.top_up.clone()))
        .collect();
    let mut locked = hold_with(tx, context, &seen, None, top_ups.clone()).await?;
    let row = &locked.row;
    let (is_set, ended) = (row.cancel_at_period_end, row.cancellation_reason);
    if subscription::cancel(row.status, when, is_set, ended)? == Asked::Unchanged {
        return Ok(SubscriptionView::of(row)?);
    }
    locked.row.cancel_at_period_end = when == When::PeriodEnd;
    locked.drop_charge(tx, context).await?;
    match when {
        When::Now => {
            for (charge, taken) in ahead(tx, context, &locked.row).await? {
                if taken.iter().any(|entry| !top_ups.contains(&entry.top_up)) {
                    return Err(Fail::Again);
                }
                locked.unpay(tx, context, charge, taken).await?;
            }
            end(tx, context, &mut locked, Reason::Requested).await?;
        }
        When::PeriodEnd => {
            let updated = EventType::SubscriptionUpdated;
            locked.tell(tx, context, updated).await?;
        }
    }
    finish(tx, context, locked).await
}

//! Pausing, resuming and cancelling, as merchants ask for it.

use till_core::event::EventType;
use till_core::subscription::{self, Asked, Reason, When};
use till_store::Tx;

use super::charge::{Occasion, charge, invoice_failed, rhythm};
use super::find;
use super::hold::{Locked, hold};
use super::step::{catch_up, end};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox;
use crate::settlement::follow::subscription::{refresh, told};
use crate::view::SubscriptionView;

impl Locked {
    /// An open invoice nothing was paid to is cancelled, its credit returned, and its period charged no more for now.
    async fn drop_charge(&mut self, tx: &mut Tx, context: &Context<'_>) -> Result<(), Fail> {
        if self.is_unpaid(context) {
            self.cancel_invoice(tx, context).await?;
        }
        if self.row.charge_closed {
            self.purse.give_back(context.now)?;
            self.row.end_charge();
        }
        Ok(())
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
    let row = &mut locked.row;
    row.paused_at = None;
    let is_over = row.paid_until.is_none_or(|end| end <= context.now);
    // What was partly paid is still to be paid in full first.
    let restarts = is_over && row.charge.is_none() && !row.cancel_at_period_end;
    if restarts {
        (row.anchor, row.anchor_period) = (context.now, row.next_period);
        let (start, end) = rhythm(row, &locked.plan).period(row.next_period);
        (row.current_period_start, row.current_period_end) = (start, end);
    }
    let resumed = EventType::SubscriptionResumed;
    locked.tell(tx, context, resumed).await?;
    if restarts {
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
    let mut locked = found(tx, context, id).await?;
    let row = &locked.row;
    let (is_set, ended) = (row.cancel_at_period_end, row.cancellation_reason);
    if subscription::cancel(row.status, when, is_set, ended)? == Asked::Unchanged {
        return Ok(SubscriptionView::of(row)?);
    }
    locked.drop_charge(tx, context).await?;
    locked.row.cancel_at_period_end = when == When::PeriodEnd;
    match when {
        When::Now => end(tx, context, &mut locked, Reason::Requested).await?,
        When::PeriodEnd => {
            let updated = EventType::SubscriptionUpdated;
            locked.tell(tx, context, updated).await?;
        }
    }
    finish(tx, context, locked).await
}

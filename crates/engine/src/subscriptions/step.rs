//! What happens when a subscription's timer fires: renewals, further attempts, past due, the end.

use till_core::credit::Value;
use till_core::event::EventType;
use till_core::money::Units;
use till_core::subscription::{ChargeState, NextStep, Reason, next};
use till_core::time::HOUR_MS;
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};
use till_store::timers::TimerRow;

use super::charge::{Occasion, bounds, charge, earlier, waiting};
use super::due::ask_for_the_rest;
use super::hold::{Locked, hold};
use super::looks::{end_sharing, share_again};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox;
use crate::settlement::LockedInvoice;
use crate::settlement::follow::period::grace_end;
use crate::settlement::follow::subscription::{refresh, timer, told};

/// How long until an invoice that could not be created, say because no address is free, is tried again.
const TRY_AGAIN_MS: i64 = 4 * HOUR_MS;
/// The most periods that one unit of work pays from credit; the timer goes on with the rest.
const AT_ONCE_MAX: u32 = 32;

/// Does what is due for a subscription whose timer fired.
pub async fn step(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<(), Fail> {
    let Some(seen) = subscriptions::find(tx, &context.scope, id).await? else {
        return Ok(());
    };
    let locked = hold(tx, context, &seen).await?;
    Box::pin(catch_up(tx, context, locked)).await.map(drop)
}

/// Like [`step`], with no more credit for a charge than `from`.
pub(super) async fn step_with(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    from: Vec<(String, Units)>,
) -> Result<(), Fail> {
    let Some(seen) = subscriptions::find(tx, &context.scope, id).await? else {
        return Ok(());
    };
    let mut locked = hold(tx, context, &seen).await?;
    locked.purse.take_only(from);
    Box::pin(catch_up(tx, context, locked)).await.map(drop)
}

/// Does everything that is due, writes the subscription and sets the timer of what comes next.
pub(super) async fn catch_up(
    tx: &mut Tx,
    context: &Context<'_>,
    mut locked: Locked,
) -> Result<SubscriptionRow, Fail> {
    let mut later = None;
    for _ in 0..AT_ONCE_MAX {
        // What is held does not fit any more: another step looks at the attempt with its invoice.
        if !locked.is_stale {
            locked.stop_what_is_not_due(tx, context).await?;
        }
        if locked.is_stale {
            later = Some(context.now);
            break;
        }
        let late = refresh(context, context.now, &mut locked.row, &locked.plan)?;
        outbox::record(tx, context, late.as_slice()).await?;
        let due = next(&locked.row.facts(locked.plan.max_attempts), context.now);
        let done = match due.filter(|(at, _)| *at <= context.now) {
            Some((_, NextStep::Charge | NextStep::Retry)) => {
                // What left the chain may give credit back, or leave another period to be charged.
                let (scope, now, customer) = (&context.scope, context.now, &locked.row.customer);
                if till_store::timers::has_looks_due(tx, scope, customer, now).await? {
                    later = Some(now);
                    break;
                }
                if let Some(invoice) = earlier(tx, context, &locked.row).await? {
                    resolve_later(tx, context, &[invoice]).await?;
                    later = Some(context.now.saturating_add(TRY_AGAIN_MS));
                    break;
                }
                // The limit is for one attempt.
                if locked.purse.takes_only_some() {
                    later = Some(now);
                }
                Box::pin(charge(tx, context, &mut locked, Occasion::Due)).await
            }
            Some((_, NextStep::End(reason))) => end(tx, context, &mut locked, reason).await,
            Some((_, NextStep::Look)) | None => break,
        };
        if let Err(Fail::Refused(refusal)) = done {
            tracing::warn!(subscription = %locked.row.id, why = %refusal.message, "a renewal's invoice could not be created; it is tried again: correct what `why` names, often the plan's assets or a missing payout address");
            later = Some(put_off(tx, context, &mut locked).await?);
            break;
        }
        done?;
        if later.is_some() {
            break;
        }
    }
    let Locked {
        row, plan, purse, ..
    } = locked;
    purse.close(tx, context).await?;
    let again = |at| TimerRow::new(&context.scope, TimerKind::StepSubscription, &row.id, at);
    let timer = match later {
        Some(at) => Some(again(at)),
        None => timer(context, context.now, &row, &plan),
    };
    let writes = [
        subscriptions::updates([&row])?,
        till_store::timers::rows(timer.as_slice()),
    ];
    tx.write_all(&writes).await?;
    end_sharing(tx, context, &row.customer).await?;
    Ok(row)
}

/// Puts off a period whose invoice could not be created. Like any other it is past due when its grace ends. Returns
/// when to try again.
async fn put_off(tx: &mut Tx, context: &Context<'_>, locked: &mut Locked) -> Result<i64, Fail> {
    let (start, _) = bounds(tx, &locked.row, &locked.plan, locked.row.next_period).await?;
    let (now, row) = (context.now, &mut locked.row);
    let late_at = row.grace_end.unwrap_or(grace_end(&locked.plan, start));
    row.grace_end = Some(late_at);
    let late = refresh(context, now, row, &locked.plan)?;
    outbox::record(tx, context, late.as_slice()).await?;
    let again = now.saturating_add(TRY_AGAIN_MS);
    Ok(match late_at > now {
        true => again.min(late_at),
        false => again,
    })
}

impl Locked {
    /// Stops charging while the subscription is paused or about to end, and stops an attempt at a later period than the
    /// next one: if it is paid in part it waits for its turn.
    async fn stop_what_is_not_due(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
    ) -> Result<(), Fail> {
        let charged = self.charge.as_ref().map(|charge| charge.period);
        let is_out_of_turn = charged.is_some_and(|period| period > self.row.next_period);
        let is_stopped = self.row.paused_at.is_some() || self.row.cancel_at_period_end;
        if is_out_of_turn || is_stopped {
            self.drop_charge(tx, context).await?;
        }
        if let (Some(charge), true) = (&mut self.charge, is_out_of_turn) {
            charge.state = ChargeState::Closed;
            tx.write(&subscriptions::charge_states([&*charge])?).await?;
            self.invoice = None;
            self.put_by();
        }
        // What follows a closed attempt draws its credit anew.
        if self.row.charge_closed {
            return self.purse.give_back(context.now);
        }
        if self.could_be_lower(context) {
            share_again(tx, context, &self.row.customer).await?;
        }
        Ok(())
    }

    /// Whether idle credit could lower the open invoice, to which nothing is paid yet, and was not shared out yet.
    fn could_be_lower(&self, context: &Context<'_>) -> bool {
        let is_shared = self.purse.takes_only_some();
        !is_shared && self.is_unpaid(context) && self.purse.has_any(context.now, self.plan.currency)
    }

    /// Cancels the open invoice if nothing was paid to it, returns its credit, and stops charging its period for now.
    pub(super) async fn drop_charge(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
    ) -> Result<(), Fail> {
        self.drop_charge_as(tx, context, ChargeState::Withdrawn)
            .await
    }

    pub(super) async fn drop_charge_as(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        state: ChargeState,
    ) -> Result<(), Fail> {
        if self.is_unpaid(context) {
            return self.withdraw_as(tx, context, state).await;
        }
        match self.row.charge_closed {
            true => self.set_down(context.now),
            false => Ok(()),
        }
    }
}

/// Has the invoices of attempts that are not under way resolved, each in a unit of work of its own.
pub(super) async fn resolve_later(
    tx: &mut Tx,
    context: &Context<'_>,
    invoices: &[String],
) -> Result<(), Fail> {
    let (scope, kind) = (&context.scope, TimerKind::ResolveCharge);
    let timer = |invoice: &String| TimerRow::new(scope, kind, invoice, context.now);
    let timers: Vec<TimerRow> = invoices.iter().map(timer).collect();
    Ok(till_store::timers::set(tx, &timers).await?)
}

/// Has an invoice ask for its whole price when its subscription ends: the credit that lowered it is the customer's again, and
/// what payers sent does not pay the price without it. An attempt that was paid once has its credit back when its payment
/// is back.
pub(super) fn keep_no_credit(held: &mut LockedInvoice, charge: &ChargeRow) {
    if !charge.was_paid {
        ask_for_the_rest(&mut held.invoice.is, &Value::zero());
    }
}

/// Ends a subscription: returns the credit reserved for it, and has none of its invoices take anything more.
pub(super) async fn end(
    tx: &mut Tx,
    context: &Context<'_>,
    locked: &mut Locked,
    reason: Reason,
) -> Result<(), Fail> {
    // What was paid in part stays with its invoice, for the merchant to refund.
    if let Some(mut held) = locked.invoice.take() {
        if let Some(charge) = &locked.charge {
            keep_no_credit(&mut held, charge);
        }
        held.stop_taking(context);
        held.is_of_ended = true;
        locked.settle(tx, context, held).await?;
    }
    if let Some(mut charge) = locked.charge.clone() {
        charge.state = ChargeState::Closed;
        tx.write(&subscriptions::charge_states([&charge])?).await?;
    }
    locked.end_charge(context.now)?;
    let row = &mut locked.row;
    let (scope, id) = (&row.scope, &row.id);
    let made = subscriptions::charges_from(tx, scope, id, row.next_period).await?;
    let waiting = waiting(tx, context, &made).await?;
    resolve_later(tx, context, &waiting).await?;
    row.cancelled_at = Some(context.now);
    row.cancellation_reason = Some(reason);
    refresh(context, context.now, row, &locked.plan)?;
    let ended = EventType::SubscriptionCancelled;
    let event = told(context, context.now, ended, row, None)?;
    outbox::record(tx, context, &[event]).await
}

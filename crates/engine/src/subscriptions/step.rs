//! What happens without anybody asking: renewals, further attempts, past due, the end.

use till_core::event::EventType;
use till_core::subscription::{ChargeState, Reason, Step, next};
use till_core::time::HOUR_MS;
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::subscriptions::{self, SubscriptionRow};
use till_store::timers::TimerRow;

use super::charge::{Occasion, charge};
use super::hold::{Locked, hold};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::outbox;
use crate::settlement::follow::subscription::{refresh, timer, told};

/// An invoice that cannot be made now, say because no address is free, is tried again after this.
const TRY_AGAIN_MS: i64 = 4 * HOUR_MS;
/// Periods that one unit of work pays from credit; the timer goes on with the rest.
const AT_ONCE_MAX: u32 = 32;

/// A subscription's timer fired.
pub async fn step(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<(), Fail> {
    let Some(seen) = subscriptions::find(tx, &context.scope, id).await? else {
        return Ok(());
    };
    let locked = hold(tx, context, &seen).await?;
    catch_up(tx, context, locked).await.map(drop)
}

/// Does everything that is due, writes the subscription and sets the timer of what comes next.
pub(super) async fn catch_up(
    tx: &mut Tx,
    context: &Context<'_>,
    mut locked: Locked,
) -> Result<SubscriptionRow, Fail> {
    let mut later = None;
    for _ in 0..AT_ONCE_MAX {
        let late = refresh(context, context.now, &mut locked.row, &locked.plan)?;
        outbox::record(tx, context, late.as_slice()).await?;
        let due = next(&locked.row.facts(locked.plan.max_attempts), context.now);
        let done = match due.filter(|(at, _)| *at <= context.now) {
            Some((_, Step::Charge | Step::Retry)) => {
                charge(tx, context, &mut locked, Occasion::Due).await
            }
            Some((_, Step::End(reason))) => end(tx, context, &mut locked, reason).await,
            Some((_, Step::Look)) | None => break,
        };
        if let Err(Fail::Refused(refusal)) = done {
            tracing::warn!(subscription = %locked.row.id, why = %refusal.message, "a renewal could not be invoiced");
            later = Some(context.now.saturating_add(TRY_AGAIN_MS));
            break;
        }
        done?;
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
    Ok(row)
}

/// The end: whatever was set aside for it is the customer's again.
pub(super) async fn end(
    tx: &mut Tx,
    context: &Context<'_>,
    locked: &mut Locked,
    reason: Reason,
) -> Result<(), Fail> {
    locked.purse.give_back(context.now)?;
    let row = &mut locked.row;
    // What was paid in part stays with its invoice, for the merchant to refund.
    if let Some(number) = row.charge {
        let charge = subscriptions::charge(tx, &context.scope, &row.id, number).await?;
        let mut charge = charge.ok_or_else(|| Fail::broken("a charge is missing"))?;
        charge.state = ChargeState::Closed;
        tx.write(&subscriptions::charge_states([&charge])?).await?;
    }
    row.end_charge();
    row.cancelled_at = Some(context.now);
    row.cancellation_reason = Some(reason);
    refresh(context, context.now, row, &locked.plan)?;
    let ended = EventType::SubscriptionCancelled;
    let event = told(context, context.now, ended, row, None)?;
    outbox::record(tx, context, &[event]).await
}

//! The test clock.

use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_core::time::{LATEST_MS, SECOND_MS};
use till_store::Tx;

use crate::base::fail::Fail;
use crate::base::{Context, Engine, Merchant, not_configured};
use crate::workers::timers;

#[derive(Clone, Debug)]
pub enum Advance {
    Seconds(i64),
    To(i64),
}

/// What the account's test clock shows.
pub async fn read_clock(engine: &Engine, scope: &Scope) -> Result<i64, Fail> {
    let mut reader = engine.db.read().await?;
    let merchant = Merchant::load(&mut reader, scope).await?;
    Ok(merchant.now(engine.clock.now_ms()))
}

/// Moves the account's test clock forward; everything that falls due on the way happens in its order and at
/// its time, in the same unit of work.
pub async fn advance_clock(
    tx: &mut Tx,
    context: &Context<'_>,
    advance: &Advance,
) -> Result<i64, Fail> {
    let merchant = till_store::accounts::merchant_for_update(tx, &context.scope)
        .await?
        .ok_or_else(not_configured)?;
    let now = context.real_now.saturating_add(merchant.clock_offset_ms);
    let target = match advance {
        Advance::Seconds(seconds) => now.saturating_add(seconds.saturating_mul(SECOND_MS)),
        Advance::To(at) => *at,
    };
    if target > LATEST_MS {
        let param = match advance {
            Advance::Seconds(_) => "advance_seconds",
            Advance::To(_) => "advance_to",
        };
        return Err(invalid(param, "the clock cannot be moved beyond the year 9999").into());
    }
    if target < now {
        return Err(invalid("advance_to", "test time never runs backwards").into());
    }
    let offset_ms = target - context.real_now;
    till_store::accounts::set_clock_offset(tx, &context.scope, offset_ms).await?;
    loop {
        let due = till_store::timers::due_for(tx, &context.scope, target, 1).await?;
        let Some(timer) = due.first() else { break };
        timers::fire(tx, &context.at(timer.due_at.max(now)), timer).await?;
    }
    Ok(target)
}

fn invalid(param: &str, message: &str) -> Refusal {
    Refusal::new(Code::ParameterInvalid, message.to_owned()).param(param)
}

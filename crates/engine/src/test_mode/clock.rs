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

/// Says where the account's test clock is to go; [`reach_goal`] takes it there. Where it will be is known, and can be
/// kept under a key, before it sets out: whoever asks again after a failure on the way goes on to the same place. One
/// that is on its way already goes on from where that leads.
pub async fn set_goal(tx: &mut Tx, context: &Context<'_>, advance: &Advance) -> Result<i64, Fail> {
    let merchant = till_store::accounts::merchant_for_update(tx, &context.scope)
        .await?
        .ok_or_else(not_configured)?;
    let clock = context.real_now.saturating_add(merchant.clock_offset_ms);
    let now = clock.max(merchant.clock_goal.unwrap_or(clock));
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
    till_store::accounts::set_clock_goal(tx, &context.scope, target).await?;
    Ok(target)
}

/// When this returns, everything that fell due on the way has happened, in its order and at its time.
pub async fn reach_goal(engine: &Engine, scope: &Scope) -> Result<(), Fail> {
    timers::reach_goal(engine, scope).await
}

fn invalid(param: &str, message: &str) -> Refusal {
    Refusal::new(Code::ParameterInvalid, message.to_owned()).param(param)
}

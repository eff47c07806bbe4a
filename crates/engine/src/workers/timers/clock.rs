//! Test clocks on their way. Everything that falls due happens in its order and at its time, in steps: a unit of work
//! each, so small that nobody else waits long. After a step the clock shows the time up to which everything has
//! happened. Whoever is killed in between leaves it there, with its goal, and anybody may go on.

use scoped_futures::ScopedFutureExt as _;
use till_core::scope::Scope;
use till_store::timers::Due;
use till_store::{StoreError, Tx};

use super::expire::WhenLocked;
use super::fire::{fire, fires_with_others, in_order, put_back};
use crate::base::fail::Fail;
use crate::base::{Context, Engine, not_configured};

const STEP_MAX: i64 = 64;

/// Returns when the clock has come to where it was told to go; at once if it was not.
pub async fn reach_goal(engine: &Engine, scope: &Scope) -> Result<(), Fail> {
    let mut size = STEP_MAX;
    loop {
        let done = engine
            .unit(scope, move |tx, context| {
                step(tx, context, size).scope_boxed()
            })
            .await;
        match done {
            Ok(ClockStep::Arrived) => return Ok(()),
            Ok(ClockStep::Advancing) => size = (size * 2).min(STEP_MAX),
            // Nothing is lost: asked again, it goes on from here.
            Err(
                fail @ Fail::Store(
                    StoreError::Unavailable
                    | StoreError::Unwritable(_)
                    | StoreError::LockTimeout { .. },
                    _,
                ),
            ) => {
                return Err(fail);
            }
            Err(_) if size > 1 => size /= 2,
            Err(fail) => match next(engine, scope).await? {
                Some(timer) => put_back(engine, &timer, &fail).await?,
                None => return Err(fail),
            },
        }
    }
}

/// Where a step left the clock.
enum ClockStep {
    Advancing,
    Arrived,
}

/// Fires the next few, and moves the clock to the last of them.
async fn step(tx: &mut Tx, context: &Context<'_>, size: i64) -> Result<ClockStep, Fail> {
    let merchant = till_store::accounts::merchant(tx, &context.scope).await?;
    let Some(goal) = merchant.ok_or_else(not_configured)?.clock_goal else {
        return Ok(ClockStep::Arrived);
    };
    let mut due = till_store::timers::due_for(tx, &context.scope, goal, size).await?;
    in_order(&mut due);
    let alike = due
        .chunk_by(|a, b| fires_with_others(a) && fires_with_others(b))
        .next()
        .unwrap_or_default();
    let contexts: Vec<Context<'_>> = alike
        .iter()
        .map(|timer| context.at(timer.due_at.max(context.now)))
        .collect();
    let fired = fire(
        tx,
        contexts.iter().zip(alike).collect(),
        WhenLocked::Awaited,
    )
    .await?;
    let left = till_store::timers::due_for(tx, &context.scope, goal, 1).await?;
    let (reached, step) = match (left.is_empty(), alike[..fired.seen].last()) {
        (false, Some(last)) => (last.due_at, ClockStep::Advancing),
        (false, None) => return Err(Fail::Again),
        (true, _) => (goal, ClockStep::Arrived),
    };
    let offset_ms = reached - context.engine.clock.now_ms();
    let goal = matches!(step, ClockStep::Arrived).then_some(goal);
    till_store::accounts::move_clock(tx, &context.scope, offset_ms, goal).await?;
    Ok(step)
}

/// The timer that the next step begins with.
async fn next(engine: &Engine, scope: &Scope) -> Result<Option<Due>, Fail> {
    let mut reader = engine.db.read().await?;
    let merchant = till_store::accounts::merchant(&mut reader, scope).await?;
    let Some(goal) = merchant.and_then(|merchant| merchant.clock_goal) else {
        return Ok(None);
    };
    let due = till_store::timers::due_for(&mut reader, scope, goal, 1).await?;
    Ok(due.into_iter().next())
}

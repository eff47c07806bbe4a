//! Fires what fell due, each at its own time and at most once.

use scoped_futures::ScopedFutureExt as _;
use till_core::scope::Scope;
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::timers::TimerRow;

use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::refunds;
use crate::settlement;

const AT_ONCE: i64 = 200;

/// Fires everything due now, on real time and on every moved test clock. Says how many it fired.
pub async fn run_due(engine: &Engine) -> Result<usize, Fail> {
    let mut fired = 0;
    loop {
        let due = due_now(engine).await?;
        for timer in &due {
            fire_alone(engine, timer).await?;
        }
        fired += due.len();
        if due.is_empty() {
            return Ok(fired);
        }
    }
}

async fn due_now(engine: &Engine) -> Result<Vec<TimerRow>, Fail> {
    let now = engine.clock.now_ms();
    let mut reader = engine.db.read().await?;
    let mut due = till_store::timers::due(&mut reader, now, AT_ONCE).await?;
    for clock in till_store::accounts::moved_clocks(&mut reader).await? {
        let Some(mode) = till_core::asset::Mode::parse(&clock.mode) else {
            continue;
        };
        let scope = Scope::new(&clock.account, mode);
        let account_now = now.saturating_add(clock.clock_offset_ms);
        due.extend(till_store::timers::due_for(&mut reader, &scope, account_now, AT_ONCE).await?);
    }
    due.sort_by(|a, b| {
        let key = |timer: &TimerRow| {
            (
                timer.due_at,
                timer.scope.account.clone(),
                timer.subject.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
    due.dedup();
    Ok(due)
}

async fn fire_alone(engine: &Engine, timer: &TimerRow) -> Result<(), Fail> {
    engine
        .unit(&timer.scope, |tx, context| {
            fire(tx, context, timer).scope_boxed()
        })
        .await
}

/// Fires one timer, unless somebody did already.
pub async fn fire(tx: &mut Tx, context: &Context<'_>, timer: &TimerRow) -> Result<(), Fail> {
    if !till_store::timers::take(tx, timer).await? {
        return Ok(());
    }
    match TimerKind::parse(&timer.kind) {
        Some(TimerKind::ExpireInvoice) => expire(tx, context, timer).await,
        Some(TimerKind::ExpireClaim) => refunds::lapse(tx, context, &timer.subject).await,
        None => Err(Fail::broken(format!(
            "a timer of unknown kind: {}",
            timer.kind
        ))),
    }
}

/// The clock is a fact like any other: look at the invoice again now that it has moved.
async fn expire(tx: &mut Tx, context: &Context<'_>, timer: &TimerRow) -> Result<(), Fail> {
    let Some(held) = settlement::hold(tx, &context.scope, &timer.subject).await? else {
        return Ok(());
    };
    settlement::settle(tx, context, held, None).await.map(drop)
}

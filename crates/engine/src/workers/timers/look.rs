//! A look, now and then, at what the timers alone would leave: invoices that wait past their time without one,
//! timers that only a newer server knows, transfers that could not be taken in, and test clocks that nobody moves on.

use scoped_futures::ScopedFutureExt as _;
use till_core::asset::Mode;
use till_core::scope::Scope;
use till_core::time::SECOND_MS;
use till_core::timer::TimerKind;
use till_store::invoices::WaitingInvoice;
use till_store::timers::TimerRow;

use super::clock::reach_goal;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::intake;

/// The timers' own time to do it.
const OVERDUE_MS: i64 = 60 * SECOND_MS;
const AT_ONCE: i64 = 1_000;

pub async fn look_after(engine: &Engine) -> Result<(), Fail> {
    let armed = arm_overdue(engine).await?;
    if armed > 0 {
        tracing::warn!(
            armed,
            "open invoices past their deadline had no timer; timers were created for them"
        );
        metrics::counter!("till_timers_missing_total").increment(armed);
    }
    intake::retry(engine).await?;
    let mut reader = engine.db.read().await?;
    for kind in till_store::timers::kinds(&mut reader).await? {
        if TimerKind::parse(&kind).is_none() {
            tracing::warn!(
                kind,
                "timers that only a newer version knows are waiting; upgrade this server"
            );
        }
    }
    let moving = till_store::accounts::moving_clocks(&mut reader).await?;
    drop(reader);
    for clock in moving {
        if let Some(mode) = Mode::parse(&clock.mode) {
            reach_goal(engine, &Scope::new(&clock.account, mode)).await?;
        }
    }
    Ok(())
}

/// Sets the timers that open invoices past their time lack. Says how many.
async fn arm_overdue(engine: &Engine) -> Result<u64, Fail> {
    let now = engine.clock.now_ms() - OVERDUE_MS;
    let mut reader = engine.db.read().await?;
    let mut overdue = till_store::invoices::overdue(&mut reader, now, AT_ONCE).await?;
    for clock in till_store::accounts::moved_clocks(&mut reader).await? {
        let Some(mode) = Mode::parse(&clock.mode) else {
            continue;
        };
        let (scope, now) = (
            Scope::new(&clock.account, mode),
            now + clock.clock_offset_ms,
        );
        let of_account =
            till_store::invoices::overdue_of(&mut reader, &scope, now, AT_ONCE).await?;
        overdue.extend(of_account);
    }
    drop(reader);
    let timers: Vec<TimerRow> = overdue.iter().filter_map(expiry).collect();
    if timers.is_empty() {
        return Ok(0);
    }
    let timers = &timers;
    engine
        .db
        .write(move |tx| {
            async move { Ok::<_, Fail>(till_store::timers::set_missing(tx, timers).await?) }
                .scope_boxed()
        })
        .await
}

fn expiry(waiting: &WaitingInvoice) -> Option<TimerRow> {
    let scope = Scope::new(&waiting.account, Mode::parse(&waiting.mode)?);
    let kind = TimerKind::ExpireInvoice;
    Some(TimerRow::new(&scope, kind, &waiting.id, waiting.expires_at))
}

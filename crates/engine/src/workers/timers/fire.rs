//! Fires timers inside a unit of work, and puts back those that fail.

use scoped_futures::ScopedFutureExt as _;
use till_core::time::{HOUR_MS, SECOND_MS};
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::timers::Due;

use super::expire::{WhenLocked, expire};
use super::fired::Fired;
use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::refunds;
use crate::subscriptions;
use crate::team;
use crate::team::notices::{self, To};

/// Expiry makes nothing else fall due; other kinds are fired one by one.
pub(super) fn fires_with_others(timer: &Due) -> bool {
    timer.kind == TimerKind::ExpireInvoice.as_str()
}

pub(super) fn in_order(due: &mut [Due]) {
    fn key(timer: &Due) -> (i64, [&str; 4]) {
        let names = [&timer.account, &timer.mode, &timer.kind, &timer.subject];
        (timer.due_at, names.map(String::as_str))
    }
    due.sort_by(|a, b| key(a).cmp(&key(b)));
}

/// Timers of one kind, each in its account's context.
pub(super) async fn fire(
    tx: &mut Tx,
    due: Vec<(&Context<'_>, &Due)>,
    locked: WhenLocked,
) -> Result<Fired, Fail> {
    let Some((_, first)) = due.first() else {
        return Ok(Fired { seen: 0, taken: 0 });
    };
    match TimerKind::parse(&first.kind) {
        Some(TimerKind::ExpireInvoice) => expire(tx, due, locked).await,
        Some(kind) => one_by_one(tx, kind, &due).await,
        None => Err(Fail::broken(format!("a timer of kind {}", first.kind))),
    }
}

async fn one_by_one(
    tx: &mut Tx,
    kind: TimerKind,
    due: &[(&Context<'_>, &Due)],
) -> Result<Fired, Fail> {
    let mut taken = 0;
    for (context, timer) in due {
        let ours = till_store::timers::take(tx, &[(*timer).clone()]).await?;
        if ours.is_empty() {
            continue;
        }
        taken += 1;
        match kind {
            TimerKind::ExpireInvoice => return Err(Fail::broken("invoices expire together")),
            TimerKind::ExpireClaim => refunds::lapse(tx, context, &timer.subject).await?,
            TimerKind::StepSubscription => {
                Box::pin(subscriptions::step(tx, context, &timer.subject)).await?;
            }
            TimerKind::ShareCredit => {
                Box::pin(subscriptions::share_credit(tx, context, &timer.subject)).await?;
            }
            TimerKind::ResolveCharge => {
                Box::pin(subscriptions::resolve(tx, context, &timer.subject)).await?;
            }
            TimerKind::ApplyChange => {
                team::changes::take_effect(tx, context, &timer.subject).await?;
            }
            TimerKind::TellReview => {
                let to = To::Managers(&context.scope.account);
                let (engine, invoice) = (context.engine, &timer.subject);
                notices::tell(tx, engine, to, "review.opened", invoice).await?;
            }
        }
    }
    let seen = due.len();
    Ok(Fired { seen, taken })
}

/// One that failed is told of and tried again later, ever less often.
pub(super) async fn put_back(engine: &Engine, timer: &Due, fail: &Fail) -> Result<(), Fail> {
    const DELAY_MS_MIN: i64 = 5 * SECOND_MS;
    const DELAY_MS_MAX: i64 = HOUR_MS;
    let doublings = u32::try_from(timer.attempts.clamp(0, 20)).unwrap_or(20);
    let delay_ms = (DELAY_MS_MIN << doublings).min(DELAY_MS_MAX);
    let retry_at = engine.clock.now_ms() + delay_ms;
    tracing::error!(
        account = %timer.account, mode = %timer.mode, kind = %timer.kind, subject = %timer.subject,
        failures = timer.attempts + 1, delay_ms, ?fail, "a timer failed, for the reason in `fail`, and is tried again after `delay_ms`; please report it if it keeps failing"
    );
    metrics::counter!("till_timer_failures_total", "kind" => timer.kind.clone()).increment(1);
    engine
        .db
        .write(move |tx| {
            async move { Ok::<_, Fail>(till_store::timers::put_back(tx, timer, retry_at).await?) }
                .scope_boxed()
        })
        .await
        .map(drop)
}

//! Fires what fell due, each at most once: many together, but one that fails fails alone.

mod clock;
mod expire;
mod look;
mod unread;

pub use clock::reach_goal;
pub use look::look_after;

use std::collections::{HashMap, HashSet};

use scoped_futures::ScopedFutureExt as _;
use till_core::scope::Scope;
use till_core::time::{HOUR_MS, SECOND_MS};
use till_core::timer::TimerKind;
use till_store::timers::Due;
use till_store::{StoreError, Tx};

use crate::base::fail::Fail;
use crate::base::{Context, Effects, Engine};
use crate::refunds;
use crate::subscriptions;
use crate::team;
use expire::{Locked, expire};

const AT_ONCE: usize = 200;

/// Fires everything due now, on real time and on every moved test clock. Says how many it fired.
pub async fn run_due(engine: &Engine) -> Result<usize, Fail> {
    let mut all = Done::default();
    loop {
        let due = due_now(engine).await?;
        let mut done = Done::default();
        for alike in due.chunk_by(|a, b| fires_with_others(a) && fires_with_others(b)) {
            for some in alike.chunks(AT_ONCE) {
                done.add(&fire_apart(engine, some).await?);
            }
        }
        all.add(&done);
        // What is left is in somebody else's hands at this moment: they fire it, or the next look does.
        if done.fired + done.put_back == 0 {
            return Ok(all.fired);
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Done {
    fired: usize,
    put_back: usize,
}

impl Done {
    fn add(&mut self, more: &Done) {
        self.fired += more.fired;
        self.put_back += more.put_back;
    }
}

/// Expiry makes nothing else fall due; other kinds are fired one by one.
fn fires_with_others(timer: &Due) -> bool {
    timer.kind == TimerKind::ExpireInvoice.as_str()
}

async fn due_now(engine: &Engine) -> Result<Vec<Due>, Fail> {
    let now = engine.clock.now_ms();
    let at_once = i64::try_from(AT_ONCE).map_err(Fail::broken)?;
    let mut reader = engine.db.read().await?;
    let mut due = till_store::timers::due(&mut reader, now, at_once).await?;
    for clock in till_store::accounts::moved_clocks(&mut reader).await? {
        let Some(mode) = till_core::asset::Mode::parse(&clock.mode) else {
            continue;
        };
        let scope = Scope::new(&clock.account, mode);
        let account_now = now.saturating_add(clock.clock_offset_ms);
        due.extend(till_store::timers::due_for(&mut reader, &scope, account_now, at_once).await?);
    }
    in_order(&mut due);
    due.dedup();
    Ok(due)
}

fn in_order(due: &mut [Due]) {
    fn key(timer: &Due) -> (i64, [&str; 4]) {
        let names = [&timer.account, &timer.mode, &timer.kind, &timer.subject];
        (timer.due_at, names.map(String::as_str))
    }
    due.sort_by(|a, b| key(a).cmp(&key(b)));
}

/// Fires these in one unit of work. If that fails, then in ever smaller ones, until the one that fails is found.
async fn fire_apart(engine: &Engine, timers: &[Due]) -> Result<Done, Fail> {
    let mut done = Done::default();
    let mut left = vec![timers.to_vec()];
    while let Some(timers) = left.pop() {
        let fail = match fire_together(engine, &timers).await {
            Ok(fired) => {
                done.fired += fired;
                continue;
            }
            Err(fail) => fail,
        };
        match (fail, &timers[..]) {
            // Nobody's timer is to blame.
            (
                fail @ Fail::Store(
                    StoreError::Unavailable | StoreError::Unwritable(_) | StoreError::Schema(_),
                    _,
                ),
                _,
            ) => {
                return Err(fail);
            }
            // Somebody holds rows of one of the accounts: the others go on, and its own come back.
            (Fail::Store(StoreError::LockTimeout { .. }, _), _) => {
                left.extend(other_accounts(timers))
            }
            (fail, [timer]) => {
                put_back(engine, timer, &fail).await?;
                done.put_back += 1;
            }
            (_, several) => {
                let (first, second) = several.split_at(several.len() / 2);
                left.extend([second.to_vec(), first.to_vec()]);
            }
        }
    }
    Ok(done)
}

/// By account; nothing if they are all of one.
fn other_accounts(timers: Vec<Due>) -> Vec<Vec<Due>> {
    let mut by_account: HashMap<String, Vec<Due>> = HashMap::new();
    for timer in timers {
        let of_account = by_account.entry(timer.account.clone()).or_default();
        of_account.push(timer);
    }
    match by_account.len() {
        1 => Vec::new(),
        _ => by_account.into_values().collect(),
    }
}

/// Fires those of these timers, alike and in their order, that are nobody else's.
async fn fire_together(engine: &Engine, timers: &[Due]) -> Result<usize, Fail> {
    let effects = Effects::default();
    let effects_ref = &effects;
    let fired = engine
        .db
        .write(move |tx: &mut Tx| {
            async move {
                effects_ref.clear();
                let mut free = till_store::timers::lock_free(tx, timers).await?;
                in_order(&mut free);
                let scopes = free.iter().map(scope_of).collect::<Result<Vec<_>, _>>()?;
                let distinct: Vec<&Scope> =
                    scopes.iter().collect::<HashSet<_>>().into_iter().collect();
                let contexts = Context::load_many(engine, tx, &distinct, effects_ref).await?;
                let mut due = Vec::with_capacity(free.len());
                for (scope, timer) in scopes.iter().zip(&free) {
                    let gone = || Fail::broken(format!("{} has no merchant", scope.account));
                    due.push((contexts.get(scope).ok_or_else(gone)?, timer));
                }
                fire(tx, due, Locked::Left).await.map(|fired| fired.taken)
            }
            .scope_boxed()
        })
        .await?;
    engine.tell(&effects);
    Ok(fired)
}

fn scope_of(timer: &Due) -> Result<Scope, Fail> {
    let unreadable = || Fail::broken(format!("a timer of mode {}", timer.mode));
    timer.scope().ok_or_else(unreadable)
}

/// What became of timers that were handed over together.
struct Fired {
    /// How many of them, from the first, were looked at.
    seen: usize,
    /// How many of these were still there to be fired.
    taken: usize,
}

/// Timers of one kind, each in its account's context.
async fn fire(tx: &mut Tx, due: Vec<(&Context<'_>, &Due)>, locked: Locked) -> Result<Fired, Fail> {
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
                subscriptions::step(tx, context, &timer.subject).await?;
            }
            TimerKind::VoidCredit => {
                subscriptions::void_credit(tx, context, &timer.subject).await?;
            }
            TimerKind::ResolveCharge => {
                subscriptions::resolve(tx, context, &timer.subject).await?;
            }
            TimerKind::ApplyChange => {
                team::changes::take_effect(tx, context, &timer.subject).await?;
            }
        }
    }
    let seen = due.len();
    Ok(Fired { seen, taken })
}

/// One that failed is told of and tried again later, ever less often.
async fn put_back(engine: &Engine, timer: &Due, fail: &Fail) -> Result<(), Fail> {
    const DELAY_MS_MIN: i64 = 5 * SECOND_MS;
    const DELAY_MS_MAX: i64 = HOUR_MS;
    let doublings = u32::try_from(timer.attempts.clamp(0, 20)).unwrap_or(20);
    let delay_ms = (DELAY_MS_MIN << doublings).min(DELAY_MS_MAX);
    let retry_at = engine.clock.now_ms() + delay_ms;
    tracing::error!(
        account = %timer.account, mode = %timer.mode, kind = %timer.kind, subject = %timer.subject,
        failures = timer.attempts + 1, delay_ms, ?fail, "a timer failed and will be retried"
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

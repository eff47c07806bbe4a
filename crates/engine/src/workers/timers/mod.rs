//! Fires what fell due, each at most once: many together, but one that fails fails alone.

mod clock;
mod expire;
mod fire;
mod fired;
mod look;
mod unread;

pub use clock::reach_goal;
pub use look::look_after;

use std::collections::{HashMap, HashSet};

use scoped_futures::ScopedFutureExt as _;
use till_core::scope::Scope;
use till_store::timers::Due;
use till_store::{StoreError, Tx};

use crate::base::fail::Fail;
use crate::base::{Context, Effects, Engine};
use expire::WhenLocked;
use fire::{fire, fires_with_others, in_order, put_back};

const AT_ONCE: usize = 200;

/// Fires everything due now, on real time and on every moved test clock. Says how many it fired.
pub async fn run_due(engine: &Engine) -> Result<usize, Fail> {
    let mut all = FiredCounts::default();
    loop {
        let due = due_now(engine).await?;
        let mut done = FiredCounts::default();
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
struct FiredCounts {
    fired: usize,
    put_back: usize,
}

impl FiredCounts {
    fn add(&mut self, more: &FiredCounts) {
        self.fired += more.fired;
        self.put_back += more.put_back;
    }
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

/// Fires these in one unit of work. If that fails, then in ever smaller ones, until the one that fails is found.
async fn fire_apart(engine: &Engine, timers: &[Due]) -> Result<FiredCounts, Fail> {
    let mut done = FiredCounts::default();
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
                fire(tx, due, WhenLocked::Left)
                    .await
                    .map(|fired| fired.taken)
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

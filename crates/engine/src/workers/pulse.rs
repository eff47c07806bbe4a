//! Whether anything can be written, and how the work is keeping up. A database may answer every question and take nothing
//! in, for want of room.

use std::time::Duration;

use till_store::StoreError;
use till_store::installation::{self, Amount};

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::rotation;

/// What a request writes is written this rarely while all is well: it is a lot to write for nothing.
const WHOLE_EVERY_MS: i64 = 30_000;

/// Writes a row, and notes how long that took.
pub async fn beat(engine: &Engine) -> Result<(), Fail> {
    tell_jump(engine);
    let now = engine.clock.now_ms();
    let started = engine.clock.monotonic_us();
    let can_write = engine.readiness.can_write() && engine.db.unwritable().is_none();
    let amount = match engine.readiness.is_whole_due(now, WHOLE_EVERY_MS) {
        _ if !can_write => Amount::Requests,
        true => Amount::Request,
        false => Amount::Little,
    };
    let written = installation::try_writing(&engine.db, now, amount).await;
    let written = written.map_err(Fail::from);
    let took = Duration::from_micros(engine.clock.monotonic_us().saturating_sub(started));
    metrics::histogram!("till_write_seconds").record(took);
    match &written {
        // That others write more than we can is no reason to send it elsewhere.
        Err(Fail::Store(
            StoreError::Busy | StoreError::Serialization | StoreError::LockTimeout { .. },
            _,
        )) => return Ok(()),
        done => engine.readiness.wrote(done.is_ok(), amount, now),
    }
    written?;
    rotation::follow(engine).await?;
    lags(engine).await
}

/// Goes by the clock that all servers share, and compares this machine's with it.
pub async fn compare_clocks(engine: &Engine) -> Result<(), Fail> {
    let clock = &engine.clock;
    let before = clock.machine_ms();
    let Some(shared) = engine.db.clock_ms().await? else {
        return Ok(());
    };
    clock.follow(shared);
    // It was read at some moment between question and answer.
    let off_ms = (before - shared).max(shared - clock.machine_ms()).max(0);
    let was_off = engine.readiness.clock_off_s();
    engine.readiness.clock_is_off_by(off_ms);
    if let (Some(seconds), None) = (engine.readiness.clock_off_s(), was_off) {
        tracing::error!(
            seconds,
            "this machine's clock and the database's differ: this server is not ready and lets nothing fall due until both are set; check NTP"
        );
    }
    Ok(())
}

/// With SQLite, what is due and what has expired go by the machine's clock.
fn tell_jump(engine: &Engine) {
    let Some(jumped_ms) = engine.jumps.look(&*engine.clock) else {
        return;
    };
    let direction = match jumped_ms > 0 {
        true => "forward",
        false => "back",
    };
    metrics::counter!("till_clock_jumps_total", "direction" => direction).increment(1);
    tracing::warn!(
        direction,
        seconds = jumped_ms.unsigned_abs() / 1_000,
        "the system's clock jumped: check NTP, and whether the machine was suspended"
    );
}

/// How far behind the workers are: the age of the oldest that is due and not done.
async fn lags(engine: &Engine) -> Result<(), Fail> {
    let mut reader = engine.db.read().await?;
    let now = engine.clock.now_ms();
    let due = [
        (
            "webhooks",
            till_store::deliveries::oldest_due(&mut reader, now).await?,
        ),
        ("timers", till_store::timers::oldest_due(&mut reader).await?),
        ("mail", till_store::notices::oldest_due(&mut reader).await?),
    ];
    for (work, since) in due {
        let late_ms = since.map_or(0, |since| (now - since).max(0).unsigned_abs());
        metrics::gauge!("till_lag_seconds", "work" => work).set(Duration::from_millis(late_ms));
    }
    for (pool, size, idle) in engine.db.pools() {
        metrics::gauge!("till_database_connections", "pool" => pool).set(size);
        metrics::gauge!("till_database_connections_idle", "pool" => pool).set(idle);
    }
    Ok(())
}

//! Follows payouts that merchants recorded until their blocks are final: a transaction that was waiting for one may still fail, or
//! never be mined.

use scoped_futures::ScopedFutureExt as _;
use till_core::time::MINUTE_MS;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::refunds;

const AT_ONCE: i64 = 16;
/// What a server that died had taken is looked at by another after this.
const TAKEN_MS: i64 = 5 * MINUTE_MS;

pub const SCREEN_EVERY_MS: u64 = 20_000;

/// Asks the lists about addresses that they could not be asked about before, and about those of refunds that are ready when there is a
/// new edition.
pub async fn screen(engine: &Engine) -> Result<(), Fail> {
    refunds::screen_ready(engine).await?;
    let turn = engine.clock.now_ms().unsigned_abs() / SCREEN_EVERY_MS;
    refunds::screen_waiting(engine, i64::try_from(turn).unwrap_or(0)).await
}

/// Asks the chain about every payout that is due.
pub async fn look_at_due(engine: &Engine) -> Result<(), Fail> {
    loop {
        let now = engine.clock.now_ms();
        let due = engine
            .db
            .write(move |tx| {
                async move {
                    let until = now.saturating_add(TAKEN_MS);
                    Ok::<_, Fail>(till_store::payout_looks::claim(tx, now, until, AT_ONCE).await?)
                }
                .scope_boxed()
            })
            .await?;
        for look in &due {
            refunds::look_again(engine, look).await?;
        }
        if i64::try_from(due.len()).is_ok_and(|due| due < AT_ONCE) {
            return Ok(());
        }
    }
}

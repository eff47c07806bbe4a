//! Forgets what is past its retention.

use scoped_futures::ScopedFutureExt as _;
use till_core::limits::IDEMPOTENCY_RETENTION_DAYS;
use till_core::time::DAY_MS;

use crate::base::Engine;
use crate::base::fail::Fail;

const AT_ONCE: i64 = 1_000;

pub async fn sweep(engine: &Engine) -> Result<(), Fail> {
    let before = engine.clock.now_ms() - i64::from(IDEMPOTENCY_RETENTION_DAYS) * DAY_MS;
    loop {
        let forgotten = engine
            .db
            .write(move |tx| {
                async move {
                    Ok::<_, Fail>(
                        till_store::idempotency::forget_before(tx, before, AT_ONCE).await?,
                    )
                }
                .scope_boxed()
            })
            .await?;
        if forgotten < AT_ONCE.cast_unsigned() {
            return Ok(());
        }
    }
}

//! Where a network is read from when it is watched for the first time.

use till_core::attribution::CLOCK_SLACK_MS;
use till_store::networks::NetworkRow;
use till_watch::{Head, height_at};

use super::network_watch::NetworkWatch;
use super::trouble::Trouble;

/// The height that the operator configured; or else the head, or the block at which the oldest open lease began if that
/// is earlier.
pub(super) async fn first_height(
    watch: NetworkWatch<'_>,
    row: &NetworkRow,
    head: &Head<'_>,
) -> Result<i64, Trouble> {
    let top = head.block.height;
    // After a thaw, it is read again from behind the last block that both sides agree on, once there is one.
    if let Some(cursor) = row.cursor_height {
        return Ok(cursor + 1);
    }
    if let Some(height) = watch.net.scan_from {
        return Ok(height.clamp(0, top));
    }
    let (family, mode) = (watch.network().family, watch.network().mode);
    let mut reader = watch.engine.db.read().await.map_err(Trouble::from)?;
    let oldest = till_store::leases::oldest_open(&mut reader, family, mode).await?;
    drop(reader);
    let slack_ms = watch.network().clock_slack_ms;
    let slack_ms = slack_ms.unwrap_or(CLOCK_SLACK_MS);
    match oldest.map(|leased_at| leased_at - slack_ms) {
        Some(time) if time < head.block.time => Ok(height_at(watch.pool, head, time).await?),
        _ => Ok(top),
    }
}

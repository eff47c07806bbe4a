//! Where a network is read from when it is watched for the first time.

use futures::FutureExt as _;
use till_chains::evm::client::Which;
use till_core::attribution::CLOCK_SLACK_MS;
use till_store::networks::NetworkRow;

use super::Trouble;
use super::ask::Asking;
use super::heads::Head;

/// What the operator says, or else the head, or the block before the oldest open lease if that is earlier.
pub(super) async fn first_height(
    asking: Asking<'_>,
    row: &NetworkRow,
    head: &Head<'_>,
) -> Result<i64, Trouble> {
    let top = head.block.height;
    // After a thaw, it is read again from behind the last block that both sides agree on, once there is one.
    if let Some(cursor) = row.cursor_height {
        return Ok(cursor + 1);
    }
    if let Some(height) = asking.net.scan_from {
        return Ok(height.clamp(0, top));
    }
    let (family, mode) = (asking.network().family, asking.network().mode);
    let mut reader = asking.engine.db.read().await.map_err(Trouble::from)?;
    let oldest = till_store::leases::oldest_open(&mut reader, family, mode).await?;
    drop(reader);
    match oldest.map(|leased_at| leased_at - CLOCK_SLACK_MS) {
        Some(time) if time < head.block.time => at_time(asking, head, time).await,
        _ => Ok(top),
    }
}

/// The highest block that is not younger than a time, or the first one there is. Whoever says that a block is younger is
/// believed: reading too much loses nothing.
async fn at_time(asking: Asking<'_>, head: &Head<'_>, time: i64) -> Result<i64, Trouble> {
    let (mut low, mut high) = (0, head.block.height);
    while low < high {
        let middle = low + (high - low + 1) / 2;
        // History that every endpoint has forgotten is before anything that can be read.
        match is_younger(asking, head, middle, time).await? {
            true => high = middle - 1,
            false => low = middle,
        }
    }
    Ok(low)
}

async fn is_younger(
    asking: Asking<'_>,
    head: &Head<'_>,
    height: i64,
    time: i64,
) -> Result<bool, Trouble> {
    let asked = head
        .holders
        .iter()
        .map(|holder| asking.header(holder, Which::At(height)).boxed());
    let told = futures::future::join_all(asked).await;
    if told.iter().all(Result::is_err) {
        return Err(Trouble::Source);
    }
    let mut known = told.into_iter().flatten().flatten();
    Ok(known.any(|header| header.time > time))
}

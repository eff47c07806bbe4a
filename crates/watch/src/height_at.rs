//! Finds the block that was made at a time.

use futures::FutureExt as _;
use till_chains::observer::Header;

use crate::heads::Head;
use crate::latecomers::{GRACE, answers_in_time};
use crate::pool::{EndpointTrouble, Pool};

/// The highest block that is not younger than `time`, or else the first block. One endpoint that calls a block younger
/// is believed: at worst too much is read, and nothing is missed.
pub async fn height_at(pool: Pool<'_>, head: &Head<'_>, time: i64) -> Result<i64, EndpointTrouble> {
    let (mut low, mut high) = (0, head.block.height);
    while low < high {
        let middle = low + (high - low + 1) / 2;
        // History that every endpoint has forgotten is before anything that can be read.
        match is_younger(pool, head, middle, time).await? {
            true => high = middle - 1,
            false => low = middle,
        }
    }
    Ok(low)
}

async fn is_younger(
    pool: Pool<'_>,
    head: &Head<'_>,
    height: i64,
    time: i64,
) -> Result<bool, EndpointTrouble> {
    let asked = head
        .holders
        .iter()
        .map(|holder| pool.header(holder, height).boxed());
    let enough = |told: &[Option<Result<Option<Header>, EndpointTrouble>>]| {
        told.iter().flatten().flatten().count() >= head.need
    };
    let told = answers_in_time(asked.collect(), || GRACE, enough).await;
    let told: Vec<_> = told.into_iter().flatten().collect();
    if told.iter().all(Result::is_err) {
        return Err(EndpointTrouble);
    }
    let mut known = told.into_iter().flatten().flatten();
    Ok(known.any(|header| header.time > time))
}

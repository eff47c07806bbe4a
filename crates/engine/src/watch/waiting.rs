//! What waits for a block where a network's mempool can be looked at: it is shown, and taken back when it is replaced.

use till_chains::BlockHash;
use till_watch::{Chain, Mempool, MempoolChanges};

use super::network_watch::NetworkWatch;
use super::our_addresses::registered;
use super::watched_addresses;
use crate::base::fail::Fail;

/// What changed about it, once the blocks of a chain are read.
pub(super) async fn waiting_transfers(
    watch: NetworkWatch<'_>,
    mempool: Option<&mut Mempool>,
    chain: &Chain<'_>,
) -> Result<MempoolChanges, Fail> {
    let top = chain.top().and_then(|top| BlockHash::parse(&top.hash));
    // What leaves a replaced block is gone first, and waits again from the next round on.
    let (Some(mempool), Some(top), false) = (mempool, top, chain.replaces()) else {
        return Ok(MempoolChanges::default());
    };
    watched_addresses::refresh(watch.engine, watch.net).await?;
    mempool.look(watch.pool).await;
    let ours = registered(watch, &mempool.unchecked()).await?;
    mempool.retain_ours(&ours);
    Ok(mempool.changes(&top))
}

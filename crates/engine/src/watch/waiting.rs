//! Payments that wait for a block, on networks whose mempools can be read: they are shown, and taken back when they are
//! replaced.

use till_chains::BlockHash;
use till_watch::{Chain, Mempool, MempoolChanges};

use super::network_watch::NetworkWatch;
use super::our_addresses::registered;
use super::watched_addresses;
use crate::base::fail::Fail;

/// The most addresses that are asked about one by one, the latest leases first.
const AWAITED_MAX: i64 = 500;

/// What changed among waiting payments, once the blocks up to the top of `chain` were read.
pub(super) async fn waiting_transfers(
    watch: NetworkWatch<'_>,
    mempool: Option<&mut Mempool>,
    chain: &Chain<'_>,
) -> Result<MempoolChanges, Fail> {
    let top = chain.top().and_then(|top| BlockHash::parse(&top.hash));
    let (Some(mempool), Some(top)) = (mempool, top) else {
        return Ok(MempoolChanges::default());
    };
    if chain.replaces() {
        // What leaves a replaced block is gone first, and waits again from the next round on.
        mempool.blocks_were_replaced();
        return Ok(MempoolChanges::default());
    }
    watched_addresses::refresh(watch.engine, watch.net).await?;
    let awaited = awaited_addresses(watch).await?;
    mempool.look(watch.pool, &awaited).await;
    let ours = registered(watch, &mempool.unchecked()).await?;
    mempool.retain_ours(&ours);
    Ok(mempool.changes(&top))
}

/// The addresses of open invoices, if an endpoint must be asked about each; otherwise none.
async fn awaited_addresses(watch: NetworkWatch<'_>) -> Result<Vec<[u8; 20]>, Fail> {
    if !watch.net.is_asked_by_address() {
        return Ok(Vec::new());
    }
    let network = watch.network();
    let mut reader = watch.engine.db.read().await?;
    let which = (network.family, network.mode);
    let open = till_store::leases::open_addresses(&mut reader, which, AWAITED_MAX).await?;
    let observer = &watch.net.observer;
    let bytes = open.iter().map(|it| observer.address_bytes(it));
    Ok(bytes.flatten().collect())
}

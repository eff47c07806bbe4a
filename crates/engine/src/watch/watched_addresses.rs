//! Keeps the set of watched addresses up to date with the database. Addresses are derived, not read: every number that
//! an account may have used, with every destination it ever had. A number is taken before its address is shown to
//! anybody, so a set that is refreshed after logs were read has every address that they can pay to.

use till_chains::DepositAddresses;
use till_store::destinations::Numbered;

use crate::base::Engine;
use crate::base::fail::Fail;
use till_watch::WatchedNetwork;

/// How many addresses are derived before other tasks get the thread.
const AT_ONCE: u64 = 2_000;

/// Adds the addresses that the database has by now.
pub(super) async fn refresh(engine: &Engine, net: &WatchedNetwork) -> Result<(), Fail> {
    let mut known = net.set.known.lock().await;
    let mut reader = engine.db.read().await?;
    let (family, mode) = (net.network.family, net.network.mode);
    let rows = till_store::destinations::numbered(&mut reader, family, mode).await?;
    drop(reader);
    for row in rows {
        let key = (row.account.clone(), row.destination.clone());
        let before = known.get(&key).copied();
        if before != Some(row.next_number) {
            add(net, &row, before).await;
            known.insert(key, row.next_number);
        }
    }
    Ok(())
}

async fn add(net: &WatchedNetwork, row: &Numbered, before: Option<i64>) {
    if before.is_none()
        && let Some(destination) = net.observer.address_bytes(&row.destination)
    {
        net.set.insert(&[destination]);
    }
    let addresses = DepositAddresses::new(net.network, &row.account, &row.destination);
    let Ok(addresses) = addresses else {
        return;
    };
    let from = u64::try_from(before.unwrap_or(0)).unwrap_or_default();
    let to = u64::try_from(row.next_number).unwrap_or_default();
    let mut at = from;
    while at < to {
        let end = to.min(at + AT_ONCE);
        let derived: Vec<[u8; 20]> = (at..end).filter_map(|it| addresses.raw(it)).collect();
        net.set.insert(&derived);
        at = end;
        tokio::task::yield_now().await;
    }
}

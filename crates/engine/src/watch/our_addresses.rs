//! Finds the logs that concern us: by the watched set, which has false positives, and then by the database.

use std::collections::{BTreeSet, HashSet};

use till_store::leases::LeaseRow;
use till_watch::amount_arrived::DestinationsByAddress;
use till_watch::our_transfers::{candidates, recipients, retain_ours};
use till_watch::{EndpointLogs, SeenTransfer};

use super::network_watch::NetworkWatch;
use super::trouble::Trouble;
use super::watched_addresses;
use crate::base::fail::Fail;

/// The logs that name one of our addresses, and which addresses these are.
pub(super) async fn of_ours<'s>(
    watch: NetworkWatch<'s>,
    given: Vec<EndpointLogs<'s>>,
) -> Result<(Vec<EndpointLogs<'s>>, HashSet<String>), Trouble> {
    // The logs are read already: an address is in the database before anybody can pay to it.
    watched_addresses::refresh(watch.engine, watch.net).await?;
    let mut given = candidates(watch.pool, given);
    let ours = registered(watch, &recipients(watch.pool, &given)).await?;
    retain_ours(watch.pool, &mut given, &ours);
    Ok((given, ours))
}

/// The addresses among these that are ours: the watched set compares eight bytes of each, the database all of them.
pub(super) async fn registered(
    watch: NetworkWatch<'_>,
    addresses: &HashSet<String>,
) -> Result<HashSet<String>, Fail> {
    if addresses.is_empty() {
        return Ok(HashSet::new());
    }
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let mut reader = watch.engine.db.read().await?;
    let mut ours = till_store::leases::ours(&mut reader, &addresses).await?;
    ours.extend(till_store::destinations::registered(&mut reader, &addresses).await?);
    Ok(ours)
}

/// By deposit address among the recipients, every destination that its merchant ever had: the funds may be forwarded
/// there.
pub(super) async fn homes(
    watch: NetworkWatch<'_>,
    seen: &[SeenTransfer],
) -> Result<DestinationsByAddress, Fail> {
    if seen.is_empty() {
        return Ok(DestinationsByAddress::new());
    }
    let network = watch.network();
    let recipients: HashSet<&str> = seen.iter().map(|it| &*it.recipient).collect();
    let recipients: Vec<&str> = recipients.into_iter().collect();
    let mut reader = watch.engine.db.read().await?;
    let leases = till_store::leases::of_addresses(&mut reader, &recipients).await?;
    let accounts: BTreeSet<&str> = leases.iter().map(|it| &*it.scope.account).collect();
    let accounts: Vec<&str> = accounts.into_iter().collect();
    let of_family = (network.family, network.mode);
    let had = till_store::destinations::of_accounts(&mut reader, &accounts, of_family).await?;
    let home = |lease: LeaseRow| {
        let own = had.get(&*lease.scope.account).cloned();
        (lease.address, own.unwrap_or_default())
    };
    Ok(leases.iter().cloned().map(home).collect())
}

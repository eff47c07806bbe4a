//! Which of the logs concern us: found by the watched set, and by the database in full.

use std::collections::HashSet;

use till_watch::arrived::Homes;
use till_watch::matched::{candidates, recipients, retain_ours};
use till_watch::{Given, Seen};

use super::ask::Asking;
use super::{Trouble, set};
use crate::base::fail::Fail;

/// Those of the logs that name one of our addresses, and which addresses those are.
pub(super) async fn ours<'s>(
    asking: Asking<'s>,
    given: Vec<Given<'s>>,
) -> Result<(Vec<Given<'s>>, HashSet<String>), Trouble> {
    // What was read first and is looked for afterwards cannot have come too early.
    set::refresh(asking.engine, asking.net).await?;
    let mut given = candidates(asking.pool, given);
    let ours = registered(asking, &recipients(asking.pool, &given)).await?;
    retain_ours(asking.pool, &mut given, &ours);
    Ok((given, ours))
}

/// The set knows eight bytes of each address; the database knows them in full.
async fn registered(
    asking: Asking<'_>,
    addresses: &HashSet<String>,
) -> Result<HashSet<String>, Fail> {
    if addresses.is_empty() {
        return Ok(HashSet::new());
    }
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let mut reader = asking.engine.db.read().await?;
    let mut ours = till_store::leases::ours(&mut reader, &addresses).await?;
    ours.extend(till_store::destinations::registered(&mut reader, &addresses).await?);
    Ok(ours)
}

/// Where what these transfers brought to deposit addresses may go on to: every destination that their merchants ever had.
pub(super) async fn homes(asking: Asking<'_>, seen: &[Seen]) -> Result<Homes, Fail> {
    if seen.is_empty() {
        return Ok(Homes::new());
    }
    let network = asking.network();
    let recipients: HashSet<&str> = seen.iter().map(|it| &*it.recipient).collect();
    let recipients: Vec<&str> = recipients.into_iter().collect();
    let mut reader = asking.engine.db.read().await?;
    let leases = till_store::leases::of_addresses(&mut reader, &recipients).await?;
    let of_family = (network.family, network.mode);
    let all = till_store::destinations::numbered(&mut reader, of_family.0, of_family.1).await?;
    let mut homes = Homes::new();
    for lease in leases {
        let own = all.iter().filter(|it| *it.account == *lease.scope.account);
        let own = own.map(|it| it.destination.clone()).collect();
        homes.insert(lease.address, own);
    }
    Ok(homes)
}

//! Shows transfers that too few endpoints report for a quorum, if it is certain which invoice they are for.

use std::collections::BTreeSet;

use till_core::attribution::CLOCK_SLACK_MS;
use till_store::leases::LeaseRow;
use till_watch::{Head, SeenTransfer, Span, Unconfirmed, headers};

use super::gather::transfers;
use super::network_watch::NetworkWatch;
use super::trouble::Trouble;

/// The transfers to us in the next blocks of the endpoints that answer, as waiting for a block.
pub(super) async fn unconfirmed_transfers(
    watch: NetworkWatch<'_>,
    head: &Head<'_>,
    spans: &[Span],
    (from, read_at): (i64, Option<i64>),
    unconfirmed: &mut Unconfirmed,
) -> Result<Vec<SeenTransfer>, Trouble> {
    let (mut headers, _) = headers::agreed(watch.pool, head, head.next(from)).await?;
    let matched = transfers(watch, head, spans, &mut headers).await?;
    let seen = keep_unambiguous(watch, matched.seen, read_at).await?;
    let up_to = headers.last().map_or(from - 1, |last| last.height);
    let waits = |seen: SeenTransfer| SeenTransfer {
        height: None,
        ..seen
    };
    let shown = unconfirmed.add(seen, up_to);
    Ok(shown.into_iter().map(waits).collect())
}

/// Keeps the transfers whose invoice is certain: its lease of the address is open, and was the only one since before
/// the last block that was read. Whom others are for depends on the time of their block, or on who sent how much, which
/// is not known yet.
async fn keep_unambiguous(
    watch: NetworkWatch<'_>,
    mut seen: Vec<SeenTransfer>,
    read_at: Option<i64>,
) -> Result<Vec<SeenTransfer>, Trouble> {
    let addresses: BTreeSet<&str> = seen.iter().map(|it| &*it.recipient).collect();
    let addresses: Vec<&str> = addresses.into_iter().collect();
    if addresses.is_empty() {
        return Ok(seen);
    }
    let mut reader = watch.engine.db.read().await.map_err(Trouble::from)?;
    let leases = till_store::leases::of_addresses(&mut reader, &addresses).await?;
    drop(reader);
    seen.retain(|it| {
        let of_address = leases.iter().filter(|lease| lease.address == it.recipient);
        is_unambiguous(&of_address.collect::<Vec<_>>(), read_at)
    });
    Ok(seen)
}

/// Whether a payment to an address can only be for its latest lease. `leases` are all of that address, the latest last.
fn is_unambiguous(leases: &[&LeaseRow], read_at: Option<i64>) -> bool {
    let Some((latest, earlier)) = leases.split_last() else {
        return false;
    };
    let since = |read_at: i64| latest.leased_at <= read_at - CLOCK_SLACK_MS;
    latest.free_at.is_none() && (earlier.is_empty() || read_at.is_some_and(since))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_it_is_for_is_sure_where_nobody_else_can_have_held_the_address() {
        let lease = |leased_at: i64, free_at: Option<i64>| LeaseRow {
            scope: till_core::scope::Scope::new("acct_1", till_core::asset::Mode::Test),
            family: till_core::asset::Family::Evm,
            number: 1,
            address: String::new(),
            invoice: String::new(),
            leased_at,
            free_at,
            freed: false,
            picked: false,
        };
        let (ended, open) = (lease(0, Some(5)), lease(CLOCK_SLACK_MS, None));
        assert!(is_unambiguous(&[&open], None), "nobody had it before");
        assert!(!is_unambiguous(&[&ended], None));
        assert!(!is_unambiguous(&[], Some(i64::MAX)));
        let read_at = 2 * CLOCK_SLACK_MS;
        assert!(is_unambiguous(&[&ended, &open], Some(read_at)));
        assert!(!is_unambiguous(&[&ended, &open], Some(read_at - 1)));
        assert!(!is_unambiguous(&[&ended, &open], None));
    }
}

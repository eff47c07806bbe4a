//! Reads the next blocks of a network from a quorum, with the transfers to us in them.

use till_chains::observer::Header;
use till_core::chain::Block;
use till_watch::our_transfers::{self, Matched};
use till_watch::{ChainUpdate, Head, Span, amount_arrived, block_of, headers, read_all};

use super::network_watch::NetworkWatch;
use super::our_addresses::{homes, of_ours};
use super::senders;
use super::trouble::Trouble;
use crate::base::fail::Fail;

/// The block that the next ones must be on top of.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExpectedParent<'b> {
    /// Any: they are the first that are read.
    Nothing,
    Parent(&'b str),
}

/// The outcome of reading on.
#[derive(Debug)]
pub(super) enum Gathered {
    Read(ChainUpdate),
    /// The first block's parent is not our last block: a reorg.
    Elsewhere,
}

/// Reads one step of blocks from a height on towards the head.
pub(super) async fn gather(
    watch: NetworkWatch<'_>,
    head: &Head<'_>,
    spans: &[Span],
    from: i64,
    upon: ExpectedParent<'_>,
) -> Result<Gathered, Trouble> {
    let (mut headers, mut held) = headers::agreed(watch.pool, head, head.next(from)).await?;
    let is_child = |first: &Header| match upon {
        ExpectedParent::Nothing => true,
        ExpectedParent::Parent(parent) => first.parent.text() == parent,
    };
    if headers.first().is_some_and(|first| !is_child(first)) {
        return Ok(Gathered::Elsewhere);
    }
    let mut matched = transfers(watch, head, spans, &mut headers).await?;
    if let Some(open) = matched.open {
        headers.retain(|header| header.height < open);
        held = Some(disagreement(open));
    }
    let mut blocks: Vec<Block> = headers.iter().map(block_of).collect();
    if let Some(open) = note_details(watch, &blocks, &mut matched).await? {
        blocks.retain(|block| block.height < open);
        held = Some(disagreement(open));
    }
    Ok(Gathered::Read(ChainUpdate {
        blocks,
        transfers: matched.seen,
        held,
        ..ChainUpdate::default()
    }))
}

/// The transfers to us in these blocks, as far as enough endpoints agree on them or receipts prove them.
pub(super) async fn transfers<'s>(
    watch: NetworkWatch<'s>,
    head: &Head<'s>,
    spans: &[Span],
    headers: &mut Vec<Header>,
) -> Result<Matched, Trouble> {
    let logs = read_all(watch.pool, head, spans, headers).await?;
    let (given, ours) = of_ours(watch, logs).await?;
    Ok(our_transfers::agreed(watch.pool, &given, &ours, (&headers[..], head.need)).await?)
}

/// Notes how much arrived, and what registers say of the senders. Returns the first block about which endpoints
/// contradict each other; transfers from there on are left out.
pub(super) async fn note_details(
    watch: NetworkWatch<'_>,
    blocks: &[Block],
    matched: &mut Matched,
) -> Result<Option<i64>, Fail> {
    let homes = homes(watch, &matched.seen).await?;
    let came = amount_arrived::note(watch.pool, blocks, &homes, &mut matched.seen).await;
    let sent = senders::note(watch, &mut matched.seen).await;
    let open = came.into_iter().chain(sent).min();
    if let Some(open) = open {
        matched.end_below(open);
    }
    Ok(open)
}

/// Tells operators why reading stops at a height.
pub(super) fn disagreement(height: i64) -> String {
    format!("the endpoints disagree about a transfer at height {height}")
}

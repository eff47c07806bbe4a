//! The next blocks of a network, from as many endpoints as must agree, with what in them concerns us.

use till_chains::observer::Header;
use till_core::chain::Block;
use till_watch::our_transfers::{self, Matched};
use till_watch::{ChainUpdate, Head, Span, amount_arrived, block_of, headers, read_all};

use super::network_watch::NetworkWatch;
use super::our_addresses::{homes, of_ours};
use super::senders;
use super::trouble::Trouble;
use crate::base::fail::Fail;

/// What the blocks from a height on are read upon.
#[derive(Clone, Copy, Debug)]
pub(super) enum ExpectedParent<'b> {
    /// They are the first.
    Nothing,
    Parent(&'b str),
}

/// What came of reading on.
#[derive(Debug)]
pub(super) enum Gathered {
    Read(ChainUpdate),
    /// The first block's parent is not our last block: a reorg.
    Elsewhere,
}

/// From a height on towards the head.
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
    if let Some(open) = more(watch, &blocks, &mut matched).await? {
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

/// The transfers to us in these blocks, as far as so many say the same as it takes.
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

/// Notes what arrived and who sent it. What is from the first block on about which endpoints contradict each other is left out.
pub(super) async fn more(
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

/// In words for operators.
pub(super) fn disagreement(height: i64) -> String {
    format!("the endpoints disagree about a transfer at height {height}")
}

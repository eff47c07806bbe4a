//! The next blocks of a network, from as many endpoints as must agree, with what in them concerns us.

use till_chains::observer::{Header, hash_text};
use till_core::chain::Block;
use till_watch::matched::{self, Matched};
use till_watch::{Head, Seen, Span, arrived, block_of, headers, read_all};

use super::ask::Asking;
use super::ours::{homes, ours};
use super::{Trouble, senders};
use crate::base::fail::Fail;

#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) blocks: Vec<Block>,
    pub(super) transfers: Vec<Seen>,
    /// Why it was not read further, where it was not for lack of blocks.
    pub(super) held: Option<String>,
}

/// What the blocks from a height on are read upon.
#[derive(Clone, Copy, Debug)]
pub(super) enum Upon<'b> {
    /// They are the first.
    Nothing,
    Parent(&'b str),
}

/// What came of reading on.
#[derive(Debug)]
pub(super) enum Gathered {
    Read(Read),
    /// The first block is a child of another: the chain was changed below it.
    Elsewhere,
}

/// From a height on towards the head.
pub(super) async fn gather(
    asking: Asking<'_>,
    head: &Head<'_>,
    spans: &[Span],
    from: i64,
    upon: Upon<'_>,
) -> Result<Gathered, Trouble> {
    let (mut headers, mut held) = headers::agreed(asking.pool, head, head.next(from)).await?;
    let is_child = |first: &Header| match upon {
        Upon::Nothing => true,
        Upon::Parent(parent) => hash_text(&first.parent) == parent,
    };
    if headers.first().is_some_and(|first| !is_child(first)) {
        return Ok(Gathered::Elsewhere);
    }
    let mut matched = transfers(asking, head, spans, &mut headers).await?;
    if let Some(open) = matched.open {
        headers.retain(|header| header.height < open);
        held = Some(disagreement(open));
    }
    let mut blocks: Vec<Block> = headers.iter().map(block_of).collect();
    if let Some(open) = more(asking, &blocks, &mut matched).await? {
        blocks.retain(|block| block.height < open);
        held = Some(disagreement(open));
    }
    Ok(Gathered::Read(Read {
        blocks,
        transfers: matched.seen,
        held,
    }))
}

/// The transfers to us in these blocks, as far as so many say the same as it takes.
pub(super) async fn transfers<'s>(
    asking: Asking<'s>,
    head: &Head<'s>,
    spans: &[Span],
    headers: &mut Vec<Header>,
) -> Result<Matched, Trouble> {
    let logs = read_all(asking.pool, head, spans, headers).await?;
    let (given, ours) = ours(asking, logs).await?;
    Ok(matched::agreed(asking.pool, &given, &ours, (&headers[..], head.need)).await?)
}

/// Notes what arrived and who sent it. What is from the first block on about which endpoints contradict each other is left out.
pub(super) async fn more(
    asking: Asking<'_>,
    blocks: &[Block],
    matched: &mut Matched,
) -> Result<Option<i64>, Fail> {
    let homes = homes(asking, &matched.seen).await?;
    let came = arrived::note(asking.pool, blocks, &homes, &mut matched.seen).await;
    let sent = senders::note(asking, &mut matched.seen).await;
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

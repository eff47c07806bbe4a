//! The next blocks of a network, from one endpoint, with what in them concerns us.

use till_chains::evm::blocks::Header;
use till_core::chain::Block;

use super::Trouble;
use super::ask::{Asking, block_of, shown};
use super::logs::{self, Span};
use super::matched;
use crate::intake::chain::Seen;
use crate::nodes::Source;

/// Blocks of one step at most: they are one unit of work.
pub(super) const BLOCKS_MAX: i64 = 200;

#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) blocks: Vec<Block>,
    pub(super) transfers: Vec<Seen>,
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

pub(super) async fn gather(
    asking: Asking<'_>,
    source: &Source,
    span: &mut Span,
    (from, head): (i64, i64),
    upon: Upon<'_>,
) -> Result<Gathered, Trouble> {
    let to = head.min(from + BLOCKS_MAX - 1);
    let headers = asking.headers(source, (from, to)).await?;
    let is_child = |first: &Header| match upon {
        Upon::Nothing => true,
        Upon::Parent(parent) => shown(&first.parent) == parent,
    };
    if headers.first().is_some_and(|first| !is_child(first)) {
        return Ok(Gathered::Elsewhere);
    }
    let logs = logs::read(asking, source, span, &headers).await?;
    let transfers = matched::transfers(asking, source, &logs).await?;
    Ok(Gathered::Read(Read {
        blocks: headers.iter().map(block_of).collect(),
        transfers,
    }))
}

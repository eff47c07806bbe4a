//! What an observer answers.

use std::collections::BTreeMap;

use crate::evm::blocks::Header;
use crate::evm::decode::Receipt;

/// The hashes of transactions and what became of them.
pub type Receipts = BTreeMap<[u8; 32], Receipt>;

/// What an endpoint names as the last block, and how far it says that the chain is settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tips {
    pub head: Header,
    /// None where the network has no such step, or the endpoint names no block for it.
    pub safe: Option<Header>,
    pub last_final: Option<Header>,
}

/// What the headers of some blocks say of logs that are said to be all of theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Some are of other blocks.
    OtherBlocks,
    /// Some are of a token that their block has no logs of.
    Invented,
    /// As far as the headers tell; of these tokens, by header and contract, logs may be missing.
    MayLack(Vec<(usize, [u8; 20])>),
}

/// What the receipts of a block say of its transfers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockContents {
    /// All of them: the header names the root of these receipts.
    Proven(Receipts),
    /// The header names others.
    Others,
    /// The network's headers name no root that can be computed from what its nodes give.
    Unprovable,
}

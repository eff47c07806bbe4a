//! What a round of watching a chain yields: new blocks, the transfers in them, what left the chain, the safe and final
//! tips, and why reading stopped if it did.

use till_core::chain::Block;
use till_core::money::Units;

/// What is new on a chain. The default is an update without news.
#[derive(Clone, Debug, Default)]
pub struct ChainUpdate {
    /// New blocks on top of a known one, by height. They replace known blocks of the same heights.
    pub blocks: Vec<Block>,
    /// The transfers in these blocks or in known ones, and those that wait for a block.
    pub transfers: Vec<SeenTransfer>,
    /// Transfers that waited for a block and that no endpoint has any more, by transaction and place in it. One that is
    /// in a block by now stays as it is.
    pub dropped: Vec<(String, i64)>,
    /// Transfers that were recorded in a block which does not have them, as a quorum says, by transaction and place in
    /// it.
    pub refuted: Vec<(String, i64)>,
    /// The safe tip. Like `last_final` it counts only if it is a block of the known chain.
    pub safe: Option<Tip>,
    pub last_final: Option<Tip>,
    /// Why reading stopped, or why nothing more becomes final, for operators.
    pub held: Option<String>,
}

impl ChainUpdate {
    /// Whether there is nothing to write down.
    pub fn is_empty(&self) -> bool {
        let has_tips = self.safe.is_some() || self.last_final.is_some();
        let has_gone = !self.dropped.is_empty() || !self.refuted.is_empty();
        !has_tips && !has_gone && self.blocks.is_empty() && self.transfers.is_empty()
    }
}

/// The highest block of a level of settlement: safe, or final.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    pub height: i64,
    pub hash: String,
}

impl Tip {
    pub fn of(block: &Block) -> Tip {
        Tip {
            height: block.height,
            hash: block.hash.clone(),
        }
    }
}

/// A transfer in a block, or waiting for one.
#[derive(Clone, Debug)]
pub struct SeenTransfer {
    pub tx_hash: String,
    pub place: i64,
    pub asset: String,
    pub units: Units,
    /// How much arrived of it, as a quorum says. None while no quorum has answered.
    pub arrived: Option<Units>,
    /// Whether the deposit address sent some of it on in the same block, to an address that is no destination of its
    /// merchant.
    pub strayed: bool,
    /// What registers on the chain (an issuer's blocklist, the sanctions oracle) say of the senders.
    pub registers: Option<String>,
    /// The sending addresses: one where accounts send, several where a transaction spends outputs of several. Empty
    /// while they are unknown.
    pub senders: Vec<String>,
    pub recipient: String,
    /// None while it waits for a block.
    pub height: Option<i64>,
}

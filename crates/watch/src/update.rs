//! What watching a chain comes to: blocks, the transfers in them, what left the chain, how far it is settled, and why it
//! stands still.

use till_core::chain::Block;
use till_core::money::Units;

/// What is new on a chain, checked for completeness. The default says nothing.
#[derive(Clone, Debug, Default)]
pub struct ChainUpdate {
    /// On top of a known block, by height.
    pub blocks: Vec<Block>,
    /// The transfers in these blocks or in known ones, and those that wait for a block.
    pub transfers: Vec<SeenTransfer>,
    /// Transfers that waited for a block and that nobody knows of any more, by transaction and place in it. Says nothing
    /// about one that is in a block.
    pub dropped: Vec<(String, i64)>,
    /// Transfers that were told of in a block that does not have them, by transaction and place in it: enough endpoints
    /// say so.
    pub refuted: Vec<(String, i64)>,
    /// Believed only where they are blocks of the chain that is known.
    pub safe: Option<Tip>,
    pub last_final: Option<Tip>,
    /// Why the chain is not read on, or nothing more becomes final, in words for operators.
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

/// The last block that a chain says is settled to some degree.
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
    /// What came with it, by the word of as many endpoints as must agree; none where they have not said.
    pub arrived: Option<Units>,
    /// The amount left the deposit address in the same block, and not to a destination of its merchant.
    pub strayed: bool,
    /// What registers on the chain say of the senders.
    pub registers: Option<String>,
    /// Whose it was before: one where an account sends, many where a transaction spends what several had. Empty while
    /// nobody is known.
    pub senders: Vec<String>,
    pub recipient: String,
    /// None while it waits for a block.
    pub height: Option<i64>,
}

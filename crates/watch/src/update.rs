//! What watching a chain comes to: the transfers that were seen, and how far the chain is settled.

use till_core::chain::Block;
use till_core::money::Units;

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
pub struct Seen {
    pub tx_hash: String,
    pub place: i64,
    pub asset: String,
    pub units: Units,
    /// What came with it, by the word of as many endpoints as must agree; none where they have not said.
    pub arrived: Option<Units>,
    /// What arrived left the address again in the same block, and went to nobody whose it is.
    pub strayed: bool,
    /// What registers on the chain say of the sender.
    pub registers: Option<String>,
    pub sender: Option<String>,
    pub recipient: String,
    /// None while it waits for a block.
    pub height: Option<i64>,
}

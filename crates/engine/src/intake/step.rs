//! A network as its leader has read it.

use till_core::chain::Block;
use till_watch::{Seen, Tip};

/// What a leader has read, checked for completeness.
#[derive(Clone, Debug)]
pub struct Step {
    pub network: String,
    /// The epoch in which it leads.
    pub epoch: i64,
    /// On top of a known block, by height.
    pub blocks: Vec<Block>,
    /// The transfers in these blocks or in known ones, and those that wait for a block.
    pub transfers: Vec<Seen>,
    /// Transfers that waited for a block and that nobody knows of any more, by transaction and place in it. Says nothing
    /// about one that is in a block.
    pub dropped: Vec<(String, i64)>,
    /// Transfers that were told of in a block that does not have them, by transaction and place in it: enough endpoints
    /// say so.
    pub refuted: Vec<(String, i64)>,
    /// Believed only where they are blocks of the chain that is known.
    pub safe: Option<Tip>,
    pub last_final: Option<Tip>,
}

impl Step {
    /// One that says nothing.
    pub fn new(network: &str, epoch: i64) -> Step {
        Step {
            network: network.to_owned(),
            epoch,
            blocks: Vec::new(),
            transfers: Vec::new(),
            dropped: Vec::new(),
            refuted: Vec::new(),
            safe: None,
            last_final: None,
        }
    }
}

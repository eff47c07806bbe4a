//! A network as its leader has read it.

use till_core::chain::Block;
use till_watch::{ChainUpdate, SeenTransfer, Tip};

/// What a leader has read, checked for completeness.
#[derive(Clone, Debug)]
pub struct NetworkUpdate {
    pub network: String,
    /// The epoch in which it leads.
    pub epoch: i64,
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
}

impl NetworkUpdate {
    /// What a leader hands over of its network.
    pub fn of(network: &str, epoch: i64, update: ChainUpdate) -> NetworkUpdate {
        NetworkUpdate {
            network: network.to_owned(),
            epoch,
            blocks: update.blocks,
            transfers: update.transfers,
            dropped: update.dropped,
            refuted: update.refuted,
            safe: update.safe,
            last_final: update.last_final,
        }
    }

    /// One that says nothing.
    pub fn new(network: &str, epoch: i64) -> NetworkUpdate {
        NetworkUpdate::of(network, epoch, ChainUpdate::default())
    }
}

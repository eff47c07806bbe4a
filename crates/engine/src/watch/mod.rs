//! Watching chains: one leader for each network reads blocks and transfers from its endpoints, checks them against each
//! other, and takes them to the door. Nothing here knows an invoice.
//!
//! A leader may die at any instant: where it stands is in the database, written with what it saw.

mod agree;
mod arrived;
mod ask;
mod begin;
mod confirm;
mod follow;
mod fork;
mod gather;
mod glimpse;
mod headers;
mod heads;
mod lead;
mod logs;
mod matched;
mod measure;
mod quorum;
mod second;
mod senders;
mod set;
mod split;
mod status;
mod tips;
mod vouch;

pub use status::{NetworkStatus, statuses};
pub use vouch::problem;

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::base::keep::keep;
use crate::base::wake::Stopping;

/// Starts watching every network whose endpoints are configured; ends when `stopping` turns true.
pub fn start(engine: &Arc<Engine>, stopping: &Stopping) -> Vec<JoinHandle<()>> {
    let count = engine.watching.as_ref().map_or(0, |it| it.networks.len());
    (0..count)
        .map(|place| {
            let engine = Arc::clone(engine);
            keep("watch", stopping.clone(), move |stopping| {
                lead::run(Arc::clone(&engine), place, stopping)
            })
        })
        .collect()
}

/// Why a network's next step is not taken now.
#[derive(Debug)]
enum Trouble {
    /// An endpoint's doing, which was noted with it: others are asked, or the same one later.
    Source,
    Ours(Fail),
}

impl From<Fail> for Trouble {
    fn from(fail: Fail) -> Trouble {
        Trouble::Ours(fail)
    }
}

impl From<till_store::StoreError> for Trouble {
    #[track_caller]
    fn from(error: till_store::StoreError) -> Trouble {
        Trouble::Ours(error.into())
    }
}

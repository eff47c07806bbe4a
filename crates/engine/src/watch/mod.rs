//! Watching chains: one leader for each network reads blocks and transfers from its endpoints, checks them against each
//! other, and takes them to the door. Nothing here knows an invoice.
//!
//! A leader may die at any instant: where it stands is in the database, written with what it saw.

mod confirm;
mod first_height;
mod follow;
mod gather;
mod lead;
mod measure;
mod network_watch;
mod our_addresses;
mod second_look;
mod second_reading;
mod senders;
mod status;
mod trouble;
mod unconfirmed;
mod waiting;
mod watched_addresses;

pub use status::{EndpointSetAside, NetworkStatus, statuses};

use std::sync::Arc;

use till_watch::identify_all;
use tokio::task::JoinHandle;

use crate::base::Engine;
use crate::base::supervise::supervise;
use crate::base::wake::Stopping;

/// Starts watching every network whose endpoints are configured; ends when `stopping` turns true.
pub fn start(engine: &Arc<Engine>, stopping: &Stopping) -> Vec<JoinHandle<()>> {
    each(engine, |place| {
        let engine = Arc::clone(engine);
        supervise("watch", stopping.clone(), move |stopping| {
            lead::run(Arc::clone(&engine), place, stopping)
        })
    })
}

/// Starts checking endpoints on a server that does not watch chains but asks them for lookups.
pub fn start_looking(engine: &Arc<Engine>, stopping: &Stopping) -> Vec<JoinHandle<()>> {
    each(engine, |place| {
        let engine = Arc::clone(engine);
        supervise("endpoints", stopping.clone(), move |stopping| {
            lead::watch_endpoints(Arc::clone(&engine), place, stopping)
        })
    })
}

fn each(engine: &Engine, start: impl Fn(usize) -> JoinHandle<()>) -> Vec<JoinHandle<()>> {
    let networks = engine.watching.as_ref().map(|it| &it.networks);
    for net in networks.into_iter().flatten() {
        measure::begin(&net.network.id);
    }
    (0..networks.map_or(0, Vec::len)).map(start).collect()
}

/// Checks the identity of those of a network's endpoints that were not checked lately.
pub async fn identify(engine: &Engine, network: &str) {
    let networks = engine.watching.as_ref().map(|it| &it.networks);
    let place = networks.and_then(|all| all.iter().position(|it| it.network.id == network));
    if let Some(watch) = place.and_then(|place| network_watch::NetworkWatch::of(engine, place)) {
        identify_all(watch.pool).await;
    }
}

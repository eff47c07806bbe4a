//! Elects the leader of a network: one server at a time, for as long as it renews its lease.

use std::sync::Arc;
use std::time::Duration;

use scoped_futures::ScopedFutureExt as _;
use till_watch::{WatchedNetwork, ask_all, listen};

use super::follow::{Follower, NextRound};
use super::measure;
use super::network_watch::NetworkWatch;
use super::second_look;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::base::wake::Stopping;
use crate::intake::chain::lead;

/// How often a server that does not lead tries to.
const ASK_AGAIN: Duration = Duration::from_secs(3);
/// After how many such tries it checks the endpoints.
const LOOK_EVERY: u32 = 5;
/// How often a leader renews its lease.
const BEAT: Duration = Duration::from_secs(4);
const POLL_MIN: Duration = Duration::from_millis(250);
const POLL_MAX: Duration = Duration::from_secs(3);

/// The longest poll interval with a provider that is asked about each address: it counts every call.
const POLL_MAX_BY_ADDRESS: Duration = Duration::from_secs(6);

/// How many rounds hints can start in one poll interval, however much is published.
const LOOKS_BETWEEN_POLLS: u32 = 3;

/// The poll interval: half a block is soon enough for payers, and cheap enough for operators.
fn poll(net: &WatchedNetwork) -> Duration {
    let longest = match net.is_asked_by_address() {
        true => POLL_MAX_BY_ADDRESS,
        false => POLL_MAX,
    };
    Duration::from_millis(net.network.block_time_ms / 2).clamp(POLL_MIN, longest)
}

pub(super) async fn run(engine: Arc<Engine>, place: usize, mut stopping: Stopping) {
    let Some(watch) = NetworkWatch::of(&engine, place) else {
        return;
    };
    let owner = hex::encode(engine.ids.random::<8>());
    let mut turns = 0_u32;
    loop {
        if turns.is_multiple_of(LOOK_EVERY) {
            look(watch).await;
        }
        turns = turns.wrapping_add(1);
        let turn = take_turn(watch, &owner, stopping.clone());
        if let Err(fail) = turn.await {
            let network = &*watch.network().id;
            tracing::error!(
                network,
                ?fail,
                "watching a network failed, and begins again in a few seconds; the cause is named here"
            );
        }
        tokio::select! {
            () = tokio::time::sleep(ASK_AGAIN) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
    }
}

/// Checks the endpoints on a server that watches no chain: operators see their state there too, and prices are asked of
/// them.
pub(super) async fn watch_endpoints(engine: Arc<Engine>, place: usize, mut stopping: Stopping) {
    let Some(watch) = NetworkWatch::of(&engine, place) else {
        return;
    };
    loop {
        look(watch).await;
        tokio::select! {
            () = tokio::time::sleep(ASK_AGAIN * LOOK_EVERY) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
    }
}

async fn look(watch: NetworkWatch<'_>) {
    drop(ask_all(watch.pool).await);
}

/// Leads if no other server does, until another takes over or this one stops.
async fn take_turn(
    watch: NetworkWatch<'_>,
    owner: &str,
    mut stopping: Stopping,
) -> Result<(), Fail> {
    let network = &watch.network().id;
    let Some(epoch) = lead(watch.engine, network, owner).await? else {
        return Ok(());
    };
    tracing::info!(network, epoch, "watching");
    let is_stopping = tokio::select! {
        done = follow(watch, epoch) => done.map(|()| false)?,
        done = beat(watch, epoch) => done.map(|()| false)?,
        never = listen(watch.pool) => match never {},
        _ = stopping.wait_for(|stop| *stop) => true,
    };
    if is_stopping {
        return resign(watch, epoch).await;
    }
    tracing::info!(network, epoch, "another server watches now");
    Ok(())
}

async fn follow(watch: NetworkWatch<'_>, epoch: i64) -> Result<(), Fail> {
    let mut follower = Follower::new(watch, epoch).await?;
    loop {
        match follower.round().await? {
            NextRound::Leave => return Ok(()),
            NextRound::Now => {
                // Also while catching up, blocks get their second look.
                while second_look::is_behind(&follower) {
                    let before = follower.row.checked_height;
                    second_look::pass(&mut follower).await?;
                    if follower.row.checked_height == before {
                        break;
                    }
                }
            }
            NextRound::Later => {
                let second = second_look::pass(&mut follower).await?;
                follower.say(second);
                let poll = poll(watch.net);
                let hints = &watch.net.hints;
                if hints.wait(poll / LOOKS_BETWEEN_POLLS, poll).await {
                    measure::hinted(watch);
                }
            }
        }
    }
}

/// Renews this leader's lease periodically, however long an endpoint takes, until another server leads.
async fn beat(watch: NetworkWatch<'_>, epoch: i64) -> Result<(), Fail> {
    loop {
        tokio::time::sleep(BEAT).await;
        let (id, ours) = (&*watch.network().id, watch.engine.clock.now_ms());
        let written = watch.engine.db.write(move |tx| {
            async move {
                let now = till_store::networks::heard_by(tx, ours).await?;
                Ok::<_, Fail>(till_store::networks::beat(tx, id, epoch, now).await?)
            }
            .scope_boxed()
        });
        if !written.await? {
            return Ok(());
        }
    }
}

/// Gives up the lease of a server that stops, so that the next leader need not wait for its end.
async fn resign(watch: NetworkWatch<'_>, epoch: i64) -> Result<(), Fail> {
    let id = &*watch.network().id;
    let written = watch.engine.db.write(move |tx| {
        async move { Ok::<_, Fail>(till_store::networks::resign(tx, id, epoch).await?) }
            .scope_boxed()
    });
    written.await
}

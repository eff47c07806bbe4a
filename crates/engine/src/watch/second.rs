//! A second look at what is final, from another endpoint where there is one: what the first look missed is credited,
//! and told to operators.

use std::collections::HashSet;

use scoped_futures::ScopedFutureExt as _;

use super::Trouble;
use super::ask::{Asking, shown};
use super::follow::Follower;
use super::logs::{self, Span};
use super::matched;
use crate::base::fail::Fail;
use crate::intake::chain::{Advanced, Seen, Step, advance};
use crate::nodes::Source;

/// So far behind the last final block: whoever lagged has caught up by then.
const BEHIND: i64 = 4;
const BLOCKS_MAX: i64 = 100;

/// Looks at the next blocks that nobody looked at twice, if there are any.
pub(super) async fn pass(follower: &mut Follower<'_>) -> Result<(), Fail> {
    let row = &follower.row;
    let (Some(last_final), None) = (row.final_height, row.frozen_at) else {
        return Ok(());
    };
    let lowest = follower.window.first().map_or(i64::MAX, |it| it.height);
    let from = row.checked_height.map_or(lowest, |it| it + 1).max(lowest);
    let to = (last_final - BEHIND).min(from.saturating_add(BLOCKS_MAX - 1));
    if to < from {
        return Ok(());
    }
    match look(follower, from, to).await {
        Ok(()) | Err(Trouble::Source) => Ok(()),
        Err(Trouble::Ours(fail)) => Err(fail),
    }
}

async fn look(follower: &mut Follower<'_>, from: i64, to: i64) -> Result<(), Trouble> {
    let asking = follower.asking;
    let Some(source) = another(asking) else {
        return Ok(());
    };
    let mut headers = asking.headers(source, (from, to)).await?;
    let ours = |height: i64| follower.window.iter().find(|it| it.height == height);
    let is_ours = |it: &till_chains::evm::blocks::Header| {
        ours(it.height).is_some_and(|block| block.hash == shown(&it.hash))
    };
    headers.retain(is_ours);
    if headers.len() != usize::try_from(to - from + 1).unwrap_or_default() {
        // It is behind, or of another chain: whoever reads on finds out which.
        return Ok(());
    }
    let logs = logs::read(asking, source, &mut Span::default(), &headers).await?;
    let seen = matched::transfers(asking, source, &logs).await?;
    let missed = missed(asking, seen).await?;
    if !missed.is_empty() && !take(follower, missed).await? {
        return Ok(());
    }
    note(follower, to).await?;
    Ok(())
}

/// The last in the operator's order that answers: reading on begins with the first.
fn another(asking: Asking<'_>) -> Option<&Source> {
    asking.usable().last().copied()
}

async fn missed(asking: Asking<'_>, seen: Vec<Seen>) -> Result<Vec<Seen>, Fail> {
    let network = &*asking.network().id;
    let identities: Vec<(&str, &str, i64)> = seen
        .iter()
        .map(|it| (network, &*it.tx_hash, it.place))
        .collect();
    let mut reader = asking.engine.db.read().await?;
    let known = till_store::transfers::find_many(&mut reader, &identities).await?;
    let known = known.into_iter().filter(|fact| fact.height.is_some());
    let known: HashSet<(String, i64)> = known.map(|it| (it.tx_hash, it.place)).collect();
    let is_new = |it: &Seen| !known.contains(&(it.tx_hash.clone(), it.place));
    Ok(seen.into_iter().filter(is_new).collect())
}

/// Whether they were taken in.
async fn take(follower: &Follower<'_>, missed: Vec<Seen>) -> Result<bool, Fail> {
    let network = &follower.asking.network().id;
    for it in &missed {
        let (tx_hash, height) = (&it.tx_hash, it.height);
        tracing::error!(
            network,
            tx_hash,
            height,
            "a transfer was missed at first and is taken in now"
        );
        metrics::counter!("till_network_missed_total", "network" => network.clone()).increment(1);
    }
    let step = Step {
        network: network.clone(),
        epoch: follower.epoch,
        blocks: Vec::new(),
        transfers: missed,
        dropped: Vec::new(),
        safe: None,
        last_final: None,
    };
    let advanced = advance(follower.asking.engine, &step).await?;
    Ok(advanced == Advanced::Done)
}

async fn note(follower: &mut Follower<'_>, height: i64) -> Result<(), Fail> {
    let (id, epoch) = (&*follower.asking.network().id, follower.epoch);
    let written = follower.asking.engine.db.write(move |tx| {
        async move { Ok::<_, Fail>(till_store::networks::check(tx, id, epoch, height).await?) }
            .scope_boxed()
    });
    if written.await? {
        follower.row.checked_height = Some(height);
    }
    Ok(())
}

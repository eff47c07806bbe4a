//! Reads final blocks a second time, from an endpoint that was not read at first if there is one. What the first look
//! missed is credited once a quorum has it, and told to operators.

use futures::FutureExt as _;
use scoped_futures::ScopedFutureExt as _;
use till_core::chain::Block;
use till_store::transfers::TransferRow;
use till_watch::{
    ChainUpdate, Claim, Endpoint, EndpointLogs, SeenTransfer, Span, first_answers, our_transfers,
    proven, read_logs,
};

use super::confirm::claim_of;
use super::follow::Follower;
use super::gather::{disagreement, note_details};
use super::network_watch::NetworkWatch;
use super::our_addresses::of_ours;
use super::second_reading::{SecondReading, headers_of};
use super::trouble::Trouble;
use crate::base::fail::Fail;
use crate::intake::chain::{Advanced, advance};

/// How far the second look stays below the last final block: endpoints that lagged have caught up by then.
const BEHIND: i64 = 4;
const BLOCKS_MAX: i64 = 100;
/// With so many blocks to catch up with, no particular endpoint is waited for.
const PATIENCE: i64 = 1_000;
/// How far the final tip may be ahead before reading waits for the second look.
const LEAD_MAX: i64 = 500;

/// Whether this is the endpoint's first look at the blocks. If it was read at first already, it would leave out the
/// same again.
#[derive(Clone, Copy)]
enum Looks {
    First,
    Again,
}

/// Takes a second look at the next final blocks, if there are any. Returns why it cannot go on, if it cannot.
pub(super) async fn pass(follower: &mut Follower<'_>) -> Result<Option<String>, Fail> {
    let row = &follower.row;
    let (Some(last_final), None) = (row.final_height, row.frozen_at) else {
        return Ok(None);
    };
    let Some(lowest) = follower.window.first().map(|it| it.height) else {
        return Ok(None);
    };
    let next = row.checked_height.map_or(lowest, |it| it + 1);
    let from = next.max(lowest);
    if next < lowest {
        left_out(follower, (next, lowest));
        note(follower, lowest - 1).await?;
    }
    let to = (last_final - BEHIND).min(from.saturating_add(BLOCKS_MAX - 1));
    if to < from {
        return Ok(None);
    }
    let (waits, before) = (last_final - from, follower.row.checked_height);
    let is_patient = waits < PATIENCE;
    let mut held = None;
    let under_way = follower.second_reading.as_ref();
    let under_way = under_way.filter(|it| it.first_height() == Some(from));
    let under_way = under_way.map(|it| (it.source, Looks::First));
    let looker = under_way.or_else(|| another(follower, from, is_patient));
    if let Some((source, looks)) = looker {
        let looked = look(follower, (source, looks), (from, to), is_patient);
        held = match looked.await {
            Ok(held) => held,
            Err(Trouble::Endpoint) => None,
            Err(Trouble::Failed(fail)) => return Err(fail),
        };
        // An endpoint that could not serve the blocks is read after the others for a while.
        let is_done = follower.second_reading.is_none();
        if is_done && held.is_none() && follower.row.checked_height == before {
            source.deprioritise(follower.watch.engine.clock.monotonic_us());
        }
    }
    let late = format!("the blocks from height {from} on wait for their second look");
    Ok(held.or((waits > LEAD_MAX).then_some(late)))
}

/// Whether so many blocks wait for their second look that reading must wait, too.
pub(super) fn is_behind(follower: &Follower<'_>) -> bool {
    let (row, window) = (&follower.row, &follower.window);
    let lowest = window.first().map(|block| block.height - 1);
    let waits = row.final_height.zip(row.checked_height.or(lowest));
    waits.is_some_and(|(last_final, checked)| last_final - checked > LEAD_MAX)
}

/// Reports blocks that get no second look, because they are not kept any longer.
fn left_out(follower: &Follower<'_>, (from, to): (i64, i64)) {
    let network = &*follower.watch.network().id;
    tracing::error!(
        network,
        from,
        to,
        "blocks could not be looked at a second time for so long that they are left out; `till network thaw --rescan-from` reads them again"
    );
    let count = u64::try_from(to - from).unwrap_or_default();
    metrics::counter!("till_network_unchecked_total", "network" => network.to_owned())
        .increment(count);
}

async fn look<'e>(
    follower: &mut Follower<'e>,
    (source, looks): (&'e Endpoint, Looks),
    (from, to): (i64, i64),
    is_patient: bool,
) -> Result<Option<String>, Trouble> {
    let watch = follower.watch;
    let most = source
        .blocks_at_most()
        .min(watch.net.observer.blocks_at_most());
    let to = to.min(from + most - 1);
    let is_among = |it: &&Block| (from..=to).contains(&it.height);
    let blocks = follower.window.iter().filter(is_among).cloned();
    let mut blocks: Vec<Block> = blocks.collect();
    if let Looks::First = looks {
        return match SecondReading::go_on(watch, &mut follower.second_reading, source, blocks)
            .await?
        {
            Some((blocks, logs)) => compare(follower, &blocks, vec![(source, logs)]).await,
            None => Ok(None),
        };
    }
    let Some(mut headers) = headers_of(watch, source, &blocks).await? else {
        return Ok(None);
    };
    let is_alone = watch.net.quorum == 1;
    let given = match is_alone {
        true => None,
        false => by_all(watch, &blocks).await,
    };
    let given = match given {
        Some(given) => given,
        // A distrusted endpoint is left out, for contents can be proven without it.
        None if is_alone || watch.is_anybody_doubted() => {
            let proven = proven(watch.pool, source, &mut headers, is_patient).await?;
            let logs = match proven {
                Some(logs) => logs,
                None => read_logs(watch.pool, source, &Span::default(), &headers).await?,
            };
            vec![(source, logs)]
        }
        None => return Ok(None),
    };
    blocks.truncate(headers.len());
    compare(follower, &blocks, given).await
}

/// Takes in the transfers in these logs that are new, and records up to where blocks were looked at.
async fn compare<'e>(
    follower: &mut Follower<'e>,
    blocks: &[Block],
    given: Vec<EndpointLogs<'e>>,
) -> Result<Option<String>, Trouble> {
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
        return Ok(None);
    };
    let (watch, from, to) = (follower.watch, first.height, last.height);
    let (mut given, our_addresses) = of_ours(watch, given).await?;
    leave_known(watch, &mut given, (from, to)).await?;
    let mut matched =
        our_transfers::agreed(watch.pool, &given, &our_addresses, (&[], watch.net.quorum)).await?;
    note_details(watch, blocks, &mut matched).await?;
    if !matched.seen.is_empty() && !take(follower, matched.seen).await? {
        return Ok(None);
    }
    let up_to = matched.open.map_or(to, |open| open - 1);
    if up_to >= from {
        note(follower, up_to).await?;
    }
    Ok(matched.open.map(disagreement))
}

/// The logs of these blocks from all endpoints that answer, each checked against its own headers: for a quorum of
/// several, when every endpoint may have been read at first. None while fewer answer than must agree.
async fn by_all<'e>(watch: NetworkWatch<'e>, blocks: &[Block]) -> Option<Vec<EndpointLogs<'e>>> {
    let ask = |source: &'e Endpoint| {
        async move {
            let headers = headers_of(watch, source, blocks).await.ok()??;
            let logs = read_logs(watch.pool, source, &Span::default(), &headers).await;
            logs.ok().map(|logs| (source, logs))
        }
        .boxed()
    };
    let asked = watch.usable().into_iter().map(ask).collect();
    let given = first_answers(asked, watch.net.quorum).await;
    (given.len() >= watch.net.quorum).then_some(given)
}

/// The endpoint to look with: one that was not read at first, and of these the last in the operator's order, for
/// reading begins with the first. None while it is worth waiting for one; otherwise any endpoint.
fn another<'e>(
    follower: &Follower<'e>,
    from: i64,
    is_patient: bool,
) -> Option<(&'e Endpoint, Looks)> {
    let watch = follower.watch;
    let readers = follower.readers_of(from);
    // Who was read before a restart is not known: it may have been any of them.
    let is_other = |source: &&Endpoint| {
        let place = watch.net.place_of(source);
        let readers = readers.as_ref();
        readers.is_some_and(|readers| !readers.contains(&place))
    };
    let now_us = watch.engine.clock.monotonic_us();
    let mut usable = watch.usable();
    let steady = |source: &&Endpoint| source.is_steady(now_us);
    let mut others = usable.iter().rev().copied().filter(is_other);
    let other = others.find(steady);
    usable.sort_by_key(|source| source.is_prompt(now_us));
    let may_come = is_patient && watch.net.endpoints.iter().any(|it| is_other(&it));
    match other {
        None if may_come => None,
        None => Some((*usable.last()?, Looks::Again)),
        Some(other) => Some((other, Looks::First)),
    }
}

/// Removes the logs of transfers that the database has just so.
async fn leave_known(
    watch: NetworkWatch<'_>,
    given: &mut [EndpointLogs<'_>],
    (from, to): (i64, i64),
) -> Result<(), Fail> {
    if given.iter().all(|(_, logs)| logs.is_empty()) {
        return Ok(());
    }
    let network = watch.network();
    let mut reader = watch.engine.db.read().await?;
    let known = till_store::transfers::in_blocks(&mut reader, &network.id, from - 1, to).await?;
    let mut known: Vec<(String, Claim)> = known
        .iter()
        .map(|row| (row.tx_hash.clone(), claim_of(row)))
        .collect();
    for (_, logs) in given {
        logs.retain(|log| {
            let tx_hash = till_chains::tx_hash_of(network.family, &log.tx_hash);
            let claim = our_transfers::claim_of(watch.pool, log);
            let is_it = |(known, it): &(String, Claim)| {
                *known == tx_hash && our_transfers::is_of(&claim, it)
            };
            let at = known.iter().position(is_it);
            at.map(|at| known.swap_remove(at)).is_none()
        });
    }
    Ok(())
}

/// Takes in transfers that the first look missed. Returns whether they were written.
async fn take(follower: &Follower<'_>, mut missed: Vec<SeenTransfer>) -> Result<bool, Fail> {
    let network = &follower.watch.network().id;
    // A known transfer at the same place with other contents had fewer voices: it goes first. What is known just so
    // stays: a transaction that paid several is asked about as a whole.
    let mut known = at_places(follower, &missed).await?;
    missed.retain(|it| !known.iter().any(|row| is_known_as(row, it)));
    known.retain(|row| missed.iter().any(|it| is_at_place_of(row, it)));
    if missed.is_empty() {
        return Ok(true);
    }
    for it in &missed {
        let (tx_hash, height) = (&it.tx_hash, it.height);
        tracing::error!(
            network,
            tx_hash,
            height,
            "a transfer was missed at first, because the endpoints that were read left it out, and is taken in now; ask their providers"
        );
        metrics::counter!("till_network_missed_total", "network" => network.clone()).increment(1);
    }
    let mut updates = vec![ChainUpdate {
        transfers: missed,
        ..ChainUpdate::default()
    }];
    if !known.is_empty() {
        let refuted = known.into_iter().map(|row| (row.tx_hash, row.place));
        let refuted = ChainUpdate {
            refuted: refuted.collect(),
            ..ChainUpdate::default()
        };
        updates.insert(0, refuted);
    }
    for update in updates {
        let step = follower.step(update);
        if advance(follower.watch.engine, &step).await? != Advanced::Done {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_at_place_of(row: &TransferRow, seen: &SeenTransfer) -> bool {
    (&row.tx_hash, row.place) == (&seen.tx_hash, seen.place)
}

fn is_known_as(row: &TransferRow, seen: &SeenTransfer) -> bool {
    let told = (&seen.asset, &seen.senders, &seen.recipient, seen.units);
    is_at_place_of(row, seen)
        && row.height == seen.height
        && (&row.asset, &row.senders, &row.recipient, row.units) == told
}

/// The known transfers that are in a block at the places of these.
async fn at_places(
    follower: &Follower<'_>,
    missed: &[SeenTransfer],
) -> Result<Vec<TransferRow>, Fail> {
    let network = &*follower.watch.network().id;
    let identities: Vec<(&str, &str, i64)> = missed
        .iter()
        .map(|it| (network, &*it.tx_hash, it.place))
        .collect();
    let mut reader = follower.watch.engine.db.read().await?;
    let known = till_store::transfers::find_many(&mut reader, &identities).await?;
    let stands = |fact: &TransferRow| fact.height.is_some() && !fact.gone;
    Ok(known.into_iter().filter(stands).collect())
}

async fn note(follower: &mut Follower<'_>, height: i64) -> Result<(), Fail> {
    let (id, epoch) = (&*follower.watch.network().id, follower.epoch);
    let heights = (follower.row.checked_height, height);
    let written = follower.watch.engine.db.write(move |tx| {
        async move { Ok::<_, Fail>(till_store::networks::check(tx, id, epoch, heights).await?) }
            .scope_boxed()
    });
    if written.await? {
        follower.was_checked(height);
    }
    Ok(())
}

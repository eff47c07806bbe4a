//! The facts of a leader's step: which blocks there are, what is in them, and what that changes for transfers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use till_core::chain::{Block, Joint, Tips, join, unknown};
use till_core::payment::Level;
use till_store::Tx;
use till_store::networks::{BlockRow, NetworkRow};
use till_store::transfers::TransferRow;
use till_watch::{SeenTransfer, Tip};

use super::network_update::NetworkUpdate;
use super::observation::{Identity, Observation, Sighting, TransferOrigin};
use crate::base::fail::Fail;
use crate::base::{Engine, FinalDepths};
use crate::screening::{self, Answers};

/// How many blocks below the last final one are kept, to notice when a final one is replaced.
const WINDOW_BELOW_FINAL: i64 = 64;

/// And how many at most while they wait for their second look.
const WINDOW_BELOW_FINAL_MAX: i64 = 2_000;

/// What the door is to be told, in order.
pub(super) enum Recorded {
    News(Vec<Observation>),
    /// Somebody else leads meanwhile.
    Fenced,
    /// The blocks do not follow from those in the database.
    Loose,
    /// The network is frozen, or was just now: what was credited in replaced blocks is to be held.
    Frozen(Vec<Observation>),
}

/// Writes a leader's step, and says what it changes for transfers.
pub(super) async fn record(
    tx: &mut Tx,
    engine: &Engine,
    step: &NetworkUpdate,
) -> Result<Recorded, Fail> {
    let network = till_store::networks::lock(tx, &step.network).await?;
    let Some(mut network) = network.filter(|network| network.epoch == step.epoch) else {
        return Ok(Recorded::Fenced);
    };
    if network.frozen_at.is_some() {
        return Ok(Recorded::Frozen(Vec::new()));
    }
    let window = till_store::networks::window(tx, &step.network).await?;
    let blocks = unknown(&window, &step.blocks);
    if leaves_gap(&network, &window, blocks) {
        return Ok(Recorded::Loose);
    }
    let replaced_from = match join(&window, blocks, network.tips()) {
        Joint::Extends => None,
        Joint::Replaces { from } => Some(from),
        Joint::ReplacesFinal { from } => return freeze(tx, engine, network, from).await,
        Joint::Loose => return Ok(Recorded::Loose),
    };
    let chain = joined(blocks, &window, replaced_from);
    let Some(placed) = place(step, &chain) else {
        return Ok(Recorded::Loose);
    };
    let replaced = match replaced_from {
        Some(from) => {
            till_store::transfers::in_blocks(tx, &step.network, from - 1, i64::MAX).await?
        }
        None => elsewhere(tx, step, blocks).await?,
    };
    let was_final = |height: &i64| Some(*height) <= network.final_height;
    let heights = replaced.iter().filter_map(|fact| fact.height);
    if let Some(from) = heights.filter(was_final).min() {
        return freeze(tx, engine, network, from).await;
    }
    let mut facts = news(tx, step, placed, replaced, engine.clock.now_ms()).await?;
    facts.extend(dropped(tx, step, &facts).await?);
    facts.extend(refuted(tx, step, &facts).await?);
    // A block that replaces a safe one is not safe itself before somebody says so.
    let before = replaced_from.map_or(network.tips(), |from| network.tips().below(from));
    let believed = |tip: &Option<Tip>| {
        let tip = tip.as_ref()?;
        let block = chain.get(&tip.height)?;
        (block.hash == tip.hash).then_some(tip.height)
    };
    let after = before.risen_to(believed(&step.safe), believed(&step.last_final));
    if let Some(head) = blocks.last() {
        network.cursor_height = Some(head.height);
        network.cursor_hash = Some(head.hash.clone());
    }
    (network.safe_height, network.final_height) = (after.safe, after.last_final);
    let heard_at = till_store::networks::heard_by(tx, engine.clock.now_ms());
    network.heard_at = Some(heard_at.await?);
    let below = after.last_final.map(|tip| {
        let below = tip - WINDOW_BELOW_FINAL;
        // What waits for its second look stays, for a while.
        let first = chain.keys().min().map_or(below, |lowest| lowest - 1);
        let checked = network.checked_height.unwrap_or(first);
        below.min(checked).max(tip - WINDOW_BELOW_FINAL_MAX)
    });
    till_store::networks::forget_blocks(tx, &step.network, replaced_from, below).await?;
    let blocks: Vec<BlockRow> = blocks
        .iter()
        .map(|block| BlockRow::new(&step.network, block))
        .collect();
    let writes = [
        till_store::networks::updates(&network)?,
        till_store::networks::blocks(&blocks),
        till_store::transfers::facts(&facts),
    ];
    tx.write_all(&writes).await?;
    let mut changed = facts;
    let deeper = engine.config.final_depths.get(&step.network);
    let deeper = deeper.map_or(0, FinalDepths::most);
    let risen = risen(tx, &step.network, (before, after), deeper).await?;
    changed.extend(risen.into_iter().filter(|fact| is_in(&chain, fact)));
    Ok(Recorded::News(told(&network, changed)))
}

/// An operator may have said meanwhile that it is to be read again from a height on. Who goes on above it has not heard.
fn leaves_gap(network: &NetworkRow, window: &[Block], new: &[Block]) -> bool {
    let next = network.cursor_height.map(|cursor| cursor + 1);
    let first = new.first().map(|first| first.height);
    window.is_empty() && next.is_some() && first > next
}

/// The blocks by height, once the step's have taken their places.
fn joined<'s>(
    new: &'s [Block],
    window: &'s [Block],
    replaced_from: Option<i64>,
) -> HashMap<i64, &'s Block> {
    let kept = |block: &&Block| replaced_from.is_none_or(|from| block.height < from);
    let blocks = window.iter().filter(kept).chain(new);
    blocks.map(|block| (block.height, block)).collect()
}

/// Whether a transfer is in a block of this chain, as far as that is known.
fn is_in(chain: &HashMap<i64, &Block>, fact: &TransferRow) -> bool {
    let block = fact.height.and_then(|height| chain.get(&height));
    block.is_none_or(|block| fact.block_hash.as_ref() == Some(&block.hash))
}

/// What is known to be at the heights of these blocks, and in others: they are read again, and nobody had kept those.
async fn elsewhere(
    tx: &mut Tx,
    step: &NetworkUpdate,
    blocks: &[Block],
) -> Result<Vec<TransferRow>, Fail> {
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else {
        return Ok(Vec::new());
    };
    let (network, after) = (&step.network, first.height - 1);
    let known = till_store::transfers::in_blocks(tx, network, after, last.height).await?;
    let chain = blocks.iter().map(|block| (block.height, block)).collect();
    Ok(known
        .into_iter()
        .filter(|fact| !is_in(&chain, fact))
        .collect())
}

/// Each transfer of a step and its block; none while it waits for one.
type Placed<'s> = BTreeMap<(&'s str, i64), (&'s SeenTransfer, Option<&'s Block>)>;

/// Nothing where one is said to be in a block that is not there.
fn place<'s>(step: &'s NetworkUpdate, chain: &HashMap<i64, &'s Block>) -> Option<Placed<'s>> {
    let mut placed = Placed::new();
    for seen in &step.transfers {
        let block = match seen.height {
            None => None,
            Some(height) => Some(*chain.get(&height)?),
        };
        let identity = (&*seen.tx_hash, seen.place);
        // Said twice, a block outdoes the wait for one.
        if placed
            .get(&identity)
            .is_none_or(|(_, before)| before.is_none())
        {
            placed.insert(identity, (seen, block));
        }
    }
    Some(placed)
}

/// The transfers that are new, have moved, or whose block was replaced, as they are now.
async fn news(
    tx: &mut Tx,
    step: &NetworkUpdate,
    placed: Placed<'_>,
    replaced: Vec<TransferRow>,
    now: i64,
) -> Result<Vec<TransferRow>, Fail> {
    let identities: Vec<Identity<'_>> = placed
        .keys()
        .map(|(tx_hash, place)| (&*step.network, *tx_hash, *place))
        .collect();
    let transactions: BTreeSet<(&str, &str)> = identities
        .iter()
        .map(|(network, tx_hash, _)| (*network, *tx_hash))
        .collect();
    let transactions: Vec<(&str, &str)> = transactions.into_iter().collect();
    let rows = till_store::transfers::of_transactions(tx, &transactions).await?;
    let known: HashMap<Identity<'_>, &TransferRow> =
        rows.iter().map(|fact| (fact.identity(), fact)).collect();
    let replaced_ids: HashSet<Identity<'_>> = replaced.iter().map(TransferRow::identity).collect();
    let mut facts = Vec::with_capacity(placed.len() + replaced.len());
    for ((tx_hash, place), (seen, block)) in &placed {
        let identity = (&*step.network, *tx_hash, *place);
        // It left its block and waits for another: first it is gone, and whoever still sees it waiting may say so later.
        if block.is_none() && replaced_ids.contains(&identity) {
            continue;
        }
        let stands = known
            .get(&identity)
            .filter(|_| !replaced_ids.contains(&identity));
        // What is in a block stays what it is there, and who still sees it waiting is behind.
        let is_old = stands.is_some_and(|fact| {
            let is_there = fact.block_hash.is_some();
            is_there && block.is_none_or(|block| fact.block_hash.as_ref() == Some(&block.hash))
        });
        match stands.filter(|_| is_old) {
            Some(fact) => facts.extend(better_known(fact, seen)),
            None => {
                let mut fact = fact_of(&step.network, seen, *block, now);
                keep_registers(&mut fact, &rows);
                facts.push(fact);
            }
        }
    }
    let seen_again: HashSet<(String, i64)> = facts
        .iter()
        .map(|fact| (fact.tx_hash.clone(), fact.place))
        .collect();
    // What a replaced block had and no new one has is nowhere; should it come back, it is the same transfer.
    for old in replaced {
        if !seen_again.contains(&(old.tx_hash.clone(), old.place)) {
            facts.push(gone(old));
        }
    }
    Ok(facts)
}

/// Who was named is named in another block, too, whoever can be asked about it now, and at another place of its transaction.
fn keep_registers(fact: &mut TransferRow, known: &[TransferRow]) {
    let of_senders = |row: &&TransferRow| {
        let is = (&row.tx_hash, &row.senders, &row.asset);
        is == (&fact.tx_hash, &fact.senders, &fact.asset)
    };
    let kept = known.iter().filter(of_senders);
    let kept: Vec<&str> = kept.filter_map(|row| row.registers.as_deref()).collect();
    if !kept.is_empty() {
        let said = kept.into_iter().chain(fact.registers.as_deref());
        let said = said
            .map(screening::read)
            .fold(Answers::new(), screening::gravest);
        fact.registers = screening::written(&said);
    }
}

/// A transfer that stays where it is, with what was not known of it before: what arrived with it, and what registers say
/// of its senders if they had said nothing. None where nothing more is known.
fn better_known(fact: &TransferRow, seen: &SeenTransfer) -> Option<TransferRow> {
    let mut better = fact.clone();
    if seen.arrived.is_some() {
        better.set_came(seen.arrived, seen.strayed);
    }
    if let Some(said) = &seen.registers {
        let said = screening::over(fact.registers.as_deref(), &screening::read(said));
        better.registers = screening::written(&said);
    }
    (better != *fact).then_some(better)
}

/// Those that a block was wrongly said to have, unless the same step says where they are.
async fn refuted(
    tx: &mut Tx,
    step: &NetworkUpdate,
    facts: &[TransferRow],
) -> Result<Vec<TransferRow>, Fail> {
    let known = named(tx, step, &step.refuted).await?;
    let told: HashSet<Identity<'_>> = facts.iter().map(TransferRow::identity).collect();
    let stands = |fact: &TransferRow| !fact.gone && !told.contains(&fact.identity());
    Ok(known.into_iter().filter(stands).map(gone).collect())
}

/// Those that are known of these, by transaction and place in it.
async fn named(
    tx: &mut Tx,
    step: &NetworkUpdate,
    which: &[(String, i64)],
) -> Result<Vec<TransferRow>, Fail> {
    let identities: Vec<Identity<'_>> = which
        .iter()
        .map(|(tx_hash, place)| (&*step.network, &**tx_hash, *place))
        .collect();
    Ok(till_store::transfers::find_many(tx, &identities).await?)
}

/// Those that waited in vain, unless the same step says where they are.
async fn dropped(
    tx: &mut Tx,
    step: &NetworkUpdate,
    facts: &[TransferRow],
) -> Result<Vec<TransferRow>, Fail> {
    let known = named(tx, step, &step.dropped).await?;
    let told: HashSet<Identity<'_>> = facts.iter().map(TransferRow::identity).collect();
    let waited = |fact: &TransferRow| {
        fact.block_hash.is_none() && !fact.gone && !told.contains(&fact.identity())
    };
    Ok(known.into_iter().filter(waited).map(gone).collect())
}

fn fact_of(network: &str, seen: &SeenTransfer, block: Option<&Block>, now: i64) -> TransferRow {
    let mut fact = TransferRow {
        network: network.to_owned(),
        tx_hash: seen.tx_hash.clone(),
        place: seen.place,
        asset: seen.asset.clone(),
        units: seen.units,
        arrived: None,
        whole: false,
        registers: seen.registers.clone(),
        senders: seen.senders.clone(),
        recipient: seen.recipient.clone(),
        simulated: false,
        first_seen_at: now,
        height: seen.height,
        block_hash: block.map(|block| block.hash.clone()),
        block_time: block.map(|block| block.time),
        gone: false,
        payment: None,
        unattributed: None,
    };
    fact.set_came(seen.arrived, seen.strayed);
    fact
}

fn gone(fact: TransferRow) -> TransferRow {
    TransferRow {
        height: None,
        block_hash: None,
        block_time: None,
        gone: true,
        ..fact
    }
}

/// What is in the blocks that a tip has passed. For large invoices a tip passes a block when it is so much further.
async fn risen(
    tx: &mut Tx,
    network: &str,
    (before, after): (Tips, Tips),
    deeper: i64,
) -> Result<Vec<TransferRow>, Fail> {
    let mut found = Vec::new();
    for (from, to) in [
        (before.safe, after.safe),
        (before.last_final, after.last_final),
    ] {
        if let Some(to) = to.filter(|to| from.is_none_or(|from| from < *to)) {
            let from = from.map_or(i64::MIN, |from| from.saturating_sub(deeper));
            found.extend(till_store::transfers::in_blocks(tx, network, from, to).await?);
        }
    }
    Ok(found)
}

/// Each once, what is in no block first, the others as the chain has them.
fn told(network: &NetworkRow, mut changed: Vec<TransferRow>) -> Vec<Observation> {
    changed.sort_by(|a, b| a.identity().cmp(&b.identity()));
    changed.dedup_by(|a, b| a.identity() == b.identity());
    changed.sort_by_key(|fact| fact.height);
    let observe = |fact: &TransferRow| observe(Some(network), fact);
    changed.iter().map(observe).collect()
}

/// A final block was replaced: nothing more is credited there until an operator has looked, and what was credited in the
/// replaced blocks is held.
async fn freeze(
    tx: &mut Tx,
    engine: &Engine,
    mut network: NetworkRow,
    from: i64,
) -> Result<Recorded, Fail> {
    let reason = format!("the block at height {from}, which was final, was replaced");
    tracing::error!(network = %network.id, reason, "the network is frozen: nothing on it is credited until an operator runs `till network thaw`; see docs/chains.md, \"When something is wrong\", before you do");
    metrics::counter!("till_network_freezes_total", "network" => network.id.clone()).increment(1);
    network.frozen_at = Some(engine.clock.now_ms());
    network.frozen_from = Some(from);
    network.frozen_reason = Some(reason);
    tx.write(&till_store::networks::updates(&network)?).await?;
    let disputed = till_store::transfers::in_blocks(tx, &network.id, from - 1, i64::MAX).await?;
    Ok(Recorded::Frozen(told(&network, disputed)))
}

/// Ends a freeze: the blocks that were replaced are forgotten, and the tips stand where both chains agree. Asked to, it
/// forgets where the network was read from a height on, so that it is read again.
pub(super) async fn thawed(
    tx: &mut Tx,
    network: &str,
    rescan_from: Option<i64>,
) -> Result<Recorded, Fail> {
    let Some(mut network) = till_store::networks::lock(tx, network).await? else {
        return Ok(Recorded::News(Vec::new()));
    };
    let mut facts: Vec<TransferRow> = Vec::new();
    if let Some(from) = network.frozen_from {
        let replaced = till_store::transfers::in_blocks(tx, &network.id, from - 1, i64::MAX);
        facts.extend(replaced.await?.into_iter().map(gone));
        (
            network.frozen_at,
            network.frozen_from,
            network.frozen_reason,
        ) = (None, None, None);
        let agreed = network.tips().below(from);
        (network.safe_height, network.final_height) = (agreed.safe, agreed.last_final);
        till_store::networks::forget_blocks(tx, &network.id, Some(from), None).await?;
        (network.cursor_height, network.cursor_hash) = (Some(from - 1), None);
        network.checked_height = network.checked_height.map(|it| it.min(from - 1));
    }
    if let Some(from) = rescan_from {
        // What was never read cannot be read again, and nothing between is left out.
        let next = network.cursor_height.map(|cursor| cursor + 1);
        let from = next.map_or(from, |next| from.min(next));
        // The blocks below stay: whoever reads on from them notices that they were replaced.
        if next.is_none_or(|next| from < next) {
            till_store::networks::forget_blocks(tx, &network.id, Some(from), None).await?;
            (network.cursor_height, network.cursor_hash) = (Some(from - 1), None);
        }
        network.checked_height = network.checked_height.map(|it| it.min(from - 1));
    }
    let writes = [
        till_store::networks::updates(&network)?,
        till_store::transfers::facts(&facts),
    ];
    tx.write_all(&writes).await?;
    Ok(Recorded::News(told(&network, facts)))
}

/// A fact as the door is told it: its level is where its block stands against the network's tips.
pub(super) fn observe(network: Option<&NetworkRow>, fact: &TransferRow) -> Observation {
    let frozen_from = network.and_then(|network| network.frozen_from);
    let sighting = match (&fact.block_hash, fact.height, fact.block_time) {
        _ if fact.gone => Sighting::Removed,
        (_, Some(number), _) if frozen_from.is_some_and(|from| from <= number) => {
            Sighting::Disputed
        }
        (Some(hash), Some(number), Some(time)) => Sighting::InBlock {
            level: network.map_or(Level::Included, |network| network.tips().level_at(number)),
            number,
            hash: hash.clone(),
            time,
        },
        _ => Sighting::Pending,
    };
    Observation {
        network: fact.network.clone(),
        tx_hash: fact.tx_hash.clone(),
        place: fact.place,
        asset: fact.asset.clone(),
        units: fact.units,
        arrived: fact.arrived,
        registers: fact.registers.clone(),
        senders: fact.senders.clone(),
        recipient: fact.recipient.clone(),
        sighting,
        source: match fact.simulated {
            true => TransferOrigin::Simulation,
            false => TransferOrigin::Chain,
        },
    }
}

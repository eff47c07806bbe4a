//! Two processes that would lead each network, and what they read of it: all or part of what is new, at times what is out
//! of date, left out, or a lie.

use till_core::chain::Block;
use till_engine::intake::chain::{NetworkUpdate, SeenTransfer, Tip};

use super::ops::Op;
use crate::chain::{Chain, Transfer, Whereabouts};
use crate::net::Net;
use crate::rng::Rng;
use crate::tape::Part;
use crate::world::World;

pub const PROCESSES: usize = 2;

pub fn owner(process: usize) -> String {
    format!("process-{process}")
}

pub fn lead(world: &mut World) -> Option<Op> {
    if world.chains.is_empty() {
        return None;
    }
    let network = world.rng.pick(&world.chains).network.clone();
    let process = world.rng.below(PROCESSES);
    Some(Op::Lead { network, process })
}

pub fn thaw(world: &mut World) -> Option<Op> {
    let frozen = |(_, net): &(&String, &Net)| net.frozen_from.is_some();
    let mut frozen = world.model.nets.iter().filter(frozen);
    let network = frozen.next()?.0.clone();
    Some(Op::Thaw { network })
}

pub fn follow(world: &mut World) -> Option<Op> {
    if world.chains.is_empty() {
        return None;
    }
    let at = world.rng.place(&world.chains);
    let network = world.chains[at].network.clone();
    let process = world.rng.below(PROCESSES);
    let Some(epoch) = world.epochs.get(&(network.clone(), process)).copied() else {
        return Some(Op::Lead { network, process });
    };
    let known = world.model.nets.get(&network).cloned();
    let known = known.unwrap_or_default();
    let World { rng, chains, .. } = world;
    let step = match known.frozen_from.is_some() && rng.percent(40) {
        true => go_on(&chains[at], &known, epoch),
        false => read(rng, &chains[at], &known, epoch),
    };
    Some(Op::Follow { step })
}

/// What a source says that has never heard of the blocks that replaced final ones: for it nothing happened.
fn go_on(chain: &Chain, known: &Net, epoch: i64) -> NetworkUpdate {
    let (tip, hash) = match known.blocks.last() {
        Some(last) => (last.height, last.hash.clone()),
        None => (-1, String::new()),
    };
    let next = Block {
        height: tip + 1,
        hash: format!("{}~{}", chain.network, tip + 1),
        parent: hash,
        time: known.blocks.last().map_or(0, |last| last.time + 1_000),
    };
    let waits = chain.transfers.iter();
    let waits = waits.filter(|it| it.at == Whereabouts::Mempool);
    let place = |it: &Transfer| SeenTransfer {
        height: Some(tip + 1),
        ..seen(it)
    };
    let last = Some(Tip {
        height: tip + 1,
        hash: next.hash.clone(),
    });
    NetworkUpdate {
        network: chain.network.clone(),
        epoch,
        blocks: vec![next],
        transfers: waits.map(place).collect(),
        dropped: Vec::new(),
        refuted: Vec::new(),
        safe: last.clone(),
        last_final: last,
    }
}

/// What a source says that has seen part of the chain, or all of it.
fn read(rng: &mut Rng, chain: &Chain, known: &Net, epoch: i64) -> NetworkUpdate {
    let mut step = whole(chain, known, epoch);
    if rng.percent(15) {
        let some = rng.below(step.blocks.len() + 1);
        step.blocks.truncate(some);
    }
    let first = first_new(chain, known);
    let end = step.blocks.last().map_or(first, |block| block.height + 1);
    step.transfers.clear();
    for transfer in &chain.transfers {
        rng.about("transfer", &transfer.id);
        let told = match transfer.at {
            Whereabouts::Block(height) if height >= first && height < end => !rng.percent(7),
            Whereabouts::Block(height) if height < first => {
                rng.percent(if known.facts.contains_key(&transfer.id) {
                    15
                } else {
                    50
                })
            }
            Whereabouts::Mempool => rng.percent(40),
            _ => false,
        };
        if told && rng.keeps(Part::Told) {
            let mut seen = seen(transfer);
            if seen.height.is_some_and(|height| height < first) {
                match rng.below(10) {
                    // Whoever still sees it waiting is behind; whoever says that there is more of it lies.
                    0 if rng.keeps(Part::Lie) => seen.height = None,
                    1 if known.facts.contains_key(&transfer.id) && rng.keeps(Part::Lie) => {
                        seen.units.0 += 1;
                    }
                    _ => {}
                }
            }
            step.transfers.push(seen);
        }
    }
    step.dropped.retain(|dropped| {
        rng.about("dropped", dropped);
        rng.percent(50)
    });
    // Whoever tells of what replaces another has seen the other go.
    let told = step.transfers.iter();
    let replaced = told.flat_map(|it| chain.replaced_by(&it.tx_hash));
    for id in replaced.map(|it| (it.id.tx.clone(), it.id.place)) {
        if !step.dropped.contains(&id) {
            step.dropped.push(id);
        }
    }
    rng.about("the rest", &());
    if rng.percent(5) && !chain.transfers.is_empty() && rng.keeps(Part::Lie) {
        // Somebody who has not heard of it says that nobody has.
        let id = &rng.pick(&chain.transfers).id;
        step.dropped.push((id.tx.clone(), id.place));
    }
    let head = if step.blocks.is_empty() {
        first.min(end) - 1
    } else {
        end - 1
    };
    rng.about("safe", &());
    step.safe = tip(rng, chain, chain.safe.min(head));
    rng.about("final", &());
    step.last_final = tip(rng, chain, chain.last_final.min(head));
    step
}

/// The first height at which the chain is not what is known.
fn first_new(chain: &Chain, known: &Net) -> i64 {
    let alike = chain.blocks.iter().zip(&known.blocks);
    let alike = alike.take_while(|(a, b)| a.hash == b.hash).count();
    i64::try_from(alike).unwrap()
}

/// What an honest source says that has seen everything.
pub fn whole(chain: &Chain, known: &Net, epoch: i64) -> NetworkUpdate {
    let first = first_new(chain, known);
    let new = |height: i64| height >= first;
    let blocks = chain.blocks.iter().filter(|block| new(block.height));
    let settled = |height: i64| block_tip(chain, height);
    NetworkUpdate {
        network: chain.network.clone(),
        epoch,
        blocks: blocks.cloned().collect(),
        transfers: chain
            .transfers
            .iter()
            .filter(|it| it.at != Whereabouts::Gone)
            .map(seen)
            .collect(),
        dropped: chain
            .transfers
            .iter()
            .filter(|it| it.at == Whereabouts::Gone)
            .map(|it| (it.id.tx.clone(), it.id.place))
            .collect(),
        refuted: Vec::new(),
        safe: settled(chain.safe),
        last_final: settled(chain.last_final),
    }
}

fn block_tip(chain: &Chain, height: i64) -> Option<Tip> {
    let block = chain.blocks.get(usize::try_from(height).ok()?)?;
    Some(Tip {
        height,
        hash: block.hash.clone(),
    })
}

/// At times none, an old one, or one of a chain that nobody knows.
fn tip(rng: &mut Rng, chain: &Chain, height: i64) -> Option<Tip> {
    match rng.below(12) {
        0 => None,
        1 => block_tip(chain, height - rng.between(0, 3)),
        2 => Some(Tip {
            height: chain.tip(),
            hash: "a lie".into(),
        }),
        _ => block_tip(chain, height),
    }
}

fn seen(transfer: &Transfer) -> SeenTransfer {
    SeenTransfer {
        tx_hash: transfer.id.tx.clone(),
        place: transfer.id.place,
        asset: transfer.asset.clone(),
        units: till_core::money::Units(transfer.units),
        arrived: None,
        strayed: false,
        registers: None,
        senders: transfer.sender.iter().cloned().collect(),
        recipient: transfer.recipient.clone(),
        height: match transfer.at {
            Whereabouts::Block(height) => Some(height),
            Whereabouts::Mempool | Whereabouts::Gone => None,
        },
    }
}

pub fn show(step: &NetworkUpdate) -> String {
    let blocks: Vec<&str> = step.blocks.iter().map(|block| &*block.hash).collect();
    let transfers: Vec<String> = step
        .transfers
        .iter()
        .map(|it| {
            format!(
                "{}/{} {} at {:?}",
                it.tx_hash, it.place, it.units.0, it.height
            )
        })
        .collect();
    let height = |tip: &Option<Tip>| tip.as_ref().map(|tip| (tip.height, tip.hash.clone()));
    format!(
        "{} epoch {}: {blocks:?} with {transfers:?} without {:?}, safe {:?}, final {:?}",
        step.network,
        step.epoch,
        step.dropped,
        height(&step.safe),
        height(&step.last_final)
    )
}

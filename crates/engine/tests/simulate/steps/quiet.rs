//! The end: chains settle, sources tell everything, receivers are well again, time passes. Then the books
//! must say what the chains say, and every merchant must have heard everything.

use till_engine::intake::chain::NetworkUpdate;

use super::ops::{Op, perform};
use super::{follow, work};
use crate::chain::{Transfer, Whereabouts};
use crate::check;
use crate::expect::Seen;
use crate::model::Invoice;
use crate::net::LEASE_MS;
use crate::world::{Check, World};

pub async fn come_to_rest(world: &mut World) -> Check {
    for at in 0..world.chains.len() {
        let now = world.real_now();
        let World { chains, rng, .. } = world;
        let chain = &mut chains[at];
        while chain.transfers.iter().any(|t| t.at == Whereabouts::Mempool) {
            chain.mine(rng, now);
        }
        chain.finalise_all();
        tell_all(world, at).await?;
    }
    world.clock.advance(2 * crate::world::LIFE_MS);
    work::timers(world).await?;
    check::all(world).await?;
    check::rest::nothing_is_due(world).await?;
    check::rest::books_are_the_chains(world)?;
    world.receiver.all_healthy();
    // Longer than any wait between two attempts.
    for _ in 0..40 {
        world.clock.advance(13 * 3_600_000);
        work::deliver(world).await?;
        if check::deliveries::none_due(world).await {
            break;
        }
    }
    check::all(world).await?;
    let mut kinds: Vec<String> = Vec::new();
    for invoice in world
        .model
        .merchants
        .iter()
        .flat_map(|merchant| merchant.invoices.values())
    {
        kinds.extend(invoice.events.iter().map(|event| event.kind.clone()));
    }
    for merchant in &world.model.merchants {
        if merchant.seen.values().any(|seen| seen.suffix.is_some()) {
            kinds.push("paid by wallet".into());
        }
        let told_apart = |seen: &Seen| seen.suffix > Some(0) && seen.part.settled > 0;
        if merchant.seen.values().any(told_apart) {
            kinds.push("settled with a suffix".into());
        }
        let unpicked = |it: &Invoice| it.terms.deadline() < it.terms.expires_at;
        let mut ended = merchant.invoices.values().filter(|it| unpicked(it));
        if ended.any(|it| it.now.status == "expired") {
            kinds.push("ended unpicked".into());
        }
    }
    kinds.iter().for_each(|kind| world.visit(kind));
    check::deliveries::all_received(world).await
}

/// A leader that sees everything, until the server has seen it too. As the second look does, it refutes what the server was told
/// wrongly of a block, and then tells it again.
async fn tell_all(world: &mut World, at: usize) -> Check {
    loop {
        let chain = world.chains[at].clone();
        let network = chain.network.clone();
        let net = world.model.nets.get(&network).cloned().unwrap_or_default();
        let told = |transfer: &Transfer| match transfer.at {
            Whereabouts::Block(height) => net.facts.get(&transfer.id).is_some_and(|fact| {
                fact.block
                    .as_ref()
                    .is_some_and(|block| block.height == height)
            }),
            _ => net.facts.get(&transfer.id).is_none_or(|fact| fact.gone),
        };
        let wrong = |transfer: &&Transfer| {
            let fact = net.facts.get(&transfer.id);
            fact.is_some_and(|fact| fact.block.is_some() && fact.units != transfer.units)
        };
        let refuted: Vec<(String, i64)> = chain
            .transfers
            .iter()
            .filter(wrong)
            .map(|it| (it.id.tx.clone(), it.id.place))
            .collect();
        let is_all = refuted.is_empty()
            && net.blocks == chain.blocks
            && net.last_final == chain.tip()
            && chain.transfers.iter().all(told);
        if is_all {
            return Ok(());
        }
        let epoch = world.epochs.get(&(network.clone(), 0)).copied();
        let op = match epoch.filter(|epoch| *epoch == net.epoch) {
            _ if net.frozen_from.is_some() => Op::Thaw { network },
            // First the blocks, so that only what is wrong in these very blocks is refuted.
            Some(epoch) if net.blocks == chain.blocks && !refuted.is_empty() => Op::Follow {
                step: NetworkUpdate {
                    refuted,
                    ..NetworkUpdate::new(&network, epoch)
                },
            },
            Some(epoch) => Op::Follow {
                step: follow::whole(&chain, &net, epoch),
            },
            None => {
                // Nobody else is heard of any more.
                world.clock.advance(LEASE_MS + 1);
                Op::Lead {
                    network,
                    process: 0,
                }
            }
        };
        perform(world, op).await?;
        check::all(world).await?;
    }
}

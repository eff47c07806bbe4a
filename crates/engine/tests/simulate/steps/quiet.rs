//! The end: chains settle, sources tell everything, receivers are well again, time passes. Then the books
//! must say what the chains say, and every merchant must have heard everything.

use std::collections::BTreeSet;

use till_engine::intake::Observation;

use super::choose::is_news;
use super::ops::{Op, perform};
use super::work;
use crate::chain::{TransferId, Whereabouts};
use crate::check;
use crate::expect::Seen;
use crate::model::{Invoice, Lease};
use crate::world::{Check, World};

pub async fn come_to_rest(world: &mut World) -> Check {
    for m in 0..world.model.merchants.len() {
        let now = world.now(m);
        let World { model, rng, .. } = world;
        for chain in &mut model.merchants[m].chains {
            while chain.transfers.iter().any(|t| t.at == Whereabouts::Mempool) {
                chain.mine(rng, now);
            }
            chain.finalise_all();
        }
        tell_all(world, m).await?;
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

async fn tell_all(world: &mut World, m: usize) -> Check {
    // What is nobody's stays news however often it is told.
    let mut told: BTreeSet<TransferId> = BTreeSet::new();
    loop {
        let merchant = &world.model.merchants[m];
        let mut news: Vec<Observation> = Vec::new();
        for chain in &merchant.chains {
            for transfer in &chain.transfers {
                let seen = chain.observe(transfer);
                if !is_news(merchant, &transfer.id, &seen) {
                    continue;
                }
                let leased = |lease: &Lease| lease.address == transfer.recipient;
                let known = merchant.seen.contains_key(&transfer.id);
                let first = told.insert(transfer.id.clone());
                if first || known || merchant.leases.iter().any(leased) {
                    news.push(seen);
                }
            }
        }
        if news.is_empty() {
            return Ok(());
        }
        for seen in news.chunks(8) {
            let seen = seen.to_vec();
            perform(world, Op::Observe { m, seen }).await?;
        }
    }
}

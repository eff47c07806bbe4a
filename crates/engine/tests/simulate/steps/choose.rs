//! Drawing the particulars of a step.

use till_core::asset::Registry;
use till_engine::base::clock::Clock as _;
use till_engine::intake::{Observation, Sighting, Source};

use super::Step;
use super::ops::Op;
use crate::chain::{Chain, Transfer, TransferId, Whereabouts};
use crate::expect::Offer;
use crate::model::Merchant;
use crate::world::World;

/// An invoice, rather a new one than an old one.
pub fn invoice(world: &mut World, m: usize) -> Option<String> {
    let ids: Vec<&String> = world.model.merchants[m].invoices.keys().collect();
    if ids.is_empty() {
        return None;
    }
    let recent = ids.len().min(8);
    let at = match world.rng.percent(80) {
        true => ids.len() - 1 - world.rng.below(recent),
        false => world.rng.below(ids.len()),
    };
    Some(ids[at].clone())
}

fn key(world: &mut World) -> String {
    world.keys_made += 1;
    format!("key-{}", world.keys_made)
}

/// At times somebody comes back to pay the rest.
pub fn owed(world: &mut World, m: usize) -> Option<String> {
    let invoices = world.model.merchants[m].invoices.iter();
    let owed: Vec<&String> = invoices
        .filter(|(_, invoice)| invoice.now.status == "partially_paid")
        .map(|(id, _)| id)
        .collect();
    (!owed.is_empty() && world.rng.percent(30)).then(|| (*world.rng.pick(&owed)).clone())
}

/// Somebody sends something: one transfer, or several in one transaction.
pub fn transfer(world: &mut World, m: usize) {
    world.transactions_made += 1;
    let tx = format!("tx-{}", world.transactions_made);
    let count = if world.rng.percent(15) { 2 } else { 1 };
    let mut network: Option<String> = None;
    for place in 0..count {
        let Some(id) = owed(world, m).or_else(|| invoice(world, m)) else {
            return;
        };
        let mut terms = world.model.merchants[m].invoices[&id].terms.clone();
        terms.offers.retain(|offer| !offer.address.is_empty());
        if terms.offers.is_empty() {
            return;
        }
        let offer = world.rng.pick(&terms.offers).clone();
        let asset = asset(world, m, &offer);
        // One transaction is on one network.
        if network.as_ref().is_some_and(|network| *network != asset.1) {
            return;
        }
        network = Some(asset.1.clone());
        let left = world.model.merchants[m].invoices[&id].now.remaining.clone();
        let units = match left {
            Some((of, left)) if of == asset.0 && world.rng.percent(50) => left,
            _ => units(world, offer.due),
        };
        let sender = sender(world, offer.family);
        let transfer = Transfer {
            id: TransferId {
                network: asset.1.clone(),
                tx: tx.clone(),
                place,
            },
            asset: asset.0,
            units,
            sender,
            recipient: offer.address,
            at: Whereabouts::Mempool,
            source: Source::Chain,
        };
        let chain = chain_of(&mut world.model.merchants[m], &asset.1);
        chain.transfers.push(transfer);
    }
    world.note(format!("m{m} is sent {tx}"));
}

pub fn chain_of<'a>(merchant: &'a mut Merchant, network: &str) -> &'a mut Chain {
    let known = merchant
        .chains
        .iter()
        .position(|chain| chain.network == network);
    let at = known.unwrap_or_else(|| {
        merchant.chains.push(Chain::new(network));
        merchant.chains.len() - 1
    });
    &mut merchant.chains[at]
}

/// Mostly what was asked for, at times another asset or network that the address also exists on.
fn asset(world: &mut World, m: usize, offer: &Offer) -> (String, String) {
    let registry = Registry::builtin();
    let asked = registry.asset(&offer.asset).unwrap();
    let mode = world.model.merchants[m].scope.mode;
    if world.rng.percent(10) {
        let same_address: Vec<_> = registry
            .assets()
            .iter()
            .filter(|asset| asset.mode == mode && asset.family == asked.family)
            .collect();
        let other = world.rng.pick(&same_address);
        return (other.code.clone(), other.network.clone());
    }
    (asked.code.clone(), asked.network.clone())
}

fn units(world: &mut World, due: u128) -> u128 {
    let part = |world: &mut World, most: i64| {
        due * u128::try_from(world.rng.between(1, most)).unwrap() / 100
    };
    match world.rng.below(12) {
        0 => 0,
        1 => 1,
        2 => due / 100_000 + 1,
        3 | 4 => part(world, 99).max(1),
        5 => due - due * 3 / 1_000,
        6 => due.saturating_sub(1).max(1),
        7 => due + 1,
        8 => due + part(world, 200),
        _ => due,
    }
}

fn sender(world: &mut World, family: &str) -> Option<String> {
    let listed = world.rng.percent(8);
    let lists = till_chains::test_screening();
    let of_family: Vec<_> = lists
        .iter()
        .filter(|(listed, _, _)| listed.namespace() == family)
        .collect();
    match listed {
        true => Some(world.rng.pick(&of_family).2.to_owned()),
        false => None,
    }
}

/// Blocks come on every network of the merchant; a reorganisation is one network's misfortune.
pub fn move_chain(world: &mut World, m: usize, step: Step) {
    let now = world.now(m);
    let World { model, rng, .. } = world;
    let chains = &mut model.merchants[m].chains;
    if chains.is_empty() {
        return;
    }
    let at = rng.below(chains.len());
    match step {
        Step::Mine => chains.iter_mut().for_each(|chain| chain.mine(rng, now)),
        Step::Finalise => chains.iter_mut().for_each(|chain| chain.finalise(rng)),
        Step::Reorganise => {
            let depth = 1 + rng.below(4);
            chains[at].reorganise(rng, depth);
        }
        _ => chains[at].flip_back(),
    }
    let network = chains[at].network.clone();
    world.note(format!("{step:?} m{m} {network}"));
}

/// What sources report: rather what changed, at times what is known already, at times out of date.
pub fn observations(world: &mut World, m: usize) -> Option<Op> {
    let merchant = &world.model.merchants[m];
    let mut news: Vec<Observation> = Vec::new();
    let mut old: Vec<Observation> = Vec::new();
    for chain in &merchant.chains {
        for transfer in &chain.transfers {
            let seen = chain.observe(transfer);
            match is_news(merchant, &transfer.id, &seen) {
                true => news.push(seen),
                false => old.push(seen),
            }
        }
    }
    let mut told = Vec::new();
    for _ in 0..world.rng.between(1, 6) {
        let from = if world.rng.percent(85) { &news } else { &old };
        if !from.is_empty() {
            told.push(world.rng.pick(from).clone());
        }
    }
    (!told.is_empty()).then_some(Op::Observe { m, seen: told })
}

pub fn is_news(merchant: &Merchant, id: &TransferId, seen: &Observation) -> bool {
    let Some(known) = merchant.seen.get(id) else {
        return !matches!(seen.sighting, Sighting::Removed) && seen.units.0 > 0;
    };
    if seen.units.0 == 0 {
        return !known.is_gone();
    }
    match &seen.sighting {
        Sighting::Removed => !known.is_gone(),
        Sighting::Pending => {
            known.is_gone() || known.block.is_some() || known.units != seen.units.0
        }
        Sighting::InBlock { level, hash, .. } => {
            let block = known.block.as_ref().map(|block| &block.1);
            known.is_gone()
                || block != Some(hash)
                || *level > known.level
                || known.units != seen.units.0
        }
    }
}

/// Another merchant's transfer. Bitcoin is left out: both test accounts have the example's addresses.
pub fn elsewhere(world: &mut World, m: usize) -> Option<Op> {
    let owner = world.rng.below(world.model.merchants.len());
    if owner == m {
        return None;
    }
    let mut seen = Vec::new();
    let leases = &world.model.merchants[owner].leases;
    for chain in &world.model.merchants[owner].chains {
        if !chain.network.starts_with("bip122") {
            // Both accounts have the example's destination: a wallet's transfer may be either's.
            let leased = |transfer: &&Transfer| {
                leases
                    .iter()
                    .any(|lease| lease.address == transfer.recipient)
            };
            seen.extend(
                chain
                    .transfers
                    .iter()
                    .filter(leased)
                    .map(|transfer| chain.observe(transfer)),
            );
        }
    }
    if seen.is_empty() {
        return None;
    }
    let seen = vec![world.rng.pick(&seen).clone()];
    Some(Op::ObserveElsewhere { m, owner, seen })
}

/// A simulated payment to undo.
pub fn reversal(world: &mut World, m: usize) -> Option<Op> {
    let merchant = &world.model.merchants[m];
    let made_up: Vec<TransferId> = merchant
        .seen
        .keys()
        .filter(|id| !id.tx.starts_with("tx-"))
        .cloned()
        .collect();
    if made_up.is_empty() {
        return None;
    }
    let id = world.rng.pick(&made_up).clone();
    Some(Op::Reverse { m, id })
}

pub fn cancel(world: &mut World, m: usize) -> Option<Op> {
    let invoice = invoice(world, m)?;
    let key = key(world);
    Some(Op::Cancel { m, invoice, key })
}

pub fn review(world: &mut World) -> Option<Op> {
    let mut open: Vec<(usize, String)> = Vec::new();
    for (m, merchant) in world.model.merchants.iter().enumerate() {
        let held = merchant.invoices.iter();
        let held = held.filter(|(_, invoice)| invoice.now.status == "under_review");
        open.extend(held.map(|(id, _)| (m, id.clone())));
    }
    let (m, invoice) = match open.is_empty() || world.rng.percent(5) {
        true => {
            let m = world.rng.below(world.model.merchants.len());
            (m, invoice(world, m)?)
        }
        false => world.rng.pick(&open).clone(),
    };
    Some(Op::Review {
        m,
        invoice,
        accept: world.rng.percent(65),
        dashboard: world.rng.percent(40),
        key: key(world),
    })
}

pub fn settings(world: &mut World, m: usize) -> Op {
    let name = world.model.merchants[m]
        .mark
        .trim_end_matches("-mark")
        .to_owned();
    let some = |world: &mut World, percent| world.rng.percent(percent);
    let tolerance_bps = some(world, 50).then(|| *world.rng.pick(&[0, 0, 50, 100, 2_500, 10_000]));
    // Now and then exactly what an invoice costs: a limit is met on its edge.
    let edge =
        invoice(world, m).map(|id| world.model.merchants[m].invoices[&id].terms.amount_minor);
    let limits = [None, Some(1), Some(5_000), edge, edge];
    let review_cents = some(world, 50).then(|| *world.rng.pick(&limits));
    let url = some(world, 25).then(|| {
        let url = format!("https://{name}.example.com/hooks");
        world.rng.percent(70).then_some(url)
    });
    Op::Settings {
        m,
        tolerance_bps,
        review_cents,
        url,
    }
}

pub fn advance(world: &mut World, m: usize) -> Option<Op> {
    if world.model.merchants[m].scope.mode.is_live() {
        return None;
    }
    let by = match world.rng.below(4) {
        0 => world.rng.between(0, 5_000),
        1 => world.rng.between(0, 3 * 3_600_000),
        _ => world.rng.between(0, 30 * 60_000),
    };
    let to = world.clock.now_ms() + world.model.merchants[m].offset_ms + by;
    Some(Op::Advance { m, to })
}

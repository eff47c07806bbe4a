//! Drawing the particulars of a step.

use till_core::asset::Registry;
use till_engine::base::clock::Clock as _;

use super::Step;
use super::ops::Op;
use crate::chain::{Chain, Transfer, TransferId, Whereabouts};
use crate::expect::Offer;
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
    Some(ids[world.rng.same(at, &ids)].clone())
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
    world.rng.about("owed", &());
    (!owed.is_empty() && world.rng.percent(30)).then(|| (*world.rng.pick(&owed)).clone())
}

/// Somebody sends something: one transfer, or several in one transaction.
pub fn transfer(world: &mut World, m: usize) {
    world.transactions_made += 1;
    let tx = format!("tx-{}", world.transactions_made);
    let count = if world.rng.percent(15) { 2 } else { 1 };
    let mut network: Option<String> = None;
    let mut sent = Vec::new();
    for place in 0..count {
        let Some(id) = owed(world, m).or_else(|| invoice(world, m)) else {
            return;
        };
        world.rng.about("transfer", &place);
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
        sent.push(format!("{units} {} for {id}", asset.0));
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
        };
        chain_of(&mut world.chains, &asset.1)
            .transfers
            .push(transfer);
    }
    world.note(format!("m{m} is sent {tx}: {}", sent.join(", ")));
}

pub fn chain_of<'a>(chains: &'a mut Vec<Chain>, network: &str) -> &'a mut Chain {
    let known = chains.iter().position(|chain| chain.network == network);
    let at = known.unwrap_or_else(|| {
        chains.push(Chain::new(network));
        chains.len() - 1
    });
    &mut chains[at]
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

/// Blocks come on every network; a reorganisation is one network's misfortune.
pub fn move_chain(world: &mut World, step: Step) {
    let now = world.real_now();
    let World { chains, rng, .. } = world;
    if chains.is_empty() {
        return;
    }
    let before: Vec<Transfer> = chains
        .iter()
        .flat_map(|it| &it.transfers)
        .cloned()
        .collect();
    let at = rng.place(chains);
    match step {
        Step::Mine => chains.iter_mut().for_each(|chain| chain.mine(rng, now)),
        Step::Finalise => chains.iter_mut().for_each(|chain| chain.finalise(rng)),
        Step::Reorganise => {
            let depth = 1 + rng.below(4);
            chains[at].reorganise(rng, depth, false);
        }
        Step::BreakFinality => {
            let depth = 2 + rng.below(6);
            chains[at].reorganise(rng, depth, true);
        }
        _ => chains[at].flip_back(),
    }
    let network = match step {
        Step::Mine | Step::Finalise => "everywhere",
        _ => &chains[at].network,
    };
    let now = chains.iter().flat_map(|it| &it.transfers);
    let moved = now.filter_map(|is| {
        let was = before.iter().find(|was| was.id == is.id);
        let from = was.map(|was| was.at);
        let is_moved = was.is_none_or(|was| was.at != is.at || was.units != is.units);
        is_moved.then(|| {
            format!(
                "{}/{} {} from {from:?} to {:?}",
                is.id.tx, is.id.place, is.units, is.at
            )
        })
    });
    let moved: Vec<String> = moved.collect();
    let line = format!("{step:?} {network}: {}", moved.join(", "));
    world.note(line);
}

/// A merchant empties one of its deposit addresses: to its destination, or by mistake to another invoice's address.
pub fn empty_address(world: &mut World, m: usize) {
    let leases = &world.model.merchants[m].leases;
    let evm: Vec<String> = leases
        .iter()
        .filter(|lease| lease.family == "eip155")
        .map(|lease| lease.address.clone())
        .collect();
    let bindings = world.model.merchants[m].bindings.clone();
    let Some(id) = invoice(world, m).filter(|_| !evm.is_empty()) else {
        return;
    };
    let offers = world.model.merchants[m].invoices[&id].terms.offers.clone();
    let Some(offer) = offers.iter().find(|it| it.family == "eip155") else {
        return;
    };
    let asset = Registry::builtin().asset(&offer.asset).unwrap();
    let sender = world.rng.pick(&evm).clone();
    let to_another = world.rng.percent(40) && !offer.address.is_empty();
    let told = bindings.iter().find(|it| it.asset == offer.asset);
    let (recipient, units) = match told {
        _ if to_another => (offer.address.clone(), offer.due),
        Some(binding) => (binding.destination.clone(), binding.units),
        None => (
            till_chains::example_destination(asset.family).to_owned(),
            offer.due,
        ),
    };
    world.transactions_made += 1;
    let tx = format!("tx-{}", world.transactions_made);
    let transfer = Transfer {
        id: TransferId {
            network: asset.network.clone(),
            tx: tx.clone(),
            place: 0,
        },
        asset: asset.code.clone(),
        units,
        sender: Some(sender),
        recipient,
        at: Whereabouts::Mempool,
    };
    chain_of(&mut world.chains, &asset.network)
        .transfers
        .push(transfer);
    world.note(format!(
        "m{m} empties an address by {tx}: {units} {}",
        asset.code
    ));
}

/// A simulated payment to undo.
pub fn reversal(world: &mut World, m: usize) -> Option<Op> {
    let merchant = &world.model.merchants[m];
    let made_up: Vec<TransferId> = merchant
        .seen
        .keys()
        .filter(|(id, _)| !id.tx.starts_with("tx-"))
        .map(|(id, _)| id.clone())
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

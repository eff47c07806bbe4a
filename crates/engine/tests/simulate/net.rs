//! What the server must know of a network: the chain as its leaders told it, and the transfers in it.

use std::collections::{BTreeMap, BTreeSet};

use till_core::chain::Block;
use till_core::money::Units;
use till_core::payment::Level;
use till_engine::intake::chain::{NetworkUpdate, Tip};
use till_engine::intake::{Observation, Sighting, TransferOrigin};

use crate::chain::TransferId;
use crate::model::Model;

pub const LEASE_MS: i64 = 15_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub asset: String,
    pub units: u128,
    pub sender: Option<String>,
    pub recipient: String,
    pub first_seen_at: i64,
    pub block: Option<Block>,
    pub gone: bool,
}

#[derive(Clone, Debug)]
pub struct Net {
    pub epoch: i64,
    pub owner: Option<String>,
    pub heard_at: Option<i64>,
    /// By height, from the first.
    pub blocks: Vec<Block>,
    pub safe: i64,
    pub last_final: i64,
    pub frozen_from: Option<i64>,
    pub facts: BTreeMap<TransferId, Fact>,
}

impl Default for Net {
    fn default() -> Net {
        Net {
            epoch: 0,
            owner: None,
            heard_at: None,
            blocks: Vec::new(),
            safe: -1,
            last_final: -1,
            frozen_from: None,
            facts: BTreeMap::new(),
        }
    }
}

impl Net {
    fn level(&self, height: i64) -> Level {
        match height {
            height if height <= self.last_final => Level::Final,
            height if height <= self.safe => Level::Safe,
            _ => Level::Included,
        }
    }

    fn observe(&self, id: &TransferId, fact: &Fact) -> Observation {
        let disputed = |block: &Block| self.frozen_from.is_some_and(|from| from <= block.height);
        let sighting = match &fact.block {
            _ if fact.gone => Sighting::Removed,
            None => Sighting::Pending,
            Some(block) if disputed(block) => Sighting::Disputed,
            Some(block) => Sighting::InBlock {
                level: self.level(block.height),
                number: block.height,
                hash: block.hash.clone(),
                time: block.time,
            },
        };
        Observation {
            network: id.network.clone(),
            tx_hash: id.tx.clone(),
            place: id.place,
            asset: fact.asset.clone(),
            units: Units(fact.units),
            arrived: None,
            registers: None,
            senders: fact.sender.iter().cloned().collect(),
            recipient: fact.recipient.clone(),
            sighting,
            source: TransferOrigin::Chain,
        }
    }

    /// Everything in or above a block, what is in none first.
    fn told(&self, ids: &BTreeSet<TransferId>) -> Vec<Observation> {
        let height = |id: &TransferId| self.facts[id].block.as_ref().map(|block| block.height);
        let mut order: Vec<&TransferId> = ids.iter().collect();
        order.sort_by_key(|id| (height(id), (*id).clone()));
        order
            .into_iter()
            .map(|id| self.observe(id, &self.facts[id]))
            .collect()
    }

    /// When it was first known that a transaction makes this transfer. Transfers of one transaction are made together, and which of
    /// several equal ones stands at which place means nothing: mined again, they may change places. So one of them tells of all.
    fn first_seen_at(&self, id: &TransferId) -> i64 {
        let fact = &self.facts[id];
        let equal = |(other, it): &(&TransferId, &Fact)| {
            let moved = |it: &Fact| {
                let (sender, recipient) = (it.sender.clone(), it.recipient.clone());
                (sender, recipient, it.asset.clone(), it.units)
            };
            other.tx == id.tx && moved(it) == moved(fact)
        };
        let equal = self.facts.iter().filter(equal);
        equal.map(|(_, it)| it.first_seen_at).min().unwrap()
    }

    fn above(&self, height: i64) -> BTreeSet<TransferId> {
        let is_above = |fact: &Fact| fact.block.as_ref().is_some_and(|it| it.height >= height);
        let above = self.facts.iter().filter(|(_, fact)| is_above(fact));
        above.map(|(id, _)| id.clone()).collect()
    }

    fn believed(&self, tip: Option<&Tip>) -> i64 {
        let known = |tip: &&Tip| {
            self.blocks
                .iter()
                .any(|block| (block.height, &block.hash) == (tip.height, &tip.hash))
        };
        tip.filter(known).map_or(-1, |tip| tip.height)
    }

    /// The facts of a step. Answers which transfers are to be looked at again.
    fn record(&mut self, step: &NetworkUpdate, real_now: i64) -> BTreeSet<TransferId> {
        let mut news = BTreeSet::new();
        let mut left: BTreeSet<TransferId> = BTreeSet::new();
        if let Some(first) = step.blocks.first() {
            left = self.above(first.height);
            self.blocks.retain(|block| block.height < first.height);
            self.safe = self.safe.min(first.height - 1);
            self.last_final = self.last_final.min(first.height - 1);
        }
        self.blocks.extend(step.blocks.iter().cloned());
        // A block outdoes the wait for one, whichever was said first.
        let mut seen: Vec<_> = step.transfers.iter().collect();
        seen.sort_by_key(|it| it.height.is_none());
        for seen in seen {
            let id = TransferId {
                network: step.network.clone(),
                tx: seen.tx_hash.clone(),
                place: seen.place,
            };
            let at = |height: i64| self.blocks.iter().find(|block| block.height == height);
            let block = seen.height.map(|height| at(height).unwrap().clone());
            if block.is_none() && left.contains(&id) {
                continue;
            }
            let stands = self.facts.get(&id).filter(|_| !left.contains(&id));
            let there = stands.and_then(|fact| fact.block.as_ref());
            if there.is_some() && (block.is_none() || block.as_ref() == there) {
                continue;
            }
            let first_seen_at = self.facts.get(&id).map_or(real_now, |it| it.first_seen_at);
            left.remove(&id);
            let fact = Fact {
                asset: seen.asset.clone(),
                units: seen.units.0,
                sender: seen.senders.first().cloned(),
                recipient: seen.recipient.clone(),
                first_seen_at,
                block,
                gone: false,
            };
            self.facts.insert(id.clone(), fact);
            news.insert(id);
        }
        for id in left {
            let fact = self.facts.get_mut(&id).unwrap();
            (fact.block, fact.gone) = (None, true);
            news.insert(id);
        }
        // Enough endpoints say that the block it was told of does not have it, or not so.
        for (tx, place) in &step.refuted {
            let id = TransferId {
                network: step.network.clone(),
                tx: tx.clone(),
                place: *place,
            };
            let fact = self.facts.get_mut(&id).filter(|_| !news.contains(&id));
            if let Some(fact) = fact.filter(|fact| !fact.gone) {
                (fact.block, fact.gone) = (None, true);
                news.insert(id);
            }
        }
        for (tx, place) in &step.dropped {
            let id = TransferId {
                network: step.network.clone(),
                tx: tx.clone(),
                place: *place,
            };
            let fact = self.facts.get_mut(&id).filter(|_| !news.contains(&id));
            if let Some(fact) = fact.filter(|fact| fact.block.is_none() && !fact.gone) {
                fact.gone = true;
                news.insert(id);
            }
        }
        let (safe, last_final) = (self.safe, self.last_final);
        self.last_final = last_final.max(self.believed(step.last_final.as_ref()));
        self.safe = safe
            .max(self.believed(step.safe.as_ref()))
            .max(self.last_final);
        for (id, fact) in &self.facts {
            let passed = |block: &Block| {
                (safe < block.height && block.height <= self.safe)
                    || (last_final < block.height && block.height <= self.last_final)
            };
            if fact.block.as_ref().is_some_and(passed) {
                news.insert(id.clone());
            }
        }
        self.heard_at = Some(real_now);
        news
    }
}

/// The ids of the payments that the server has at each place of a transaction.
pub type Payments = BTreeMap<TransferId, Vec<String>>;

/// Which invoices a step touched.
type Settled = Vec<(usize, String)>;

impl Model {
    pub fn lead(&mut self, network: &str, owner: &str, real_now: i64) -> Option<i64> {
        let net = self.nets.entry(network.to_owned()).or_default();
        let is_stale = net
            .heard_at
            .is_none_or(|at| at < real_now - LEASE_MS || at > real_now + LEASE_MS);
        let is_own = net.owner.as_deref().is_none_or(|it| it == owner);
        if !is_stale && !is_own {
            return None;
        }
        net.epoch += 1;
        (net.owner, net.heard_at) = (Some(owner.to_owned()), Some(real_now));
        Some(net.epoch)
    }

    pub fn follow(
        &mut self,
        step: &NetworkUpdate,
        payments: &Payments,
        real_now: i64,
    ) -> (Result<(), &'static str>, Settled) {
        let Some(mut net) = self.nets.get(&step.network).cloned() else {
            return (Err("Fenced"), Vec::new());
        };
        if net.epoch != step.epoch {
            return (Err("Fenced"), Vec::new());
        }
        if net.frozen_from.is_some() {
            return (Err("Frozen"), Vec::new());
        }
        let first = step.blocks.first().map(|block| block.height);
        if let Some(from) = first.filter(|from| *from <= net.last_final) {
            net.frozen_from = Some(from);
            let news = net.told(&net.above(from));
            self.nets.insert(step.network.clone(), net);
            return (Err("Frozen"), self.tell(&news, payments, real_now));
        }
        let news = net.record(step, real_now);
        let news = net.told(&news);
        self.nets.insert(step.network.clone(), net);
        (Ok(()), self.tell(&news, payments, real_now))
    }

    pub fn thaw(&mut self, network: &str, payments: &Payments, real_now: i64) -> Settled {
        let net = self.nets.get_mut(network).unwrap();
        let Some(from) = net.frozen_from.take() else {
            return Vec::new();
        };
        net.blocks.retain(|block| block.height < from);
        net.safe = net.safe.min(from - 1);
        net.last_final = net.last_final.min(from - 1);
        let gone = net.above(from);
        for id in &gone {
            let fact = net.facts.get_mut(id).unwrap();
            (fact.block, fact.gone) = (None, true);
        }
        let news = net.told(&gone);
        self.tell(&news, payments, real_now)
    }

    fn tell(&mut self, news: &[Observation], payments: &Payments, real_now: i64) -> Settled {
        self.begin();
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let mut told = Vec::with_capacity(news.len());
        for seen in news {
            let id = TransferId {
                network: seen.network.clone(),
                tx: seen.tx_hash.clone(),
                place: seen.place,
            };
            let first_seen_at = self.nets[&seen.network].first_seen_at(&id);
            let of_place = payments.get(&id).into_iter().flatten();
            let mut of_place = of_place.map(String::as_str);
            let payment = of_place.find(|it| !self.knows(it) && !taken.contains(it));
            taken.extend(payment);
            told.push((seen, payment.map(str::to_owned), first_seen_at));
        }
        self.observe(&told, real_now)
    }
}

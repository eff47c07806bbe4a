//! Ground truth: what really is on a chain, which all accounts share. The engine learns of it only from a leader.

use till_core::chain::Block;

use crate::rng::Rng;

/// Tells the draws about replacements from the others.
const REPLACEMENTS: u64 = 0x7265_706c_6163_6564;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransferId {
    pub network: String,
    pub tx: String,
    pub place: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whereabouts {
    Mempool,
    Block(i64),
    Gone,
}

#[derive(Clone, Debug)]
pub struct Transfer {
    pub id: TransferId,
    pub asset: String,
    pub units: u128,
    pub sender: Option<String>,
    pub recipient: String,
    pub at: Whereabouts,
}

/// A branch that lost, kept so that it can win again.
#[derive(Clone, Debug)]
struct Branch {
    from: usize,
    blocks: Vec<Block>,
    placed: Vec<(TransferId, i64, u128)>,
}

/// One network. Its blocks carry real times, whatever the accounts' test clocks say.
#[derive(Clone, Debug)]
pub struct Chain {
    pub network: String,
    pub blocks: Vec<Block>,
    pub safe: i64,
    pub last_final: i64,
    pub transfers: Vec<Transfer>,
    lost: Option<Branch>,
    hashes: u64,
}

impl Chain {
    pub fn new(network: &str) -> Chain {
        Chain {
            network: network.to_owned(),
            blocks: Vec::new(),
            safe: -1,
            last_final: -1,
            transfers: Vec::new(),
            lost: None,
            hashes: 0,
        }
    }

    pub fn tip(&self) -> i64 {
        i64::try_from(self.blocks.len()).unwrap() - 1
    }

    fn add_block(&mut self, time: i64) {
        self.hashes += 1;
        let parent = self.blocks.last().map(|block| block.hash.clone());
        self.blocks.push(Block {
            height: self.tip() + 1,
            hash: format!("{}#{}", self.network, self.hashes),
            parent: parent.unwrap_or_default(),
            time,
        });
    }

    /// Transactions that wait are replaced: by one that pays the same with a higher fee, by one that pays half of it, or by one that
    /// spends the same and pays nobody here. The draws are beside those of the seed, so that they shift none of these.
    fn replace(&mut self, rng: &mut Rng) {
        let state = rng.state();
        rng.set_state(state ^ REPLACEMENTS);
        let mut waiting: Vec<String> = Vec::new();
        for transfer in &self.transfers {
            let tx = &transfer.id.tx;
            let mut all = self.transfers.iter().filter(|it| it.id.tx == *tx);
            if !waiting.contains(tx) && all.all(|it| it.at == Whereabouts::Mempool) {
                waiting.push(tx.clone());
            }
        }
        for tx in waiting {
            rng.about("replacement", &tx);
            if !rng.percent(6) {
                continue;
            }
            let way = rng.below(3);
            let mut others = Vec::new();
            for old in self.transfers.iter_mut().filter(|it| it.id.tx == tx) {
                old.at = Whereabouts::Gone;
                let mut other = old.clone();
                (other.id.tx, other.at) = (format!("{tx}+"), Whereabouts::Mempool);
                match way {
                    0 => continue,
                    1 => other.units = other.units / 2 + 1,
                    _ => {}
                }
                others.push(other);
            }
            self.transfers.extend(others);
        }
        rng.set_state(state);
    }

    /// What a transaction stands in place of, however often that was replaced.
    pub fn replaced_by(&self, tx: &str) -> impl Iterator<Item = &Transfer> {
        let is_replaced = move |it: &&Transfer| replaces(tx, &it.id.tx);
        self.transfers.iter().filter(is_replaced)
    }

    pub fn mine(&mut self, rng: &mut Rng, now: i64) {
        self.replace(rng);
        rng.about("block", &self.network);
        let time = match rng.below(40) {
            0 => 0,
            1 => 4_300_000_000_000,
            2..=5 => now - rng.between(0, 3 * 3_600_000),
            _ => now - rng.between(0, 20_000),
        };
        self.add_block(time);
        let tip = self.tip();
        for transfer in &mut self.transfers {
            rng.about("transfer", &transfer.id);
            if transfer.at == Whereabouts::Mempool && rng.percent(75) {
                transfer.at = Whereabouts::Block(tip);
            }
        }
    }

    pub fn finalise(&mut self, rng: &mut Rng) {
        rng.about("tips", &self.network);
        self.safe = self.tip().min(self.safe + rng.between(0, 4));
        self.last_final = self.safe.min(self.last_final + rng.between(0, 4));
    }

    pub fn finalise_all(&mut self) {
        (self.safe, self.last_final) = (self.tip(), self.tip());
    }

    /// The last `depth` blocks are replaced, final ones only when finality is broken. What was in them comes in another,
    /// waits again, or is gone.
    pub fn reorganise(&mut self, rng: &mut Rng, depth: usize, breaks_finality: bool) {
        let mut from = self.blocks.len().saturating_sub(depth).max(1);
        if !breaks_finality {
            from = from.max(usize::try_from(self.last_final + 1).unwrap());
        }
        if from >= self.blocks.len() {
            return;
        }
        let lost = self.blocks.split_off(from);
        let first = i64::try_from(from).unwrap();
        let times: Vec<i64> = lost.iter().map(|block| block.time).collect();
        let mut placed = Vec::new();
        for time in times {
            // A sibling may well carry the same time.
            let time = if rng.percent(50) { time } else { time + 1_000 };
            self.add_block(time);
        }
        let tip = self.tip();
        for transfer in &mut self.transfers {
            let Whereabouts::Block(number) = transfer.at else {
                continue;
            };
            if number < first {
                continue;
            }
            rng.about("transfer", &transfer.id);
            placed.push((transfer.id.clone(), number, transfer.units));
            transfer.at = match rng.below(4) {
                0 => Whereabouts::Gone,
                1 => Whereabouts::Mempool,
                _ => Whereabouts::Block(rng.between(first, tip)),
            };
            if rng.percent(12) {
                transfer.units = transfer.units / 2 + 1;
            }
        }
        self.lost = Some(Branch {
            from,
            blocks: lost,
            placed,
        });
        self.safe = self.safe.min(first - 1);
        self.last_final = self.last_final.min(first - 1);
    }

    /// The branch that lost last wins again, if it still joins the chain.
    pub fn flip_back(&mut self) {
        let Some(branch) = self.lost.take() else {
            return;
        };
        let is_final = i64::try_from(branch.from).unwrap() <= self.last_final;
        let parent = branch.from.checked_sub(1).map(|at| self.blocks.get(at));
        let joins = match parent {
            None => true,
            Some(parent) => parent.is_some_and(|it| it.hash == branch.blocks[0].parent),
        };
        if is_final || !joins {
            return;
        }
        let first = i64::try_from(branch.from).unwrap();
        self.blocks.truncate(branch.from);
        self.blocks.extend(branch.blocks);
        for transfer in &mut self.transfers {
            let back = branch.placed.iter().find(|(id, _, _)| *id == transfer.id);
            match (back, transfer.at) {
                (Some((_, number, units)), _) => {
                    transfer.at = Whereabouts::Block(*number);
                    transfer.units = *units;
                }
                (None, Whereabouts::Block(number)) if number >= first => {
                    transfer.at = Whereabouts::Mempool;
                }
                _ => {}
            }
        }
        self.conflict();
        self.safe = self.safe.min(first - 1);
        self.last_final = self.last_final.min(first - 1);
    }

    /// Of two that spend the same, the one that is back in its block leaves no room for the other.
    fn conflict(&mut self) {
        let there = |it: &&Transfer| it.at != Whereabouts::Gone;
        let there: Vec<String> = self
            .transfers
            .iter()
            .filter(there)
            .map(|it| it.id.tx.clone())
            .collect();
        for transfer in &mut self.transfers {
            if there.iter().any(|tx| replaces(&transfer.id.tx, tx)) {
                transfer.at = Whereabouts::Gone;
            }
        }
    }
}

/// Each replacement adds a sign to the name.
fn replaces(tx: &str, old: &str) -> bool {
    let more = tx.strip_prefix(old).unwrap_or_default();
    !more.is_empty() && more.bytes().all(|sign| sign == b'+')
}

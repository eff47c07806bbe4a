//! Payments to us that wait for a block in the mempools of endpoints. Each may be replaced by another transaction that
//! spends the same outputs, whoever that pays: the old one goes in the step in which the new one is shown.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use till_chains::observer::{Spend, WaitingTransaction};
use till_chains::rpc::RpcError;
use till_chains::{BlockHash, tx_hash_of};
use till_core::money::Units;

mod by_address;

use self::by_address::{ByAddress, Questions};
use crate::endpoint::Endpoint;
use crate::pool::Pool;
use crate::update::SeenTransfer;

/// The most that are shown: an endpoint could invent any number.
const SHOWN_MAX: usize = 5_000;
/// How many transactions are fetched before the time limit is checked again.
const FETCHED_AT_ONCE: usize = 256;
/// How many are fetched in parallel: a node queues a few calls, and refuses the others.
const FETCHES_MAX: usize = 4;
/// How long new transactions are fetched in one round; the others wait for the next.
const FETCHING_US: u64 = 2_000_000;
/// After a look at the mempools, wait this many times as long as it took: it lists everything each time.
const REST: u64 = 4;

/// A transaction's hash, as bytes.
type Transaction = [u8; 32];
/// A transaction, and the place of a transfer in it.
type Identity = (String, i64);

/// One network's waiting transactions, as far as they concern us.
#[derive(Debug, Default)]
pub struct Mempool {
    lists: Vec<MempoolList>,
    /// The answers of endpoints that are asked by address, by the endpoint's place.
    by_address: HashMap<usize, ByAddress>,
    /// Transactions that were fetched and do not concern us.
    strangers: HashSet<Transaction>,
    /// Transactions that pay us, and their rivals: those that spend an output which one of them spends.
    concerning: BTreeMap<Transaction, Concerning>,
    /// How many were ever added to `concerning`.
    seen: u64,
    /// The transfers that the database has as waiting.
    shown: BTreeSet<Identity>,
    /// When mempools are looked at again, at the earliest.
    rests_until: u64,
    /// How many endpoints must have a transaction for it to replace an earlier one.
    quorum: usize,
    /// Blocks were replaced since the last look.
    were_replaced: bool,
    /// Whether everything that waits is reported, though it was written before.
    tells_again: bool,
}

/// One endpoint's mempool, by its last answer.
#[derive(Debug)]
struct MempoolList {
    waiting: HashSet<Transaction>,
    /// The endpoint's last block, asked for right after the list.
    last_block: BlockHash,
}

#[derive(Debug)]
struct Concerning {
    /// Its number in the order in which transactions were first seen.
    order: u64,
    spends: Vec<Spend>,
    transfers: Vec<SeenTransfer>,
    /// Whether the database was asked for its recipients: the watched set compares eight bytes of each address.
    is_checked: bool,
}

impl Concerning {
    /// Whether one of its transfers is among these.
    fn is_among(&self, shown: &BTreeSet<Identity>) -> bool {
        self.transfers
            .iter()
            .any(|it| shown.contains(&identity(it)))
    }
}

/// What changed about waiting transfers since it was last written down.
#[derive(Debug, Default)]
pub struct MempoolChanges {
    pub transfers: Vec<SeenTransfer>,
    pub dropped: Vec<Identity>,
}

impl Mempool {
    /// Takes over the transfers that an earlier leader wrote as waiting.
    pub fn inherited(waiting: Vec<Identity>) -> Mempool {
        Mempool {
            shown: waiting.into_iter().collect(),
            ..Mempool::default()
        }
    }

    /// Lists the mempools of all usable endpoints, and fetches the transactions that are new. An endpoint that fails is
    /// left out. One that lists no mempool is asked about `awaited`, the addresses of open invoices.
    pub async fn look(&mut self, pool: Pool<'_>, awaited: &[[u8; 20]]) {
        self.tells_again = std::mem::take(&mut self.were_replaced);
        let began = pool.now_us();
        if began < self.rests_until {
            return;
        }
        self.quorum = pool.net.quorum;
        let usable = pool.usable();
        let shown = self.shown.iter();
        let shown = shown.filter_map(|(hash, _)| BlockHash::parse(hash)?.word());
        let which = Questions {
            awaited,
            shown: &shown.collect(),
            others: &self.concerning.keys().copied().collect(),
        };
        let mut asked = Vec::new();
        for source in &usable {
            let place = pool.net.place_of(source);
            let by_address = self.by_address.remove(&place).unwrap_or_default();
            asked.push(list(pool, source, by_address, which).boxed());
        }
        let told = futures::future::join_all(asked).await;
        self.lists.clear();
        let mut answered = Vec::new();
        for (source, (by_address, told)) in usable.into_iter().zip(told) {
            if source.address.is_asked_by_address() {
                let place = pool.net.place_of(source);
                self.by_address.insert(place, by_address);
            }
            match told {
                Ok((waiting, last_block)) => {
                    answered.push(source);
                    self.lists.push(MempoolList {
                        waiting: waiting.into_iter().collect(),
                        last_block,
                    });
                }
                Err(error) => {
                    pool.failed(source, &error);
                }
            }
        }
        for (place, source) in answered.into_iter().enumerate() {
            self.fetch(pool, (place, source), began).await;
        }
        if !self.lists.is_empty() {
            self.forget_gone();
        }
        let now = pool.now_us();
        self.rests_until = now + (now - began) * REST;
    }

    /// Fetches the transactions of one endpoint's list that were not fetched yet, as many as the round has time for.
    async fn fetch(&mut self, pool: Pool<'_>, (place, source): (usize, &Endpoint), began: u64) {
        let is_new =
            |it: &&Transaction| !self.strangers.contains(*it) && !self.concerning.contains_key(*it);
        let waiting = self.lists.get(place).map(|list| &list.waiting);
        let new: Vec<Transaction> = waiting
            .into_iter()
            .flatten()
            .filter(is_new)
            .copied()
            .collect();
        for some in new.chunks(FETCHED_AT_ONCE) {
            let (observer, endpoint) = (pool.observer(), &source.address);
            let ask = |hash| observer.waiting(pool.rpc, endpoint, hash).boxed();
            let asked: Vec<BoxFuture<'_, _>> = some.iter().map(ask).collect();
            let told: Vec<_> = stream::iter(asked)
                .buffered(source.at_once().min(FETCHES_MAX))
                .collect()
                .await;
            for told in told {
                match told {
                    Ok(Some(waiting)) => self.take(pool, source, waiting).await,
                    // It was replaced or mined meanwhile.
                    Ok(None) => {}
                    Err(error) => {
                        pool.failed(source, &error);
                        return;
                    }
                }
            }
            if pool.now_us() - began > FETCHING_US {
                return;
            }
        }
    }

    async fn take(&mut self, pool: Pool<'_>, source: &Endpoint, waiting: WaitingTransaction) {
        let recipients: Vec<[u8; 20]> = waiting.moves.iter().map(|it| it.1).collect();
        let hits = pool.net.set.may_have(&recipients);
        let ours = waiting.moves.iter().zip(hits).filter(|(_, is)| *is);
        let ours: Vec<(u32, [u8; 20], u128)> = ours.map(|(it, _)| *it).collect();
        if ours.is_empty() && !self.is_rival(&waiting.spends) {
            self.strangers.insert(waiting.hash);
            return;
        }
        let (observer, endpoint) = (pool.observer(), &source.address);
        let senders = match ours.is_empty() {
            true => None,
            // An endpoint that cannot name them now does so once a block has the transaction.
            false => {
                let asked = observer.waiting_senders(pool.rpc, endpoint, &waiting);
                asked.await.ok().flatten()
            }
        };
        let senders = senders.unwrap_or_default();
        let transfers = ours.into_iter().filter_map(|(place, recipient, units)| {
            Some(SeenTransfer {
                tx_hash: tx_hash_of(pool.network().family, &waiting.hash),
                place: place.into(),
                asset: observer.coin()?.code.clone(),
                units: Units(units),
                arrived: None,
                strayed: false,
                registers: None,
                senders: senders.clone(),
                recipient: observer.address_text(&recipient),
                height: None,
            })
        });
        let transfers: Vec<SeenTransfer> = transfers.collect();
        self.add(waiting.hash, waiting.spends, transfers);
    }

    fn add(&mut self, hash: Transaction, spends: Vec<Spend>, transfers: Vec<SeenTransfer>) {
        self.seen += 1;
        let concerning = Concerning {
            order: self.seen,
            spends,
            is_checked: transfers.is_empty(),
            transfers,
        };
        self.concerning.insert(hash, concerning);
    }

    /// Whether a transaction that concerns us spends one of these outputs.
    fn is_rival(&self, spends: &[Spend]) -> bool {
        let mut concerning = self.concerning.values();
        concerning.any(|it| it.spends.iter().any(|spend| spends.contains(spend)))
    }

    fn is_waiting(&self, hash: &Transaction) -> bool {
        self.lists.iter().any(|list| list.waiting.contains(hash))
    }

    fn forget_gone(&mut self) {
        let lists = &self.lists;
        let is_waiting = |hash: &Transaction| lists.iter().any(|it| it.waiting.contains(hash));
        self.strangers.retain(is_waiting);
        // What is shown is kept for what it spends, so that what replaces it is known to do so.
        let shown = &self.shown;
        self.concerning
            .retain(|hash, it| is_waiting(hash) || it.is_among(shown));
    }

    /// The recipients that are in the watched set, which compares eight bytes of each address, and that were not looked
    /// up in the database yet.
    pub fn unchecked(&self) -> HashSet<String> {
        let unchecked = self.concerning.values().filter(|it| !it.is_checked);
        let transfers = unchecked.flat_map(|it| &it.transfers);
        transfers.map(|it| it.recipient.clone()).collect()
    }

    /// Keeps the unchecked transfers whose recipients are in `ours`, and counts them as checked.
    pub fn retain_ours(&mut self, ours: &HashSet<String>) {
        let unchecked = self.concerning.values_mut().filter(|it| !it.is_checked);
        for it in unchecked {
            it.transfers.retain(|it| ours.contains(&it.recipient));
            it.is_checked = true;
        }
    }

    /// What to write once the blocks up to `read_up_to` were read: payments that wait now, and those that are gone. A
    /// transaction that left the mempools may be in a block that was not read yet, so it is gone only if every
    /// endpoint's last block is the one that was read.
    pub fn changes(&self, read_up_to: &BlockHash) -> MempoolChanges {
        let is_read_up = |list: &MempoolList| list.last_block == *read_up_to;
        let are_read_up = !self.lists.is_empty() && self.lists.iter().all(is_read_up);
        let replaced = self.replaced(are_read_up);
        let stands = |hash: &Transaction| self.is_waiting(hash) && !replaced.contains(hash);
        let standing = self.concerning.iter().filter(|(hash, _)| stands(hash));
        let standing = standing.flat_map(|(_, it)| it.transfers.iter().filter(|_| it.is_checked));
        let new = standing.filter(|it| self.tells_again || !self.shown.contains(&identity(it)));
        let room = match self.tells_again {
            true => SHOWN_MAX,
            false => SHOWN_MAX.saturating_sub(self.shown.len()),
        };
        let is_gone = |(tx_hash, _): &&Identity| {
            let hash = BlockHash::parse(tx_hash).and_then(|it| it.word());
            let hash = hash.unwrap_or_default();
            replaced.contains(&hash) || (are_read_up && !self.is_waiting(&hash))
        };
        MempoolChanges {
            transfers: new.take(room).cloned().collect(),
            dropped: self.shown.iter().filter(is_gone).cloned().collect(),
        }
    }

    /// Transactions that lose to a rival, which spends the same output. The latest rival that a quorum has wins, or
    /// else the first that was seen: so nobody takes a payment away by inventing a rival. A shown payment that left the
    /// mempools may be in a block that was not read yet; until that is known it wins over rivals without a quorum.
    fn replaced(&self, are_read_up: bool) -> HashSet<Transaction> {
        let mut by_spend: HashMap<&Spend, Vec<(u64, Transaction)>> = HashMap::new();
        let may_stand = |hash: &Transaction, it: &Concerning| {
            self.is_waiting(hash) || (!are_read_up && it.is_among(&self.shown))
        };
        let concerning = self.concerning.iter();
        for (hash, it) in concerning.filter(|(hash, it)| may_stand(hash, it)) {
            for spend in &it.spends {
                by_spend.entry(spend).or_default().push((it.order, *hash));
            }
        }
        let mut replaced = HashSet::new();
        for mut rivals in by_spend.into_values() {
            rivals.sort_unstable();
            let is_held = |(_, hash): &&(u64, Transaction)| self.holders(hash) >= self.quorum;
            let later = rivals.iter().skip(1).rev().find(is_held);
            let gone = rivals.iter().find(|(_, hash)| !self.is_waiting(hash));
            let stands = later.or(gone).or(rivals.first()).copied();
            replaced.extend(
                rivals
                    .iter()
                    .filter(|it| Some(**it) != stands)
                    .map(|it| it.1),
            );
        }
        replaced
    }

    /// How many endpoints have it in their mempools.
    fn holders(&self, hash: &Transaction) -> usize {
        let lists = self.lists.iter();
        lists.filter(|list| list.waiting.contains(hash)).count()
    }

    /// Records a reorg, after which everything that waits is reported again: what was reported while a replaced block
    /// had it had no effect then.
    pub fn blocks_were_replaced(&mut self) {
        self.were_replaced = true;
    }

    /// Whether the database has this transfer as waiting because it was reported here.
    pub fn holds(&self, identity: &Identity) -> bool {
        self.shown.contains(identity)
    }

    /// Records what was written. A transfer in a block does not count as shown any more, so that it is shown again if a
    /// reorg takes it out of its block.
    pub fn are_written(&mut self, transfers: &[SeenTransfer], dropped: &[Identity]) {
        for it in transfers {
            match it.height {
                None => self.shown.insert(identity(it)),
                Some(_) => self.shown.remove(&identity(it)),
            };
        }
        for identity in dropped {
            self.shown.remove(identity);
        }
    }
}

/// One endpoint's waiting transactions and its last block, with its answers by address.
async fn list(
    pool: Pool<'_>,
    source: &Endpoint,
    mut by_address: ByAddress,
    which: Questions<'_>,
) -> (ByAddress, Result<(Vec<Transaction>, BlockHash), RpcError>) {
    let told = match source.address.is_asked_by_address() {
        true => by_address.ask(pool, source, which).await,
        false => pool.observer().mempool(pool.rpc, &source.address).await,
    };
    (by_address, told)
}

fn identity(seen: &SeenTransfer) -> Identity {
    (seen.tx_hash.clone(), seen.place)
}

#[cfg(test)]
mod tests;

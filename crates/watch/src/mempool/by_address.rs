//! Asks an endpoint that does not list its mempool about addresses and about known transactions: a limited number in
//! each round, those asked longest ago first. Its earlier answers about the others still count.

use std::collections::{BTreeSet, HashMap};

use futures::{FutureExt as _, StreamExt as _, stream};
use till_chains::BlockHash;
use till_chains::observer::WaitingAbout;
use till_chains::rpc::RpcError;

use crate::endpoint::Endpoint;
use crate::pool::Pool;

/// Questions in one round.
const ASKED_MAX: usize = 20;
/// How many of them are asked in parallel.
const AT_ONCE_MAX: usize = 4;

/// A transaction's hash, as bytes.
type Transaction = [u8; 32];

/// What an endpoint is asked about.
#[derive(Clone, Copy)]
pub(super) struct Questions<'a> {
    /// The addresses of open invoices.
    pub(super) awaited: &'a [[u8; 20]],
    /// The transactions that the database has as waiting.
    pub(super) shown: &'a BTreeSet<Transaction>,
    /// All others that concern us: what another endpoint has, and rivals.
    pub(super) others: &'a BTreeSet<Transaction>,
}

/// One endpoint's last answer about each address and transaction.
#[derive(Debug, Default)]
pub(super) struct ByAddress {
    said: HashMap<WaitingAbout, LastAnswer>,
    rounds: u64,
}

#[derive(Debug)]
struct LastAnswer {
    round: u64,
    waiting: Vec<Transaction>,
}

impl ByAddress {
    /// Asks the questions that are due. Returns what waits by the endpoint's last answers, and its last block.
    pub(super) async fn ask(
        &mut self,
        pool: Pool<'_>,
        source: &Endpoint,
        which: Questions<'_>,
    ) -> Result<(Vec<Transaction>, BlockHash), RpcError> {
        let (observer, endpoint) = (pool.observer(), &source.address);
        let due = self.due(which);
        let ask = |about: WaitingAbout| {
            async move {
                let told = observer.waiting_about(pool.rpc, endpoint, &about).await;
                (about, told)
            }
            .boxed()
        };
        let at_once = source.at_once().min(AT_ONCE_MAX);
        let asked: Vec<_> = due.into_iter().map(ask).collect();
        let told: Vec<_> = stream::iter(asked).buffered(at_once).collect().await;
        for (about, told) in told {
            self.hear(about, told?);
        }
        let last_block = observer.last_block(pool.rpc, endpoint).await?;
        Ok((self.waiting(which.shown), last_block))
    }

    /// The questions of the next round. A transaction is asked about only if no address named it: its invoice may be
    /// closed. At most half of the questions are about transactions, however many another endpoint invents.
    fn due(&mut self, which: Questions<'_>) -> Vec<WaitingAbout> {
        self.rounds += 1;
        let mut addresses: Vec<WaitingAbout> = which
            .awaited
            .iter()
            .copied()
            .map(WaitingAbout::Address)
            .collect();
        let is_address = |about: &WaitingAbout| matches!(about, WaitingAbout::Address(_));
        let awaited: BTreeSet<WaitingAbout> = addresses.iter().copied().collect();
        self.said
            .retain(|about, _| !is_address(about) || awaited.contains(about));
        let of_addresses = self.said.iter().filter(|(about, _)| is_address(about));
        let named: BTreeSet<Transaction> = of_addresses
            .flat_map(|(_, said)| said.waiting.iter().copied())
            .collect();
        let others = which.others.difference(which.shown);
        let known = which.shown.iter().chain(others);
        let unnamed = known.filter(|it| !named.contains(*it)).copied();
        let mut due: Vec<WaitingAbout> = unnamed.map(WaitingAbout::Transaction).collect();
        let unnamed: BTreeSet<WaitingAbout> = due.iter().copied().collect();
        self.said
            .retain(|about, _| is_address(about) || unnamed.contains(about));
        let round = |about: &WaitingAbout| self.said.get(about).map_or(0, |said| said.round);
        due.sort_by_key(round);
        due.truncate(ASKED_MAX / 2);
        addresses.sort_by_key(round);
        addresses.truncate(ASKED_MAX - due.len());
        due.extend(addresses);
        due
    }

    fn hear(&mut self, about: WaitingAbout, waiting: Vec<Transaction>) {
        let round = self.rounds;
        self.said.insert(about, LastAnswer { round, waiting });
    }

    /// What waits by the last answers. A shown transaction that was not asked about yet still waits. Any other must
    /// have been named, so that silence confirms no invented rival.
    fn waiting(&self, shown: &BTreeSet<Transaction>) -> Vec<Transaction> {
        let said = self.said.values().flat_map(|said| &said.waiting);
        let named: BTreeSet<Transaction> = said.copied().collect();
        let unasked = shown.iter().filter(|it| {
            let about = WaitingAbout::Transaction(**it);
            !named.contains(*it) && !self.said.contains_key(&about)
        });
        let unasked: Vec<Transaction> = unasked.copied().collect();
        named.into_iter().chain(unasked).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u8) -> [u8; 20] {
        [number; 20]
    }

    fn hash(number: u8) -> Transaction {
        [number; 32]
    }

    fn about(number: u8) -> WaitingAbout {
        WaitingAbout::Address(address(number))
    }

    fn set(numbers: &[u8]) -> BTreeSet<Transaction> {
        numbers.iter().map(|it| hash(*it)).collect()
    }

    impl ByAddress {
        fn due_of(&mut self, awaited: u8, shown: &[u8], others: &[u8]) -> Vec<WaitingAbout> {
            let awaited: Vec<[u8; 20]> = (0..awaited).map(address).collect();
            self.due(Questions {
                awaited: &awaited,
                shown: &set(shown),
                others: &set(others),
            })
        }
    }

    #[test]
    fn a_round_asks_about_so_many_and_in_turn() {
        let mut it = ByAddress::default();
        let mut asked = Vec::new();
        for _ in 0..3 {
            let due = it.due_of(50, &[], &[]);
            assert_eq!(due.len(), ASKED_MAX);
            due.iter().for_each(|about| it.hear(*about, Vec::new()));
            asked.extend(due);
        }
        assert!((0..50).all(|number| asked.contains(&about(number))));
        // Whoever has just been given an address is asked about first.
        assert!(it.due_of(51, &[], &[]).contains(&about(50)));
    }

    #[test]
    fn what_was_said_counts_until_it_is_asked_again() {
        let mut it = ByAddress::default();
        for about in it.due_of(40, &[], &[]) {
            let is_paid = about == self::about(3);
            it.hear(about, is_paid.then(|| hash(7)).into_iter().collect());
        }
        it.due_of(40, &[7], &[]);
        assert_eq!(it.waiting(&set(&[7])), [hash(7)]);
        it.hear(about(3), Vec::new());
        // It is not with its address any more: it is asked about by itself first.
        assert_eq!(it.waiting(&set(&[7])), [hash(7)]);
        let by_itself = WaitingAbout::Transaction(hash(7));
        assert!(it.due_of(40, &[7], &[]).contains(&by_itself));
        it.hear(by_itself, Vec::new());
        assert!(it.waiting(&set(&[7])).is_empty());
    }

    #[test]
    fn what_waits_is_asked_about_when_its_invoice_is_closed() {
        let mut it = ByAddress::default();
        it.due_of(1, &[], &[]);
        it.hear(about(0), vec![hash(7)]);
        let due = it.due_of(0, &[7], &[]);
        assert_eq!(due, [WaitingAbout::Transaction(hash(7))]);
        it.hear(due[0], vec![hash(7)]);
        assert_eq!(it.waiting(&set(&[7])), [hash(7)]);
        it.hear(due[0], Vec::new());
        assert!(it.waiting(&set(&[7])).is_empty());
    }

    // D26: however much another endpoint invents, this one does not seem to have it.
    #[test]
    fn what_only_others_have_is_asked_about_and_does_not_wait_here_unasked() {
        let mut it = ByAddress::default();
        let invented: Vec<u8> = (100..200).collect();
        let due = it.due_of(0, &[], &invented);
        assert_eq!(due.len(), ASKED_MAX / 2);
        assert!(it.waiting(&BTreeSet::new()).is_empty());
        it.hear(due[0], vec![hash(100)]);
        assert_eq!(it.waiting(&BTreeSet::new()), [hash(100)]);
        let beside = it.due_of(50, &[], &invented);
        let addresses = beside
            .iter()
            .filter(|it| matches!(it, WaitingAbout::Address(_)));
        assert_eq!(
            addresses.count(),
            ASKED_MAX / 2,
            "they are asked about all the same"
        );
    }
}

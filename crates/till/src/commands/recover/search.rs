//! The search through a family's address numbers: which are listed, where the search ends, and what balances there are.

use std::collections::BTreeMap;
use std::ops::Range;

use futures::future::join_all;
use serde::Serialize;
use till_chains::{AddressError, Derivation, derive};
use till_core::asset::{Family, Mode, Network, Registry};
use till_core::money;
use till_watch::Holdings;

use crate::commands::deposit_networks::has_addresses;

/// Numbers that are listed whether something lies there or not, where nobody says how many.
const LISTED: u64 = 100;
/// So many numbers in a row on which nothing lies are the end: twice what a restore passes over at least.
const EMPTY_MAX: u64 = 20_000;
/// On Bitcoin, where no number is passed over and at most the gap limit is out at once. What lay there before and was spent leaves no trace at a
/// node, so it is many times that limit.
const EMPTY_MAX_BITCOIN: u64 = 1_000;
/// The same where each address is a question of its own.
const EMPTY_MAX_BY_ADDRESS: u64 = 100;
/// Numbers at a time, so that memory does not grow with how far it is looked.
const BATCH: u64 = 1_000;

#[derive(Debug, Serialize)]
pub struct RecoveredAddress {
    pub family: &'static str,
    pub number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    pub address: String,
    pub balances: Vec<AddressBalance>,
    /// Whether as many endpoints as must agree say that something lies there.
    #[serde(skip)]
    is_agreed: bool,
}

#[derive(Debug, Serialize)]
pub struct AddressBalance {
    pub asset: String,
    pub amount: String,
}

/// The addresses that lead to one destination.
pub struct Addresses<'a> {
    network: &'static Network,
    account: &'a str,
    destination: &'a str,
}

impl Addresses<'_> {
    /// Nothing where the family has none in this mode.
    pub fn new<'a>(
        family: Family,
        mode: Mode,
        account: &'a str,
        destination: &'a str,
    ) -> Option<Addresses<'a>> {
        let mut networks = Registry::builtin().networks().iter();
        let network =
            networks.find(|it| it.family == family && it.mode == mode && has_addresses(it))?;
        Some(Addresses {
            network,
            account,
            destination,
        })
    }

    pub fn family(&self) -> Family {
        self.network.family
    }

    /// How many numbers in a row on which nothing lies are the end; none where too few can be asked about.
    pub fn empty_max(&self, asking: &[Holdings<'_>]) -> Option<u64> {
        let at_once = asking.iter().any(Holdings::answers_many);
        match (self.family(), at_once) {
            (Family::Bitcoin, true) => Some(EMPTY_MAX_BITCOIN),
            (Family::Bitcoin, false) if !asking.is_empty() => Some(EMPTY_MAX_BY_ADDRESS),
            (Family::Evm | Family::Tron, true) => Some(EMPTY_MAX),
            _ => None,
        }
    }

    /// One of them; an error where the destination is none.
    pub fn at(&self, number: u64) -> Result<RecoveredAddress, AddressError> {
        let derivation = derive(self.network, self.account, self.destination, number)?;
        let address = derivation.address()?;
        let (salt, path) = match derivation {
            Derivation::Bitcoin { path, .. } => (None, Some(path)),
            Derivation::Evm { salt, .. }
            | Derivation::Tron { salt, .. }
            | Derivation::Solana { salt, .. } => (Some(salt), None),
        };
        Ok(RecoveredAddress {
            family: self.family().namespace(),
            number,
            salt,
            path,
            address,
            balances: Vec::new(),
            is_agreed: false,
        })
    }

    fn of(&self, numbers: Range<u64>) -> Result<Vec<RecoveredAddress>, AddressError> {
        numbers.map(|number| self.at(number)).collect()
    }
}

/// Which numbers are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// These and no others, all of them listed.
    First(u64),
    /// The first ones, and on to the end those on which something lies.
    All,
}

/// How far the numbers of one destination were gone through.
#[derive(Debug, Default)]
pub struct Search {
    pub found: Vec<RecoveredAddress>,
    /// The first number that was not looked at.
    pub looked_to: u64,
    /// Behind the last number on which something lies, as enough endpoints say.
    lying_to: u64,
}

impl Search {
    /// Asks all of these networks, as long as each answers; those that do not are left in `failed` with why.
    pub async fn run(
        addresses: &Addresses<'_>,
        asking: &mut Vec<Holdings<'_>>,
        extent: Extent,
        failed: &mut Failed,
    ) -> Result<Search, AddressError> {
        let mut search = Search::default();
        while let Some(numbers) = search.next(extent, addresses.empty_max(asking)) {
            let is_listed = numbers.start < LISTED || extent != Extent::All;
            search.looked_to = numbers.end;
            let mut batch = addresses.of(numbers)?;
            look(asking, &mut batch, failed).await;
            search.note(&batch);
            batch.retain(|it| is_listed || !it.balances.is_empty());
            search.found.extend(batch);
        }
        Ok(search)
    }

    /// What one endpoint says alone does not make it look further: it could say so of every number.
    fn note(&mut self, batch: &[RecoveredAddress]) {
        let lying = batch.iter().rev().find(|it| it.is_agreed);
        self.lying_to = lying.map_or(self.lying_to, |it| it.number + 1);
    }

    fn next(&self, extent: Extent, empty_max: Option<u64>) -> Option<Range<u64>> {
        let from = self.looked_to;
        let to = match (extent, empty_max) {
            (Extent::First(count), _) => count,
            (Extent::All, _) if from < LISTED => LISTED,
            (Extent::All, Some(empty_max)) => self.end(empty_max),
            (Extent::All, None) => from,
        };
        (from < to).then(|| from..to.min(from + BATCH))
    }

    /// Where a restore passes over as many numbers as were used before, it is looked on for as many.
    fn end(&self, empty_max: u64) -> u64 {
        match empty_max {
            EMPTY_MAX => self.lying_to + EMPTY_MAX.max(self.lying_to),
            _ => self.lying_to + empty_max,
        }
    }
}

/// What became of networks that did not answer: remarks and why.
#[derive(Debug, Default)]
pub struct Failed {
    pub why: Vec<String>,
    pub remarks: Vec<String>,
}

/// Writes what lies there beside the addresses. The networks are asked side by side.
async fn look(asking: &mut Vec<Holdings<'_>>, batch: &mut [RecoveredAddress], failed: &mut Failed) {
    let Some(network) = asking.first() else {
        return;
    };
    let places = batch
        .iter()
        .enumerate()
        .filter_map(|(at, it)| Some((network.address_bytes(&it.address)?, at)));
    let places: BTreeMap<[u8; 20], usize> = places.collect();
    let addresses: Vec<[u8; 20]> = places.keys().copied().collect();
    let asked = asking.iter_mut().map(|it| it.balances(&addresses));
    let said = join_all(asked).await;
    let all = std::mem::take(asking);
    for (network, lying) in all.into_iter().zip(said) {
        match lying {
            Ok(lying) => {
                for balance in lying.balances {
                    let at = places.get(&balance.address);
                    if let Some(found) = at.and_then(|at| batch.get_mut(*at)) {
                        found.is_agreed |= !lying.disputed.contains(&balance.address);
                        found.balances.push(AddressBalance {
                            asset: balance.asset.code.clone(),
                            amount: money::show(balance.units, balance.asset.decimals),
                        });
                    }
                }
                asking.push(network);
            }
            Err(why) => {
                failed.why.push(why);
                failed.remarks.extend(network.into_remarks());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(looked_to: u64, lying_to: u64) -> Search {
        Search {
            found: Vec::new(),
            looked_to,
            lying_to,
        }
    }

    #[test]
    fn a_count_is_exactly_that_and_without_an_endpoint_the_first_are_listed() {
        let next = |looked_to, extent| searched(looked_to, 0).next(extent, None);
        assert_eq!(next(0, Extent::First(3)), Some(0..3));
        assert_eq!(next(0, Extent::First(0)), None);
        assert_eq!(next(2_000, Extent::First(2_500)), Some(2_000..2_500));
        assert_eq!(next(2_500, Extent::First(2_500)), None);
        assert_eq!(next(0, Extent::All), Some(0..LISTED));
        assert_eq!(next(LISTED, Extent::All), None);
    }

    #[test]
    fn what_one_endpoint_says_of_every_number_comes_to_an_end() {
        let destination = "0x2222222222222222222222222222222222222222";
        let addresses = Addresses::new(Family::Evm, Mode::Test, "acct_1", destination).unwrap();
        let mut search = Search::default();
        let mut batch = addresses.of(0..3).unwrap();
        for found in &mut batch {
            let (asset, amount) = ("USDC@eip155:84532".to_owned(), "7".to_owned());
            found.balances.push(AddressBalance { asset, amount });
        }
        batch[1].is_agreed = true;
        search.note(&batch);
        assert_eq!(search.end(EMPTY_MAX), 2 + EMPTY_MAX);
    }

    #[test]
    fn the_end_is_a_run_of_numbers_as_long_as_a_restore_may_have_passed_over() {
        let end = |looked_to, lying_to| searched(looked_to, lying_to).end(EMPTY_MAX);
        assert_eq!(end(100, 0), 20_000);
        assert_eq!(end(11_000, 10_002), 30_002);
        assert_eq!(end(60_000, 50_000), 100_000);
    }

    #[test]
    fn on_bitcoin_the_end_is_many_times_what_a_wallet_looks_ahead() {
        let next = |looked_to, lying_to| {
            searched(looked_to, lying_to).next(Extent::All, Some(EMPTY_MAX_BITCOIN))
        };
        assert_eq!(next(0, 0), Some(0..LISTED));
        assert_eq!(next(LISTED, 0), Some(LISTED..1_000));
        assert_eq!(next(1_000, 7), Some(1_000..1_007));
        assert_eq!(next(1_007, 7), None);
    }
}

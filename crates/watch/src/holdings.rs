//! The balances and unspent outputs of addresses, as a quorum says, for commands that run once.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join_all;
use till_chains::observer::{Balance, Unspent};
use till_chains::rpc::{self, RpcError};
use till_core::asset::{Network, Registry};

use crate::endpoint::Endpoint;
use crate::identity::identify;
use crate::pool::{Pool, is_refusal};

/// The bounds of a credible gas estimate: no transaction costs less, and none that fits into a block costs more.
const GAS_MIN: u64 = 21_000;
const GAS_MAX: u64 = 1_000_000_000;

/// How long to wait before each retry of an endpoint that limits our rate.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

/// One network's endpoints. One that fails, or is not what it is configured as, is not asked again; the next takes its place.
pub struct Holdings<'p> {
    pool: Pool<'p>,
    /// What whoever sends the resulting transactions should know, besides the endpoints that are not used.
    remarks: Vec<String>,
    /// Whether it was remarked already that endpoints contradict each other about balances.
    is_disputed: bool,
}

/// The balances of some addresses.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AgreedBalances {
    /// By address, each address's assets in the registry's order.
    pub balances: Vec<Balance>,
    /// Addresses for which there is no quorum, neither that something lies there nor that nothing does.
    pub disputed: BTreeSet<[u8; 20]>,
}

impl<'p> Holdings<'p> {
    pub fn new(pool: Pool<'p>) -> Holdings<'p> {
        Holdings {
            pool,
            remarks: Vec::new(),
            is_disputed: false,
        }
    }

    pub fn network(&self) -> &'static Network {
        self.pool.network()
    }

    /// Whether many balances can be asked for at once.
    pub fn answers_many(&self) -> bool {
        let net = self.pool.net;
        self.pool.observer().answers_many_balances() && !net.is_asked_by_address()
    }

    /// The bytes of an address. None if the text is no address of this network.
    pub fn address_bytes(&self, address: &str) -> Option<[u8; 20]> {
        self.pool.observer().address_bytes(address)
    }

    /// The unspent outputs of these addresses that a quorum knows, by address. Others are left out and remarked: no
    /// node would take a transaction that spends an invented one.
    pub async fn unspent(&mut self, addresses: &[[u8; 20]]) -> Result<Vec<Unspent>, String> {
        let (pool, quorum) = (self.pool, self.pool.net.quorum);
        let ask = async |endpoint: &rpc::Endpoint| {
            let unspent = pool.observer().unspent(pool.rpc, endpoint, addresses);
            unspent.await
        };
        let is_settled = |said: &[Vec<Unspent>]| agreed_unspent(said, quorum).1 == 0;
        let said = self.hear(ask, is_settled).await?;
        let (agreed, disputed) = agreed_unspent(&said, quorum);
        if disputed > 0 {
            let id = &self.network().id;
            self.remarks.push(format!(
                "{id}: {disputed} outputs are left out, for some endpoints know them as unspent and others do not; name another endpoint to settle it"
            ));
        }
        Ok(agreed)
    }

    /// The whole transaction that made an output, from the first endpoint that has it.
    pub async fn previous(&self, unspent: &Unspent) -> Option<Vec<u8>> {
        for source in self.fit() {
            let asked = self
                .pool
                .observer()
                .previous(self.pool.rpc, &source.address, unspent);
            if let Ok(Some(bytes)) = asked.await {
                return Some(bytes);
            }
        }
        None
    }

    /// The fee rate in sats per 1,000 virtual bytes: the lowest that an endpoint estimates, for a fee that is too low
    /// can be raised, and one that is too high is lost. None if no endpoint has an estimate.
    pub async fn fee_rate(&mut self) -> Result<Option<u64>, String> {
        let pool = self.pool;
        let ask = async |endpoint: &rpc::Endpoint| {
            let rate = pool.observer().fee_rate(pool.rpc, endpoint);
            rate.await
        };
        let said = self.hear(ask, |_| true).await?;
        Ok(said.into_iter().flatten().min())
    }

    /// Adds a line for standard error.
    pub fn remark(&mut self, line: &str) {
        let line = format!("{}: {line}", self.network().id);
        self.remarks.push(line);
    }

    /// The lines for standard error: why endpoints are not used, and the remarks.
    pub fn into_remarks(self) -> Vec<String> {
        let id = &self.network().id;
        let unused = self.unused().into_iter();
        let unused = unused.map(|why| format!("{id}: an endpoint is not used: {why}"));
        unused.chain(self.remarks).collect()
    }

    /// The balances of these addresses: of each asset the highest that any endpoint says, unless a quorum says that
    /// there is none. So no endpoint of two can hide money; one that invents some brings about a transaction that moves
    /// nothing and costs gas.
    pub async fn balances(&mut self, addresses: &[[u8; 20]]) -> Result<AgreedBalances, String> {
        let (pool, quorum) = (self.pool, self.pool.net.quorum);
        let ask = async |endpoint: &rpc::Endpoint| {
            let balances = pool.observer().balances(pool.rpc, endpoint, addresses);
            balances.await
        };
        let is_settled = |said: &[Vec<Balance>]| agreed_balances(said, quorum).disputed.is_empty();
        let said = self.hear(ask, is_settled).await?;
        let agreed_balances = agreed_balances(&said, quorum);
        if let (Some(address), false) = (agreed_balances.disputed.first(), self.is_disputed) {
            self.is_disputed = true;
            let address = pool.observer().address_text(address);
            self.remarks.push(format!(
                "{}: some endpoints say that something lies on {address}, and others that nothing does; name another endpoint to settle it",
                self.network().id
            ));
        }
        Ok(agreed_balances)
    }

    /// Whether an address has code. Where a second deployment costs nothing, all endpoints must say so: flushing an
    /// address that is not deployed does nothing. On TRON a second deployment burns its energy, so one endpoint that
    /// says so is believed.
    pub async fn has_code(&mut self, address: &[u8; 20]) -> Result<bool, String> {
        let pool = self.pool;
        let ask = async |endpoint: &rpc::Endpoint| {
            let has_code = pool.observer().has_code(pool.rpc, endpoint, address);
            has_code.await
        };
        let said = self.hear(ask, |_| true).await?;
        let mut said = said.into_iter();
        Ok(match pool.observer().deploys_twice_for_free() {
            true => said.all(|has| has),
            false => said.any(|has| has),
        })
    }

    /// The gas limit of a transaction: the highest credible estimate, because unused gas is not paid. None if no
    /// endpoint has one, which is remarked.
    pub async fn gas(&mut self, to: &[u8; 20], data: &[u8]) -> Option<u64> {
        let pool = self.pool;
        let fit = self.fit();
        let asked = fit.iter().map(|source| {
            let endpoint = &source.address;
            let estimate = pool.observer().gas(pool.rpc, endpoint, to, data);
            async move { believed(estimate.await).map_err(|why| format!("{endpoint}: {why}")) }
        });
        let said = join_all(asked).await;
        let most = said.iter().flatten().max().copied();
        if let Some(Err(why)) = said.iter().find(|it| it.is_err()) {
            let gas = match most {
                Some(_) => "by others only",
                None => "by nobody, and is computed",
            };
            let id = &self.network().id;
            self.remarks.push(format!(
                "{id}: the gas of a transaction was estimated {gas}; the transaction may fail ({why})"
            ));
        }
        most
    }

    /// The endpoints that are identified and have not failed.
    fn fit(&self) -> Vec<&'p Endpoint> {
        let now_us = self.pool.now_us();
        let is_fit = |it: &&Endpoint| it.exclusion().is_none() && it.is_identified(now_us);
        self.pool.net.endpoints.iter().filter(is_fit).collect()
    }

    /// The next endpoint that was not asked yet, in the operator's order.
    fn waiting(&self) -> Option<&'p Endpoint> {
        let now_us = self.pool.now_us();
        let waits = |it: &&Endpoint| it.exclusion().is_none() && !it.is_identified(now_us);
        self.pool.net.endpoints.iter().find(waits)
    }

    /// Why endpoints are not used, a line each.
    fn unused(&self) -> Vec<String> {
        let endpoints = self.pool.net.endpoints.iter();
        let why = |it: &Endpoint| Some(format!("{}: {}", it.address, it.exclusion()?.why()));
        endpoints.filter_map(why).collect()
    }

    /// Asks the endpoints in use, and takes further ones until there is a quorum and `is_settled`.
    async fn hear<T>(
        &self,
        ask: impl AsyncFn(&rpc::Endpoint) -> Result<T, RpcError>,
        is_settled: impl Fn(&[T]) -> bool,
    ) -> Result<Vec<T>, String> {
        let fit = self.fit();
        let asked = fit.iter().map(|source| patiently(&source.address, &ask));
        let answers = join_all(asked).await;
        let mut said = Vec::new();
        for (source, answer) in fit.into_iter().zip(answers) {
            said.extend(answer.map_err(|error| self.pool.failed(source, &error)));
        }
        let quorum = self.pool.net.quorum;
        while (said.len() < quorum || !is_settled(&said))
            && let Some(source) = self.waiting()
        {
            identify(self.pool, source).await;
            if source.exclusion().is_none() {
                let answer = patiently(&source.address, &ask).await;
                said.extend(answer.map_err(|error| self.pool.failed(source, &error)));
            }
        }
        if said.len() >= quorum {
            return Ok(said);
        }
        let (id, answer, why) = (&self.network().id, said.len(), self.unused().join("; "));
        Err(match quorum {
            // With nobody left, why it is not asked is the failure itself.
            1 => format!("{id}: {why}"),
            _ => format!("{id}: {answer} of {quorum} endpoints that must agree answer: {why}"),
        })
    }
}

/// Retries a rate-limited call, with a pause before each retry.
async fn patiently<T>(
    endpoint: &rpc::Endpoint,
    ask: impl AsyncFn(&rpc::Endpoint) -> Result<T, RpcError>,
) -> Result<T, RpcError> {
    for pause in PAUSES {
        match ask(endpoint).await {
            Err(error) if is_refusal(&error) => tokio::time::sleep(pause).await,
            answer => return answer,
        }
    }
    ask(endpoint).await
}

fn believed(estimate: Result<u64, RpcError>) -> Result<u64, String> {
    match estimate {
        Ok(gas) if (GAS_MIN..=GAS_MAX).contains(&gas) => Ok(gas),
        Ok(gas) => Err(format!("it says {gas}")),
        Err(error) => Err(error.to_string()),
    }
}

/// The outputs that a quorum knows, and how many others there are that a quorum neither knows nor denies.
fn agreed_unspent(said: &[Vec<Unspent>], quorum: usize) -> (Vec<Unspent>, usize) {
    let mut counts: BTreeMap<Unspent, usize> = BTreeMap::new();
    for unspent in said
        .iter()
        .flat_map(|all| all.iter().collect::<BTreeSet<_>>())
    {
        *counts.entry(*unspent).or_default() += 1;
    }
    let disputed = counts.values();
    let disputed = disputed.filter(|count| **count < quorum && said.len() - **count < quorum);
    let disputed = disputed.count();
    let agreed = counts.into_iter().filter(|(_, count)| *count >= quorum);
    (agreed.map(|(unspent, _)| unspent).collect(), disputed)
}

fn agreed_balances(said: &[Vec<Balance>], quorum: usize) -> AgreedBalances {
    let assets = Registry::builtin().assets();
    let place = |of: &Balance| assets.iter().position(|it| it.code == of.asset.code);
    let mut most: BTreeMap<([u8; 20], Option<usize>), (Balance, usize)> = BTreeMap::new();
    for balance in said.iter().flatten() {
        let known = most.entry((balance.address, place(balance)));
        let (known, count) = known.or_insert_with(|| (balance.clone(), 0));
        known.units = known.units.max(balance.units);
        *count += 1;
    }
    let mut agreed_balances = AgreedBalances::default();
    for (balance, count) in most.into_values() {
        if count < quorum && said.len() - count >= quorum {
            continue;
        }
        if count < quorum {
            agreed_balances.disputed.insert(balance.address);
        }
        agreed_balances.balances.push(balance);
    }
    agreed_balances
}

#[cfg(test)]
mod tests {
    use till_chains::observer::Spend;
    use till_core::money::Units;

    use super::*;

    fn balance(address: u8, asset: &str, units: u128) -> Balance {
        let asset = Registry::builtin().asset(asset).unwrap();
        Balance {
            address: [address; 20],
            asset,
            contract: None,
            units: Units(units),
        }
    }

    #[test]
    fn what_lies_there_is_the_most_that_anybody_says() {
        let (usdc, eth) = ("USDC@eip155:84532", "ETH@eip155:84532");
        let one = vec![balance(1, usdc, 5), balance(2, usdc, 7)];
        let other = vec![balance(1, eth, 3), balance(1, usdc, 6), balance(2, usdc, 1)];
        let expected = [balance(1, usdc, 6), balance(1, eth, 3), balance(2, usdc, 7)];
        for said in [[one.clone(), other.clone()], [other, one]] {
            let agreed_balances = agreed_balances(&said, 1);
            assert_eq!(agreed_balances.balances, expected);
            assert!(agreed_balances.disputed.is_empty());
        }
        assert_eq!(
            agreed_balances(&[Vec::new(), Vec::new()], 2),
            AgreedBalances::default()
        );
    }

    // A liar of three changes nothing. Of two, neither is believed: what one of them says is listed and disputed.
    #[test]
    fn what_one_says_alone_is_disputed_until_enough_others_deny_it() {
        let usdc = "USDC@eip155:84532";
        let (honest, liar) = (
            vec![balance(1, usdc, 5)],
            vec![balance(1, usdc, 5), balance(2, usdc, 7)],
        );
        let of_two = agreed_balances(&[honest.clone(), liar.clone()], 2);
        assert_eq!(of_two.balances, liar);
        assert_eq!(of_two.disputed, BTreeSet::from([[2; 20]]));
        let of_three = agreed_balances(&[honest.clone(), liar, honest.clone()], 2);
        assert_eq!(of_three.balances, honest);
        assert!(of_three.disputed.is_empty());
        let hider = agreed_balances(&[honest.clone(), Vec::new(), honest.clone()], 2);
        assert_eq!((hider.balances, hider.disputed), (honest, BTreeSet::new()));
    }

    #[test]
    fn an_output_that_only_one_of_two_knows_is_left_out_and_said_to_be_disputed() {
        let unspent = |number: u8| Unspent {
            program: [number; 20],
            place: Spend {
                transaction: [number; 32],
                output: 0,
            },
            sats: 5,
            height: 7,
        };
        let (both, one) = (vec![unspent(1)], vec![unspent(1), unspent(2)]);
        let two = agreed_unspent(&[both.clone(), one.clone()], 2);
        assert_eq!(two, (both.clone(), 1));
        let three = agreed_unspent(&[both.clone(), one.clone(), both.clone()], 2);
        assert_eq!(three, (both, 0));
        // One that says so twice is still one.
        let doubled = agreed_unspent(&[[one.clone(), one].concat(), Vec::new()], 2);
        assert_eq!(doubled, (Vec::new(), 2));
    }

    #[test]
    fn an_estimate_that_no_transaction_can_have_is_not_believed() {
        assert_eq!(believed(Ok(21_000)), Ok(21_000));
        assert_eq!(believed(Ok(5_000_000)), Ok(5_000_000));
        for gas in [0, 20_999, GAS_MAX + 1, u64::MAX] {
            assert!(believed(Ok(gas)).is_err(), "{gas}");
        }
    }
}

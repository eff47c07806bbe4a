//! Whom commands ask what lies on a network's addresses: endpoints that are what they are configured as, and as many of them
//! as must agree.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use futures::future::join_all;
use till_chains::evm::balances::{self, Balance};
use till_chains::evm::client;
use till_chains::observer::Observer;
use till_chains::rpc::{Endpoint, RpcClient, RpcError};
use till_core::asset::{Family, Mode, Network, Registry};
use till_watch::EndpointSettings;

use crate::failure::Failure;

/// Where deposit addresses are contracts that anybody may empty.
pub const FAMILIES: [Family; 2] = [Family::Evm, Family::Tron];

/// A transaction costs no less, and none that a block takes costs more: an estimate beyond these is not believed.
const GAS_MIN: u64 = 21_000;
const GAS_MAX: u64 = 1_000_000_000;

/// How long an endpoint is left in peace that wants to be asked less, each time it says so.
const PAUSES: [Duration; 3] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
];

pub fn can_be_asked(network: &Network, mode: Mode) -> bool {
    FAMILIES.contains(&network.family) && network.mode == mode && network.factory.is_some()
}

/// A network that was named, under whichever of its names.
pub fn known(id: &str) -> Result<&'static Network, Failure> {
    let network = Registry::builtin().network(id);
    network.ok_or_else(|| Failure::Usage(format!("{id} is no network of this version")))
}

/// The same where it is to be asked. What cannot be is not nothing, so it is said.
pub fn named(
    id: &str,
    mode: Mode,
    endpoints: &BTreeMap<String, EndpointSettings>,
) -> Result<&'static Network, Failure> {
    let network = of_mode(id, mode)?;
    match endpoints.contains_key(&network.id) {
        true => Ok(network),
        false => Err(Failure::new(format!(
            "{id} has no endpoint: name one in networks.{id:?}.rpc"
        ))),
    }
}

pub fn of_mode(id: &str, mode: Mode) -> Result<&'static Network, Failure> {
    let network = known(id)?;
    if !FAMILIES.contains(&network.family) {
        let line = format!("{id} is no network that can be asked so");
        return Err(Failure::new(line));
    }
    if network.mode != mode {
        let line = format!("{id} is not a network of {} mode", mode.as_str());
        return Err(Failure::new(line));
    }
    match network.factory {
        Some(_) => Ok(network),
        None => Err(Failure::new(format!("{id} has no deposit addresses yet"))),
    }
}

/// The endpoints of one network, of which some are asked.
pub struct Asking<'r> {
    rpc: &'r RpcClient,
    pub network: &'static Network,
    /// How many are asked, as long as there are so many.
    quorum: usize,
    /// Those that are what they should be, and have answered every time.
    fit: Vec<Endpoint>,
    /// Those that were not needed yet, in the operator's order.
    waiting: VecDeque<Endpoint>,
    /// Why others are not asked.
    unused: Vec<String>,
    /// What else somebody should know who sends what is made of this.
    remarks: Vec<String>,
}

impl Asking<'_> {
    pub fn new<'r>(
        rpc: &'r RpcClient,
        network: &'static Network,
        endpoints: &EndpointSettings,
    ) -> Asking<'r> {
        Asking {
            rpc,
            network,
            quorum: endpoints.quorum(),
            fit: Vec::new(),
            waiting: endpoints.of.iter().cloned().collect(),
            unused: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// What is to be said on standard error, a line each.
    pub fn into_remarks(self) -> Vec<String> {
        let id = &self.network.id;
        let unused = self.unused.iter();
        let unused = unused.map(|why| format!("{id}: an endpoint is not used: {why}"));
        unused.chain(self.remarks).collect()
    }

    /// What lies on these addresses: of each asset the most that anybody says. Who hides something is not believed, and who
    /// invents something makes a transaction that moves nothing there and costs gas.
    pub async fn balances(&mut self, addresses: &[[u8; 20]]) -> Result<Vec<Balance>, String> {
        let (rpc, network) = (self.rpc, self.network);
        let said =
            self.hear(async |endpoint| balances::balances(rpc, endpoint, network, addresses).await);
        Ok(largest(said.await?))
    }

    /// Whether there is code at an address. To flush what is not there does nothing, so on EVM networks, where deploying what is there
    /// costs nothing, all must say so. On TRON a second deployment burns its energy, and whoever says so is believed.
    pub async fn has_code(&mut self, address: &[u8; 20]) -> Result<bool, String> {
        let rpc = self.rpc;
        let said = self.hear(async |endpoint| client::code(rpc, endpoint, address).await);
        let said = said.await?;
        let mut has = said.iter().map(|code| !code.is_empty());
        Ok(match self.network.family {
            Family::Evm => has.all(|has| has),
            _ => has.any(|has| has),
        })
    }

    /// What a transaction costs: the most that anybody estimates who can be believed, because what is not used is not paid. Nothing
    /// where nobody can say, which is remarked.
    pub async fn gas(&mut self, to: &[u8; 20], data: &[u8]) -> Option<u64> {
        let asked = self.fit.iter().map(|endpoint| {
            let estimate = client::gas(self.rpc, endpoint, to, data);
            async move { believed(estimate.await).map_err(|why| format!("{endpoint}: {why}")) }
        });
        let said = join_all(asked).await;
        let most = said.iter().flatten().max().copied();
        if let Some(Err(why)) = said.iter().find(|it| it.is_err()) {
            let gas = match most {
                Some(_) => "by others only",
                None => "by nobody, and is computed",
            };
            let id = &self.network.id;
            self.remarks.push(format!(
                "{id}: the gas of a transaction was estimated {gas}; the transaction may fail ({why})"
            ));
        }
        most
    }

    /// Asks as many as must agree. One that fails or is not what it should be is not asked again, and the next takes its place.
    async fn hear<T>(
        &mut self,
        ask: impl AsyncFn(&Endpoint) -> Result<T, RpcError>,
    ) -> Result<Vec<T>, String> {
        let asked = std::mem::take(&mut self.fit);
        let answers = join_all(asked.iter().map(|endpoint| patiently(endpoint, &ask))).await;
        let mut said = Vec::new();
        for (endpoint, answer) in asked.into_iter().zip(answers) {
            self.note(endpoint, answer, &mut said);
        }
        while self.fit.len() < self.quorum {
            let Some(endpoint) = self.waiting.pop_front() else {
                break;
            };
            let answer = match problem(self.rpc, &endpoint, self.network).await {
                Ok(None) => patiently(&endpoint, &ask).await,
                Ok(Some(problem)) => Err(problem),
                Err(error) => Err(error.to_string()),
            };
            self.note(endpoint, answer, &mut said);
        }
        match said.is_empty() {
            true => Err(self.nobody()),
            false => Ok(said),
        }
    }

    fn note<T>(&mut self, endpoint: Endpoint, answer: Result<T, String>, said: &mut Vec<T>) {
        match answer {
            Ok(answer) => {
                said.push(answer);
                self.fit.push(endpoint);
            }
            Err(why) => self.unused.push(format!("{endpoint}: {why}")),
        }
    }

    /// With nobody left, why each is not asked is the failure itself.
    fn nobody(&mut self) -> String {
        let why = std::mem::take(&mut self.unused);
        format!("{}: {}", self.network.id, why.join("; "))
    }
}

/// What is wrong with an endpoint, in words for its operator.
pub async fn problem(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &'static Network,
) -> Result<Option<String>, RpcError> {
    match Observer::of(network) {
        Some(observer) => observer.identify(rpc, endpoint).await,
        None => Ok(None),
    }
}

/// Asks again after a while where an endpoint wants to be asked less.
async fn patiently<T>(
    endpoint: &Endpoint,
    ask: impl AsyncFn(&Endpoint) -> Result<T, RpcError>,
) -> Result<T, String> {
    for pause in PAUSES {
        match ask(endpoint).await {
            Err(RpcError::TooOften(_) | RpcError::Refused { code: -32_005, .. }) => {
                tokio::time::sleep(pause).await;
            }
            answer => return answer.map_err(|error| error.to_string()),
        }
    }
    ask(endpoint).await.map_err(|error| error.to_string())
}

fn believed(estimate: Result<u64, RpcError>) -> Result<u64, String> {
    match estimate {
        Ok(gas) if (GAS_MIN..=GAS_MAX).contains(&gas) => Ok(gas),
        Ok(gas) => Err(format!("it says {gas}")),
        Err(error) => Err(error.to_string()),
    }
}

/// By address, each address's assets in the registry's order.
fn largest(said: Vec<Vec<Balance>>) -> Vec<Balance> {
    let assets = Registry::builtin().assets();
    let place = |of: &Balance| assets.iter().position(|it| it.code == of.asset.code);
    let mut most: BTreeMap<([u8; 20], Option<usize>), Balance> = BTreeMap::new();
    for balance in said.into_iter().flatten() {
        let known = most.entry((balance.address, place(&balance)));
        let known = known.or_insert_with(|| balance.clone());
        known.units = known.units.max(balance.units);
    }
    most.into_values().collect()
}

#[cfg(test)]
mod tests {
    use till_core::money::Units;

    use super::*;

    fn balance(address: u8, asset: &str, units: u128) -> Balance {
        let asset = Registry::builtin().asset(asset).expect("an asset");
        let contract = asset.contract.as_deref();
        Balance {
            address: [address; 20],
            asset,
            contract: contract.and_then(|it| till_chains::raw::raw(Family::Evm, it)),
            units: Units(units),
        }
    }

    #[test]
    fn what_lies_there_is_the_most_that_anybody_says() {
        let (usdc, eth) = ("USDC@eip155:84532", "ETH@eip155:84532");
        let one = vec![balance(1, usdc, 5), balance(2, usdc, 7)];
        let other = vec![balance(1, eth, 3), balance(1, usdc, 6), balance(2, usdc, 1)];
        let expected = [balance(1, usdc, 6), balance(1, eth, 3), balance(2, usdc, 7)];
        assert_eq!(largest(vec![one.clone(), other.clone()]), expected);
        assert_eq!(largest(vec![other, one]), expected);
        assert_eq!(largest(vec![Vec::new(), Vec::new()]), []);
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

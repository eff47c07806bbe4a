//! The operator's nodes, asked for what our own observations do not know: what a transaction moved, which is shown and
//! never written, and whether a register on the chain names an address.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use till_chains::TxHashForm;
use till_chains::lookup::{self, FoundTransfer};
use till_chains::registers::{self, Register};
use till_chains::rpc::{RpcClient, RpcError};
use till_core::asset::Network;
use till_core::time::Clock;
use till_net::TlsError;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::endpoint::Endpoint;
use crate::quorum::first_agreed;
use crate::settings::EndpointSettings;
use crate::watching::Watching;

/// Somebody waits for the answer in front of a page.
const LOOKUP_TIME: Duration = Duration::from_secs(5);
/// Questions at the same time. Payers ask them, and providers count them.
const ASKING_MAX: usize = 32;

pub struct Nodes {
    rpc: RpcClient,
    clock: Arc<dyn Clock>,
    /// By CAIP-2 id.
    networks: BTreeMap<String, OfNetwork>,
    asking: Semaphore,
    time: Duration,
}

struct OfNetwork {
    /// Where the network is watched, these are the endpoints that watch it: who is excluded there for lies is not asked here,
    /// and who was found there to be of another network has to name its own again. What fails here, though, is not held
    /// against anybody there: payers choose what is asked.
    endpoints: Arc<[Endpoint]>,
    quorum: usize,
}

impl Nodes {
    pub fn new(
        networks: BTreeMap<String, EndpointSettings>,
        watching: Option<&Watching>,
        clock: Arc<dyn Clock>,
    ) -> Result<Nodes, TlsError> {
        Nodes::within(networks, watching, clock, LOOKUP_TIME)
    }

    /// As [`Nodes::new`], with another bound on the time of a question in total.
    pub fn within(
        networks: BTreeMap<String, EndpointSettings>,
        watching: Option<&Watching>,
        clock: Arc<dyn Clock>,
        time: Duration,
    ) -> Result<Nodes, TlsError> {
        let watched = |id: &str| watching.and_then(|watching| watching.network(id));
        let of = |id: &str, settings: EndpointSettings| OfNetwork {
            quorum: settings.quorum(),
            endpoints: match watched(id) {
                Some(net) => Arc::clone(&net.endpoints),
                None => settings.of.into_iter().map(Endpoint::new).collect(),
            },
        };
        let networks = networks.into_iter().map(|(id, settings)| {
            let of = of(&id, settings);
            (id, of)
        });
        Ok(Nodes {
            rpc: RpcClient::with_deadline(time)?,
            clock,
            networks: networks.collect(),
            asking: Semaphore::new(ASKING_MAX),
            time,
        })
    }

    /// Asks the networks side by side and each one's nodes in order; the first that finds it wins. A node that
    /// fails has found nothing.
    pub async fn look_up<'n>(
        &self,
        networks: &[&'n Network],
        hash: &TxHashForm,
    ) -> Option<(&'n Network, Vec<FoundTransfer>)> {
        let mut asked: FuturesUnordered<_> = networks
            .iter()
            .filter(|network| lookup::can_look_up(network, hash))
            .filter_map(|network| Some((*network, self.networks.get(&network.id)?)))
            .map(|(network, of)| async move {
                let found = self.ask(network, of, hash).await?;
                Some((network, found))
            })
            .collect();
        if asked.is_empty() {
            return None;
        }
        let Ok(_turn) = self.asking.try_acquire() else {
            tracing::warn!(
                "a transaction was not looked up, because as many lookups as are allowed are under way; it is looked up when it is asked for again"
            );
            return None;
        };
        let first = async {
            while let Some(answer) = asked.next().await {
                if answer.is_some() {
                    return answer;
                }
            }
            None
        };
        timeout(self.time, first).await.ok().flatten()
    }

    /// What a transaction moved, as many nodes say as must agree; nothing where they say that no block has it. None when too few
    /// answer, or say the same.
    pub async fn agree_on(
        &self,
        network: &Network,
        hash: &TxHashForm,
    ) -> Option<Option<Vec<FoundTransfer>>> {
        let of = self.networks.get(&network.id)?;
        let _turn = timeout(self.time, self.asking.acquire()).await.ok()?.ok()?;
        let ask = |node| async move {
            let answer = timeout(self.time, self.ask_one(network, node, hash)).await;
            let answer = answer.unwrap_or(Err(RpcError::Timeout(self.time)));
            answer.map_err(|error| {
                tracing::warn!(network = network.id, endpoint = %node.address, %error, "an endpoint failed to look a payout's transaction up, so it has no voice in it; check it if this lasts");
            })
        };
        first_agreed(self.believed(of).into_iter().map(ask), of.quorum)
            .await
            .ok()
    }

    /// Whether anybody can be asked about this network.
    pub fn know(&self, network: &Network) -> bool {
        self.networks.contains_key(&network.id)
    }

    /// Whether a register names an address, as many nodes say as must agree. None when too few answer, or say the same.
    pub async fn names(
        &self,
        network: &Network,
        register: &Register,
        address: &str,
    ) -> Option<bool> {
        let of = self.networks.get(&network.id)?;
        let _turn = timeout(self.time, self.asking.acquire()).await.ok()?.ok()?;
        let ask = |node| async move {
            let asked = async {
                self.vouch(network, node).await?;
                registers::names(&self.rpc, &node.address, network, register, address).await
            };
            let answer = timeout(self.time, asked).await;
            let answer = answer.unwrap_or(Err(RpcError::Timeout(self.time)));
            answer.map_err(|error| {
                let register = register.name;
                tracing::warn!(network = network.id, endpoint = %node.address, register, %error, "a register on the chain did not answer, so it neither clears nor names anybody; check the endpoint if this lasts");
            })
        };
        first_agreed(self.believed(of).into_iter().map(ask), of.quorum)
            .await
            .ok()
    }

    /// Whom to believe, in the operator's order; those that did not answer lately come last.
    fn believed<'n>(&self, of: &'n OfNetwork) -> Vec<&'n Endpoint> {
        let now_us = self.clock.monotonic_us();
        let believed = of.endpoints.iter();
        let mut believed: Vec<&Endpoint> =
            believed.filter(|it| !it.is_disbelieved(now_us)).collect();
        believed.sort_by_key(|it| !it.may_be_asked(now_us));
        believed
    }

    async fn ask(
        &self,
        network: &Network,
        of: &OfNetwork,
        hash: &TxHashForm,
    ) -> Option<Vec<FoundTransfer>> {
        let nodes = self.believed(of);
        // One that hangs leaves the others their share.
        let share = self.time / u32::try_from(nodes.len().max(1)).unwrap_or(u32::MAX);
        for node in nodes {
            let answer = timeout(share, self.ask_one(network, node, hash)).await;
            match answer.unwrap_or(Err(RpcError::Timeout(share))) {
                Ok(None) => {}
                Ok(found) => return found,
                Err(error) => {
                    tracing::warn!(network = network.id, endpoint = %node.address, %error, "an endpoint failed to look a transaction up; the next one is asked");
                }
            }
        }
        None
    }

    async fn ask_one(
        &self,
        network: &Network,
        node: &Endpoint,
        hash: &TxHashForm,
    ) -> Result<Option<Vec<FoundTransfer>>, RpcError> {
        self.vouch(network, node).await?;
        lookup::look_up(&self.rpc, &node.address, network, hash).await
    }

    /// Has it name its network, if it has not yet, here or where it is watched.
    async fn vouch(&self, network: &Network, node: &Endpoint) -> Result<(), RpcError> {
        if !node.is_of_network() {
            if !lookup::is_of_network(&self.rpc, &node.address, network).await? {
                let other = "it is on another network".to_owned();
                return Err(RpcError::NotAnAnswer(other));
            }
            node.mark_of_network();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use till_core::asset::Registry;

    use super::*;
    use crate::scripted::{NETWORK, Scripted, Still};

    #[tokio::test]
    async fn who_is_known_for_a_lie_where_blocks_are_read_is_not_asked_elsewhere() {
        let scripted = Scripted::of(&["ab", "ab", "ab"]).await;
        let parse = |it: &Endpoint| it.address.clone();
        let settings = EndpointSettings {
            of: scripted.endpoints().iter().map(parse).collect(),
            quorum: Some(2),
        };
        let networks = BTreeMap::from([(NETWORK.to_owned(), settings)]);
        let nodes = Nodes::new(networks, Some(&scripted.watching), Arc::new(Still)).unwrap();
        let asked =
            |nodes: &Nodes| scripted.places(nodes.believed(&nodes.networks[NETWORK]).into_iter());
        assert_eq!(asked(&nodes), [0, 1, 2]);
        scripted.endpoints()[0].mark_lied(7, "a log");
        scripted.endpoints()[1].mark_failed(7, &RpcError::CutOff);
        assert_eq!(asked(&nodes), [2, 1], "who did not answer comes last");
        let network = Registry::builtin().network(NETWORK).unwrap();
        assert!(nodes.know(network));
    }
}

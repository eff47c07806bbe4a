//! The operator's nodes, asked for what our own observations do not know: what a transaction moved, which is shown and
//! never written, and whether a register on the chain names an address.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use till_chains::TxHashForm;
use till_chains::lookup::{self, FoundTransfer};
use till_chains::registers::{self, Register};
use till_chains::rpc::{Endpoint, RpcClient, RpcError};
use till_core::asset::Network;
use till_net::TlsError;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::quorum::first_agreed;
use crate::settings::EndpointSettings;

/// Somebody waits for the answer in front of a page.
const LOOKUP_TIME: Duration = Duration::from_secs(5);
/// Questions at the same time. Payers ask them, and providers count them.
const ASKING_MAX: usize = 32;

pub struct Nodes {
    rpc: RpcClient,
    /// By CAIP-2 id.
    networks: BTreeMap<String, OfNetwork>,
    asking: Semaphore,
    time: Duration,
}

struct OfNetwork {
    nodes: Vec<Node>,
    quorum: usize,
}

struct Node {
    endpoint: Endpoint,
    /// It said once that it is on the network it is configured for.
    vouched: AtomicBool,
}

impl Nodes {
    pub fn new(networks: BTreeMap<String, EndpointSettings>) -> Result<Nodes, TlsError> {
        Nodes::within(networks, LOOKUP_TIME)
    }

    /// As [`Nodes::new`], with another bound on the time of a question in total.
    pub fn within(
        networks: BTreeMap<String, EndpointSettings>,
        time: Duration,
    ) -> Result<Nodes, TlsError> {
        let node = |endpoint| Node {
            endpoint,
            vouched: AtomicBool::new(false),
        };
        let of = |endpoints: EndpointSettings| OfNetwork {
            quorum: endpoints.quorum(),
            nodes: endpoints.of.into_iter().map(node).collect(),
        };
        Ok(Nodes {
            rpc: RpcClient::with_deadline(time)?,
            networks: networks
                .into_iter()
                .map(|(id, endpoints)| (id, of(endpoints)))
                .collect(),
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
                let found = self.ask(network, &of.nodes, hash).await?;
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
            let answer = timeout(self.time, self.ask_node(network, node, hash)).await;
            let answer = answer.unwrap_or(Err(RpcError::Timeout(self.time)));
            answer.map_err(|error| {
                tracing::warn!(network = network.id, endpoint = %node.endpoint, %error, "an endpoint failed to look a payout's transaction up, so it has no voice in it; check it if this lasts");
            })
        };
        first_agreed(of.nodes.iter().map(ask), of.quorum).await.ok()
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
                registers::names(&self.rpc, &node.endpoint, network, register, address).await
            };
            let answer = timeout(self.time, asked).await;
            let answer = answer.unwrap_or(Err(RpcError::Timeout(self.time)));
            answer.map_err(|error| {
                let register = register.name;
                tracing::warn!(network = network.id, endpoint = %node.endpoint, register, %error, "a register on the chain did not answer, so it neither clears nor names anybody; check the endpoint if this lasts");
            })
        };
        first_agreed(of.nodes.iter().map(ask), of.quorum).await.ok()
    }

    /// One that hangs leaves the others their share.
    fn share(&self, nodes: &[Node]) -> Duration {
        self.time / u32::try_from(nodes.len().max(1)).unwrap_or(u32::MAX)
    }

    async fn ask(
        &self,
        network: &Network,
        nodes: &[Node],
        hash: &TxHashForm,
    ) -> Option<Vec<FoundTransfer>> {
        let share = self.share(nodes);
        for node in nodes {
            let answer = timeout(share, self.ask_node(network, node, hash)).await;
            match answer.unwrap_or(Err(RpcError::Timeout(share))) {
                Ok(None) => {}
                Ok(found) => return found,
                Err(error) => {
                    tracing::warn!(network = network.id, endpoint = %node.endpoint, %error, "an endpoint failed to look a transaction up; the next one is asked");
                }
            }
        }
        None
    }

    async fn ask_node(
        &self,
        network: &Network,
        node: &Node,
        hash: &TxHashForm,
    ) -> Result<Option<Vec<FoundTransfer>>, RpcError> {
        self.vouch(network, node).await?;
        lookup::look_up(&self.rpc, &node.endpoint, network, hash).await
    }

    async fn vouch(&self, network: &Network, node: &Node) -> Result<(), RpcError> {
        if !node.vouched.load(Ordering::Relaxed) {
            if !lookup::is_of_network(&self.rpc, &node.endpoint, network).await? {
                let other = "it is on another network".to_owned();
                return Err(RpcError::NotAnAnswer(other));
            }
            node.vouched.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

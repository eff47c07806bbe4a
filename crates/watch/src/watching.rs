//! The networks that are watched: their endpoints, and the addresses that are looked for.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use till_chains::observer::Observer;
use till_chains::rpc::RpcClient;
use till_chains::watched::Watched;
use till_chains::zmq::Publisher;
use till_core::asset::{Family, Mode, Network, Registry};
use till_net::TlsError;

use crate::disputes::Disputes;
use crate::endpoint::{Endpoint, Exclusion};
use crate::hints::Hints;
use crate::settings::{EndpointSettings, WatchSettings};

/// The time limit of one call: logs can be large, and nodes slow.
const DEADLINE: Duration = Duration::from_secs(10);

pub struct Watching {
    pub rpc: RpcClient,
    pub networks: Vec<WatchedNetwork>,
    /// How long an expiry waits for a network to be read up to the deadline.
    pub expiry_wait_ms: i64,
}

pub struct WatchedNetwork {
    pub network: &'static Network,
    pub observer: Observer,
    pub quorum: usize,
    pub scan_from: Option<i64>,
    /// Who looks a transaction up asks the same ones.
    pub endpoints: Arc<[Endpoint]>,
    pub publishers: Vec<Publisher>,
    pub hints: Hints,
    /// Shared with the other networks that have the same addresses.
    pub set: Arc<WatchedSet>,
    pub disputes: Disputes,
}

/// The addresses that payments to us are looked for at. Whoever adds some holds the lock of `known`.
#[derive(Default)]
pub struct WatchedSet {
    pub known: tokio::sync::Mutex<WatchedUpTo>,
    pub watched: RwLock<Watched>,
}

/// Up to which number the addresses of an account and destination are in the set.
pub type WatchedUpTo = HashMap<(String, String), i64>;

impl WatchedSet {
    pub fn may_have(&self, addresses: &[impl AsRef<[u8]>]) -> Vec<bool> {
        let watched = self.watched.read().unwrap_or_else(PoisonError::into_inner);
        let addresses = addresses.iter();
        addresses.map(|it| watched.may_have(it.as_ref())).collect()
    }

    pub fn insert(&self, addresses: &[impl AsRef<[u8]>]) {
        let mut watched = self.watched.write().unwrap_or_else(PoisonError::into_inner);
        watched.reserve(addresses.len());
        let addresses = addresses.iter();
        addresses.for_each(|it| watched.insert(it.as_ref()));
    }
}

impl Watching {
    /// None where no configured network can be watched.
    pub fn new(
        networks: BTreeMap<String, WatchSettings>,
        expiry_wait_ms: i64,
    ) -> Result<Option<Watching>, TlsError> {
        let watched = watched(networks);
        if watched.is_empty() {
            return Ok(None);
        }
        Ok(Some(Watching {
            rpc: RpcClient::with_deadline(DEADLINE)?,
            networks: watched,
            expiry_wait_ms,
        }))
    }

    /// For a command that runs once and reads no blocks. Networks that cannot be watched are left out.
    pub fn once(endpoints: BTreeMap<String, EndpointSettings>, rpc: RpcClient) -> Watching {
        let settings = |endpoints| WatchSettings {
            endpoints,
            publishers: Vec::new(),
            scan_from: None,
        };
        let endpoints = endpoints.into_iter();
        let settings = endpoints.map(|(id, endpoints)| (id, settings(endpoints)));
        Watching {
            rpc,
            networks: watched(settings.collect()),
            expiry_wait_ms: 0,
        }
    }

    pub fn network(&self, id: &str) -> Option<&WatchedNetwork> {
        self.networks.iter().find(|net| net.network.id == id)
    }
}

fn watched(networks: BTreeMap<String, WatchSettings>) -> Vec<WatchedNetwork> {
    let mut sets: HashMap<(Family, Mode, Option<&str>), Arc<WatchedSet>> = HashMap::new();
    let mut watched = Vec::new();
    for (id, settings) in networks {
        let network = Registry::builtin().network(&id);
        let observed = network.and_then(|it| Some((it, Observer::of(it)?)));
        let Some((network, observer)) = observed else {
            continue;
        };
        let sharing = (network.family, network.mode, network.factory.as_deref());
        let quorum = settings.endpoints.quorum();
        let endpoints = settings.endpoints.of.into_iter();
        watched.push(WatchedNetwork {
            network,
            observer,
            quorum,
            scan_from: settings.scan_from,
            endpoints: endpoints.map(Endpoint::new).collect(),
            publishers: settings.publishers,
            hints: Hints::default(),
            set: Arc::clone(sets.entry(sharing).or_default()),
            disputes: Disputes::default(),
        });
    }
    watched.retain(|network: &WatchedNetwork| !network.endpoints.is_empty());
    watched
}

impl WatchedNetwork {
    /// The endpoints that may be asked now: identified, and not excluded.
    pub fn usable(&self, now_us: u64) -> impl Iterator<Item = &Endpoint> {
        let may_be = move |endpoint: &&Endpoint| {
            endpoint.may_be_asked(now_us) && endpoint.is_identified(now_us)
        };
        self.endpoints.iter().filter(may_be)
    }

    /// Whether some endpoint does not list its mempool and has to be asked about each address.
    pub fn is_asked_by_address(&self) -> bool {
        let mut endpoints = self.endpoints.iter();
        endpoints.any(|it| it.address.is_asked_by_address())
    }

    /// Whether everything that is known comes from a provider that nobody else confirms.
    pub fn trusts_one_provider(&self) -> bool {
        let mut endpoints = self.endpoints.iter();
        self.quorum == 1 && endpoints.all(|it| it.address.is_asked_by_address())
    }

    /// How many endpoints are usable and answered when they were last asked.
    pub fn answering(&self, now_us: u64) -> usize {
        let answers = |endpoint: &&Endpoint| endpoint.exclusion().is_none();
        self.usable(now_us).filter(answers).count()
    }

    /// An endpoint's place in the operator's order.
    pub fn place_of(&self, endpoint: &Endpoint) -> usize {
        let is_it = |other: &Endpoint| std::ptr::eq(other, endpoint);
        self.endpoints.iter().position(is_it).unwrap_or_default()
    }

    /// Why no endpoint is left, if all of them are of another chain or lack our contracts.
    pub fn why_halted(&self) -> Option<String> {
        let wrong = |endpoint: &Endpoint| match endpoint.exclusion() {
            Some(Exclusion::Wrong(why)) => Some(why),
            _ => None,
        };
        let all: Option<Vec<String>> = self.endpoints.iter().map(wrong).collect();
        all?.into_iter().next()
    }
}

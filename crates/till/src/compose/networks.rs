//! The networks of a configuration: their endpoints, who is asked and watched, and when what is paid there counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use till_chains::observer::Observer;
use till_chains::raw::raw;
use till_chains::rpc::Endpoint;
use till_chains::zmq::Publisher;
use till_core::asset::{Depth, Family, Registry};
use till_core::payment::Level;
use till_core::time::{Clock, SECOND_MS};
use till_engine::base::FinalDepths;
use till_engine::base::feeds::{Feed, FeedPlace, Feeds};
use till_engine::outbound::Fetcher;
use till_watch::{EndpointSettings, Nodes, WatchSettings, Watching};

use crate::config::{Config, CreditAt, Network, PricePlace};
use crate::failure::Failure;

/// The configured networks under their own names, whatever alias the operator used.
pub fn networks(
    config: &Config,
) -> Result<BTreeMap<&'static str, (&'static till_core::asset::Network, &Network)>, Failure> {
    let registry = Registry::builtin();
    let mut networks = BTreeMap::new();
    for (id, settings) in &config.networks {
        let network = registry
            .network(id)
            .ok_or_else(|| unknown_network(registry, id))?;
        if networks.insert(&*network.id, (network, settings)).is_some() {
            let line = format!(
                "configuration: networks.{id:?} is {} under another name; give it once",
                network.id
            );
            return Err(Failure::new(line));
        }
    }
    Ok(networks)
}

fn unknown_network(registry: &Registry, id: &str) -> Failure {
    let namespace = id.split(':').next().unwrap_or_default();
    let all = || registry.networks().iter().map(|network| &*network.id);
    let mut known: Vec<&str> = all()
        .filter(|id| id.split(':').next() == Some(namespace))
        .collect();
    if known.is_empty() {
        known = all().collect();
    }
    Failure::new(format!(
        "configuration: networks.{id:?} is no network of this version; it knows {}",
        known.join(", ")
    ))
}

/// Each configured network's endpoints.
pub fn endpoints(config: &Config) -> Result<BTreeMap<String, Vec<Endpoint>>, Failure> {
    let provided = provided(config)?.into_iter();
    Ok(provided.map(|(id, endpoints)| (id, endpoints.of)).collect())
}

/// And how many of them must agree.
pub fn provided(config: &Config) -> Result<BTreeMap<String, EndpointSettings>, Failure> {
    let mut endpoints = BTreeMap::new();
    for (id, (network, settings)) in networks(config)? {
        let malformed = |key: &str, error: &dyn std::fmt::Display| {
            Failure::new(format!("configuration: networks.{id:?}.{key}: {error}"))
        };
        let nodes = settings.rpc.iter().map(|it| Endpoint::parse(it));
        let nodes: Result<Vec<Endpoint>, _> = nodes.collect();
        let mut parsed = nodes.map_err(|error| malformed("rpc", &error))?;
        if let Some(cookie_file) = &settings.cookie_file {
            parsed = parsed
                .into_iter()
                .map(|it| it.or_cookie_of(cookie_file))
                .collect();
        }
        if !settings.esplora.is_empty() && network.family != Family::Bitcoin {
            let line = format!("{} is asked through rpc alone", network.name);
            return Err(malformed("esplora", &line));
        }
        let providers = settings.esplora.iter();
        let providers = providers.map(|it| Endpoint::parse_esplora(it));
        let providers: Result<Vec<Endpoint>, _> = providers.collect();
        parsed.extend(providers.map_err(|error| malformed("esplora", &error))?);
        if !parsed.is_empty() {
            let endpoints_of = EndpointSettings {
                of: parsed,
                quorum: settings.quorum.and_then(|it| usize::try_from(it).ok()),
            };
            endpoints.insert(id.to_owned(), endpoints_of);
        }
    }
    Ok(endpoints)
}

/// Where each network's nodes publish what is new.
pub fn publishers(config: &Config) -> Result<BTreeMap<&'static str, Vec<Publisher>>, Failure> {
    let mut publishers = BTreeMap::new();
    for (id, (network, settings)) in networks(config)? {
        let malformed = |error: &dyn std::fmt::Display| {
            Failure::new(format!("configuration: networks.{id:?}.zmq: {error}"))
        };
        if !settings.zmq.is_empty() && topics(network).is_empty() {
            let line = format!("nodes of {} publish nothing", network.name);
            return Err(malformed(&line));
        }
        let parsed = settings.zmq.iter().map(|it| Publisher::parse(it));
        let parsed: Result<Vec<Publisher>, _> = parsed.collect();
        publishers.insert(id, parsed.map_err(|error| malformed(&error))?);
    }
    Ok(publishers)
}

/// What a network's nodes can be asked to publish.
pub fn topics(network: &'static till_core::asset::Network) -> &'static [&'static str] {
    Observer::of(network).map_or(&[], |observer| observer.topics())
}

/// Who can be asked about a transaction. Where its network is watched, these are the endpoints that watch it.
pub(super) fn nodes(
    config: &Config,
    watching: Option<&Watching>,
    clock: Arc<dyn Clock>,
) -> Result<Option<Nodes>, Failure> {
    let endpoints = provided(config)?;
    if endpoints.is_empty() {
        return Ok(None);
    }
    let nodes = Nodes::new(endpoints, watching, clock);
    let nodes = nodes.map_err(|error| Failure::new(error.to_string()))?;
    Ok(Some(nodes))
}

/// The networks, by CAIP-2 id, on which this server would see a payment arrive.
pub(super) fn watched(config: &Config) -> Result<BTreeSet<String>, Failure> {
    let is_observed = |id: &String| {
        let network = Registry::builtin().network(id);
        network.is_some_and(|network| Observer::of(network).is_some())
    };
    Ok(provided(config)?.into_keys().filter(is_observed).collect())
}

/// The networks that are watched.
pub(super) fn watching(config: &Config) -> Result<Option<Watching>, Failure> {
    let mut endpoints = provided(config)?;
    let mut publishers = publishers(config)?;
    let mut watched = BTreeMap::new();
    for (id, (_, settings)) in networks(config)? {
        if let Some(endpoints) = endpoints.remove(id) {
            let settings = WatchSettings {
                endpoints,
                publishers: publishers.remove(id).unwrap_or_default(),
                scan_from: settings.scan_from.map(i64::from),
            };
            watched.insert(id.to_owned(), settings);
        }
    }
    let expiry_wait_ms = i64::from(config.invoices.expiry_wait_s) * SECOND_MS;
    Watching::new(watched, expiry_wait_ms).map_err(|error| Failure::new(error.to_string()))
}

/// Where prices are asked for. A feed on a chain is asked for through the network's endpoints.
pub(super) fn feeds(config: &Config) -> Result<Option<Feeds>, Failure> {
    if config.prices.sources.is_empty() {
        return Ok(None);
    }
    let endpoints = endpoints(config)?;
    let mut feeds = Vec::new();
    for source in &config.prices.sources {
        let place = match &source.place {
            PricePlace::Http { url, pointer } => FeedPlace::Http {
                url: url.clone(),
                pointer: pointer.clone(),
            },
            PricePlace::Chainlink { network, feed } => {
                let problem = |what: &str| {
                    Failure::new(format!("configuration: prices.sources: {network} {what}"))
                };
                let known = Registry::builtin().network(network);
                let evm = known.filter(|known| known.family == Family::Evm);
                let evm = evm.ok_or_else(|| problem("is no EVM network of this version"))?;
                if !endpoints.contains_key(&evm.id) {
                    return Err(problem("has no endpoints: name them in networks"));
                }
                let feed = raw(evm.family, feed);
                FeedPlace::Chainlink {
                    network: evm.id.clone(),
                    feed: feed.ok_or_else(|| problem("has no such address as feed"))?,
                }
            }
        };
        feeds.push(Feed {
            pair: source.pair.clone(),
            place,
        });
    }
    let fetcher = Fetcher::new(&[]).map_err(|error| Failure::new(error.to_string()))?;
    Ok(Some(Feeds {
        feeds,
        min_sources: usize::try_from(config.prices.min_sources).unwrap_or(usize::MAX),
        max_spread_bps: config.prices.max_spread_bps,
        fetcher,
    }))
}

/// From which price on an invoice is credited at `final` only.
pub(super) fn final_above(config: &Config) -> Result<BTreeMap<String, String>, Failure> {
    let networks = networks(config)?.into_iter();
    let figures = networks.filter_map(|(id, (_, settings))| {
        let figure = settings.final_above.clone()?;
        Some((id.to_owned(), figure))
    });
    Ok(figures.collect())
}

/// From which price on so many more blocks must lie on a final one.
pub(super) fn final_depths(config: &Config) -> Result<BTreeMap<String, FinalDepths>, Failure> {
    let mut depths = BTreeMap::new();
    for (id, (network, settings)) in networks(config)? {
        if settings.final_depth.is_empty() {
            continue;
        }
        let Depth::Confirmations(least) = network.finalized else {
            let line = format!(
                "configuration: networks.{id:?}.final_depth: {} says itself what is final",
                network.name
            );
            return Err(Failure::new(line));
        };
        let tiers = settings.final_depth.iter();
        let tiers = tiers.map(|(figure, depth)| (figure.clone(), depth.saturating_sub(least)));
        depths.insert(id.to_owned(), FinalDepths(tiers.collect()));
    }
    Ok(depths)
}

pub(super) fn credit_at(config: &Config) -> Result<BTreeMap<String, Level>, Failure> {
    let mut levels = BTreeMap::new();
    for (id, (network, settings)) in networks(config)? {
        let level = match settings.credit_at {
            CreditAt::Final => continue,
            CreditAt::Included => Level::Included,
            CreditAt::Safe if network.safe.is_none() => {
                let line = format!(
                    "configuration: networks.{id:?}.credit_at: {} has nothing between included and final",
                    network.name
                );
                return Err(Failure::new(line));
            }
            CreditAt::Safe => Level::Safe,
        };
        levels.insert(id.to_owned(), level);
    }
    Ok(levels)
}

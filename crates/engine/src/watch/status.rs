//! How the watched networks stand, for operators: from what this process sees of the endpoints, and from the database.

use serde::Serialize;
use till_core::time::SECOND_MS;
use till_store::networks::NetworkRow;
use utoipa::ToSchema;

use crate::base::Engine;
use crate::base::fail::Fail;
use till_watch::{Endpoint, Exclusion, WatchedNetwork};

/// A network that is watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct NetworkStatus {
    /// The CAIP-2 id.
    pub network: String,
    /// `watching`; `unreachable` while no endpoint answers; `halted` when none can be used; `frozen` after a block that
    /// was final was replaced, until an operator ends it.
    pub state: &'static str,
    /// Why it is not simply watched, why nothing more is taken in or becomes final for now, what cannot be asked,
    /// or that a single provider is believed.
    pub reason: Option<String>,
    pub endpoints: usize,
    /// How many of the endpoints answer and are believed.
    pub endpoints_usable: usize,
    /// Those that are not asked now, or not believed, in the operator's order.
    pub endpoints_set_aside: Vec<EndpointSetAside>,
    /// How many endpoints must agree on what is final. With 1, nobody checks on that one.
    pub quorum: usize,
    /// The last block that was read.
    pub height: Option<i64>,
    pub final_height: Option<i64>,
    /// How many seconds ago the last block that was read was made.
    pub lag_s: Option<i64>,
    /// How many seconds ago the last final block was made.
    pub final_lag_s: Option<i64>,
}

/// An endpoint that is not asked for a while, or not believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct EndpointSetAside {
    /// Which one it is in the operator's order, from 1.
    #[serde(skip)]
    place: usize,
    /// On the operator's listener its address, without what may be secret: path, query and credentials. Elsewhere its number in the
    /// operator's order, such as `endpoint 2`.
    pub endpoint: String,
    /// `failing` while it does not answer; `wrong` when it serves another chain, or one without the contracts;
    /// `contradicted` after an answer that was proven false or outvoted; `doubted` while only its blocks count, and what
    /// it says of their contents does not.
    pub state: &'static str,
    pub reason: String,
}

impl NetworkStatus {
    /// For those who are not the operator: which providers a server asks, and in their own words why they fail, is nobody else's business.
    pub fn without_providers(mut self) -> NetworkStatus {
        if self.state == "unreachable" {
            self.reason = Some("no endpoint answers".to_owned());
        }
        for one in &mut self.endpoints_set_aside {
            one.endpoint = format!("endpoint {}", one.place);
            let reason = match one.state {
                "failing" => "it does not answer as it should",
                "wrong" => "it is not what it is configured as",
                "contradicted" => "others or the chain itself contradict it",
                _ => "what it says of blocks' contents is contradicted",
            };
            one.reason = reason.to_owned();
        }
        self
    }
}

/// Every network that this server is configured to watch.
pub async fn statuses(engine: &Engine) -> Result<Vec<NetworkStatus>, Fail> {
    let Some(watching) = &engine.watching else {
        return Ok(Vec::new());
    };
    let mut reader = engine.db.read().await?;
    let rows = till_store::networks::all(&mut reader).await?;
    let times = till_store::networks::times(&mut reader).await?;
    drop(reader);
    let now_us = engine.clock.monotonic_us();
    let age = |time: i64| (engine.clock.now_ms() - time).max(0) / SECOND_MS;
    let status = |net: &WatchedNetwork| {
        let row = rows.iter().find(|row| row.id == net.network.id);
        let times = times.get(&net.network.id);
        NetworkStatus {
            lag_s: times.and_then(|it| it.read).map(age),
            final_lag_s: times.and_then(|it| it.last_final).map(age),
            ..status(net, row, now_us)
        }
    };
    Ok(watching.networks.iter().map(status).collect())
}

fn status(net: &WatchedNetwork, row: Option<&NetworkRow>, now_us: u64) -> NetworkStatus {
    let usable = net.answering(now_us);
    let left = net.endpoints.iter().find_map(|source| source.exclusion());
    let frozen = row.and_then(|row| row.frozen_reason.clone());
    let (state, reason) = match (frozen, net.why_halted(), usable) {
        (Some(reason), ..) => ("frozen", Some(reason)),
        (None, Some(reason), 0) => ("halted", Some(reason)),
        (None, None, 0) if left.is_some() => {
            ("unreachable", left.map(|left| left.why().to_owned()))
        }
        _ => {
            let reason = waits(net, usable).or_else(|| paused_calls(net, now_us));
            ("watching", reason.or_else(|| alone(net)))
        }
    };
    NetworkStatus {
        network: net.network.id.clone(),
        state,
        reason,
        endpoints: net.endpoints.len(),
        endpoints_usable: usable,
        endpoints_set_aside: set_aside(net, now_us),
        quorum: net.quorum,
        height: row.and_then(|row| row.cursor_height),
        final_height: row.and_then(|row| row.final_height),
        lag_s: None,
        final_lag_s: None,
    }
}

fn set_aside(net: &WatchedNetwork, now_us: u64) -> Vec<EndpointSetAside> {
    let state = |it: &Endpoint| match it.exclusion() {
        Some(Exclusion::Failed(why)) => Some(("failing", why)),
        Some(Exclusion::Wrong(why)) => Some(("wrong", why)),
        Some(Exclusion::Lied(why)) => Some(("contradicted", why)),
        None => it.contents_doubt(now_us).map(|why| ("doubted", why)),
    };
    let of_endpoint = |(place, it): (usize, &Endpoint)| {
        let (state, reason) = state(it)?;
        let endpoint = it.address.to_string();
        Some(EndpointSetAside {
            place: place + 1,
            endpoint,
            state,
            reason,
        })
    };
    let numbered = net.endpoints.iter().enumerate();
    numbered.filter_map(of_endpoint).collect()
}

/// Why a network that is watched does not go on, as far as this server knows.
fn waits(net: &WatchedNetwork, usable: usize) -> Option<String> {
    let (quorum, held) = (net.quorum, net.disputes.held());
    match usable < quorum {
        true => Some(format!(
            "{usable} of {quorum} endpoints that must agree can be used"
        )),
        false => held,
    }
}

/// Says that a single provider is believed: nobody checks what it says of the latest blocks, of senders and of waiting
/// payments.
fn alone(net: &WatchedNetwork) -> Option<String> {
    let line = "a single provider is believed, for no second one must agree with it";
    net.trusts_one_provider().then(|| line.to_owned())
}

/// Says how many endpoints get no contract calls now, by which arrived amounts and registers are asked for.
fn paused_calls(net: &WatchedNetwork, now_us: u64) -> Option<String> {
    let paused = net
        .endpoints
        .iter()
        .filter(|it| it.pauses_calls(now_us))
        .count();
    (paused > 0).then(|| {
        let all = net.endpoints.len();
        format!("{paused} of {all} endpoints do not answer where contracts are called (eth_call)")
    })
}

//! How networks stand, in few words: for the dashboard.

use till_core::asset::{Mode, Network, Registry};
use till_core::time::{self, SECOND_MS};
use till_store::networks::{NetworkRow, Times};
use till_watch::{Endpoint, Exclusion, WatchedNetwork};

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::{EndpointView, NetworkHealthView, OperatedNetworkView};

/// As in `docs/alerts.yml`; where blocks take long, so many of them.
const BEHIND_S: u64 = 300;
const BEHIND_BLOCKS: u64 = 12;

fn behind_s(network: &Network) -> i64 {
    let blocks = network.block_time_ms.saturating_mul(BEHIND_BLOCKS) / 1_000;
    i64::try_from(blocks.max(BEHIND_S)).unwrap_or(i64::MAX)
}

/// Every network that is watched, and those of test mode on which payments are simulated.
pub async fn networks(engine: &Engine) -> Result<Vec<OperatedNetworkView>, Fail> {
    let mut reader = engine.db.read().await?;
    let rows = till_store::networks::all(&mut reader).await?;
    let times = till_store::networks::times(&mut reader).await?;
    drop(reader);
    let (now, now_us) = (engine.clock.now_ms(), engine.clock.monotonic_us());
    let of = |network: &Network| {
        let watching = engine.watching.as_ref();
        let Some(watched) = watching.and_then(|it| it.network(&network.id)) else {
            let is_simulated = network.mode == Mode::Test && !network.local;
            return is_simulated.then(|| view(network, simulated(network), Vec::new()));
        };
        let row = rows.iter().find(|row| row.id == network.id);
        let health = health(watched, row, times.get(&network.id), (now, now_us));
        let endpoints = watched.endpoints.iter();
        let endpoints = endpoints.map(|it| endpoint(it, now_us)).collect();
        Some(view(network, health, endpoints))
    };
    Ok(Registry::builtin()
        .networks()
        .iter()
        .filter_map(of)
        .collect())
}

fn view(
    network: &Network,
    health: NetworkHealthView,
    endpoints: Vec<EndpointView>,
) -> OperatedNetworkView {
    OperatedNetworkView {
        network: health.network,
        network_name: health.network_name,
        status: health.status,
        head_height: health.head_height,
        final_height: health.final_height,
        head_at: health.head_at,
        lag_seconds: health.lag_seconds,
        mode: network.mode.as_str(),
        endpoints,
    }
}

fn simulated(network: &Network) -> NetworkHealthView {
    NetworkHealthView {
        network: network.id.clone(),
        network_name: network.name.clone(),
        status: "simulated",
        head_height: None,
        final_height: None,
        head_at: None,
        lag_seconds: None,
    }
}

fn health(
    watched: &WatchedNetwork,
    row: Option<&NetworkRow>,
    times: Option<&Times>,
    (now, now_us): (i64, u64),
) -> NetworkHealthView {
    let head_at = times.and_then(|times| times.read);
    let lag = head_at.map(|at| (now - at).max(0) / SECOND_MS);
    let is_frozen = row.is_some_and(|row| row.frozen_at.is_some());
    let is_read = watched.answering(now_us) > 0;
    NetworkHealthView {
        network: watched.network.id.clone(),
        network_name: watched.network.name.clone(),
        status: match (is_frozen || !is_read, lag) {
            (true, _) => "halted",
            (false, Some(lag)) if lag <= behind_s(watched.network) => "ok",
            (false, _) => "behind",
        },
        head_height: row.and_then(|row| row.cursor_height),
        final_height: row.and_then(|row| row.final_height),
        head_at: head_at.map(time::show),
        lag_seconds: lag,
    }
}

fn endpoint(endpoint: &Endpoint, now_us: u64) -> EndpointView {
    let (status, error) = match endpoint.exclusion() {
        Some(Exclusion::Failed(why)) => ("failing", Some(why)),
        Some(Exclusion::Wrong(why)) => ("wrong", Some(why)),
        Some(Exclusion::Lied(why)) => ("contradicted", Some(why)),
        None => match endpoint.contents_doubt(now_us) {
            Some(why) => ("doubted", Some(why)),
            None => ("ok", None),
        },
    };
    let address = endpoint.address.to_string();
    let host = url::Url::parse(&address).ok();
    EndpointView {
        host: host
            .and_then(|url| url.host_str().map(str::to_owned))
            .unwrap_or_default(),
        status,
        height: endpoint.head(),
        error,
    }
}

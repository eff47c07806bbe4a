//! How far the networks are read, as people see it: members those of a mode, operators all of them with their endpoints.

use std::collections::HashMap;

use till_core::asset::{Mode, Network, Registry};
use till_core::page::{Page, Paged};
use till_core::time::{self, SECOND_MS};
use till_store::Queries;
use till_store::networks::{NetworkRow, Times};
use till_watch::{Endpoint, Exclusion, WatchedNetwork};

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::{EndpointView, NetworkHealthView, OperatedNetworkView};

/// A network is behind when the block that was read last is older than this, which is when `docs/alerts.yml` warns, or
/// than so many blocks take.
const LAG_MS: i64 = 300 * SECOND_MS;
const LAG_BLOCKS: u64 = 20;

/// What the database has of all networks.
struct Reading {
    rows: Vec<NetworkRow>,
    times: HashMap<String, Times>,
}

impl Reading {
    async fn of(q: &mut impl Queries) -> Result<Reading, Fail> {
        Ok(Reading {
            rows: till_store::networks::all(q).await?,
            times: till_store::networks::times(q).await?,
        })
    }

    /// How a network stands; nothing of one that has no place here: one that nobody reads, in live mode or on
    /// this machine alone.
    fn health(&self, engine: &Engine, network: &Network) -> Option<NetworkHealthView> {
        let is_read = engine.config.watched.contains(&network.id);
        if !is_read && (network.mode != Mode::Test || network.local) {
            return None;
        }
        let row = self.rows.iter().find(|row| row.id == network.id);
        let now = engine.clock.now_ms();
        let times = self.times.get(&network.id);
        let head_at = times.and_then(|times| times.read).filter(|_| is_read);
        let row = row.filter(|_| is_read);
        let is_halted =
            row.is_some_and(|row| row.frozen_at.is_some()) || is_silent(engine, network);
        Some(NetworkHealthView {
            network: network.id.clone(),
            network_name: network.name.clone(),
            status: match head_at {
                _ if !is_read => "simulated",
                _ if is_halted => "halted",
                Some(at) if now - at <= lag_max(network) => "ok",
                _ => "behind",
            },
            head_height: row.and_then(|row| row.cursor_height),
            final_height: row.and_then(|row| row.final_height),
            head_at: head_at.map(time::show),
            lag_seconds: head_at.map(|at| ((now - at) / SECOND_MS).max(0)),
        })
    }
}

fn watched<'e>(engine: &'e Engine, network: &Network) -> Option<&'e WatchedNetwork> {
    let watching = engine.watching.as_ref();
    watching.and_then(|watching| watching.network(&network.id))
}

/// Whether this server asks the network's endpoints, and none answers.
fn is_silent(engine: &Engine, network: &Network) -> bool {
    let now_us = engine.clock.monotonic_us();
    watched(engine, network).is_some_and(|watched| watched.answering(now_us) == 0)
}

fn lag_max(network: &Network) -> i64 {
    let blocks = i64::try_from(network.block_time_ms.saturating_mul(LAG_BLOCKS));
    blocks.unwrap_or(i64::MAX).max(LAG_MS)
}

/// The networks of a mode: those that are read, and in test mode those whose payments are only simulated.
pub async fn health(
    engine: &Engine,
    q: &mut impl Queries,
    mode: Mode,
) -> Result<Vec<NetworkHealthView>, Fail> {
    let reading = Reading::of(q).await?;
    let all = Registry::builtin().networks().iter();
    let of_mode = all.filter(|network| network.mode == mode);
    Ok(of_mode
        .filter_map(|network| reading.health(engine, network))
        .collect())
}

/// The networks of both modes, with their endpoints as this server finds them.
pub async fn operated(engine: &Engine, page: &Page) -> Result<Paged<OperatedNetworkView>, Fail> {
    let mut reader = engine.db.read().await?;
    let reading = Reading::of(&mut reader).await?;
    drop(reader);
    let now_us = engine.clock.monotonic_us();
    let view = |network: &Network| {
        let health = reading.health(engine, network)?;
        let endpoints = watched(engine, network).map(|watched| watched.endpoints.iter());
        let endpoints = endpoints.into_iter().flatten();
        let endpoints = endpoints.map(|of| endpoint(of, now_us)).collect();
        let mode = network.mode.as_str();
        Some(OperatedNetworkView::new(health, mode, endpoints))
    };
    let all = Registry::builtin().networks().iter();
    let shown = all.filter_map(view).collect();
    Ok(page.of_all(shown, |of: &OperatedNetworkView| &of.network))
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

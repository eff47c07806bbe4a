//! How far the networks are read, as people see it.

use till_core::asset::{Mode, Network, Registry};
use till_core::time::{self, SECOND_MS};
use till_store::Queries;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::NetworkHealthView;

/// A network is behind when the block that was read last is older than this, or than so many blocks take.
const LAG_MS: i64 = 120 * SECOND_MS;
const LAG_BLOCKS: u64 = 20;

/// The networks of a mode: those that are read, and in test mode those whose payments are only simulated.
pub async fn health(
    engine: &Engine,
    q: &mut impl Queries,
    mode: Mode,
) -> Result<Vec<NetworkHealthView>, Fail> {
    let rows = till_store::networks::all(q).await?;
    let times = till_store::networks::times(q).await?;
    let now = engine.clock.now_ms();
    let is_shown = |network: &&Network| {
        let is_read = engine.config.watched.contains(&network.id);
        network.mode == mode && (is_read || (mode == Mode::Test && !network.local))
    };
    let view = |network: &Network| {
        let row = rows.iter().find(|row| row.id == network.id);
        let head_at = times.get(&network.id).and_then(|times| times.read);
        let status = match row {
            _ if !engine.config.watched.contains(&network.id) => "simulated",
            Some(row) if row.frozen_at.is_some() => "halted",
            _ => match head_at.is_some_and(|at| now - at <= lag_max(network)) {
                true => "ok",
                false => "behind",
            },
        };
        NetworkHealthView {
            network: network.id.clone(),
            network_name: network.name.clone(),
            status,
            head_height: row.and_then(|row| row.cursor_height),
            final_height: row.and_then(|row| row.final_height),
            head_at: head_at.map(time::show),
            lag_seconds: head_at.map(|at| ((now - at) / SECOND_MS).max(0)),
        }
    };
    let all = Registry::builtin().networks().iter();
    Ok(all.filter(is_shown).map(view).collect())
}

fn lag_max(network: &Network) -> i64 {
    let blocks = i64::try_from(network.block_time_ms.saturating_mul(LAG_BLOCKS));
    blocks.unwrap_or(i64::MAX).max(LAG_MS)
}

//! `till network`: how far the watched networks were read, and ending a freeze.

use clap::Args;
use serde::Serialize;
use till_core::asset::Registry;
use till_core::time;
use till_engine::Engine;
use till_engine::intake::chain;
use till_store::networks::NetworkRow;

use crate::commands::deposit_networks;
use crate::compose;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct List {
    /// Only this one, by its CAIP-2 id
    #[arg(long, value_name = "CAIP2")]
    network: Option<String>,
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct Thaw {
    /// Only this one, by its CAIP-2 id
    #[arg(long, value_name = "CAIP2")]
    network: Option<String>,
    /// Read it again from this height on
    #[arg(long, value_name = "HEIGHT", requires = "network", value_parser = clap::value_parser!(u32))]
    rescan_from: Option<u32>,
}

/// A network that is configured or was ever watched.
#[derive(Debug, Serialize)]
struct ShownNetwork {
    network: String,
    name: String,
    /// `watched`, `frozen`, `new` before anything was read, or `unwatched` when it is no longer configured.
    state: &'static str,
    endpoints: usize,
    height: Option<i64>,
    safe_height: Option<i64>,
    final_height: Option<i64>,
    /// Up to where it was read a second time, behind the last final block.
    checked_height: Option<i64>,
    /// When its leader was last heard of.
    heard_at: Option<String>,
    frozen_at: Option<String>,
    frozen_reason: Option<String>,
}

pub async fn list(config: &Config, list: &List) -> Result<(), Failure> {
    let only = list
        .network
        .as_deref()
        .map(deposit_networks::known)
        .transpose()?;
    let endpoints = compose::endpoints(config)?;
    let db = database::open_existing(&config.database).await?;
    let rows = till_store::networks::all(&mut db.read().await?).await;
    db.close().await;
    let rows = rows?;
    let known = rows.iter().map(|row| row.id.as_str());
    let mut ids: Vec<&str> = endpoints.keys().map(String::as_str).chain(known).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|id| only.is_none_or(|only| only.id == *id));
    let shown: Vec<ShownNetwork> = ids
        .into_iter()
        .map(|id| {
            let row = rows.iter().find(|row| row.id == id);
            show(id, row, endpoints.get(id).map_or(0, Vec::len))
        })
        .collect();
    match list.json {
        true => output::print_json(&shown),
        false => output::print(&shown.iter().map(line).collect::<String>()),
    }
}

fn show(id: &str, row: Option<&NetworkRow>, endpoints: usize) -> ShownNetwork {
    let name = Registry::builtin().network(id).map(|it| it.name.clone());
    ShownNetwork {
        network: id.to_owned(),
        name: name.unwrap_or_default(),
        state: match row {
            Some(row) if row.frozen_at.is_some() => "frozen",
            _ if endpoints == 0 => "unwatched",
            Some(row) if row.cursor_height.is_some() => "watched",
            _ => "new",
        },
        endpoints,
        height: row.and_then(|row| row.cursor_height),
        safe_height: row.and_then(|row| row.safe_height),
        final_height: row.and_then(|row| row.final_height),
        checked_height: row.and_then(|row| row.checked_height),
        heard_at: row.and_then(|row| row.heard_at).map(time::show),
        frozen_at: row.and_then(|row| row.frozen_at).map(time::show),
        frozen_reason: row.and_then(|row| row.frozen_reason.clone()),
    }
}

fn line(shown: &ShownNetwork) -> String {
    let number = |height: Option<i64>| height.map_or("-".to_owned(), |it| it.to_string());
    let reason = shown.frozen_reason.as_ref();
    let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
    format!(
        "{} ({}), {} endpoints, read to {}, final to {}, {}{reason}\n",
        shown.network,
        shown.name,
        shown.endpoints,
        number(shown.height),
        number(shown.final_height),
        shown.state,
    )
}

/// Without a name, every network that is frozen.
pub async fn thaw(config: &Config, thaw: &Thaw) -> Result<(), Failure> {
    let named = thaw
        .network
        .as_deref()
        .map(deposit_networks::known)
        .transpose()?;
    let engine = compose::engine_on_existing(config).await?;
    let done = match named {
        Some(network) => thaw_one(&engine, &network.id, thaw.rescan_from).await,
        None => thaw_all(&engine).await,
    };
    engine.db.clone().close().await;
    done
}

async fn thaw_all(engine: &Engine) -> Result<(), Failure> {
    let rows = till_store::networks::all(&mut engine.db.read().await?).await?;
    let frozen: Vec<&NetworkRow> = rows.iter().filter(|row| row.frozen_at.is_some()).collect();
    if frozen.is_empty() {
        return output::print("no network is frozen\n");
    }
    for row in frozen {
        thaw_one(engine, &row.id, None).await?;
    }
    Ok(())
}

async fn thaw_one(engine: &Engine, id: &str, rescan_from: Option<u32>) -> Result<(), Failure> {
    let row = till_store::networks::find(&mut engine.db.read().await?, id).await?;
    let is_frozen = row.is_some_and(|row| row.frozen_at.is_some());
    if is_frozen || rescan_from.is_some() {
        chain::thaw(engine, id, rescan_from.map(i64::from)).await?;
    }
    let row = till_store::networks::find(&mut engine.db.read().await?, id).await?;
    let next = row.and_then(|row| row.cursor_height).map(|it| it + 1);
    let line = match (is_frozen, rescan_from.and(next)) {
        (_, Some(next)) => format!("{id} is read again from {next}\n"),
        (false, None) if rescan_from.is_some() => format!("{id} was never read\n"),
        (true, None) => format!("{id} is watched again\n"),
        (false, None) => format!("{id} was not frozen\n"),
    };
    output::print(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_network_that_is_configured_is_watched() {
        let row = NetworkRow {
            id: "eip155:84532".to_owned(),
            epoch: 1,
            owner: None,
            heard_at: Some(1),
            cursor_height: Some(7),
            cursor_hash: None,
            safe_height: None,
            final_height: Some(5),
            frozen_at: None,
            frozen_from: None,
            frozen_reason: None,
            checked_height: None,
        };
        let state =
            |row: Option<&NetworkRow>, endpoints| show("eip155:84532", row, endpoints).state;
        assert_eq!(state(None, 1), "new");
        assert_eq!(state(Some(&row), 1), "watched");
        assert_eq!(state(Some(&row), 0), "unwatched");
        let frozen = NetworkRow {
            frozen_at: Some(2),
            ..row
        };
        assert_eq!(state(Some(&frozen), 0), "frozen");
    }
}

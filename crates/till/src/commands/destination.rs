//! `till account add-destination`, `till account destinations`

use clap::Args;
use serde::Serialize;
use till_chains::parse_destination;
use till_core::asset::Mode;
use till_core::scope::Scope;
use till_engine::merchants::destinations;

use crate::commands::account::{Destination, destination};
use crate::commands::key;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

#[derive(Debug, Args)]
pub struct Add {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: key::Mode,
    /// Where payments go, per family
    #[arg(long, value_name = "FAMILY=ADDRESS", value_parser = destination, required = true)]
    destination: Vec<Destination>,
}

#[derive(Debug, Args)]
pub struct List {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    /// Print a JSON array instead of text
    #[arg(long)]
    json: bool,
}

/// All of them, or none.
pub async fn add(config: &Config, add: &Add) -> Result<(), Failure> {
    let scope = Scope::new(&add.account, add.mode.of_assets());
    let mut given = Vec::new();
    for Destination { family, address } in &add.destination {
        let canonical = parse_destination(*family, scope.mode, address).map_err(|error| {
            Failure::new(format!(
                "--destination {} is refused: {error}",
                family.namespace()
            ))
        })?;
        given.push((*family, canonical));
    }
    let engine = key::engine_for(config, &add.account).await?;
    let added = destinations::add(&engine, &scope, &given).await;
    engine.db.close().await;
    added?;
    output::print(&format!(
        "{} is paid there from its next {} invoice on\n",
        add.account,
        scope.mode.as_str()
    ))
}

#[derive(Serialize)]
struct ShownDestination {
    mode: &'static str,
    family: String,
    address: String,
}

pub async fn list(config: &Config, list: &List) -> Result<(), Failure> {
    let engine = key::engine_for(config, &list.account).await?;
    let mut shown = Vec::new();
    for mode in [Mode::Test, Mode::Live] {
        let scope = Scope::new(&list.account, mode);
        let merchant = till_store::accounts::merchant(&mut engine.db.read().await?, &scope).await?;
        let destinations = merchant.map(|of| of.destinations).unwrap_or_default();
        shown.extend(
            destinations
                .into_iter()
                .map(|(family, address)| ShownDestination {
                    mode: mode.as_str(),
                    family,
                    address,
                }),
        );
    }
    engine.db.close().await;
    if list.json {
        return output::print_json(&shown);
    }
    let line = |of: &ShownDestination| format!("{:4}  {:6}  {}\n", of.mode, of.family, of.address);
    output::print(&shown.iter().map(line).collect::<String>())
}

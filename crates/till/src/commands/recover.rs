//! `till recover`: an account's addresses again from its id and its destinations alone, with the database gone, and what
//! lies there where an endpoint can be asked.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use till_chains::evm::balances::balances;
use till_chains::raw::raw;
use till_chains::rpc::{Endpoint, RpcClient};
use till_chains::{Derivation, derive};
use till_core::asset::{Family, Network, Registry};
use till_core::money;

use crate::commands::account::{Destination, destination};
use crate::commands::key::Mode;
use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;

const COUNT_DEFAULT: u64 = 100;

#[derive(Debug, Args)]
pub struct Recover {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: Mode,
    /// Where payments go, per family
    #[arg(long, value_name = "FAMILY=ADDRESS", value_parser = destination)]
    destination: Vec<Destination>,
    /// Only this network's balances
    #[arg(long, value_name = "CAIP2")]
    network: Vec<String>,
    /// An endpoint to ask
    #[arg(long, value_name = "CAIP2=URL", value_parser = endpoint)]
    rpc: Vec<(String, Endpoint)>,
    /// How many of each family
    #[arg(long, value_name = "N", default_value_t = COUNT_DEFAULT)]
    count: u64,
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
}

fn endpoint(text: &str) -> Result<(String, Endpoint), String> {
    let (network, url) = text.split_once('=').ok_or("write CAIP2=URL")?;
    let known = Registry::builtin().network(network);
    let network = known.ok_or("that is no network of this version")?;
    let endpoint = Endpoint::parse(url).map_err(|error| error.to_string())?;
    Ok((network.id.clone(), endpoint))
}

#[derive(Debug, Serialize)]
struct Found {
    family: &'static str,
    number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    salt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    address: String,
    balances: Vec<Lying>,
}

#[derive(Debug, Serialize)]
struct Lying {
    asset: String,
    amount: String,
}

pub async fn run(config: &Config, recover: &Recover) -> Result<(), Failure> {
    if recover.destination.is_empty() {
        let line = "give --destination: addresses cannot be found without where they lead";
        return Err(Failure::new(line));
    }
    let endpoints = asked(config, recover)?;
    let mut found = Vec::new();
    for destination in &recover.destination {
        found.extend(of_family(recover, destination)?);
    }
    let rpc = RpcClient::new().map_err(|error| Failure::new(error.to_string()))?;
    let mut failed = Vec::new();
    for (id, endpoints) in &endpoints {
        if let Some(network) = Registry::builtin().network(id)
            && let Err(why) = look(&rpc, network, endpoints, &mut found).await
        {
            failed.push(why);
        }
    }
    match recover.json {
        true => output::print_json(&found)?,
        false => output::print(&found.iter().map(line).collect::<String>())?,
    }
    // The addresses are right all the same; what lies there is not known on these.
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "the balances are not complete: {}",
            failed.join("; ")
        ))),
    }
}

/// Whom to ask: what was given beside what is configured, of the networks that are wanted.
fn asked(config: &Config, recover: &Recover) -> Result<BTreeMap<String, Vec<Endpoint>>, Failure> {
    let mut endpoints = compose::endpoints(config)?;
    for (network, endpoint) in &recover.rpc {
        let of_network = endpoints.entry(network.clone()).or_default();
        of_network.insert(0, endpoint.clone());
    }
    let mode = recover.mode.of_assets();
    let named = recover.network.iter().map(|id| {
        let network = Registry::builtin().network(id);
        let network = network.ok_or_else(|| Failure::new(format!("{id} is no network")))?;
        Ok(&*network.id)
    });
    let wanted: Vec<&str> = named.collect::<Result<_, Failure>>()?;
    endpoints.retain(|id, _| {
        let network = Registry::builtin().network(id);
        let is_wanted = wanted.is_empty() || wanted.contains(&&**id);
        let can_be =
            |it: &Network| it.mode == mode && matches!(it.family, Family::Evm | Family::Tron);
        is_wanted && network.is_some_and(can_be)
    });
    Ok(endpoints)
}

fn of_family(recover: &Recover, destination: &Destination) -> Result<Vec<Found>, Failure> {
    let (family, mode) = (destination.family, recover.mode.of_assets());
    let mut networks = Registry::builtin().networks().iter();
    let network = networks.find(|it| {
        let has_addresses = it.factory.is_some() || it.family == Family::Bitcoin;
        it.family == family && it.mode == mode && has_addresses
    });
    let name = family.namespace();
    let none = || Failure::new(format!("{name} has no deposit addresses in this mode"));
    let network = network.ok_or_else(none)?;
    let wrong = |error| Failure::new(format!("--destination {name}: {error}"));
    let one = |number: u64| {
        let derivation = derive(network, &recover.account, &destination.address, number);
        let derivation = derivation.map_err(wrong)?;
        let address = derivation.address().map_err(wrong)?;
        let (salt, path) = match derivation {
            Derivation::Bitcoin { path, .. } => (None, Some(path)),
            Derivation::Evm { salt, .. }
            | Derivation::Tron { salt, .. }
            | Derivation::Solana { salt, .. } => (Some(salt), None),
        };
        Ok(Found {
            family: name,
            number,
            salt,
            path,
            address,
            balances: Vec::new(),
        })
    };
    (0..recover.count).map(one).collect()
}

async fn look(
    rpc: &RpcClient,
    network: &'static Network,
    endpoints: &[Endpoint],
    found: &mut [Found],
) -> Result<(), String> {
    let of_family = |it: &&mut Found| it.family == network.family.namespace();
    let mut found: Vec<&mut Found> = found.iter_mut().filter(of_family).collect();
    let parsed = found
        .iter()
        .filter_map(|it| raw(network.family, &it.address));
    let addresses: Vec<[u8; 20]> = parsed.collect();
    let mut last = None;
    for endpoint in endpoints {
        match balances(rpc, endpoint, network, &addresses).await {
            Err(error) => last = Some(format!("{}: {endpoint}: {error}", network.id)),
            Ok(lying) => {
                for balance in lying {
                    let at = addresses.iter().position(|it| *it == balance.address);
                    if let Some(found) = at.and_then(|at| found.get_mut(at)) {
                        let decimals = balance.asset.decimals;
                        found.balances.push(Lying {
                            asset: balance.asset.code.clone(),
                            amount: money::show(balance.units, decimals),
                        });
                    }
                }
                return Ok(());
            }
        }
    }
    Err(last.unwrap_or_default())
}

fn line(found: &Found) -> String {
    let lying = found.balances.iter();
    let lying = lying.map(|lying| format!("  {} {}", lying.amount, lying.asset));
    let lying: String = lying.collect();
    format!(
        "{} {}  {}{lying}\n",
        found.family, found.number, found.address
    )
}

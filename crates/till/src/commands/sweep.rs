//! `till sweep`: what lies on an account's deposit addresses, and unsigned transactions that empty them. The server never
//! has a key; whoever has any wallet may send these, and what lies there can only go to the merchant's destination.

mod unsigned;

use std::collections::BTreeMap;

use clap::Args;
use till_chains::rpc::{Endpoint, RpcClient};
use till_core::asset::{Family, Network, Registry};
use till_core::money;
use till_core::scope::Scope;
use till_store::destinations::Numbered;

use self::unsigned::{Account, Lying, Unsigned, of_network};
use crate::commands::key::Mode;
use crate::compose;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::output;

/// No asset has more.
const DECIMALS_MAX: u32 = 18;

#[derive(Debug, Args)]
pub struct Sweep {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: Mode,
    /// Only this network, by its CAIP-2 id
    #[arg(long, value_name = "CAIP2")]
    network: Vec<String>,
    /// Leave what is less, in the asset's own units
    #[arg(long, value_name = "AMOUNT")]
    min: Option<String>,
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
}

pub async fn run(config: &Config, sweep: &Sweep) -> Result<(), Failure> {
    let scope = Scope::new(&sweep.account, sweep.mode.of_assets());
    let endpoints = compose::endpoints(config)?;
    let wanted = wanted(sweep, &endpoints)?;
    let min = sweep.min.as_deref().map(least).transpose()?;
    let numbered = numbered(config, &scope).await?;
    let rpc = RpcClient::new().map_err(|error| Failure::new(error.to_string()))?;
    let mut transactions = Vec::new();
    for (id, endpoints) in endpoints {
        let network = Registry::builtin().network(&id);
        let Some(network) = network.filter(|it| can_be_swept(it, scope.mode)) else {
            continue;
        };
        if wanted.is_empty() || wanted.contains(&network.id) {
            let account = Account {
                scope: &scope,
                numbered: numbered.get(&network.family).map_or(&[], Vec::as_slice),
                min,
            };
            transactions.extend(of_network(&rpc, &endpoints, network, &account).await?);
        }
    }
    match sweep.json {
        true => output::print_json(&transactions),
        false => output::print(&text(&transactions)),
    }
}

/// Where deposit addresses are contracts that anybody may empty.
const FAMILIES: [Family; 2] = [Family::Evm, Family::Tron];

fn can_be_swept(network: &Network, mode: till_core::asset::Mode) -> bool {
    FAMILIES.contains(&network.family) && network.mode == mode && network.factory.is_some()
}

/// The account's destinations, and how many addresses lead to each.
async fn numbered(
    config: &Config,
    scope: &Scope,
) -> Result<BTreeMap<Family, Vec<Numbered>>, Failure> {
    let db = database::open_existing(&config.database).await?;
    let mut reader = db.read().await?;
    let mut all = BTreeMap::new();
    for family in FAMILIES {
        let of_family = till_store::destinations::numbered_of(&mut reader, scope, family).await?;
        all.insert(family, of_family);
    }
    drop(reader);
    db.close().await;
    match all.values().all(Vec::is_empty) {
        true => Err(Failure::new(format!(
            "{} has no EVM or TRON destination in this mode",
            scope.account
        ))),
        false => Ok(all),
    }
}

/// Networks under their own names. What cannot be asked is not nothing, so it is said.
fn wanted(
    sweep: &Sweep,
    endpoints: &BTreeMap<String, Vec<Endpoint>>,
) -> Result<Vec<String>, Failure> {
    let named = sweep.network.iter().map(|id| {
        let network = Registry::builtin().network(id);
        let network = network.filter(|it| FAMILIES.contains(&it.family) && it.factory.is_some());
        let network = network
            .ok_or_else(|| Failure::new(format!("{id} is no network that can be swept so")))?;
        let mode = sweep.mode.of_assets();
        if network.mode != mode {
            let line = format!("{id} is not a network of {} mode", mode.as_str());
            return Err(Failure::new(line));
        }
        if endpoints.get(&network.id).is_none_or(Vec::is_empty) {
            let line = format!("{id} has no endpoint: name one in networks.{id:?}.rpc");
            return Err(Failure::new(line));
        }
        Ok(network.id.clone())
    });
    let wanted: Vec<String> = named.collect::<Result<_, _>>()?;
    let can_be_asked = |id: &String| {
        let network = Registry::builtin().network(id);
        network.is_some_and(|it| can_be_swept(it, sweep.mode.of_assets()))
    };
    if !endpoints.keys().any(can_be_asked) {
        let line =
            "no EVM or TRON network of this mode has an endpoint: name one in networks.<CAIP2>.rpc";
        return Err(Failure::new(line));
    }
    Ok(wanted)
}

/// The smallest amount that is worth it, as it was written: assets differ in their decimals.
fn least(text: &str) -> Result<&str, Failure> {
    match money::parse(text, DECIMALS_MAX) {
        Ok(_) => Ok(text),
        Err(_) => Err(Failure::new(
            "--min must be a plain decimal such as 10 or 0.5",
        )),
    }
}

fn text(transactions: &[Unsigned]) -> String {
    if transactions.is_empty() {
        return "nothing lies on this account's addresses\n".to_owned();
    }
    let mut text = String::new();
    for transaction in transactions {
        for lying in &transaction.addresses {
            let note = if lying.deployed {
                ""
            } else {
                ", not deployed yet"
            };
            let Lying {
                address,
                asset,
                amount,
                ..
            } = lying;
            text += &format!("{address}  {amount} {asset}{note}\n");
        }
        let Unsigned {
            network,
            to,
            gas,
            data,
            ..
        } = transaction;
        if transaction.addresses.is_empty() {
            text += "the address of the next one is deployed first\n";
        }
        text += &format!("on {network}, send to {to} with gas {gas}, value 0 and data\n{data}\n\n");
    }
    text
}

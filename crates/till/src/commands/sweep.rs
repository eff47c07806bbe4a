//! `till sweep`: what lies on an account's deposit addresses, and unsigned transactions that empty them. The server never
//! has a key; whoever has any wallet may send these, and what lies there can only go to the merchant's destination.

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use till_chains::evm::balances::{Balance, balances};
use till_chains::evm::multicall::{MULTICALL3, aggregate};
use till_chains::evm::sweep::{Holding, emptying, gas_at_most};
use till_chains::evm::{self, client};
use till_chains::raw::{raw, shown};
use till_chains::rpc::{Endpoint, RpcClient, RpcError};
use till_chains::{DepositAddresses, salt};
use till_core::asset::{Family, Network, Registry};
use till_core::money;
use till_core::scope::Scope;
use till_store::destinations::Numbered;

use crate::commands::key::Mode;
use crate::compose;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::output;

/// Addresses of one transaction: half of what a block of the smallest network takes.
const ADDRESSES_MAX: usize = 50;
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

/// An unsigned transaction, in the words that wallets take.
#[derive(Debug, Serialize)]
struct Unsigned {
    network: String,
    chain_id: u64,
    to: String,
    data: String,
    value: String,
    gas: String,
    addresses: Vec<Lying>,
}

#[derive(Debug, Serialize)]
struct Lying {
    address: String,
    asset: String,
    amount: String,
    deployed: bool,
}

pub async fn run(config: &Config, sweep: &Sweep) -> Result<(), Failure> {
    let scope = Scope::new(&sweep.account, sweep.mode.of_assets());
    let endpoints = compose::endpoints(config)?;
    let wanted = wanted(sweep, &endpoints)?;
    let min = sweep.min.as_deref().map(least).transpose()?;
    let db = database::open_existing(&config.database).await?;
    let mut reader = db.read().await?;
    let numbered = till_store::destinations::numbered_of(&mut reader, &scope, Family::Evm).await?;
    drop(reader);
    db.close().await;
    if numbered.is_empty() {
        let line = format!("{} has no EVM destination in this mode", sweep.account);
        return Err(Failure::new(line));
    }
    let rpc = RpcClient::new().map_err(|error| Failure::new(error.to_string()))?;
    let mut transactions = Vec::new();
    for (id, endpoints) in endpoints {
        let network = Registry::builtin().network(&id);
        let fits = |it: &&Network| it.family == Family::Evm && it.mode == scope.mode;
        let Some(network) = network.filter(fits) else {
            continue;
        };
        if wanted.is_empty() || wanted.contains(&network.id) {
            let account = Account {
                scope: &scope,
                numbered: &numbered,
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

/// Networks under their own names. What cannot be asked is not nothing, so it is said.
fn wanted(
    sweep: &Sweep,
    endpoints: &BTreeMap<String, Vec<Endpoint>>,
) -> Result<Vec<String>, Failure> {
    let named = sweep.network.iter().map(|id| {
        let network = Registry::builtin().network(id);
        let network = network.filter(|network| network.family == Family::Evm);
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
        let fits = |it: &Network| it.family == Family::Evm && it.mode == sweep.mode.of_assets();
        network.is_some_and(fits)
    };
    if !endpoints.keys().any(can_be_asked) {
        let line = "no EVM network of this mode has an endpoint: name one in networks.<CAIP2>.rpc";
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

struct Account<'a> {
    scope: &'a Scope,
    numbered: &'a [Numbered],
    min: Option<&'a str>,
}

/// A number's address, and what it is made of.
struct Derived {
    address: [u8; 20],
    salt: [u8; 32],
    destination: [u8; 20],
}

fn derived(network: &Network, account: &Account<'_>) -> Vec<Derived> {
    let mut all = Vec::new();
    for row in account.numbered {
        let addresses = DepositAddresses::new(network, &account.scope.account, &row.destination);
        let destination = raw(network.family, &row.destination);
        let (Ok(addresses), Some(destination)) = (addresses, destination) else {
            continue;
        };
        let numbers = 0..u64::try_from(row.next_number).unwrap_or_default();
        all.extend(numbers.filter_map(|number| {
            let scope = account.scope;
            Some(Derived {
                address: addresses.raw(number)?,
                salt: salt(&scope.account, scope.mode, network.family, number),
                destination,
            })
        }));
    }
    all
}

/// The first endpoint that answers is believed: what it says costs gas at worst.
async fn of_network(
    rpc: &RpcClient,
    endpoints: &[Endpoint],
    network: &'static Network,
    account: &Account<'_>,
) -> Result<Vec<Unsigned>, Failure> {
    let derived = derived(network, account);
    let mut last = None;
    for endpoint in endpoints {
        match unsigned(rpc, endpoint, network, &derived, account.min).await {
            Ok(transactions) => return Ok(transactions),
            Err(error) => last = Some(format!("{}: {endpoint}: {error}", network.id)),
        }
    }
    Err(Failure::new(last.unwrap_or_default()))
}

async fn unsigned(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &'static Network,
    derived: &[Derived],
    min: Option<&str>,
) -> Result<Vec<Unsigned>, RpcError> {
    let addresses: Vec<[u8; 20]> = derived.iter().map(|it| it.address).collect();
    let mut lying = balances(rpc, endpoint, network, &addresses).await?;
    lying.retain(|balance| is_worth_it(balance, min));
    let mut holdings: Vec<(Holding, Vec<Balance>)> = Vec::new();
    for it in derived {
        let here = lying.iter().filter(|balance| balance.address == it.address);
        let here: Vec<Balance> = here.cloned().collect();
        if here.is_empty() {
            continue;
        }
        let code = client::code(rpc, endpoint, &it.address).await?;
        let holding = Holding {
            address: it.address,
            salt: it.salt,
            destination: it.destination,
            is_deployed: !code.is_empty(),
            contracts: here.iter().map(|balance| balance.contract).collect(),
        };
        holdings.push((holding, here));
    }
    let mut transactions = Vec::new();
    for some in holdings.chunks(ADDRESSES_MAX) {
        transactions.push(transaction(rpc, endpoint, network, some).await?);
    }
    Ok(transactions)
}

fn is_worth_it(balance: &Balance, min: Option<&str>) -> bool {
    let Some(min) = min else {
        return true;
    };
    // In an asset with fewer decimals the figure is the next one up.
    let decimals = balance.asset.decimals as usize;
    let (whole, fraction) = min.split_once('.').unwrap_or((min, "0"));
    let (kept, cut) = fraction.split_at(decimals.min(fraction.len()));
    let kept = if kept.is_empty() { "0" } else { kept };
    let least = match decimals {
        0 => money::parse(whole, 0),
        _ => money::parse(&format!("{whole}.{kept}"), balance.asset.decimals),
    };
    let is_rounded_up = cut.bytes().any(|digit| digit != b'0');
    least.is_ok_and(|least| match is_rounded_up {
        true => balance.units > least,
        false => balance.units >= least,
    })
}

async fn transaction(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    some: &[(Holding, Vec<Balance>)],
) -> Result<Unsigned, RpcError> {
    let factory = network
        .factory
        .as_deref()
        .and_then(|it| raw(network.family, it));
    let factory = factory.ok_or_else(|| RpcError::NotAnAnswer("no factory".to_owned()))?;
    let holdings: Vec<Holding> = some.iter().map(|(holding, _)| holding.clone()).collect();
    let data = aggregate(&emptying(&factory, &holdings));
    let gas = match client::gas(rpc, endpoint, &MULTICALL3, &data).await {
        // What is cheap now may be dearer in the block that has it.
        Ok(gas) => gas + gas / 4,
        Err(_) => gas_at_most(&holdings),
    };
    let addresses = some.iter().flat_map(|(holding, balances)| {
        balances.iter().map(|balance| Lying {
            address: shown(network.family, &holding.address),
            asset: balance.asset.code.clone(),
            amount: money::show(balance.units, balance.asset.decimals),
            deployed: holding.is_deployed,
        })
    });
    Ok(Unsigned {
        network: network.id.clone(),
        chain_id: network.chain_id.unwrap_or_default(),
        to: evm::address::display(&MULTICALL3),
        data: format!("0x{}", hex::encode(&data)),
        value: "0x0".to_owned(),
        gas: format!("0x{gas:x}"),
        addresses: addresses.collect(),
    })
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
        text += &format!("on {network}, send to {to} with gas {gas}, value 0 and data\n{data}\n\n");
    }
    text
}

//! Transactions that empty addresses, not signed: in batches through Multicall3 where there is one, one by one on TRON.

use std::collections::BTreeMap;

use serde::Serialize;
use till_chains::evm::multicall::{Call, MULTICALL3, aggregate};
use till_chains::evm::sweep::{Holding, deploying, emptying, energy_at_most, gas_at_most};
use till_chains::observer::Balance;
use till_chains::raw::{raw, shown};
use till_chains::{DepositAddresses, salt};
use till_core::asset::{Family, Network};
use till_core::money::{self, Units};
use till_core::scope::Scope;
use till_store::destinations::Numbered;
use till_watch::Holdings;

/// Addresses of one transaction: half of what a block of the smallest network takes.
const ADDRESSES_MAX: usize = 50;

/// An unsigned transaction, in the words that wallets take.
#[derive(Debug, Serialize)]
pub struct Unsigned {
    pub network: String,
    pub chain_id: u64,
    pub to: String,
    pub data: String,
    pub value: String,
    pub gas: String,
    pub addresses: Vec<AddressHoldings>,
}

#[derive(Debug, Serialize)]
pub struct AddressHoldings {
    pub address: String,
    pub asset: String,
    pub amount: String,
    pub deployed: bool,
}

pub struct Account<'a> {
    pub scope: &'a Scope,
    pub numbered: &'a [Numbered],
    pub min: Option<&'a str>,
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

/// What is worth emptying, and whether there is something that is not.
#[derive(Debug, Default)]
pub struct Sweepable {
    pub transactions: Vec<Unsigned>,
    pub is_less_left: bool,
}

impl Sweepable {
    pub fn add(&mut self, more: Sweepable) {
        self.transactions.extend(more.transactions);
        self.is_less_left |= more.is_less_left;
    }
}

pub async fn of_network(
    asking: &mut Holdings<'_>,
    account: &Account<'_>,
) -> Result<Sweepable, String> {
    let network = asking.network();
    let derived = derived(network, account);
    let addresses: Vec<[u8; 20]> = derived.iter().map(|it| it.address).collect();
    let lying = asking.balances(&addresses).await?.balances;
    let is_worth_it = |balance: &Balance| is_worth_it(balance, account.min);
    let (worth_it, less): (Vec<_>, Vec<_>) = lying.into_iter().partition(is_worth_it);
    let holdings = holdings(asking, &derived, worth_it).await?;
    let mut transactions = Vec::new();
    match network.family {
        Family::Tron => {
            for (holding, balances) in &holdings {
                transactions.extend(one_by_one(network, holding, balances)?);
            }
        }
        _ => {
            for some in holdings.chunks(ADDRESSES_MAX) {
                transactions.push(batch(asking, some).await?);
            }
        }
    }
    Ok(Sweepable {
        transactions,
        is_less_left: !less.is_empty(),
    })
}

/// The addresses on which something lies, in their order, each with what it is.
async fn holdings(
    asking: &mut Holdings<'_>,
    derived: &[Derived],
    lying: Vec<Balance>,
) -> Result<Vec<(Holding, Vec<Balance>)>, String> {
    let mut by_address: BTreeMap<[u8; 20], Vec<Balance>> = BTreeMap::new();
    for balance in lying {
        by_address.entry(balance.address).or_default().push(balance);
    }
    let mut holdings = Vec::new();
    for it in derived {
        let Some(here) = by_address.remove(&it.address) else {
            continue;
        };
        let holding = Holding {
            address: it.address,
            salt: it.salt,
            destination: it.destination,
            is_deployed: asking.has_code(&it.address).await?,
            contracts: here.iter().map(|balance| balance.contract).collect(),
        };
        holdings.push((holding, here));
    }
    Ok(holdings)
}

fn is_worth_it(balance: &Balance, min: Option<&str>) -> bool {
    is_worth(balance.units, balance.asset.decimals, min)
}

/// Whether so much of an asset with so many decimals is no less than was asked for.
pub fn is_worth(lying: Units, decimals_of: u32, min: Option<&str>) -> bool {
    let Some(min) = min else {
        return true;
    };
    // In an asset with fewer decimals the figure is the next one up.
    let decimals = decimals_of as usize;
    let (whole, fraction) = min.split_once('.').unwrap_or((min, "0"));
    let (kept, cut) = fraction.split_at(decimals.min(fraction.len()));
    let kept = if kept.is_empty() { "0" } else { kept };
    let least = match decimals {
        0 => money::parse(whole, 0),
        _ => money::parse(&format!("{whole}.{kept}"), decimals_of),
    };
    let is_rounded_up = cut.bytes().any(|digit| digit != b'0');
    least.is_ok_and(|least| match is_rounded_up {
        true => lying > least,
        false => lying >= least,
    })
}

async fn batch(
    asking: &mut Holdings<'_>,
    some: &[(Holding, Vec<Balance>)],
) -> Result<Unsigned, String> {
    let network = asking.network();
    let factory = factory(network)?;
    let holdings: Vec<Holding> = some.iter().map(|(holding, _)| holding.clone()).collect();
    let data = aggregate(&emptying(&factory, &holdings));
    let gas = match asking.gas(&MULTICALL3, &data).await {
        // What is cheap now may be dearer in the block that has it.
        Some(gas) => gas.saturating_add(gas / 4),
        None => gas_at_most(&holdings),
    };
    let addresses = some
        .iter()
        .flat_map(|(holding, balances)| balances.iter().map(|it| lying(network, holding, it)));
    let call = Call {
        to: MULTICALL3,
        input: data,
    };
    Ok(transaction(network, &call, gas, addresses.collect()))
}

/// TRON has no Multicall3: the forwarder is deployed by itself where it is not, and then told what to pass on.
fn one_by_one(
    network: &Network,
    holding: &Holding,
    balances: &[Balance],
) -> Result<Vec<Unsigned>, String> {
    let mut transactions = Vec::new();
    if let Some(call) = deploying(&factory(network)?, holding) {
        let energy = energy_at_most(&call, holding);
        transactions.push(transaction(network, &call, energy, Vec::new()));
    }
    let deployed = Holding {
        is_deployed: true,
        ..holding.clone()
    };
    let calls = emptying(&factory(network)?, &[deployed]);
    for (call, balance) in calls.iter().zip(balances) {
        let addresses = vec![lying(network, holding, balance)];
        let energy = energy_at_most(call, holding);
        transactions.push(transaction(network, call, energy, addresses));
    }
    Ok(transactions)
}

fn factory(network: &Network) -> Result<[u8; 20], String> {
    let factory = network.factory.as_deref();
    let factory = factory.and_then(|it| raw(network.family, it));
    factory.ok_or_else(|| format!("{} has no factory", network.id))
}

fn lying(network: &Network, holding: &Holding, balance: &Balance) -> AddressHoldings {
    AddressHoldings {
        address: shown(network.family, &holding.address),
        asset: balance.asset.code.clone(),
        amount: money::show(balance.units, balance.asset.decimals),
        deployed: holding.is_deployed,
    }
}

fn transaction(
    network: &Network,
    call: &Call,
    gas: u64,
    addresses: Vec<AddressHoldings>,
) -> Unsigned {
    Unsigned {
        network: network.id.clone(),
        chain_id: network.chain_id.unwrap_or_default(),
        to: shown(network.family, &call.to),
        data: format!("0x{}", hex::encode(&call.input)),
        value: "0x0".to_owned(),
        gas: format!("0x{gas:x}"),
        addresses,
    }
}

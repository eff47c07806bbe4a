//! `till sweep`: what lies on an account's deposit addresses, and unsigned transactions that empty them. The server never
//! has a key; whoever has any wallet may send these, and what lies there can only go to the merchant's destination.

mod psbt;
mod unsigned;

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;
use till_chains::rpc::RpcClient;
use till_core::asset::{Family, Registry};
use till_core::money;
use till_core::scope::Scope;
use till_store::destinations::Numbered;
use till_watch::{EndpointSettings, Holdings, Pool, Watching};

use self::psbt::{Signing, UnsignedPsbt, fee_rate, fingerprint};
use self::unsigned::{Account, AddressHoldings, Sweepable, Unsigned, of_network};
use crate::commands::deposit_networks::{self, FAMILIES};
use crate::commands::key::Mode;
use crate::compose;
use crate::config::Config;
use crate::database;
use crate::failure::Failure;
use crate::output;
use crate::system::SystemClock;

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
    /// Bitcoin: sats per virtual byte, else asked for
    #[arg(long, value_name = "RATE", value_parser = fee_rate)]
    fee_rate: Option<u64>,
    /// Bitcoin: fingerprint of the wallet's master key
    #[arg(long, value_name = "DIGITS", value_parser = fingerprint)]
    fingerprint: Option<[u8; 4]>,
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
}

pub async fn run(config: &Config, sweep: &Sweep) -> Result<(), Failure> {
    let scope = Scope::new(&sweep.account, sweep.mode.of_assets());
    let min = sweep.min.as_deref().map(least).transpose()?;
    let endpoints = compose::provided(config)?;
    let networks = wanted(sweep, endpoints)?;
    let numbered = numbered(config, &scope).await?;
    let rpc = RpcClient::new().map_err(|error| Failure::new(error.to_string()))?;
    let (watching, clock) = (Watching::once(networks, rpc), SystemClock::start());
    let mut swept = Swept::default();
    for pool in Pool::all(&watching, &clock) {
        let network = pool.network();
        let account = Account {
            scope: &scope,
            numbered: numbered.get(&network.family).map_or(&[], Vec::as_slice),
            min,
        };
        let mut holdings = Holdings::new(pool);
        let signing = Signing {
            fee_rate: sweep.fee_rate,
            fingerprint: sweep.fingerprint,
        };
        match swept.look(&mut holdings, &account, signing).await {
            Ok(()) => {}
            Err(why) => swept.failed.push(why),
        }
        swept.remarks.extend(holdings.into_remarks());
    }
    swept.tell(sweep.json)
}

/// What came of all networks.
#[derive(Default)]
struct Swept {
    found: Sweepable,
    psbts: Vec<UnsignedPsbt>,
    remarks: Vec<String>,
    /// Of which networks nothing is known, and why.
    failed: Vec<String>,
}

/// What a network's transactions are like.
#[derive(Serialize)]
#[serde(untagged)]
enum Unsent<'s> {
    Call(&'s Unsigned),
    Psbt(&'s UnsignedPsbt),
}

impl Swept {
    async fn look(
        &mut self,
        holdings: &mut Holdings<'_>,
        account: &Account<'_>,
        signing: Signing,
    ) -> Result<(), String> {
        if holdings.network().family == Family::Bitcoin {
            let (psbts, is_less_left) = psbt::of_network(holdings, account, signing).await?;
            self.psbts.extend(psbts);
            self.found.is_less_left |= is_less_left;
            return Ok(());
        }
        self.found.add(of_network(holdings, account).await?);
        Ok(())
    }

    /// What was found is told though a network failed, which then is the end, in one line.
    fn tell(self, json: bool) -> Result<(), Failure> {
        let calls = self.found.transactions.iter().map(Unsent::Call);
        let all: Vec<Unsent<'_>> = calls.chain(self.psbts.iter().map(Unsent::Psbt)).collect();
        if self.failed.is_empty() || !all.is_empty() {
            match json {
                true => output::print_json(&all)?,
                false => output::print(&text(&self.found, &self.psbts))?,
            }
        }
        if self.failed.is_empty() {
            output::remark(&self.remarks);
            return Ok(());
        }
        let lines = [self.failed, self.remarks].concat();
        let line = format!("not everything was looked at: {}", lines.join("; "));
        Err(Failure::new(line))
    }
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
            "{} has no destination in this mode whose addresses can be emptied",
            scope.account
        ))),
        false => Ok(all),
    }
}

/// The networks to ask, and whom to ask there.
fn wanted(
    sweep: &Sweep,
    mut endpoints: BTreeMap<String, EndpointSettings>,
) -> Result<BTreeMap<String, EndpointSettings>, Failure> {
    let mode = sweep.mode.of_assets();
    let named = sweep.network.iter();
    let named = named.map(|id| deposit_networks::named(id, mode, &endpoints).map(|it| &*it.id));
    let named: Vec<&str> = named.collect::<Result<_, _>>()?;
    endpoints.retain(|id, _| {
        let network = Registry::builtin().network(id);
        network.is_some_and(|network| deposit_networks::can_be_asked(network, mode))
    });
    if endpoints.is_empty() {
        let line = "no network of this mode that can be asked has an endpoint: name one in networks.<CAIP2>.rpc";
        return Err(Failure::new(line));
    }
    endpoints.retain(|id, _| named.is_empty() || named.contains(&&**id));
    Ok(endpoints)
}

/// The smallest amount that is worth it, as it was written: assets differ in their decimals.
fn least(text: &str) -> Result<&str, Failure> {
    match money::parse(text, DECIMALS_MAX) {
        Ok(_) => Ok(text),
        Err(_) => Err(Failure::Usage(
            "--min must be a plain decimal such as 10 or 0.5".to_owned(),
        )),
    }
}

fn text(found: &Sweepable, psbts: &[UnsignedPsbt]) -> String {
    let Sweepable {
        transactions,
        is_less_left,
    } = found;
    if transactions.is_empty() && psbts.is_empty() {
        let line = match is_less_left {
            true => "what lies on this account's addresses is less than --min\n",
            false => "nothing lies on this account's addresses\n",
        };
        return line.to_owned();
    }
    let mut text = String::new();
    for transaction in transactions {
        for lying in &transaction.addresses {
            let note = if lying.deployed {
                ""
            } else {
                ", not deployed yet"
            };
            let AddressHoldings {
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
    text + &psbts.iter().map(psbt_text).collect::<String>()
}

fn psbt_text(of: &UnsignedPsbt) -> String {
    let lying = of.inputs.iter();
    let lying = lying.map(|it| format!("{}  {} {}\n", it.address, it.amount, it.asset));
    let UnsignedPsbt {
        network,
        psbt,
        fee_rate,
        summary,
        ..
    } = of;
    format!(
        "{}on {network}, {summary}, {fee_rate} a virtual byte; have the wallet of the key sign\n{psbt}\n\n",
        lying.collect::<String>()
    )
}

//! `till recover`: an account's addresses again from its id and its destinations alone, with the database gone, and what
//! lies there where an endpoint can be asked.

mod search;

use std::collections::BTreeMap;

use clap::Args;
use till_chains::AddressError;
use till_chains::rpc::{Endpoint, RpcClient};
use till_core::asset::{Family, Registry};
use till_core::id::{self, IdKind};
use till_watch::{EndpointSettings, Holdings, Pool, Watching};

use self::search::{Addresses, Extent, Failed, RecoveredAddress, Search};
use crate::commands::account::{Destination, destination};
use crate::commands::deposit_networks;
use crate::commands::key::Mode;
use crate::compose;
use crate::config::Config;
use crate::failure::Failure;
use crate::output;
use crate::system::SystemClock;

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
    // Taken apart later: the parser of the command line would repeat an address that may hold a key.
    /// An endpoint to ask
    #[arg(long, value_name = "CAIP2=URL")]
    rpc: Vec<String>,
    /// Bitcoin: an Esplora provider to ask
    #[arg(long, value_name = "CAIP2=URL")]
    esplora: Vec<String>,
    /// Exactly so many numbers of each family
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Print one JSON array instead of text
    #[arg(long)]
    json: bool,
}

pub async fn run(config: &Config, recover: &Recover) -> Result<(), Failure> {
    let mut report = RecoveryReport::default();
    let all = addresses(recover, &mut report.remarks)?;
    let endpoints = asked(config, recover)?;
    let rpc = RpcClient::new().map_err(|error| Failure::new(error.to_string()))?;
    let (watching, clock) = (Watching::once(endpoints, rpc), SystemClock::start());
    let extent = recover.count.map_or(Extent::All, Extent::First);
    let mut failed = Failed::default();
    for addresses in &all {
        let mut asking = of_family(addresses, Pool::all(&watching, &clock));
        let search = Search::run(addresses, &mut asking, extent, &mut failed).await;
        let search = search.map_err(|error| wrong(addresses.family().namespace(), error))?;
        if extent == Extent::All {
            report.remarks.push(how_far(addresses, &asking, &search));
        }
        let remarks = asking.into_iter().flat_map(Holdings::into_remarks);
        report.remarks.extend(remarks);
        report.found.extend(search.found);
    }
    report.remarks.extend(failed.remarks);
    report.print(recover.json, &failed.why)
}

/// The addresses that were found, and what is remarked on standard error.
#[derive(Default)]
struct RecoveryReport {
    found: Vec<RecoveredAddress>,
    remarks: Vec<String>,
}

impl RecoveryReport {
    /// The addresses are right though a network failed; what lies there is not known on it, which is the end, in one line.
    fn print(self, json: bool, failed: &[String]) -> Result<(), Failure> {
        match json {
            true => output::print_json(&self.found)?,
            false => output::print(&self.found.iter().map(line).collect::<String>())?,
        }
        if failed.is_empty() {
            output::remark(&self.remarks);
            return Ok(());
        }
        let lines = [failed, &self.remarks].concat();
        let line = format!("the balances are not complete: {}", lines.join("; "));
        Err(Failure::new(line))
    }
}

/// What leads to each destination. A family that has no addresses in this mode is remarked, unless no other is left.
fn addresses<'r>(
    recover: &'r Recover,
    remarks: &mut Vec<String>,
) -> Result<Vec<Addresses<'r>>, Failure> {
    if !id::is(IdKind::Account, &recover.account) {
        let line = "--account must be an account's id, such as acct_ and 26 letters and digits";
        return Err(Failure::Usage(line.to_owned()));
    }
    if recover.destination.is_empty() {
        let line = "give --destination: addresses cannot be found without where they lead";
        return Err(Failure::Usage(line.to_owned()));
    }
    let mode = recover.mode.of_assets();
    let mut all = Vec::new();
    for Destination { family, address } in &recover.destination {
        let name = family.namespace();
        match Addresses::new(*family, mode, &recover.account, address) {
            Some(addresses) => {
                addresses.at(0).map_err(|error| wrong(name, error))?;
                all.push(addresses);
            }
            None => remarks.push(format!("{name} has no deposit addresses in this mode")),
        }
    }
    match all.is_empty() {
        true => Err(Failure::new(remarks.join("; "))),
        false => Ok(all),
    }
}

fn wrong(family: &str, error: AddressError) -> Failure {
    Failure::Usage(format!("--destination {family} is refused: {error}"))
}

/// Whom to ask: what was given before what is configured, of the networks that are wanted.
fn asked(
    config: &Config,
    recover: &Recover,
) -> Result<BTreeMap<String, EndpointSettings>, Failure> {
    let mode = recover.mode.of_assets();
    let mut endpoints = compose::provided(config)?;
    let nodes = recover.rpc.iter().map(|given| node(given));
    let providers = recover.esplora.iter().map(|given| provider(given));
    for given in nodes.chain(providers) {
        let (network, endpoint) = given?;
        let network = deposit_networks::of_mode(network, mode)?;
        let none = || EndpointSettings {
            of: Vec::new(),
            quorum: None,
        };
        let of_network = endpoints.entry(network.id.clone()).or_insert_with(none);
        // Named twice, it would be asked in place of another.
        of_network.of.retain(|it| !it.is_same(&endpoint));
        of_network.of.insert(0, endpoint);
    }
    let named = recover.network.iter();
    let named = named.map(|id| deposit_networks::named(id, mode, &endpoints).map(|it| &*it.id));
    let named: Vec<&str> = named.collect::<Result<_, Failure>>()?;
    endpoints.retain(|id, _| {
        let network = Registry::builtin().network(id);
        let can_be = network.is_some_and(|it| deposit_networks::can_be_asked(it, mode));
        can_be && (named.is_empty() || named.contains(&&**id))
    });
    Ok(endpoints)
}

fn node(given: &str) -> Result<(&str, Endpoint), Failure> {
    let (network, url) = network_and_url("--rpc", given)?;
    let endpoint = Endpoint::parse(url);
    let endpoint = endpoint.map_err(|error| usage("--rpc", &error.to_string()))?;
    Ok((network, endpoint))
}

fn provider(given: &str) -> Result<(&str, Endpoint), Failure> {
    let (network, url) = network_and_url("--esplora", given)?;
    let family = Registry::builtin().network(network).map(|it| it.family);
    if family != Some(Family::Bitcoin) {
        return Err(usage("--esplora", "only Bitcoin is asked so; give --rpc"));
    }
    let endpoint = Endpoint::parse_esplora(url);
    let endpoint = endpoint.map_err(|error| usage("--esplora", &error.to_string()))?;
    Ok((network, endpoint))
}

/// Without repeating what was given: an address may hold a key.
fn network_and_url<'g>(flag: &str, given: &'g str) -> Result<(&'g str, &'g str), Failure> {
    let parts = given.split_once('=');
    let (network, url) = parts.ok_or_else(|| usage(flag, "write CAIP2=URL"))?;
    match Registry::builtin().network(network) {
        Some(_) => Ok((network, url)),
        None => Err(usage(
            flag,
            "what is before = is no network of this version",
        )),
    }
}

fn usage(flag: &str, problem: &str) -> Failure {
    Failure::Usage(format!("{flag}: {problem}"))
}

fn of_family<'r>(
    addresses: &Addresses<'_>,
    pools: impl Iterator<Item = Pool<'r>>,
) -> Vec<Holdings<'r>> {
    let of_family = pools.filter(|pool| pool.network().family == addresses.family());
    of_family.map(Holdings::new).collect()
}

/// What nobody looked at may hold money, so it is said where the looking ended.
fn how_far(addresses: &Addresses<'_>, asking: &[Holdings<'_>], search: &Search) -> String {
    let family = addresses.family().namespace();
    let last = search.looked_to.saturating_sub(1);
    match (asking.is_empty(), addresses.empty_max(asking)) {
        (false, Some(empty_max)) => format!(
            "{family}: looked up to number {last}, {empty_max} or more beyond the last on which something lies; \
             --count looks at more"
        ),
        (false, None) => format!(
            "{family}: looked up to number {last} only, for its nodes are asked for one balance at a time; --count looks at more"
        ),
        (true, _) => format!(
            "{family}: listed up to number {last}, for nobody can be asked what lies on others; --count lists more"
        ),
    }
}

fn line(found: &RecoveredAddress) -> String {
    let lying = found.balances.iter();
    let lying = lying.map(|lying| format!("  {} {}", lying.amount, lying.asset));
    let lying: String = lying.collect();
    format!(
        "{} {}  {}{lying}\n",
        found.family, found.number, found.address
    )
}

//! `till account add-destination`, `till account change-destination`, `till account destinations`

use clap::Args;
use serde::Serialize;
use till_chains::parse_destination;
use till_core::asset::{Family, Mode};
use till_core::scope::Scope;
use till_core::time;
use till_engine::team::changes;
use till_engine::{Engine, shell};

use crate::commands::account::{Destination, destination};
use crate::commands::accounts::no_account;
use crate::commands::key;
use crate::compose;
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
pub struct Change {
    /// The account's id
    #[arg(long, value_name = "ID")]
    account: String,
    #[arg(long, value_enum)]
    mode: key::Mode,
    /// Where payments go instead
    #[arg(long, value_name = "FAMILY=ADDRESS", value_parser = destination, required_unless_present = "cancel")]
    destination: Option<Destination>,
    /// Take back a change that waits
    #[arg(long, value_name = "FAMILY", value_parser = family, conflicts_with = "destination")]
    cancel: Option<Family>,
}

fn family(text: &str) -> Result<Family, String> {
    let families = "the family is eip155, tron, bip122 or solana";
    Family::from_namespace(text).ok_or_else(|| families.to_owned())
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
    // The notice of it is mailed where there is mail.
    let engine = engine.with_mailer(compose::mailer(config)?);
    let added = shell::add_destinations(&engine, &scope, &given).await;
    engine.db.close().await;
    added?;
    output::print(&format!(
        "{} is paid there from its next {} invoice on\n",
        add.account,
        scope.mode.as_str()
    ))
}

/// Asks for the same delayed change as the dashboard does, or takes it back.
pub async fn change(config: &Config, change: &Change) -> Result<(), Failure> {
    let scope = Scope::new(&change.account, change.mode.of_assets());
    let engine = compose::engine_on_existing(config).await?;
    let said = match (&change.destination, change.cancel) {
        _ if !exists(&engine, &scope).await? => Err(no_account(&change.account)),
        (Some(new), _) => request(&engine, &scope, new).await,
        (None, Some(family)) => cancel(&engine, &scope, family).await,
        (None, None) => Err(Failure::Usage(
            "give --destination FAMILY=ADDRESS, or --cancel FAMILY".to_owned(),
        )),
    };
    engine.db.clone().close().await;
    output::print(&said?)
}

async fn exists(engine: &Engine, scope: &Scope) -> Result<bool, Failure> {
    let mut reader = engine.db.read().await?;
    Ok(till_store::accounts::account_exists(&mut reader, &scope.account).await?)
}

async fn request(engine: &Engine, scope: &Scope, new: &Destination) -> Result<String, Failure> {
    let Destination { family, address } = new;
    let asked = changes::request_at_command_line(engine, scope, *family, address).await?;
    let (family, mode) = (family.namespace(), scope.mode.as_str());
    let from = asked.from.as_deref().unwrap_or("none");
    let when = match asked.is_effective {
        true => "at once".to_owned(),
        false => format!(
            "at {}; until then --cancel {family} takes it back",
            time::show(asked.effective_at)
        ),
    };
    Ok(format!(
        "{family} in {mode} mode\n  from  {from}\n  to    {}\ntakes effect {when}.\n\
         Addresses that were shown before lead to the old one.\n",
        asked.to
    ))
}

async fn cancel(engine: &Engine, scope: &Scope, family: Family) -> Result<String, Failure> {
    let to = changes::cancel_at_command_line(engine, scope, family).await?;
    let to = to.as_deref().unwrap_or("nowhere");
    let account = &scope.account;
    Ok(format!(
        "cancelled: {account} goes on being paid where it was, and not at {to}\n"
    ))
}

#[derive(Serialize)]
struct ShownDestination {
    mode: &'static str,
    family: String,
    address: String,
    /// What it is to become, and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes_at: Option<String>,
}

impl ShownDestination {
    fn line(&self) -> String {
        let change = match (&self.changes_to, &self.changes_at) {
            (Some(to), Some(at)) => format!("  {to} from {at} on"),
            _ => String::new(),
        };
        let ShownDestination {
            mode,
            family,
            address,
            ..
        } = self;
        format!("{mode:4}  {family:6}  {address}{change}\n")
    }
}

/// The destinations of an account and mode, and what becomes of them.
async fn shown(engine: &Engine, scope: &Scope) -> Result<Vec<ShownDestination>, Failure> {
    let mut reader = engine.db.read().await?;
    let merchant = till_store::accounts::merchant(&mut reader, scope).await?;
    let waiting = till_store::changes::pending(&mut reader, scope).await?;
    let destinations = merchant.map(|of| of.destinations).unwrap_or_default();
    let view = |(family, address): (String, String)| {
        let change = waiting.iter().find(|change| change.family == family);
        ShownDestination {
            mode: scope.mode.as_str(),
            changes_to: change.and_then(|change| change.to_value.clone()),
            changes_at: change.map(|change| time::show(change.effective_at)),
            family,
            address,
        }
    };
    Ok(destinations.into_iter().map(view).collect())
}

pub async fn list(config: &Config, list: &List) -> Result<(), Failure> {
    let engine = key::engine_for(config, &list.account).await?;
    let mut all = Vec::new();
    for mode in [Mode::Test, Mode::Live] {
        all.extend(shown(&engine, &Scope::new(&list.account, mode)).await?);
    }
    engine.db.close().await;
    match list.json {
        true => output::print_json(&all),
        false => output::print(&all.iter().map(ShownDestination::line).collect::<String>()),
    }
}

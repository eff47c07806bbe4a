//! Where merchants are paid, registered so that everybody else can be told from them.

use std::collections::BTreeMap;

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_chains::{account_key, example_destination};
use till_core::actor::{Action, Actor};
use till_core::asset::{Family, Registry};
use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::destinations::DestinationRow;

use crate::audit;
use crate::base::fail::Fail;
use crate::base::{Engine, not_configured};

/// Notes the destinations, by CAIP-2 namespace. A Bitcoin account key makes addresses by itself, so it belongs to
/// one account and mode; the database holds that, whoever else is registering the same now.
pub async fn register(
    tx: &mut Tx,
    scope: &Scope,
    destinations: &BTreeMap<String, String>,
) -> Result<(), Fail> {
    let row = |(namespace, destination): (&String, &String)| {
        let family = Family::from_namespace(namespace)
            .ok_or_else(|| Fail::broken("a destination of an unknown family"))?;
        if Registry::builtin().is_contract(family, destination) {
            let message = "This is a token or factory contract: what is forwarded there is lost.";
            return Err(Refusal::new(Code::DestinationInvalid, message).into());
        }
        let account_key = account_key(family, destination).map_err(Fail::broken)?;
        Ok(DestinationRow {
            scope: scope.clone(),
            family,
            destination: destination.clone(),
            account_key,
        })
    };
    let rows = destinations
        .iter()
        .map(row)
        .collect::<Result<Vec<_>, Fail>>()?;
    match till_store::destinations::insert(tx, &rows).await {
        Err(error) if error.violates("destinations") => {
            let message = "This Bitcoin account key is registered already: each belongs to one account and mode.";
            Err(Refusal::new(Code::DestinationInvalid, message).into())
        }
        done => Ok(done?),
    }
}

/// Adds canonical addresses of families that have none yet. What is there stays: addresses that were handed out, or taken
/// ahead, depend on it.
pub async fn add(engine: &Engine, scope: &Scope, added: &[(Family, String)]) -> Result<(), Fail> {
    let write = engine.db.write(|tx: &mut Tx| {
        async move {
            let merchant = till_store::accounts::merchant_for_update(tx, scope).await?;
            let mut all = merchant.ok_or_else(not_configured)?.destinations;
            let mut new = BTreeMap::new();
            for (family, address) in added {
                check(tx, scope, *family, address).await?;
                let name = family.namespace().to_owned();
                if all.insert(name.clone(), address.clone()).is_some() {
                    let message =
                        format!("There is a destination of {name} already, which is not replaced.");
                    return Err(Refusal::new(Code::DestinationImmutable, message).into());
                }
                new.insert(name, address.clone());
            }
            till_store::accounts::set_destinations(tx, scope, &all).await?;
            register(tx, scope, &new).await?;
            let (by, action) = ((scope, &Actor::Operator), Action::DestinationAdded);
            let details = json!({"destinations": &new});
            audit::record_by(tx, engine, by, action, &scope.account, details).await
        }
        .scope_boxed()
    });
    write.await
}

/// What is sent to an address of ours would be taken for a payment, and nobody has the keys of the examples.
pub async fn check(tx: &mut Tx, scope: &Scope, family: Family, address: &str) -> Result<(), Fail> {
    let message = if scope.mode.is_live() && address == example_destination(family) {
        "This is a documented example: whatever is sent there is lost"
    } else if !till_store::leases::ours(tx, &[address]).await?.is_empty() {
        "This is a deposit address of Till"
    } else {
        return Ok(());
    };
    Err(Refusal::new(Code::DestinationInvalid, message).into())
}

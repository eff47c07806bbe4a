//! Where merchants are paid, registered so that everybody else can be told from them.

use std::collections::BTreeMap;

use till_chains::{account_key, example_destination, is_nobodys};
use till_core::asset::{Family, Mode, Registry};
use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::destinations::DestinationRow;

use crate::base::fail::Fail;

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
        check_spendable(family, destination)?;
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

/// Refuses an address out of which nobody takes anything. Every destination comes by here, however it is given.
pub fn check_spendable(family: Family, address: &str) -> Result<(), Refusal> {
    let message = if Registry::builtin().is_contract(family, address) {
        "This is a token or factory contract: what is forwarded there is lost."
    } else if is_nobodys(family, address) {
        "Nobody holds the key of this address: what is forwarded there is lost."
    } else {
        return Ok(());
    };
    Err(Refusal::new(Code::DestinationInvalid, message))
}

/// Nobody has the keys of the examples either; in test mode, where nothing is lost, they are what a new account has.
pub fn check_example(mode: Mode, family: Family, address: &str) -> Result<(), Refusal> {
    match mode.is_live() && address == example_destination(family) {
        true => {
            let message = "This is a documented example: whatever is sent there is lost.";
            Err(Refusal::new(Code::DestinationInvalid, message))
        }
        false => Ok(()),
    }
}

/// What is sent to an address of ours would be taken for a payment.
pub async fn check_not_ours(tx: &mut Tx, address: &str) -> Result<(), Fail> {
    if till_store::leases::ours(tx, &[address]).await?.is_empty() {
        return Ok(());
    }
    let message = "This is a deposit address of Till.";
    Err(Refusal::new(Code::DestinationInvalid, message).into())
}

/// What `register` does not see to, for an address that is given to an account that is there.
pub async fn check(tx: &mut Tx, scope: &Scope, family: Family, address: &str) -> Result<(), Fail> {
    check_example(scope.mode, family, address)?;
    check_not_ours(tx, address).await
}

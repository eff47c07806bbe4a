//! Where merchants are paid, registered so that everybody else can be told from them.

use std::collections::BTreeMap;

use till_chains::bitcoin::account::BitcoinAccount;
use till_core::asset::{Family, Registry};
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
        if Registry::builtin().is_contract(family, destination) {
            let message = "This is a token or factory contract: what is forwarded there is lost";
            return Err(Refusal::new(Code::DestinationInvalid, message).into());
        }
        let account_key = match family {
            Family::Bitcoin => {
                let key = BitcoinAccount::parse(destination).map_err(Fail::broken)?;
                Some(key.material())
            }
            _ => None,
        };
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
            let message = "This Bitcoin account key is registered already: each belongs to one account and mode";
            Err(Refusal::new(Code::DestinationInvalid, message).into())
        }
        done => Ok(done?),
    }
}

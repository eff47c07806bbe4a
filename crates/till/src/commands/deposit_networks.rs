//! The networks whose deposit addresses `till sweep` and `till recover` can ask about.

use std::collections::BTreeMap;

use till_core::asset::{Family, Mode, Network, Registry};
use till_watch::EndpointSettings;

use crate::failure::Failure;

/// Where deposit addresses are contracts that anybody may empty, or keys of the merchant's own wallet.
pub const FAMILIES: [Family; 3] = [Family::Evm, Family::Tron, Family::Bitcoin];

pub fn can_be_asked(network: &Network, mode: Mode) -> bool {
    FAMILIES.contains(&network.family) && network.mode == mode && has_addresses(network)
}

pub fn has_addresses(network: &Network) -> bool {
    network.factory.is_some() || network.family == Family::Bitcoin
}

/// A network that was named, under whichever of its names.
pub fn known(id: &str) -> Result<&'static Network, Failure> {
    let network = Registry::builtin().network(id);
    network.ok_or_else(|| Failure::Usage(format!("{id} is no network of this version")))
}

/// The same where it is to be asked. What cannot be is not nothing, so it is said.
pub fn named(
    id: &str,
    mode: Mode,
    endpoints: &BTreeMap<String, EndpointSettings>,
) -> Result<&'static Network, Failure> {
    let network = of_mode(id, mode)?;
    match endpoints.contains_key(&network.id) {
        true => Ok(network),
        false => Err(Failure::new(format!(
            "{id} has no endpoint: name one in networks.{id:?}.rpc"
        ))),
    }
}

pub fn of_mode(id: &str, mode: Mode) -> Result<&'static Network, Failure> {
    let network = known(id)?;
    if !FAMILIES.contains(&network.family) {
        let line = format!("{id} is no network that can be asked so");
        return Err(Failure::new(line));
    }
    if network.mode != mode {
        let line = format!("{id} is not a network of {} mode", mode.as_str());
        return Err(Failure::new(line));
    }
    match has_addresses(network) {
        true => Ok(network),
        false => Err(Failure::new(format!("{id} has no deposit addresses yet"))),
    }
}

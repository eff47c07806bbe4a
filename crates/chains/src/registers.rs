//! Contracts that say of an address whether it is blocked: the issuers' own blacklists, and the sanctions oracle.

use till_core::asset::{Asset, Family, Network};

use crate::evm;
use crate::raw::raw;
use crate::rpc::{Endpoint, RpcClient, RpcError};

/// A contract that is asked about an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// The name of its answers in a screening.
    pub name: &'static str,
    contract: [u8; 20],
    selector: [u8; 4],
}

pub const ISSUER: &str = "issuer_blacklist";
pub const ORACLE: &str = "sanctions_oracle";

/// `isSanctioned(address)` of Chainalysis' oracle.
const ORACLE_SELECTOR: [u8; 4] = [0xdf, 0x59, 0x2f, 0x7d];
const ORACLES: &[(&str, &str)] = &[
    ("eip155:1", "0x40C57923924B5c5c5455c48D93317139ADDaC8fb"),
    ("eip155:10", "0x40C57923924B5c5c5455c48D93317139ADDaC8fb"),
    ("eip155:56", "0x40C57923924B5c5c5455c48D93317139ADDaC8fb"),
    ("eip155:137", "0x40C57923924B5c5c5455c48D93317139ADDaC8fb"),
    ("eip155:8453", "0x3A91A31cB3dC49b4db9Ce721F50a9D076c8D739B"),
    ("eip155:42161", "0x40C57923924B5c5c5455c48D93317139ADDaC8fb"),
    ("eip155:43114", "0x40C57923924B5c5c5455c48D93317139ADDaC8fb"),
];

/// Whether one of the oracles stands there.
pub fn is_oracle(address: &[u8; 20]) -> bool {
    let mut oracles = ORACLES.iter();
    oracles.any(|(_, contract)| raw(Family::Evm, contract).as_ref() == Some(address))
}

/// Who can be asked about an address that is to receive, or sent, this asset.
pub fn of(network: &Network, asset: &Asset) -> Vec<Register> {
    let issuer = asset
        .blacklist_selector
        .as_deref()
        .zip(asset.contract.as_deref())
        .and_then(|(selector, contract)| {
            Some(Register {
                name: ISSUER,
                contract: raw(network.family, contract)?,
                selector: hex::decode(selector.trim_start_matches("0x"))
                    .ok()?
                    .try_into()
                    .ok()?,
            })
        });
    let oracle = ORACLES.iter().find(|(id, _)| *id == network.id);
    let oracle = oracle.and_then(|(_, contract)| {
        Some(Register {
            name: ORACLE,
            contract: raw(network.family, contract)?,
            selector: ORACLE_SELECTOR,
        })
    });
    issuer.into_iter().chain(oracle).collect()
}

/// Whether the register names the address, which is in the network's own form.
pub async fn names(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    register: &Register,
    address: &str,
) -> Result<bool, RpcError> {
    let address = raw(network.family, address)
        .ok_or_else(|| RpcError::NotAnAnswer("it is not asked about such addresses".to_owned()))?;
    let mut input = register.selector.to_vec();
    input.extend([0; 12]);
    input.extend(address);
    evm::client::asks(rpc, endpoint, &register.contract, &input).await
}

#[cfg(test)]
mod tests {
    use till_core::asset::Registry;

    use super::*;

    fn registers(code: &str) -> Vec<(&'static str, String)> {
        let registry = Registry::builtin();
        let asset = registry.asset(code).unwrap();
        let network = registry.network(&asset.network).unwrap();
        let shown = |register: Register| (register.name, hex::encode(register.selector));
        of(network, asset).into_iter().map(shown).collect()
    }

    #[test]
    fn each_asset_is_asked_about_at_its_issuer_and_its_network_oracle() {
        let both = |selector: &str| {
            vec![
                (ISSUER, selector.to_owned()),
                (ORACLE, "df592f7d".to_owned()),
            ]
        };
        assert_eq!(registers("USDC@eip155:8453"), both("fe575a87"));
        assert_eq!(registers("USDT@eip155:1"), both("e47d6060"));
        assert_eq!(
            registers("USDC@eip155:84532"),
            [(ISSUER, "fe575a87".to_owned())]
        );
        let tron = registers("USDT@tron:728126428");
        assert_eq!(
            tron.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            [ISSUER]
        );
        assert_eq!(
            registers("DAI@eip155:8453"),
            [(ORACLE, "df592f7d".to_owned())]
        );
    }

    #[test]
    fn every_oracle_stands_on_a_network_of_the_registry() {
        for (id, contract) in ORACLES {
            let network = Registry::builtin().network(id);
            assert_eq!(network.map(|network| network.id.as_str()), Some(*id));
            assert!(raw(Family::Evm, contract).is_some(), "{contract}");
        }
    }
}

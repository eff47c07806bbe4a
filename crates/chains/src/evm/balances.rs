//! What lies on addresses: tokens and the network's own coin, asked for many at a time.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use till_core::asset::{Asset, Family, Network, Registry};
use till_core::money::Units;

use super::client;
use super::decode::amount;
use super::multicall::{self, Call, MULTICALL3};
use crate::raw::raw;
use crate::rpc::{Endpoint, RpcClient, RpcError};

/// `balanceOf(address)` of a token.
const BALANCE_OF: [u8; 4] = [0x70, 0xa0, 0x82, 0x31];
/// `getEthBalance(address)` of Multicall3.
const COIN_BALANCE: [u8; 4] = [0x4d, 0x23, 0x01, 0xcc];
/// Calls in one question: nodes bound the gas of each.
const CALLS_MAX: usize = 400;
/// Questions at the same time, where each is asked by itself.
const AT_ONCE: usize = 16;

/// Something that lies on an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    pub address: [u8; 20],
    pub asset: &'static Asset,
    /// None for the network's own coin.
    pub contract: Option<[u8; 20]>,
    pub units: Units,
}

/// Whose balance of what is asked for, and the token's contract.
type BalanceQuery = ([u8; 20], &'static Asset, Option<[u8; 20]>);

/// What lies on these addresses, in their order and the registry's. What is not there is not among it.
pub async fn balances(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    addresses: &[[u8; 20]],
) -> Result<Vec<Balance>, RpcError> {
    let assets = Registry::builtin().assets().iter();
    let assets: Vec<(&'static Asset, Option<[u8; 20]>)> = assets
        .filter(|asset| asset.network == network.id)
        .map(|asset| {
            let contract = asset.contract.as_deref();
            (asset, contract.and_then(|text| raw(network.family, text)))
        })
        .collect();
    let per_address = assets.len().max(1);
    let mut found = Vec::new();
    for some in addresses.chunks((CALLS_MAX / per_address).max(1)) {
        let asked: Vec<BalanceQuery> = some
            .iter()
            .flat_map(|address| assets.iter().map(|(asset, at)| (*address, *asset, *at)))
            .collect();
        let told = match network.family {
            Family::Tron => one_by_one(rpc, endpoint, &asked).await?,
            _ => at_once(rpc, endpoint, &asked).await?,
        };
        for ((address, asset, contract), units) in asked.into_iter().zip(told) {
            if let Some(units @ 1..) = units {
                found.push(Balance {
                    address,
                    asset,
                    contract,
                    units: Units(units),
                });
            }
        }
    }
    Ok(found)
}

/// In one question; nothing for what failed.
async fn at_once(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    asked: &[BalanceQuery],
) -> Result<Vec<Option<u128>>, RpcError> {
    let calls: Vec<Call> = asked.iter().map(|(it, _, at)| question(it, *at)).collect();
    let input = multicall::aggregate(&calls);
    let data = client::asked(rpc, endpoint, &MULTICALL3, &input).await?;
    let told = multicall::answers(&data, calls.len());
    let told = told.map_err(|error| RpcError::NotAnAnswer(error.to_string()))?;
    let units = |answer: Option<&[u8]>| answer.and_then(|word| amount(word.try_into().ok()?).ok());
    Ok(told.into_iter().map(units).collect())
}

/// TRON has no Multicall3. A token that does not say is no token, and whoever asked must know.
async fn one_by_one(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    asked: &[BalanceQuery],
) -> Result<Vec<Option<u128>>, RpcError> {
    let asked = stream::iter(asked).map(|(address, _, contract)| async move {
        match contract {
            None => client::coins(rpc, endpoint, address).await.map(Some),
            Some(contract) => {
                let input = question(address, Some(*contract)).input;
                let answer = client::asked(rpc, endpoint, contract, &input).await?;
                balance(answer).map(Some)
            }
        }
    });
    asked.buffered(AT_ONCE).try_collect().await
}

fn balance(answer: Vec<u8>) -> Result<u128, RpcError> {
    let word: Option<[u8; 32]> = answer.try_into().ok();
    let units = word.and_then(|word| amount(&word).ok());
    units.ok_or_else(|| RpcError::NotAnAnswer("it is no balance".to_owned()))
}

/// A token's balance of an address as it was once a block was made. Nodes know it for a while.
pub async fn balance_in(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    contract: &[u8; 20],
    address: &[u8; 20],
    block: &[u8; 32],
) -> Result<u128, RpcError> {
    let input = question(address, Some(*contract)).input;
    let answer = client::asked_in(rpc, endpoint, contract, &input, block).await?;
    balance(answer)
}

fn question(address: &[u8; 20], contract: Option<[u8; 20]>) -> Call {
    let selector = match contract {
        Some(_) => BALANCE_OF,
        None => COIN_BALANCE,
    };
    let mut input = selector.to_vec();
    input.extend([0; 12]);
    input.extend(address);
    Call {
        to: contract.unwrap_or(MULTICALL3),
        input,
    }
}

//! What a transaction moved on Solana, from the result of `getTransaction`: by how much each account's balance of a known token
//! changed, whichever programs did it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use till_core::asset::{Asset, Network, Registry};
use till_core::money::Units;

use crate::rpc::{Endpoint, RpcClient, RpcError};
use crate::solana::genesis;

/// A transaction touches a few dozen accounts.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What somebody's account of a token gained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gained {
    pub asset: &'static Asset,
    /// Whose accounts of the same token lost something, in the order of the accounts.
    pub senders: Vec<String>,
    pub recipient: String,
    pub units: Units,
}

#[derive(Deserialize)]
struct RawTransaction {
    meta: RawMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawMeta {
    err: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    pre_token_balances: Vec<RawBalance>,
    #[serde(default)]
    post_token_balances: Vec<RawBalance>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawBalance {
    account_index: u32,
    mint: String,
    owner: String,
    ui_token_amount: RawAmount,
}

#[derive(Deserialize)]
struct RawAmount {
    amount: String,
}

/// An account's balance of a token, before and after.
#[derive(Default)]
struct Balances {
    before: u128,
    after: u128,
}

/// Nothing where the cluster knows of no such transaction. One that failed moved nothing.
pub fn gained(network: &Network, result: &str) -> Option<Option<Vec<Gained>>> {
    let raw: Option<RawTransaction> = serde_json::from_str(result).ok()?;
    let Some(RawTransaction { meta }) = raw else {
        return Some(None);
    };
    let mut accounts: BTreeMap<(&str, u32, &str), Balances> = BTreeMap::new();
    for it in &meta.pre_token_balances {
        let account = accounts.entry((&it.mint, it.account_index, &it.owner));
        account.or_default().before = units(it)?;
    }
    for it in &meta.post_token_balances {
        let account = accounts.entry((&it.mint, it.account_index, &it.owner));
        account.or_default().after = units(it)?;
    }
    if meta.err.is_some() {
        return Some(Some(Vec::new()));
    }
    let mut all = Vec::new();
    for ((mint, _, owner), balances) in &accounts {
        let asset = Registry::builtin().asset_of_contract(&network.id, mint);
        let gained = balances.after.saturating_sub(balances.before);
        let (Some(asset), 1..) = (asset, gained) else {
            continue;
        };
        let losing = accounts
            .iter()
            .filter(|((other, _, _), it)| other == mint && it.after < it.before);
        let mut senders: Vec<String> = Vec::new();
        for ((_, _, owner), _) in losing {
            if !senders.iter().any(|it| it == owner) {
                senders.push((*owner).to_owned());
            }
        }
        all.push(Gained {
            asset,
            senders,
            recipient: (*owner).to_owned(),
            units: Units(gained),
        });
    }
    Some(Some(all))
}

/// No token has more.
fn units(balance: &RawBalance) -> Option<u128> {
    let amount: u64 = balance.ui_token_amount.amount.parse().ok()?;
    Some(amount.into())
}

/// What a transaction that is confirmed moved; nothing where the endpoint knows of none with this signature.
pub async fn transfers(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    signature: &str,
) -> Result<Option<Vec<Gained>>, RpcError> {
    let how = json!({
        "encoding": "jsonParsed", "commitment": "confirmed", "maxSupportedTransactionVersion": 0,
    });
    let params = json!([signature, how]);
    let result = rpc.call_up_to(ANSWER_BYTES_MAX, endpoint, "getTransaction", &params);
    let result = result.await?;
    let gained = gained(network, result.get());
    gained.ok_or_else(|| RpcError::NotAnAnswer("it is no transaction".to_owned()))
}

/// Whether an endpoint is on this network.
pub async fn is_of_network(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
) -> Result<bool, RpcError> {
    let problem = genesis::identify(rpc, endpoint, network).await?;
    Ok(problem.is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const USDC: &str = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    const MAINNET: &str = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

    fn network() -> &'static Network {
        Registry::builtin().network(MAINNET).unwrap()
    }

    fn balance(account: u32, mint: &str, owner: &str, amount: &str) -> Value {
        json!({
            "accountIndex": account, "mint": mint, "owner": owner,
            "uiTokenAmount": { "amount": amount, "decimals": 6, "uiAmountString": "0" },
        })
    }

    fn told(err: Value, before: &[Value], after: &[Value]) -> String {
        let meta = json!({ "err": err, "preTokenBalances": before, "postTokenBalances": after });
        json!({ "slot": 5, "meta": meta }).to_string()
    }

    #[test]
    fn what_an_account_gained_came_from_those_that_lost() {
        let before = [
            balance(1, USDC, "payer", "9000000"),
            balance(3, "other", "payer", "5"),
        ];
        let after = [
            balance(1, USDC, "payer", "2000000"),
            balance(2, USDC, "shop", "7000000"),
            balance(3, "other", "shop", "5"),
        ];
        let moved = gained(network(), &told(Value::Null, &before, &after));
        let moved = moved.unwrap().unwrap();
        let [it] = &moved[..] else {
            panic!("one known token moved once: {moved:?}")
        };
        assert_eq!(it.asset.code, format!("USDC@{MAINNET}"));
        assert_eq!((&*it.recipient, it.units), ("shop", Units(7_000_000)));
        assert_eq!(it.senders, ["payer"]);
        let failed = told(json!({ "InstructionError": [0, 1] }), &before, &after);
        assert_eq!(gained(network(), &failed), Some(Some(Vec::new())));
    }

    #[test]
    fn what_is_no_transaction_is_told_from_one_that_is_not_known() {
        assert_eq!(gained(network(), "null"), Some(None));
        assert_eq!(gained(network(), "{}"), None);
        let odd = told(Value::Null, &[], &[balance(1, USDC, "shop", "-1")]);
        assert_eq!(gained(network(), &odd), None);
    }
}

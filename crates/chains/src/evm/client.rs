//! Questions to Ethereum's nodes, and to TRON's `/jsonrpc`, which answers the same ones.

use serde_json::json;
use till_core::asset::Network;

use super::decode::{self, Transfer};
use crate::rpc::{Endpoint, RpcClient, RpcError};

pub async fn chain_id(rpc: &RpcClient, endpoint: &Endpoint) -> Result<u64, RpcError> {
    let result = rpc.call(endpoint, "eth_chainId", &json!([])).await?;
    let number = serde_json::from_str::<&str>(result.get()).ok();
    number
        .and_then(|text| decode::quantity(text).ok())
        .ok_or_else(|| RpcError::NotAnAnswer("it is not a chain id".to_owned()))
}

/// What a transaction moved; nothing when the node knows of no block with it.
pub async fn transfers(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    tx_hash: &[u8; 32],
) -> Result<Option<Vec<Transfer>>, RpcError> {
    let params = json!([format!("0x{}", hex::encode(tx_hash))]);
    let result = rpc
        .call(endpoint, "eth_getTransactionReceipt", &params)
        .await?;
    decode::receipt(network, tx_hash, result.get())
        .map_err(|error| RpcError::NotAnAnswer(error.to_string()))
}

/// What a contract answers to a question with yes or no.
pub async fn asks(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    contract: &[u8; 20],
    input: &[u8],
) -> Result<bool, RpcError> {
    let call = json!({
        "to": format!("0x{}", hex::encode(contract)),
        "data": format!("0x{}", hex::encode(input)),
    });
    let result = rpc
        .call(endpoint, "eth_call", &json!([call, "latest"]))
        .await?;
    yes_or_no(result.get())
        .ok_or_else(|| RpcError::NotAnAnswer("it is neither yes nor no".to_owned()))
}

/// A word that is 0 or 1. Where there is no such contract, the answer is empty.
fn yes_or_no(result: &str) -> Option<bool> {
    let text = serde_json::from_str::<&str>(result).ok()?;
    let word: [u8; 32] = hex::decode(text.strip_prefix("0x")?)
        .ok()?
        .try_into()
        .ok()?;
    match word {
        [leading @ .., last] if leading == [0; 31] && last <= 1 => Some(last == 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_word_of_zero_or_one_is_an_answer() {
        let word = |last: &str| format!("\"0x{}{last}\"", "0".repeat(63));
        assert_eq!(yes_or_no(&word("0")), Some(false));
        assert_eq!(yes_or_no(&word("1")), Some(true));
        for other in [
            word("2"),
            "\"0x\"".to_owned(),
            "\"0x1\"".to_owned(),
            "null".to_owned(),
        ] {
            assert_eq!(yes_or_no(&other), None, "{other}");
        }
        assert_eq!(yes_or_no(&format!("\"0x{}\"", "f".repeat(64))), None);
    }
}

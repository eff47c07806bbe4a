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

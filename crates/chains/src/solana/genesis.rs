//! Which cluster an endpoint is on: CAIP-2 names a Solana network by the start of its genesis hash.

use serde_json::json;
use till_core::asset::Network;

use crate::rpc::{Endpoint, RpcClient, RpcError};

/// What is wrong with the endpoint as one of this network. None if it is on it.
pub async fn identify(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
) -> Result<Option<String>, RpcError> {
    let hash = rpc.call(endpoint, "getGenesisHash", &json!([])).await?;
    let hash: String = serde_json::from_str(hash.get())
        .map_err(|_| RpcError::NotAnAnswer("it is no hash".to_owned()))?;
    Ok(problem(network, &hash))
}

fn problem(network: &Network, genesis_hash: &str) -> Option<String> {
    let (namespace, reference) = network.id.split_once(':').unwrap_or_default();
    match genesis_hash.get(..reference.len()) {
        Some(start) if start == reference => None,
        Some(start) => Some(format!("it is on {namespace}:{start}")),
        None => Some("it does not answer as a JSON-RPC endpoint".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use till_core::asset::Registry;

    use super::*;

    #[test]
    fn an_endpoint_of_another_network_is_told_apart() {
        let solana = Registry::builtin().network("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp");
        let problem = |hash: &str| problem(solana.unwrap(), hash);
        assert_eq!(
            problem("5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"),
            None
        );
        let testnet = problem("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG").unwrap();
        assert_eq!(testnet, "it is on solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1");
        assert!(problem("").is_some());
    }
}

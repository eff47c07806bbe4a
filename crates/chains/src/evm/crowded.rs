//! A block whose logs are more than a provider gives in one answer: anybody may fill one. They are asked for by token, and
//! read from the block's receipts where that is too much still.

use std::collections::BTreeMap;

use till_core::asset::Network;

use super::client::{self, LogRange};
use super::decode::{Receipt, Transfer};
use super::logs::{Contracts, Log, LoggedTransfer};
use crate::block_hash::BlockHash;
use crate::raw::raw;
use crate::rpc::{Endpoint, RpcClient, RpcError};

/// Providers say it in their own words, and not all with one code.
pub(crate) fn is_too_many(error: &RpcError) -> bool {
    match error {
        RpcError::TooLong(_) => true,
        RpcError::Refused { code, message } => {
            let says = |words: &&str| message.to_lowercase().contains(words);
            let words = ["more than", "too many", "too large", "exceed", "limit"];
            *code == -32_005 || words.iter().any(says)
        }
        _ => false,
    }
}

/// All logs of our tokens in a block.
pub(crate) async fn logs(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    contracts: &Contracts,
    block: [u8; 32],
) -> Result<Vec<Log>, RpcError> {
    let mut logs = Vec::new();
    for contract in contracts.all() {
        let only = contracts.only(*contract);
        let within = LogRange::Block(block);
        match client::logs(rpc, endpoint, &only, within).await {
            Ok(found) => logs.extend(found),
            Err(error) if is_too_many(&error) => {
                return from_receipts(rpc, endpoint, contracts, block).await;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(logs)
}

async fn from_receipts(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    contracts: &Contracts,
    block: [u8; 32],
) -> Result<Vec<Log>, RpcError> {
    let network = contracts.network();
    let receipts = client::block_receipts(rpc, endpoint, network, &block).await?;
    logs_of(network, block.into(), &receipts)
}

/// What the receipts of a block say, as its logs would.
pub(crate) fn logs_of(
    network: &Network,
    block: BlockHash,
    receipts: &BTreeMap<[u8; 32], Receipt>,
) -> Result<Vec<Log>, RpcError> {
    let mut logs = Vec::new();
    for (tx_hash, receipt) in receipts {
        if !receipt.is_whole || receipt.block_hash != block {
            let what = "receipts that are not of the block, or not whole".to_owned();
            return Err(RpcError::NotAnAnswer(what));
        }
        let height = receipt.height;
        let log = |transfer: &Transfer| {
            let address = |text: &str| raw(network.family, text);
            let units = transfer.units.0;
            let sender = address(transfer.senders.first()?)?;
            let recipient = address(&transfer.recipient)?;
            Some(Log {
                height,
                block_hash: block,
                tx_hash: *tx_hash,
                contract: address(transfer.asset.contract.as_deref()?)?,
                moved: (units > 0).then_some(LoggedTransfer {
                    sender: Some(sender),
                    recipient,
                    units,
                }),
            })
        };
        logs.extend(receipt.transfers.iter().filter_map(log));
    }
    Ok(logs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_logs_are_told_from_a_block_that_is_not_known() {
        let refused = |code, message: &str| RpcError::Refused {
            code,
            message: message.to_owned(),
        };
        let many = refused(-32_602, "Log response size exceeded");
        assert!(is_too_many(&many) && is_too_many(&refused(-32_005, "")));
        assert!(!is_too_many(&refused(-32_000, "unknown block")));
        assert!(!is_too_many(&RpcError::Status(503)));
    }
}

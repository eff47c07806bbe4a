//! What a transaction moved, asked of one endpoint of its network.

use till_core::asset::{Asset, Family, Network};
use till_core::money::Units;

use crate::TxHashForm;
use crate::evm;
use crate::rpc::{Endpoint, RpcClient, RpcError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTransfer {
    pub asset: &'static Asset,
    pub senders: Vec<String>,
    pub recipient: String,
    pub units: Units,
}

/// Whether [`look_up`] can ask this network's nodes for such a hash at all.
pub fn can_look_up(network: &Network, hash: &TxHashForm) -> bool {
    hash.fits(network.family) && matches!(network.family, Family::Evm | Family::Tron)
}

/// Nothing when the node knows of no block with it.
pub async fn look_up(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    hash: &TxHashForm,
) -> Result<Option<Vec<FoundTransfer>>, RpcError> {
    let Some(hash) = hash.bytes().filter(|_| can_look_up(network, hash)) else {
        return Ok(None);
    };
    let transfers = evm::client::transfers(rpc, endpoint, network, &hash).await?;
    let moved = |transfer: evm::decode::Transfer| FoundTransfer {
        asset: transfer.asset,
        senders: transfer.senders,
        recipient: transfer.recipient,
        units: transfer.units,
    };
    Ok(transfers.map(|transfers| transfers.into_iter().map(moved).collect()))
}

/// Whether the endpoint is on the network it was configured for. True where nobody can tell.
pub async fn is_of_network(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
) -> Result<bool, RpcError> {
    match network.family {
        Family::Evm | Family::Tron => {
            let told = evm::client::chain_id(rpc, endpoint).await?;
            Ok(network.chain_id == Some(told))
        }
        Family::Bitcoin | Family::Solana => Ok(true),
    }
}

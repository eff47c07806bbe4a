//! What a transaction moved, asked of one endpoint of its network.

use till_core::asset::{Asset, Family, Network};
use till_core::money::Units;

use crate::TxHashForm;
use crate::evm;
use crate::rpc::{Endpoint, RpcClient, RpcError};
use crate::solana;
use crate::solana::transfers::{Gained, transfers};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTransfer {
    pub asset: &'static Asset,
    pub senders: Vec<String>,
    pub recipient: String,
    pub units: Units,
}

/// Whether [`look_up`] can ask this network's nodes for such a hash at all. Those of Bitcoin keep no index of transactions: what
/// pays us is known from their blocks.
pub fn can_look_up(network: &Network, hash: &TxHashForm) -> bool {
    hash.fits(network.family) && network.family != Family::Bitcoin
}

/// Nothing when the node knows of no block with it.
pub async fn look_up(
    rpc: &RpcClient,
    endpoint: &Endpoint,
    network: &Network,
    hash: &TxHashForm,
) -> Result<Option<Vec<FoundTransfer>>, RpcError> {
    if !can_look_up(network, hash) {
        return Ok(None);
    }
    if let TxHashForm::Solana(signature) = hash {
        let gained = transfers(rpc, endpoint, network, signature).await?;
        let moved = |gained: Gained| FoundTransfer {
            asset: gained.asset,
            senders: gained.senders,
            recipient: gained.recipient,
            units: gained.units,
        };
        return Ok(gained.map(|gained| gained.into_iter().map(moved).collect()));
    }
    let Some(hash) = hash.bytes() else {
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
        Family::Solana => solana::transfers::is_of_network(rpc, endpoint, network).await,
        Family::Bitcoin => Ok(true),
    }
}

//! Assets, as whoever wants to be paid in them sees them.

use serde::Serialize;
use till_core::asset::Asset;
use utoipa::ToSchema;

use crate::offers::Unavailable;

/// A token or coin on a network, and whether this account can be paid in it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Asset)]
pub struct AssetView {
    /// The code by which requests name it.
    #[schema(example = "USDC@eip155:84532")]
    pub asset: &'static str,
    #[schema(example = "USDC")]
    pub symbol: &'static str,
    /// CAIP-2 id of the network.
    #[schema(example = "eip155:84532")]
    pub network: &'static str,
    #[schema(example = "Base Sepolia")]
    pub network_name: &'static str,
    /// CAIP-2 namespace: `eip155`, `tron` or `bip122`.
    #[schema(example = "eip155")]
    pub family: &'static str,
    pub decimals: u32,
    /// Whether its price moves against currencies.
    pub volatile: bool,
    /// The one currency that a stablecoin is priced in; null for what is volatile, which goes with every currency that
    /// there is a price in.
    #[schema(required, example = "USD")]
    pub currency: Option<&'static str>,
    /// Whether invoices of this account can offer it now.
    pub available: bool,
    /// Why not: `no_destination` (no payout address on its chain), `not_watched` (live mode, and this server has no
    /// endpoints of its network) or `no_price` (no current price in any currency).
    #[schema(required)]
    pub unavailable_reason: Option<&'static str>,
}

impl AssetView {
    pub fn of(asset: &'static Asset, unavailable: Option<Unavailable>) -> AssetView {
        AssetView {
            asset: &asset.code,
            symbol: &asset.symbol,
            network: &asset.network,
            network_name: &asset.network_name,
            family: asset.family.namespace(),
            decimals: asset.decimals,
            volatile: asset.currency.is_none(),
            currency: asset.currency.as_deref(),
            available: unavailable.is_none(),
            unavailable_reason: unavailable.map(Unavailable::as_str),
        }
    }
}

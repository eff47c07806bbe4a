//! Amounts of tokens.

use serde::{Deserialize, Serialize};
use till_core::asset::Registry;
use till_core::money::{Units, show};
use utoipa::ToSchema;

/// An amount of one asset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenAmount {
    /// Whole tokens as a decimal string.
    #[schema(example = "25.00")]
    pub amount: String,
    /// Asset code.
    #[schema(example = "USDC@eip155:84532")]
    pub asset: String,
}

/// Whole tokens of an asset; an asset the registry has lost shows its base units.
pub fn tokens((asset, units): &(String, Units)) -> TokenAmount {
    let decimals = Registry::builtin()
        .asset(asset)
        .map_or(0, |asset| asset.decimals);
    TokenAmount {
        amount: show(*units, decimals),
        asset: asset.clone(),
    }
}

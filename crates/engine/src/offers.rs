//! What a merchant can be paid in, and where.

use till_core::asset::{Asset, Registry};
use till_core::error::{Code, Refusal};
use till_core::limits::ASSETS_MAX;
use till_core::money::Currency;

use crate::addresses;
use crate::base::Context;

pub fn unknown_currency() -> Refusal {
    let message = "currency must be an ISO 4217 code such as \"USD\"";
    Refusal::new(Code::CurrencyUnsupported, message).param("currency")
}

/// The assets named, each available to this merchant in this mode and priceable in this currency.
pub fn offered(
    context: &Context<'_>,
    codes: &[String],
    origin: &str,
    currency: Currency,
) -> Result<Vec<&'static Asset>, Refusal> {
    let assets = available(context, codes, origin)?;
    for (index, asset) in assets.iter().enumerate() {
        if asset
            .currency
            .as_deref()
            .is_some_and(|own| own != currency.code())
        {
            let message = format!(
                "{} is priced only in its own currency, not in {}",
                asset.code,
                currency.code()
            );
            let param = if origin == "assets" {
                format!("assets[{index}]")
            } else {
                "currency".to_owned()
            };
            return Err(Refusal::new(Code::CurrencyUnsupported, message).param(param));
        }
    }
    Ok(assets)
}

/// Resolves asset codes for this merchant: known, of this mode, on a chain it has a payout address on.
pub fn available(
    context: &Context<'_>,
    codes: &[String],
    origin: &str,
) -> Result<Vec<&'static Asset>, Refusal> {
    let registry = Registry::builtin();
    let at = |index: usize| format!("{origin}[{index}]");
    if codes.is_empty() || codes.len() > ASSETS_MAX {
        let message = format!("{origin} must name 1 to {ASSETS_MAX} assets");
        return Err(Refusal::new(Code::ParameterInvalid, message).param(origin));
    }
    let mut assets: Vec<&'static Asset> = Vec::with_capacity(codes.len());
    for (index, code) in codes.iter().enumerate() {
        let unavailable = |why: &str| {
            let shown: String = code.chars().take(80).collect();
            Refusal::new(Code::AssetUnavailable, format!("{shown} {why}")).param(at(index))
        };
        let asset = registry
            .asset(code)
            .filter(|asset| asset.offered)
            .ok_or_else(|| unavailable("is not an asset this server knows"))?;
        if asset.mode != context.scope.mode {
            return Err(unavailable("belongs to the other mode"));
        }
        let network = registry
            .network(&asset.network)
            .ok_or_else(|| unavailable("has no network"))?;
        if !addresses::can_receive(context, network) {
            return Err(unavailable(
                "is on a chain for which no payout address is registered",
            ));
        }
        if assets.iter().any(|known| known.code == asset.code) {
            let message = format!("{} is named twice", asset.code);
            return Err(Refusal::new(Code::ParameterInvalid, message).param(at(index)));
        }
        assets.push(asset);
    }
    Ok(assets)
}

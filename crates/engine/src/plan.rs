//! What a new invoice would be: every value checked, every option priced, nothing written yet.

use std::collections::BTreeMap;

use till_core::asset::{Asset, Registry};
use till_core::error::{Code, Refusal};
use till_core::invoice::PayOption;
use till_core::limits::{ASSETS_MAX, CUSTOMER_REF_CHARS_MAX, DESCRIPTION_CHARS_MAX, chars};
use till_core::money::Currency;
use till_core::pricing::{self, price_minor};

use crate::addresses;
use crate::context::Context;

/// A request for an invoice, its shape read but its values unjudged.
#[derive(Clone, Debug, Default)]
pub struct NewInvoice {
    pub amount: String,
    pub currency: String,
    pub assets: Option<Vec<String>>,
    pub description: Option<String>,
    pub customer_ref: Option<String>,
    pub metadata: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub amount_minor: u64,
    pub currency: Currency,
    pub options: Vec<PayOption>,
    /// An asset whose price moves is offered: the invoice must not live long.
    pub volatile: bool,
}

pub fn plan(context: &Context<'_>, request: &NewInvoice) -> Result<Plan, Refusal> {
    let currency = Currency::parse(&request.currency).ok_or_else(unknown_currency)?;
    let amount_minor = price_minor("amount", &request.amount, currency)?;
    text_max(
        "description",
        request.description.as_deref(),
        DESCRIPTION_CHARS_MAX,
    )?;
    text_max(
        "customer_ref",
        request.customer_ref.as_deref(),
        CUSTOMER_REF_CHARS_MAX,
    )?;
    let (assets, origin) = match (&request.assets, &context.merchant.default_assets) {
        (Some(named), _) => (named, "assets"),
        (None, Some(defaults)) => (defaults, "default_assets"),
        (None, None) => {
            let message = "assets is required: the merchant has no default_assets";
            return Err(Refusal::new(Code::ParameterMissing, message).param("assets"));
        }
    };
    let assets = offered(context, assets, origin, currency)?;
    let mut options = Vec::with_capacity(assets.len());
    let mut volatile = false;
    for asset in assets {
        let due = if asset.currency.is_some() {
            pricing::at_par(amount_minor, currency, asset.decimals)
        } else {
            volatile = true;
            let (mode, engine) = (context.scope.mode, context.engine);
            let price = engine
                .prices
                .current(mode, &asset.symbol, currency.code(), context.real_now)
                .ok_or_else(|| price_unavailable(asset, currency))?;
            pricing::at_price(amount_minor, currency, asset.decimals, price)
        };
        let due = due.filter(|due| !due.is_zero()).ok_or_else(|| {
            Refusal::new(
                Code::ParameterInvalid,
                "amount is too large for an on-chain payment",
            )
            .param("amount")
        })?;
        options.push(PayOption {
            asset: asset.code.clone(),
            due,
            decimals: asset.decimals,
            deposit: None,
        });
    }
    Ok(Plan {
        amount_minor,
        currency,
        options,
        volatile,
    })
}

pub fn unknown_currency() -> Refusal {
    let message = "currency must be an ISO 4217 code such as \"USD\"";
    Refusal::new(Code::CurrencyUnsupported, message).param("currency")
}

pub fn text_max(param: &str, text: Option<&str>, chars_max: usize) -> Result<(), Refusal> {
    match text {
        Some(text) if chars(text) > chars_max => {
            let message = format!("{param} must have at most {chars_max} characters");
            Err(Refusal::new(Code::ParameterInvalid, message).param(param))
        }
        _ => Ok(()),
    }
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

fn price_unavailable(asset: &Asset, currency: Currency) -> Refusal {
    let message = format!(
        "There is no current price of {} in {}",
        asset.symbol,
        currency.code()
    );
    Refusal::new(Code::PriceUnavailable, message)
}

//! What a new invoice would be: every value checked, every option priced, nothing written yet.

use std::collections::BTreeMap;

use till_core::asset::Asset;
use till_core::error::{Code, Refusal};
use till_core::invoice::PayOption;
use till_core::limits::{CUSTOMER_REF_CHARS_MAX, DESCRIPTION_CHARS_MAX, chars};
use till_core::money::Currency;
use till_core::page_link::{self, Loopback};
use till_core::pricing::{self, Rate, price_minor};

use crate::base::Context;
use crate::offers::{defaults, offered, unknown_currency};

/// A request for an invoice, its shape read but its values unjudged.
#[derive(Clone, Debug, Default)]
pub struct NewInvoice {
    pub amount: String,
    pub currency: String,
    pub assets: Option<Vec<String>>,
    pub description: Option<String>,
    pub customer_ref: Option<String>,
    /// Where the payer goes afterwards; none: where the merchant's settings say.
    pub return_url: Option<String>,
    pub metadata: BTreeMap<String, String>,
}

/// The invoice that was asked for, priced in every asset it offers.
#[derive(Clone, Debug)]
pub struct Quote {
    pub amount_minor: u64,
    pub currency: Currency,
    pub options: Vec<PayOption>,
    /// An asset whose price moves is offered: the invoice must not live long.
    pub volatile: bool,
}

pub fn quote(context: &Context<'_>, request: &NewInvoice) -> Result<Quote, Refusal> {
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
    check_return_url(context, request.return_url.as_deref())?;
    let defaults = defaults(context.engine, &context.merchant);
    let (assets, origin) = match (&request.assets, &defaults) {
        (Some(named), _) => (named.as_slice(), "assets"),
        (None, Some(defaults)) => (&**defaults, "default_assets"),
        (None, None) => {
            let message = "assets is required: the merchant has no default_assets";
            return Err(Refusal::new(Code::ParameterMissing, message).param("assets"));
        }
    };
    let assets = offered(context, assets, origin, currency)?;
    let mut options = Vec::with_capacity(assets.len());
    let mut volatile = false;
    for asset in assets {
        let rate = match asset.currency.is_some() {
            true => None,
            false => Some(rate(context, asset, currency)?),
        };
        volatile |= rate.is_some();
        let due = match &rate {
            None => pricing::at_par(amount_minor, currency, asset.decimals),
            Some(rate) => pricing::at_price(amount_minor, currency, asset.decimals, rate.price),
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
            rate,
            deposit: None,
        });
    }
    Ok(Quote {
        amount_minor,
        currency,
        options,
        volatile,
    })
}

/// What an asset whose price moves counts as now.
fn rate(context: &Context<'_>, asset: &Asset, currency: Currency) -> Result<Rate, Refusal> {
    let (mode, prices) = (context.scope.mode, &context.engine.prices);
    let current = prices.current(mode, &asset.symbol, currency.code(), context.real_now);
    current.ok_or_else(|| price_unavailable(asset, currency))
}

/// Where an invoice or a payment link may send its payer back to.
pub fn check_return_url(context: &Context<'_>, url: Option<&str>) -> Result<(), Refusal> {
    let loopback = match context.is_live() {
        true => Loopback::Refused,
        false => Loopback::Allowed,
    };
    let checked = url.map(|url| page_link::check_return_url(url, loopback));
    checked.unwrap_or(Ok(())).map_err(|why| {
        let message = format!("return_url is refused: {why}");
        Refusal::new(Code::ParameterInvalid, message).param("return_url")
    })
}

fn text_max(param: &str, text: Option<&str>, chars_max: usize) -> Result<(), Refusal> {
    match text {
        Some(text) if chars(text) > chars_max => {
            let message = format!("{param} must have at most {chars_max} characters");
            Err(Refusal::new(Code::ParameterInvalid, message).param(param))
        }
        _ => Ok(()),
    }
}

fn price_unavailable(asset: &Asset, currency: Currency) -> Refusal {
    let message = format!(
        "There is no current price of {} in {}.",
        asset.symbol,
        currency.code()
    );
    Refusal::new(Code::PriceUnavailable, message)
}

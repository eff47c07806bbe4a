//! What a merchant can be paid in, and where.

use std::borrow::Cow;

use till_core::asset::{Asset, Mode, Network, Registry};
use till_core::error::{Code, Refusal};
use till_core::limits::ASSETS_MAX;
use till_core::money::Currency;

use crate::addresses;
use crate::base::{Context, Engine, Merchant};

pub fn unknown_currency() -> Refusal {
    let message = "currency must be an ISO 4217 code such as \"USD\"";
    Refusal::new(Code::CurrencyUnsupported, message).param("currency")
}

/// Why a merchant cannot be paid in an asset of its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// No payout address on the asset's chain.
    NoDestination,
    /// Nobody looks at the asset's network, and money is real.
    NotWatched,
    /// The asset's price moves, and there is none at the moment.
    NoPrice,
}

impl Unavailable {
    pub fn as_str(self) -> &'static str {
        match self {
            Unavailable::NoDestination => "no_destination",
            Unavailable::NotWatched => "not_watched",
            Unavailable::NoPrice => "no_price",
        }
    }
}

/// Why this merchant cannot be paid in this asset now, whatever the currency.
pub fn unavailable(context: &Context<'_>, asset: &Asset) -> Option<Unavailable> {
    let network = Registry::builtin().network(&asset.network)?;
    let (mode, now) = (context.scope.mode, context.real_now);
    let lacks_price = || {
        let prices = &context.engine.prices;
        asset.currency.is_none() && !prices.has_any(mode, &asset.symbol, now)
    };
    cannot_arrive(context, network).or_else(|| lacks_price().then_some(Unavailable::NoPrice))
}

fn cannot_arrive(context: &Context<'_>, network: &Network) -> Option<Unavailable> {
    if !addresses::can_receive(context, network) {
        return Some(Unavailable::NoDestination);
    }
    (!is_seen(context.engine, context.scope.mode, &network.id)).then_some(Unavailable::NotWatched)
}

/// Whether merchants may be paid in an asset at all. A developer's own chain is there where it is watched.
pub fn is_offered(engine: &Engine, asset: &Asset) -> bool {
    let network = Registry::builtin().network(&asset.network);
    let is_local = network.is_some_and(|network| network.local);
    let is_here = is_local && asset.contract.is_none();
    asset.offered || (is_here && engine.config.watched.contains(&asset.network))
}

/// Whether what arrives on a network would be noticed. In test mode payments are simulated.
fn is_seen(engine: &Engine, mode: Mode, network: &str) -> bool {
    !mode.is_live() || engine.config.watched.contains(network)
}

/// What the merchant offers where a request names nothing. What is on a network that nobody looks at any more is passed
/// over, unless nothing else is left: then the refusal names it.
pub fn defaults<'m>(engine: &Engine, merchant: &'m Merchant) -> Option<Cow<'m, [String]>> {
    let set = merchant.row.default_assets.as_deref()?;
    let mode = merchant.row.scope.mode;
    let is_on_a_seen_network = |code: &&String| {
        let asset = Registry::builtin().asset(code);
        asset.is_none_or(|asset| is_seen(engine, mode, &asset.network))
    };
    let seen: Vec<String> = set.iter().filter(is_on_a_seen_network).cloned().collect();
    match seen.is_empty() || seen.len() == set.len() {
        true => Some(Cow::Borrowed(set)),
        false => Some(Cow::Owned(seen)),
    }
}

/// Their names, with networks as we write them, whatever alias they were asked for by.
pub fn codes(assets: &[&Asset]) -> Vec<String> {
    assets.iter().map(|asset| asset.code.clone()).collect()
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
        if !is_priced_in(asset, currency) {
            let param = if origin == "assets" {
                format!("assets[{index}]")
            } else {
                "currency".to_owned()
            };
            return Err(not_priced(asset, currency).param(param));
        }
    }
    Ok(assets)
}

/// A stablecoin has a price in its own currency alone.
fn is_priced_in(asset: &Asset, currency: Currency) -> bool {
    let own = asset.currency.as_deref();
    own.is_none_or(|own| own == currency.code())
}

fn not_priced(asset: &Asset, currency: Currency) -> Refusal {
    let message = format!(
        "{} is priced only in its own currency, not in {}.",
        asset.code,
        currency.code()
    );
    Refusal::new(Code::CurrencyUnsupported, message)
}

/// Refuses a currency that one of the assets offered by default has no price in: no invoice would be made from them.
pub fn check_defaults(context: &Context<'_>, currency: Currency) -> Result<(), Refusal> {
    let defaults = defaults(context.engine, &context.merchant).unwrap_or_default();
    let known = |code: &String| Registry::builtin().asset(code);
    let mut assets = defaults.iter().filter_map(known);
    match assets.find(|asset| !is_priced_in(asset, currency)) {
        Some(asset) => Err(not_priced(asset, currency).param("currency")),
        None => Ok(()),
    }
}

/// Whether a link that names these assets, or none, offers some now, and only such as have a price in its currency.
pub fn can_be_priced(
    engine: &Engine,
    merchant: &Merchant,
    named: Option<&[String]>,
    currency: Currency,
) -> bool {
    let named = named.map(Cow::Borrowed);
    let Some(codes) = named.or_else(|| defaults(engine, merchant)) else {
        return false;
    };
    let known = |code: &String| Registry::builtin().asset(code);
    let mut assets = codes.iter().filter_map(known);
    assets.all(|asset| is_priced_in(asset, currency))
}

/// Those of these assets whose price does not move, or the merchant's default ones. `why` says what for; one that is named and
/// moves is refused, among the defaults it is passed over.
pub fn steady(
    context: &Context<'_>,
    named: Option<&[String]>,
    why: &'static str,
) -> Result<Option<Vec<String>>, Refusal> {
    let moves = |code: &String| {
        let asset = Registry::builtin().asset(code);
        asset.is_some_and(|asset| asset.currency.is_none())
    };
    let refusal = || Refusal::new(Code::AssetUnavailable, why);
    if let Some(at) = named.and_then(|named| named.iter().position(moves)) {
        return Err(refusal().param(format!("assets[{at}]")));
    }
    let defaults = defaults(context.engine, &context.merchant);
    let Some(assets) = named.or(defaults.as_deref()) else {
        return Ok(None);
    };
    let steady: Vec<String> = assets.iter().filter(|code| !moves(code)).cloned().collect();
    match steady.len() {
        0 if !assets.is_empty() => Err(refusal()),
        all if all == assets.len() => Ok(named.map(<[String]>::to_vec)),
        _ => Ok(Some(steady)),
    }
}

/// Some stablecoin of this mode is worth its face in this currency.
pub fn has_stablecoin(context: &Context<'_>, currency: Currency) -> bool {
    let assets = Registry::builtin().assets().iter();
    let mut of_mode = assets.filter(|asset| asset.offered && asset.mode == context.scope.mode);
    of_mode.any(|asset| asset.currency.as_deref() == Some(currency.code()))
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
            .filter(|asset| is_offered(context.engine, asset))
            .ok_or_else(|| unavailable(&unknown(context.scope.mode, code)))?;
        if asset.mode != context.scope.mode {
            return Err(unavailable("belongs to the other mode"));
        }
        let network = registry
            .network(&asset.network)
            .ok_or_else(|| unavailable("has no network"))?;
        match cannot_arrive(context, network) {
            Some(Unavailable::NotWatched) => {
                let why = "is on a network without endpoints on this server, where no payment would be seen";
                return Err(unavailable(why));
            }
            Some(_) => {
                let why = "is on a chain for which no payout address is registered";
                return Err(unavailable(why));
            }
            None => {}
        }
        if assets.iter().any(|known| known.code == asset.code) {
            let message = format!("{} is named twice", asset.code);
            return Err(Refusal::new(Code::ParameterInvalid, message).param(at(index)));
        }
        assets.push(asset);
    }
    Ok(assets)
}

/// What is said of a code that stands for no asset of this mode, after the code itself.
fn unknown(mode: Mode, code: &str) -> String {
    let near = Registry::builtin().nearest(mode, code);
    let near: Vec<&str> = near.iter().map(|asset| asset.code.as_str()).collect();
    match near.split_last() {
        None => "is not an asset this server knows; GET /v1/assets lists them".to_owned(),
        Some((one, [])) => format!("is not an asset this server knows; did you mean {one}?"),
        Some((last, others)) => format!(
            "is not an asset this server knows; did you mean {} or {last}?",
            others.join(", ")
        ),
    }
}

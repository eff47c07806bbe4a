//! `prices.*`: what volatile assets cost.

use std::collections::BTreeMap;

use toml::{Table, Value};
use url::Url;

use super::error::ConfigError;
use super::origin::GivenValue;
use super::settings::{Settings, wrong};
use super::values::{FixedPrices, PricePlace, PriceSource};

/// Without a price nothing in Bitcoin could be tried out; real money never sees this one.
const TEST_PRICE_DEFAULT: (&str, &str) = ("BTC/USD", "50000");
/// No more digits than the core's exact decimals take.
const PRICE_DIGITS_MAX: usize = 40;

impl Settings {
    pub(super) fn fixed_prices(&mut self, key: &str) -> Result<FixedPrices, ConfigError> {
        let Some(GivenValue { origin, value }) = self.0.remove(key) else {
            let (pair, price) = TEST_PRICE_DEFAULT;
            return Ok(FixedPrices {
                test: BTreeMap::from([(pair.to_owned(), price.to_owned())]),
                live: BTreeMap::new(),
            });
        };
        let Value::Table(table) = value else {
            return Err(wrong(origin, key, "must be a table of pairs and prices"));
        };
        let mut fixed = BTreeMap::new();
        for (pair, price) in table {
            let key = format!("{key}.{pair:?}");
            if !is_pair(&pair) {
                return Err(wrong(origin, &key, "is not a pair such as BTC/USD"));
            }
            let Value::String(price) = price else {
                return Err(wrong(origin, &key, "must be in quotes, such as \"50000\""));
            };
            if !is_price(&price) {
                return Err(wrong(origin, &key, "must be a plain decimal above zero"));
            }
            fixed.insert(pair, price);
        }
        Ok(FixedPrices {
            test: fixed.clone(),
            live: fixed,
        })
    }

    pub(super) fn price_sources(&mut self, key: &str) -> Result<Vec<PriceSource>, ConfigError> {
        let Some(GivenValue { origin, value }) = self.0.remove(key) else {
            return Ok(Vec::new());
        };
        let Value::Array(items) = value else {
            return Err(wrong(origin, key, "must be a list of tables"));
        };
        let mut sources: Vec<PriceSource> = Vec::new();
        for item in items {
            let Value::Table(table) = item else {
                return Err(wrong(origin, key, "must hold tables of pair and kind"));
            };
            let source = source(table).map_err(|problem| wrong(origin.clone(), key, problem))?;
            if sources.contains(&source) {
                // It would agree with itself.
                return Err(wrong(origin, key, "must not have one source twice"));
            }
            sources.push(source);
        }
        Ok(sources)
    }
}

fn source(mut table: Table) -> Result<PriceSource, &'static str> {
    let mut text = |key: &str| match table.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let pair = text("pair").filter(|pair| is_pair(pair));
    let pair = pair.ok_or("must give each source a pair such as BTC/USD")?;
    let place = match text("kind").as_deref() {
        Some("chainlink") => {
            let place = text("network").zip(text("feed"));
            let (network, feed) =
                place.ok_or("must give a chainlink source a network and a feed, as texts")?;
            PricePlace::Chainlink { network, feed }
        }
        Some("http") => {
            let place = text("url").zip(text("pointer"));
            let (url, pointer) =
                place.ok_or("must give an http source a url and a pointer, as texts")?;
            if !is_url(&url) {
                return Err("must have an https address without credentials as url");
            }
            if !pointer.is_empty() && !pointer.starts_with('/') {
                return Err("must have a JSON pointer such as /data/price as pointer");
            }
            PricePlace::Http { url, pointer }
        }
        _ => return Err("must be of the kind chainlink or http"),
    };
    match table.is_empty() {
        true => Ok(PriceSource { pair, place }),
        false => Err("must give a source nothing but what its kind has"),
    }
}

fn is_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| {
        url.scheme() == "https"
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    })
}

fn is_pair(text: &str) -> bool {
    let symbol = |text: &str| {
        (1..=16).contains(&text.len())
            && text
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    text.split_once('/')
        .is_some_and(|(base, quote)| symbol(base) && symbol(quote))
}

pub(super) fn is_price(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    text.len() <= PRICE_DIGITS_MAX
        && digits(whole)
        && digits(fraction)
        && text.bytes().any(|b| matches!(b, b'1'..=b'9'))
}

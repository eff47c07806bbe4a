//! Asks for prices, and believes what enough sources agree on.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use serde_json::value::RawValue;
use till_chains::feed;
use till_core::asset::Mode;
use till_core::pricing::{Price, Rate, agreed};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::base::feeds::{Feed, FeedPlace, Feeds};
use crate::watch;
use till_watch::first_agreed;

/// How long a source may take.
const PATIENCE: Duration = Duration::from_secs(10);
const BYTES_MAX: u64 = 1024 * 1024;
const PIECES_WAITING: usize = 16;

/// A price, and the time its source gives for it.
type ReportedPrice = (Price, i64);

/// Those that a pair's sources reported, each with its source's place.
type Reported<'f> = Vec<(&'f FeedPlace, Price, i64)>;

/// Asks all sources, once. What not enough of them agree on is no price: the last one counts until it is old.
pub async fn observe(engine: &Engine) -> Result<(), Fail> {
    let Some(feeds) = &engine.feeds else {
        return Ok(());
    };
    let asked = feeds
        .feeds
        .iter()
        .map(|feed| reported_price(engine, feeds, feed).boxed());
    let answers = futures::future::join_all(asked).await;
    let now = engine.clock.now_ms();
    let mut pairs: BTreeMap<&str, Reported<'_>> = BTreeMap::new();
    for (feed, reported) in feeds.feeds.iter().zip(answers) {
        let of_pair = pairs.entry(&feed.pair).or_default();
        let fresh = reported.filter(|(_, at)| engine.prices.is_fresh(*at, now));
        of_pair.extend(fresh.map(|(price, at)| (&feed.place, price, at)));
    }
    for (pair, reported) in pairs {
        let prices: Vec<Price> = reported.iter().map(|(_, price, _)| *price).collect();
        let agreed = agreed(&prices, feeds.min_sources, feeds.max_spread_bps);
        let result = if agreed.is_some() { "ok" } else { "none" };
        metrics::counter!("till_prices_total", "pair" => pair.to_owned(), "result" => result)
            .increment(1);
        let Some(rate) = agreed.and_then(|price| rate(price, &reported, feeds.max_spread_bps))
        else {
            let fresh = prices.len();
            tracing::warn!(
                pair,
                fresh,
                "not enough price sources agree; assets of this pair are refused until they do; check prices.sources, min_sources and max_age_s"
            );
            continue;
        };
        for mode in [Mode::Test, Mode::Live] {
            engine.prices.observe(mode, pair, rate.clone());
        }
    }
    Ok(())
}

/// The price with those who agree on it. It is as old as the oldest report, also of one that says something else.
fn rate(price: Price, reported: &Reported<'_>, max_spread_bps: u32) -> Option<Rate> {
    let at = reported.iter().map(|(_, _, at)| *at).min()?;
    let agree = reported
        .iter()
        .filter(|(_, one, _)| one.is_near(price, max_spread_bps));
    let sources = agree.map(|(place, _, _)| place.name()).collect();
    Some(Rate { price, at, sources })
}

async fn reported_price(engine: &Engine, feeds: &Feeds, feed: &Feed) -> Option<ReportedPrice> {
    let asked = async {
        match &feed.place {
            FeedPlace::Chainlink { network, feed } => on_chain(engine, network, feed).await,
            FeedPlace::Http { url, pointer } => {
                let price = in_document(feeds, url, pointer).await?;
                Ok((price, engine.clock.now_ms()))
            }
        }
    };
    let answer = timeout(PATIENCE, asked).await;
    match answer.unwrap_or_else(|_| Err("it does not answer".to_owned())) {
        Ok(reported) => Some(reported),
        Err(error) => {
            let (pair, kind) = (&*feed.pair, feed.place.kind());
            tracing::warn!(
                pair,
                kind,
                error,
                "a price source gave no usable price, so the other sources decide; check it under prices.sources if this lasts"
            );
            None
        }
    }
}

/// What as many of the network's endpoints as must agree say of the feed.
async fn on_chain(
    engine: &Engine,
    network: &str,
    contract: &[u8; 20],
) -> Result<ReportedPrice, String> {
    let watching = engine.watching.as_ref().ok_or("no network is watched")?;
    let net = watching.network(network).ok_or("it is not watched")?;
    watch::identify(engine, network).await;
    let now_us = engine.clock.monotonic_us();
    let usable = net
        .usable(now_us)
        .filter(|source| !source.pauses_calls(now_us));
    let asked = usable.map(|source| feed::latest(&watching.rpc, &source.address, contract).boxed());
    let round = first_agreed(asked, net.quorum).await.map_err(|why| {
        let few = "not enough endpoints say the same";
        why.map_or_else(|| few.to_owned(), |why| format!("{few}: {why}"))
    })?;
    let price = Price::scaled(round.digits, round.decimals).ok_or("it is no price")?;
    Ok((price, round.updated_at))
}

async fn in_document(feeds: &Feeds, url: &str, pointer: &str) -> Result<Price, String> {
    let (pieces, mut waiting) = mpsc::channel::<Bytes>(PIECES_WAITING);
    let collecting = async {
        let mut all = Vec::new();
        while let Some(piece) = waiting.recv().await {
            all.extend_from_slice(&piece);
        }
        all
    };
    let (fetched, body) = tokio::join!(feeds.fetcher.get(url, BYTES_MAX, pieces), collecting);
    fetched?;
    let found = std::str::from_utf8(&body).ok();
    let found = found.and_then(|text| at(text, pointer));
    found.ok_or_else(|| "no price is where it should be".to_owned())
}

/// The decimal at a JSON pointer, a text or a number, as it is written: a number never becomes a float.
fn at(document: &str, pointer: &str) -> Option<Price> {
    let mut value: Box<RawValue> = serde_json::from_str(document).ok()?;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        value = match value.get().trim_start().starts_with('[') {
            true => {
                let mut items: Vec<Box<RawValue>> = serde_json::from_str(value.get()).ok()?;
                let index: usize = part.parse().ok()?;
                (index < items.len()).then(|| items.swap_remove(index))?
            }
            false => {
                let fields: Option<BTreeMap<String, Box<RawValue>>> =
                    serde_json::from_str(value.get()).ok();
                fields?.remove(&part)?
            }
        };
    }
    match serde_json::from_str::<String>(value.get()) {
        Ok(text) => Price::parse(&text),
        Err(_) => Price::parse(value.get()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_where_the_pointer_says_and_as_it_is_written() {
        let document =
            r#"{"a/b": [{"p": "50000.10"}, {"p": 50000.123456789012345678}], "~": 3e4, "n": null}"#;
        let price = |text: &str| Price::parse(text);
        assert_eq!(at(document, "/a~1b/0/p"), price("50000.10"));
        assert_eq!(at(document, "/a~1b/1/p"), price("50000.123456789012345678"));
        assert_eq!(at(r#""7.5""#, ""), price("7.5"));
        for none in ["/a~1b/2/p", "/a~1b/x", "/~0", "/n", "/m", "", "/a~1b/0/p/q"] {
            assert_eq!(at(document, none), None, "{none}");
        }
        assert_eq!(at("[-1]", "/0"), None);
        assert_eq!(at("{", ""), None);
    }
}

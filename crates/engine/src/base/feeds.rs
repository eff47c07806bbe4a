//! Where prices of volatile assets are asked for.

use till_core::asset::Registry;
use url::Url;

use crate::outbound::Fetcher;

/// What an operator says about prices.
pub struct Feeds {
    pub feeds: Vec<Feed>,
    /// So many must agree.
    pub min_sources: usize,
    /// In hundredths of a percent of the one in the middle.
    pub max_spread_bps: u32,
    pub fetcher: Fetcher,
}

pub struct Feed {
    /// Such as `BTC/USD`.
    pub pair: String,
    pub place: FeedPlace,
}

pub enum FeedPlace {
    /// A contract on a network that is watched.
    Chainlink { network: String, feed: [u8; 20] },
    /// A document, and where in it the price is.
    Http { url: String, pointer: String },
}

impl FeedPlace {
    /// For merchants and payers, without what may be a key: a document's host, or the network that has the contract.
    pub fn name(&self) -> String {
        match self {
            FeedPlace::Chainlink { network, .. } => {
                let known = Registry::builtin().network(network);
                let network = known.map_or(&**network, |known| &known.name);
                format!("Chainlink on {network}")
            }
            FeedPlace::Http { url, .. } => {
                let url = Url::parse(url).ok();
                let host = url.as_ref().and_then(Url::host_str);
                host.unwrap_or("http").to_owned()
            }
        }
    }

    /// For the log: an address may hold a key.
    pub fn kind(&self) -> &'static str {
        match self {
            FeedPlace::Chainlink { .. } => "chainlink",
            FeedPlace::Http { .. } => "http",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_named_without_what_may_be_a_key() {
        let document = FeedPlace::Http {
            url: "https://user:secret@prices.example/v1/btc?key=secret".to_owned(),
            pointer: "/usd".to_owned(),
        };
        assert_eq!(document.name(), "prices.example");
        let contract = FeedPlace::Chainlink {
            network: "eip155:8453".to_owned(),
            feed: [0; 20],
        };
        assert_eq!(contract.name(), "Chainlink on Base");
    }
}

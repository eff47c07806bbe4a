//! Where prices of volatile assets are asked for.

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
    /// For the log: an address may hold a key.
    pub fn kind(&self) -> &'static str {
        match self {
            FeedPlace::Chainlink { .. } => "chainlink",
            FeedPlace::Http { .. } => "http",
        }
    }
}

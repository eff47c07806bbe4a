//! The types of settings that are more than a text or a number.

use std::collections::BTreeMap;
use std::fmt;

/// Pairs and their prices, which stay text: the core makes exact numbers of what the operator typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedPrices {
    pub test: BTreeMap<String, String>,
    pub live: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceSource {
    pub pair: String,
    pub place: PricePlace,
}

/// Where a price is asked for.
#[derive(Clone, PartialEq, Eq)]
pub enum PricePlace {
    Chainlink { network: String, feed: String },
    Http { url: String, pointer: String },
}

/// An address may hold a key.
impl fmt::Debug for PricePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PricePlace::Chainlink { network, feed } => write!(f, "{feed} on {network}"),
            PricePlace::Http { pointer, .. } => write!(f, "{pointer} of a document"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    Warn,
    Info,
    Debug,
}

impl LogLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
        }
    }
}

/// How much of a client's address is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAddress {
    Full,
    Prefix,
    None,
}

/// Where a list of addresses comes from. Whether its format exists is the engine's to say.
#[derive(Clone, PartialEq, Eq)]
pub struct ScreeningList {
    pub name: String,
    pub source: String,
    pub format: String,
}

impl fmt::Debug for ScreeningList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScreeningList")
            .field("name", &self.name)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// Who lets people in to the dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signup {
    Closed,
    Invite,
    Open,
}

/// The finality at which a payment on a network counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CreditAt {
    Included,
    Safe,
    #[default]
    Final,
}

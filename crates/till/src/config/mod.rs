//! The operator's configuration: defaults, then the file, then the environment, then flags.
//!
//! Reading is pure: the caller hands in the file's text and the variables, so every rule is tested
//! without touching the machine. A setting is replaced as a whole by the stronger layer, never merged.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

mod layers;
mod origin;
mod parse;
mod prices;
mod read;
pub mod reference;
mod screening;
mod sections;
mod setting;
mod settings;
#[cfg(test)]
mod tests;

pub use origin::Origin;
pub use sections::{
    Addresses, Dashboard, Database, Invoices, Limits, Log, Mail, Metrics, Network, Prices,
    Retention, Screening, Secrets, Server, Subscriptions, Wallets, Webhooks,
};

/// What the command line said about settings. `--listen` and `--database` are the two that people type;
/// `--set section.key=value` reaches every other one.
#[derive(Debug, Default, Clone)]
pub struct Flags {
    pub listen: Option<String>,
    pub database: Option<String>,
    pub set: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    pub server: Server,
    pub database: Database,
    pub secrets: Secrets,
    pub webhooks: Webhooks,
    pub limits: Limits,
    pub mail: Mail,
    pub prices: Prices,
    pub addresses: Addresses,
    pub invoices: Invoices,
    pub subscriptions: Subscriptions,
    pub wallets: Wallets,
    pub screening: Screening,
    pub dashboard: Dashboard,
    pub metrics: Metrics,
    pub retention: Retention,
    pub log: Log,
    /// By CAIP-2 id, as the operator wrote it. Whether the id exists is the registry's to say.
    pub networks: BTreeMap<String, Network>,
    /// Not settings, for all their looks.
    pub unknown_variables: Vec<UnknownVariable>,
}

/// A variable that begins like ours. Its value is nobody's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVariable {
    pub name: String,
    /// The one it may be a misspelling of.
    pub meant: Option<String>,
}

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

/// Where the server says it can be reached. None ends in a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urls {
    pub public: String,
    pub checkout: String,
    pub docs: String,
    pub dashboard: String,
}

/// Always one line, and never a value that could hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("configuration file, line {line}: {problem}")]
    File { line: usize, problem: String },
    #[error("{origin}: unknown setting `{key}`; {hint}")]
    UnknownSetting {
        origin: Origin,
        key: String,
        hint: String,
    },
    #[error("--set {given:?}: write --set section.key=value")]
    Set { given: String },
    #[error("{origin}: {key} {problem}")]
    Value {
        origin: Origin,
        key: String,
        problem: String,
    },
}

impl Config {
    pub fn load(
        file_text: Option<&str>,
        env: impl Iterator<Item = (String, String)>,
        flags: &Flags,
    ) -> Result<Config, ConfigError> {
        read::config(layers::gather(file_text, env, flags)?)
    }

    /// The addresses to show, given the address that was really bound (port 0 picks one).
    pub fn urls(&self, bound: SocketAddr) -> Urls {
        let server = &self.server;
        let public = server
            .public_url
            .clone()
            .unwrap_or_else(|| format!("{}://{bound}", self.scheme()));
        let below = |given: &Option<String>, place: &str| {
            given.clone().unwrap_or_else(|| format!("{public}/{place}"))
        };
        Urls {
            checkout: below(&server.checkout_url, "checkout"),
            docs: below(&server.docs_url, "docs"),
            dashboard: on_localhost(&below(&self.dashboard.url, "dashboard")),
            public,
        }
    }

    /// What the public listener speaks.
    pub fn scheme(&self) -> &'static str {
        match self.server.tls_certificate.is_some() {
            true => "https",
            false => "http",
        }
    }

    /// The key files, newest first. Unless configured it is one `till.key`, beside the SQLite file so
    /// that the two are moved together, or in the working directory when there is no such file.
    pub fn key_files(&self) -> Vec<PathBuf> {
        if !self.secrets.key_file.is_empty() {
            return self.secrets.key_file.clone();
        }
        let beside = self.database.sqlite_path().map(|path| {
            path.parent()
                .unwrap_or_else(|| Path::new(""))
                .join("till.key")
        });
        vec![beside.unwrap_or_else(|| PathBuf::from("till.key"))]
    }
}

impl Database {
    /// The file of a SQLite database that has one.
    pub fn sqlite_path(&self) -> Option<&Path> {
        let rest = self.url.strip_prefix("sqlite:")?;
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let in_memory = path == ":memory:" || query.split('&').any(|pair| pair == "mode=memory");
        (!in_memory).then(|| Path::new(path))
    }
}

// Endpoints and connection strings carry passwords and provider keys: a logged configuration shows
// that they are set and nothing more.

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let engine = self.url.split(':').next().unwrap_or_default();
        f.debug_struct("Database")
            .field("url", &format!("{engine}:…"))
            .finish()
    }
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mail")
            .field("smtp_url", &self.smtp_url.as_ref().map(|_| "…"))
            .field("from", &self.from)
            .finish()
    }
}

impl fmt::Debug for ScreeningList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScreeningList")
            .field("name", &self.name)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
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

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("rpc", &format!("{} endpoints", self.rpc.len()))
            .field("credit_at", &self.credit_at)
            .field("final_above", &self.final_above)
            .field("quorum", &self.quorum)
            .field("scan_from", &self.scan_from)
            .finish()
    }
}

/// The same address with `localhost` in place of a loopback IP: browsers refuse passkeys on IP addresses.
fn on_localhost(url: &str) -> String {
    let Ok(mut parsed) = url::Url::parse(url) else {
        return url.to_owned();
    };
    let is_loopback = match parsed.host() {
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        _ => false,
    };
    if !is_loopback || parsed.set_host(Some("localhost")).is_err() {
        return url.to_owned();
    }
    parsed.as_str().trim_end_matches('/').to_owned()
}

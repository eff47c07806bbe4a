//! The operator's configuration: defaults, then the file, then the environment, then flags.
//!
//! Reading is pure: the caller hands in the file's text and the variables, so every rule is tested
//! without touching the machine. A setting is replaced as a whole by the stronger layer, never merged.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use ipnet::IpNet;

mod layers;
mod prices;
mod read;
mod screening;
mod settings;
#[cfg(test)]
mod tests;

pub use layers::Origin;

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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    pub listen: SocketAddr,
    /// The three addresses stay open here because their defaults follow the port that was really bound:
    /// [`Config::urls`] settles them.
    pub public_url: Option<String>,
    pub checkout_url: Option<String>,
    pub docs_url: Option<String>,
    pub live_mode: bool,
    /// How long a server that is told to stop goes on answering, unready, until it closes.
    pub drain_s: u32,
    pub slow_reader_s: u32,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Database {
    pub url: String,
    pub readers: u32,
    /// For PostgreSQL; SQLite has one.
    pub writers: u32,
    /// Taken for granted; otherwise it is found out.
    pub transaction_pooler: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secrets {
    /// Empty means the default place: [`Config::key_files`] settles it.
    pub key_file: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhooks {
    pub allow_private_addresses: bool,
    pub trusted_certificates: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub checkout_per_minute: u32,
    pub trusted_proxies: Vec<IpNet>,
    pub open_link_invoices_per_client: u32,
    pub connections: u32,
    pub connections_per_client: u32,
    pub streams_per_client: u32,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    pub smtp_url: Option<String>,
    pub from: Option<String>,
}

/// Prices stay text: what the operator typed is turned into exact numbers by the core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    pub fixed_test: BTreeMap<String, String>,
    pub fixed_live: BTreeMap<String, String>,
    pub max_age_s: u32,
    pub sources: Vec<PriceSource>,
    /// So many must agree, within hundredths of a percent.
    pub min_sources: u32,
    pub max_spread_bps: u32,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    pub pool_max: u32,
    pub cooldown_h: u32,
    /// For an address that nothing was sent to.
    pub unpaid_cooldown_h: u32,
    pub bitcoin_gap_limit: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invoices {
    pub life_min: u32,
    pub volatile_life_min: u32,
    pub volatile_rest_min: u32,
    pub select_min: u32,
    /// How long an expiry waits for a watched network to be read up to the deadline.
    pub expiry_wait_s: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscriptions {
    /// How long an attempt to charge a period stays open, after the first.
    pub attempt_days: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wallets {
    /// A payer's wallet is bound only with its signature.
    pub require_proof: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metrics {
    /// Without it nobody can see them.
    pub listen: Option<SocketAddr>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// None: text on a terminal, JSON elsewhere.
    pub format: Option<LogFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// Days after which things are deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    pub deliveries_d: u32,
    pub events_d: u32,
    pub payer_contacts_d: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screening {
    pub lists: Vec<ScreeningList>,
    pub refresh_h: u32,
    pub max_age_h: u32,
    pub on_chain: bool,
}

/// Where a list of addresses comes from. Whether its format exists is the engine's to say.
#[derive(Clone, PartialEq, Eq)]
pub struct ScreeningList {
    pub name: String,
    pub source: String,
    pub format: String,
}

#[derive(Clone, PartialEq, Eq, Default)]
pub struct Network {
    pub rpc: Vec<String>,
    pub credit_at: CreditAt,
    /// A figure of an invoice's own currency, as it was written.
    pub final_above: Option<String>,
    /// None means the default, which depends on how many endpoints there are.
    pub quorum: Option<u32>,
    pub scan_from: Option<u32>,
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
            .unwrap_or_else(|| format!("http://{bound}"));
        let below = |given: &Option<String>, place: &str| {
            given.clone().unwrap_or_else(|| format!("{public}/{place}"))
        };
        Urls {
            checkout: below(&server.checkout_url, "checkout"),
            docs: below(&server.docs_url, "docs"),
            public,
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

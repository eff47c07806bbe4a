//! The whole configuration, checked, and what follows from it.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::layers::UnknownVariable;
use super::sections::{
    Addresses, Dashboard, Database, Invoices, Limits, Log, Mail, Metrics, Network, Prices,
    Retention, Screening, Secrets, Server, Subscriptions, Wallets, Webhooks,
};

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

/// Where the server says it can be reached. None ends in a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urls {
    pub public: String,
    pub checkout: String,
    pub docs: String,
    pub dashboard: String,
}

impl Config {
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

impl Network {
    /// Whether anybody can be asked what is paid there.
    pub fn has_endpoints(&self) -> bool {
        !self.rpc.is_empty() || !self.esplora.is_empty()
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network")
            .field("rpc", &format!("{} endpoints", self.rpc.len()))
            .field("esplora", &format!("{} endpoints", self.esplora.len()))
            .field("credit_at", &self.credit_at)
            .field("final_above", &self.final_above)
            .field("final_depth", &self.final_depth)
            .field("cookie_file", &self.cookie_file)
            .field("zmq", &self.zmq)
            .field("quorum", &self.quorum)
            .field("scan_from", &self.scan_from)
            .finish()
    }
}

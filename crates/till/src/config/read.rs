//! From gathered values to a checked configuration. Bounds of single settings are beside their names; what several of them
//! must agree on is here.

use std::collections::BTreeMap;

use url::Url;

use super::error::ConfigError;
use super::layers::Layers;
use super::model::Config;
use super::origin::{GivenValue, Origin};
use super::sections::{
    Addresses, Dashboard, Database, Invoices, Limits, Log, Mail, Metrics, Network, Prices,
    Retention, Screening, Secrets, Server, Subscriptions, Wallets, Webhooks,
};
use super::settings::{Settings, wrong};

pub(super) fn config(layers: Layers) -> Result<Config, ConfigError> {
    let mut settings = Settings(layers.settings);
    let s = &mut settings;
    let config = Config {
        server: Server::read(s, Server::SECTION)?,
        database: database(s)?,
        secrets: Secrets::read(s, Secrets::SECTION)?,
        webhooks: Webhooks::read(s, Webhooks::SECTION)?,
        limits: Limits::read(s, Limits::SECTION)?,
        mail: mail(s)?,
        prices: prices(s)?,
        addresses: Addresses::read(s, Addresses::SECTION)?,
        invoices: Invoices::read(s, Invoices::SECTION)?,
        subscriptions: Subscriptions::read(s, Subscriptions::SECTION)?,
        wallets: Wallets::read(s, Wallets::SECTION)?,
        screening: screening(s)?,
        dashboard: Dashboard::read(s, Dashboard::SECTION)?,
        metrics: Metrics::read(s, Metrics::SECTION)?,
        retention: Retention::read(s, Retention::SECTION)?,
        log: Log::read(s, Log::SECTION)?,
        networks: networks(layers.networks)?,
        unknown_variables: layers.unknown_variables,
    };
    debug_assert!(settings.0.is_empty(), "a known setting is read by nobody");
    Ok(config)
}

fn database(s: &mut Settings) -> Result<Database, ConfigError> {
    let origin = s.origin("database.replicas");
    let database = Database::read(s, Database::SECTION)?;
    let is_sqlite = database.url.starts_with("sqlite:");
    if is_sqlite && !database.replicas.is_empty() {
        let problem = "needs PostgreSQL in database.url: a SQLite database has no replicas";
        return Err(wrong(origin, "database.replicas", problem));
    }
    Ok(database)
}

fn mail(s: &mut Settings) -> Result<Mail, ConfigError> {
    let origin = s.origin("mail.smtp_url");
    let mail = Mail::read(s, Mail::SECTION)?;
    if mail.smtp_url.is_some() && mail.from.is_none() {
        let problem = "needs mail.from, the sender's address";
        return Err(wrong(origin, "mail.smtp_url", problem));
    }
    Ok(mail)
}

fn prices(s: &mut Settings) -> Result<Prices, ConfigError> {
    let min_origin = s.origin("prices.min_sources");
    let prices = Prices::read(s, Prices::SECTION)?;
    let too_few = prices.sources.iter().any(|source| {
        let of_pair = prices.sources.iter().filter(|it| it.pair == source.pair);
        of_pair.count() < prices.min_sources as usize
    });
    if too_few {
        let problem = "is more than there are sources of a pair: it would never have a price";
        return Err(wrong(min_origin, "prices.min_sources", problem));
    }
    Ok(prices)
}

fn screening(s: &mut Settings) -> Result<Screening, ConfigError> {
    let origin = s.origin("screening.max_age_h");
    let screening = Screening::read(s, Screening::SECTION)?;
    if screening.max_age_h <= screening.refresh_h {
        let problem = "must be more than screening.refresh_h, or every list is too old before it is read again";
        return Err(wrong(origin, "screening.max_age_h", problem));
    }
    Ok(screening)
}

fn networks(
    given: BTreeMap<String, BTreeMap<String, GivenValue>>,
) -> Result<BTreeMap<String, Network>, ConfigError> {
    let mut networks = BTreeMap::new();
    for (id, settings) in given {
        if !is_caip2(&id) {
            let origin = settings
                .into_values()
                .next()
                .map_or(Origin::Default, |given| given.origin);
            let problem = "is not a CAIP-2 id such as \"eip155:8453\"";
            return Err(wrong(origin, &format!("networks.{id:?}"), problem));
        }
        let prefix = format!("networks.{id:?}");
        let named = settings
            .into_iter()
            .map(|(key, given)| (format!("{prefix}.{key}"), given));
        let mut s = Settings(named.collect());
        let quorum_key = format!("{prefix}.quorum");
        let quorum_origin = s.origin(&quorum_key);
        let rpc_key = format!("{prefix}.rpc");
        let rpc_origin = s.origin(&rpc_key);
        let esplora_key = format!("{prefix}.esplora");
        let esplora_origin = s.origin(&esplora_key);
        let network = Network::read(&mut s, &prefix)?;
        // It would agree with itself.
        let twice = "names an endpoint twice";
        if has_twice(&network.rpc) {
            return Err(wrong(rpc_origin, &rpc_key, twice));
        }
        let endpoints = [&*network.rpc, &network.esplora].concat();
        if has_twice(&endpoints) {
            return Err(wrong(esplora_origin, &esplora_key, twice));
        }
        let is_too_many = |quorum: u32| quorum as usize > endpoints.len();
        if network.quorum.is_some_and(is_too_many) {
            let problem = "is more than there are endpoints";
            return Err(wrong(quorum_origin, &quorum_key, problem));
        }
        networks.insert(id, network);
    }
    Ok(networks)
}

/// However differently an address is written, and whoever asks there, it leads to one endpoint.
fn has_twice(endpoints: &[String]) -> bool {
    let plain = |text: &String| {
        let mut url = Url::parse(text).ok()?;
        url.set_fragment(None);
        url.set_username("").ok()?;
        url.set_password(None).ok()?;
        Some(url.as_str().trim_end_matches('/').to_owned())
    };
    let plain: Vec<Option<String>> = endpoints.iter().map(plain).collect();
    (1..plain.len()).any(|at| plain[..at].contains(&plain[at]))
}

fn is_caip2(text: &str) -> bool {
    let reference = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let namespace = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.split_once(':').is_some_and(|(family, id)| {
        (3..=8).contains(&family.len())
            && (1..=32).contains(&id.len())
            && family.chars().all(namespace)
            && id.chars().all(reference)
    })
}

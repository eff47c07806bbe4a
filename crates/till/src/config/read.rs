//! From gathered values to a checked configuration: every default and every bound is here.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use ipnet::IpNet;
use till_core::limits::LINK_OPEN_INVOICES_MAX;
use url::Url;

use super::layers::{Given, Layers, Origin};
use super::settings::{Settings, wrong};
use super::{
    Addresses, Config, ConfigError, CreditAt, Database, Invoices, Limits, Log, LogFormat, Mail,
    Metrics, Network, Retention, Secrets, Server, Subscriptions, Wallets, Webhooks, prices,
    screening,
};

const LISTEN_DEFAULT: &str = "127.0.0.1:4242";
const DATABASE_DEFAULT: &str = "sqlite:till.db";

pub(super) fn config(layers: Layers) -> Result<Config, ConfigError> {
    let mut settings = Settings(layers.settings);
    let s = &mut settings;
    let server = Server {
        listen: s.text("server.listen", LISTEN_DEFAULT, listen)?,
        public_url: s.optional("server.public_url", web_url)?,
        checkout_url: s.optional("server.checkout_url", web_url)?,
        docs_url: s.optional("server.docs_url", web_url)?,
        live_mode: s.flag("server.live_mode")?,
        // Together with what ends afterwards, within what supervisors commonly wait.
        drain_s: s.number("server.drain_s", 5, 0..=60)?,
        slow_reader_s: s.number("server.slow_reader_s", 60, 1..=3_600)?,
    };
    let database = Database {
        url: s.text("database.url", DATABASE_DEFAULT, database_url)?,
        readers: s.number("database.readers", 8, 1..=1_000)?,
        writers: s.number("database.writers", 8, 1..=1_000)?,
        transaction_pooler: s.flag("database.transaction_pooler")?,
    };
    let secrets = Secrets {
        key_file: s.list("secrets.key_file", path)?,
    };
    let webhooks = Webhooks {
        allow_private_addresses: s.flag("webhooks.allow_private_addresses")?,
        trusted_certificates: s.list("webhooks.trusted_certificates", path)?,
    };
    let limits = Limits {
        checkout_per_minute: s.number("limits.checkout_per_minute", 60, 1..=1_000_000)?,
        trusted_proxies: s.list("limits.trusted_proxies", proxy)?,
        // Never above what a link may have open in all.
        open_link_invoices_per_client: s.number(
            "limits.open_link_invoices_per_client",
            25,
            1..=LINK_OPEN_INVOICES_MAX,
        )?,
        connections: s.number("limits.connections", 20_000, 1..=1_000_000)?,
        connections_per_client: s.number("limits.connections_per_client", 500, 1..=1_000_000)?,
        streams_per_client: s.number("limits.streams_per_client", 100, 1..=1_000_000)?,
    };
    let mail = mail(s)?;
    let prices = prices::read(s)?;
    let addresses = Addresses {
        // Bitcoin's unhardened child numbers end at 2^31.
        pool_max: s.number("addresses.pool_max", 1_000_000, 1..=0x7fff_ffff)?,
        cooldown_h: s.number("addresses.cooldown_h", 168, 1..=87_600)?,
        unpaid_cooldown_h: s.number("addresses.unpaid_cooldown_h", 24, 1..=87_600)?,
        bitcoin_gap_limit: s.number("addresses.bitcoin_gap_limit", 20, 1..=10_000)?,
    };
    let invoices = Invoices {
        life_min: s.number("invoices.life_min", 60, 1..=525_600)?,
        volatile_life_min: s.number("invoices.volatile_life_min", 15, 1..=525_600)?,
        volatile_rest_min: s.number("invoices.volatile_rest_min", 60, 0..=525_600)?,
        select_min: s.number("invoices.select_min", 30, 1..=525_600)?,
        expiry_wait_s: s.number("invoices.expiry_wait_s", 600, 0..=86_400)?,
    };
    let subscriptions = Subscriptions {
        attempt_days: s.number("subscriptions.attempt_days", 3, 1..=30)?,
    };
    let wallets = Wallets {
        require_proof: s.flag("wallets.require_proof")?,
    };
    let screening = screening::read(s)?;
    let metrics = Metrics {
        listen: s.optional("metrics.listen", listen)?,
    };
    let retention = Retention {
        // Retries take three days, and an answer under an idempotency key is an event for thirty.
        deliveries_d: s.number("retention.deliveries_d", 90, 4..=36_500)?,
        events_d: s.number("retention.events_d", 400, 35..=36_500)?,
        payer_contacts_d: s.number("retention.payer_contacts_d", 30, 1..=36_500)?,
    };
    let log = Log {
        format: s.optional("log.format", log_format)?,
    };
    debug_assert!(settings.0.is_empty(), "a known setting is read by nobody");
    Ok(Config {
        server,
        database,
        secrets,
        webhooks,
        limits,
        mail,
        prices,
        addresses,
        invoices,
        subscriptions,
        wallets,
        screening,
        metrics,
        retention,
        log,
        networks: networks(layers.networks)?,
        unknown_variables: layers.unknown_variables,
    })
}

fn mail(s: &mut Settings) -> Result<Mail, ConfigError> {
    let origin = s.origin("mail.smtp_url");
    let mail = Mail {
        smtp_url: s.optional("mail.smtp_url", smtp_url)?,
        from: s.optional("mail.from", sender)?,
    };
    if mail.smtp_url.is_some() && mail.from.is_none() {
        return Err(wrong(
            origin,
            "mail.smtp_url",
            "needs mail.from, the sender's address",
        ));
    }
    Ok(mail)
}

fn networks(
    given: BTreeMap<String, BTreeMap<String, Given>>,
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
        let network = Network {
            rpc: s.list(&rpc_key, endpoint)?,
            credit_at: s.text(&format!("{prefix}.credit_at"), "final", credit_at)?,
            final_above: s.optional(&format!("{prefix}.final_above"), figure)?,
            quorum: s.optional_number(&quorum_key, 1..=100)?,
            scan_from: s.optional_number(&format!("{prefix}.scan_from"), 0..=u32::MAX)?,
        };
        if has_twice(&network.rpc) {
            // It would agree with itself.
            return Err(wrong(rpc_origin, &rpc_key, "names an endpoint twice"));
        }
        let is_too_many = |quorum: u32| quorum as usize > network.rpc.len();
        if network.quorum.is_some_and(is_too_many) {
            let problem = "is more than there are endpoints";
            return Err(wrong(quorum_origin, &quorum_key, problem));
        }
        networks.insert(id, network);
    }
    Ok(networks)
}

fn listen(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "must be an address and a port such as 127.0.0.1:4242")
}

fn database_url(text: &str) -> Result<String, &'static str> {
    let sqlite = text.strip_prefix("sqlite:").is_some_and(|path| {
        let path = path.strip_prefix("//").unwrap_or(path);
        !path.is_empty() && !path.starts_with('?')
    });
    let postgres = text.starts_with("postgres://") || text.starts_with("postgresql://");
    if sqlite || (postgres && Url::parse(text).is_ok()) {
        Ok(text.to_owned())
    } else {
        Err("must be sqlite:PATH, sqlite::memory: or postgres://…")
    }
}

/// Other addresses are appended to these, so they carry neither a query nor a slash at the end.
fn web_url(text: &str) -> Result<String, &'static str> {
    const PROBLEM: &str = "must be an http or https address without user, query or fragment";
    let url = Url::parse(text).map_err(|_| PROBLEM)?;
    let plain = url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    if matches!(url.scheme(), "http" | "https") && plain {
        Ok(url.as_str().trim_end_matches('/').to_owned())
    } else {
        Err(PROBLEM)
    }
}

/// Providers put keys into paths and queries, so an endpoint is kept as it was given.
fn endpoint(text: &str) -> Result<String, &'static str> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(text.to_owned()),
        _ => Err("must hold http or https addresses"),
    }
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

fn smtp_url(text: &str) -> Result<String, &'static str> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "smtp" | "smtps") && url.has_host() => {
            Ok(text.to_owned())
        }
        _ => Err("must be an address such as smtps://user:password@mail.example.com"),
    }
}

fn sender(text: &str) -> Result<String, &'static str> {
    let mut halves = text.split('@');
    let two = halves.next().is_some_and(|name| !name.is_empty())
        && halves.next().is_some_and(|host| !host.is_empty())
        && halves.next().is_none();
    if two && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err("must be a mail address such as till@example.com")
    }
}

fn path(text: &str) -> Result<PathBuf, &'static str> {
    if text.is_empty() {
        Err("must not hold an empty path")
    } else {
        Ok(PathBuf::from(text))
    }
}

fn proxy(text: &str) -> Result<IpNet, &'static str> {
    let single = text.parse::<IpAddr>().map(IpNet::from);
    single
        .or_else(|_| text.parse::<IpNet>())
        .map_err(|_| "must hold addresses or ranges such as 10.0.0.0/8")
}

fn credit_at(text: &str) -> Result<CreditAt, &'static str> {
    match text {
        "included" => Ok(CreditAt::Included),
        "safe" => Ok(CreditAt::Safe),
        "final" => Ok(CreditAt::Final),
        _ => Err("must be included, safe or final"),
    }
}

fn figure(text: &str) -> Result<String, &'static str> {
    match prices::is_price(text) {
        true => Ok(text.to_owned()),
        false => Err("must be a plain decimal above zero"),
    }
}

fn log_format(text: &str) -> Result<LogFormat, &'static str> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("must be text or json"),
    }
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

//! From text to the type of a setting, or what is wrong with it.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use ipnet::IpNet;
use till_chains::zmq::Publisher;
use url::Url;

use super::prices::is_price;
use super::values::{ClientAddress, CreditAt, LogFormat, LogLevel, Signup};

pub(super) fn listen(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse()
        .map_err(|_| "must be an address and a port such as 127.0.0.1:4242")
}

pub(super) fn database_url(text: &str) -> Result<String, &'static str> {
    let sqlite = text.strip_prefix("sqlite:").is_some_and(|path| {
        let path = path.strip_prefix("//").unwrap_or(path);
        !path.is_empty() && !path.starts_with('?')
    });
    let postgres = text.starts_with("postgres://") || text.starts_with("postgresql://");
    let each_parses = || {
        till_store::server_urls(text)
            .iter()
            .all(|it| Url::parse(it).is_ok())
    };
    if sqlite || (postgres && each_parses()) {
        Ok(text.to_owned())
    } else {
        Err("must be sqlite:PATH, sqlite::memory: or postgres://…")
    }
}

/// Each replica is followed by itself, so that its URL names one server.
pub(super) fn replica_url(text: &str) -> Result<String, &'static str> {
    let is_postgres = text.starts_with("postgres://") || text.starts_with("postgresql://");
    let is_one = till_store::server_urls(text).len() == 1;
    if is_postgres && is_one && !text.contains("target_session_attrs=") && Url::parse(text).is_ok()
    {
        Ok(text.to_owned())
    } else {
        Err("must hold postgres://… addresses of one server each, without target_session_attrs")
    }
}

/// Other addresses are appended to these, so they carry neither a query nor a slash at the end.
pub(super) fn web_url(text: &str) -> Result<String, &'static str> {
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
pub(super) fn endpoint(text: &str) -> Result<String, &'static str> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(text.to_owned()),
        _ => Err("must hold http or https addresses"),
    }
}

pub(super) fn publisher(text: &str) -> Result<String, &'static str> {
    match Publisher::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("must hold addresses such as tcp://127.0.0.1:28332"),
    }
}

pub(super) fn shard(text: &str) -> Result<String, &'static str> {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    match (1..=8).contains(&text.len()) && text.bytes().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("must be one to eight small letters and digits"),
    }
}

pub(super) fn smtp_url(text: &str) -> Result<String, &'static str> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "smtp" | "smtps") && url.has_host() => {
            Ok(text.to_owned())
        }
        _ => Err("must be an address such as smtps://user:password@mail.example.com"),
    }
}

pub(super) fn sender(text: &str) -> Result<String, &'static str> {
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

pub(super) fn path(text: &str) -> Result<PathBuf, &'static str> {
    if text.is_empty() {
        Err("must not hold an empty path")
    } else {
        Ok(PathBuf::from(text))
    }
}

pub(super) fn proxy(text: &str) -> Result<IpNet, &'static str> {
    let single = text.parse::<IpAddr>().map(IpNet::from);
    single
        .or_else(|_| text.parse::<IpNet>())
        .map_err(|_| "must hold addresses or ranges such as 10.0.0.0/8")
}

pub(super) fn credit_at(text: &str) -> Result<CreditAt, &'static str> {
    match text {
        "included" => Ok(CreditAt::Included),
        "safe" => Ok(CreditAt::Safe),
        "final" => Ok(CreditAt::Final),
        _ => Err("must be included, safe or final"),
    }
}

pub(super) fn figure(text: &str) -> Result<String, &'static str> {
    match is_price(text) {
        true => Ok(text.to_owned()),
        false => Err("must be a plain decimal above zero"),
    }
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, &'static str> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("must be text or json"),
    }
}

pub(super) fn signup(text: &str) -> Result<Signup, &'static str> {
    match text {
        "closed" => Ok(Signup::Closed),
        "invite" => Ok(Signup::Invite),
        "open" => Ok(Signup::Open),
        _ => Err("must be closed, invite or open"),
    }
}

pub(super) fn log_level(text: &str) -> Result<LogLevel, &'static str> {
    match text {
        "warn" => Ok(LogLevel::Warn),
        "info" => Ok(LogLevel::Info),
        "debug" => Ok(LogLevel::Debug),
        _ => Err("must be warn, info or debug"),
    }
}

pub(super) fn client_address(text: &str) -> Result<ClientAddress, &'static str> {
    match text {
        "full" => Ok(ClientAddress::Full),
        "prefix" => Ok(ClientAddress::Prefix),
        "none" => Ok(ClientAddress::None),
        _ => Err("must be full, prefix or none"),
    }
}

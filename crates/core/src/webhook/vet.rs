//! Where a merchant may have its events sent. The text is judged before and after parsing, because
//! URL parsers repair what they read (`https:///evil` gains a host, a tab disappears) and two
//! programs that repair differently are how a check is walked around.

use std::net::{IpAddr, Ipv4Addr};

use thiserror::Error;
use url::{Host, Url};

use super::address::is_public;

pub const URL_LENGTH_MAX: usize = 2048;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlPolicy {
    /// https to the public Internet, the only policy of a server that strangers use.
    Public,
    /// For development: http and private addresses too.
    PrivateAllowed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UrlRefused {
    #[error("the URL is longer than 2048 bytes")]
    TooLong,
    #[error("the URL is malformed")]
    Malformed,
    #[error("the URL must start with https://")]
    Scheme,
    #[error("the URL must not contain credentials")]
    Credentials,
    #[error("the URL names no host")]
    NoHost,
    #[error("the URL names a local or internal host")]
    InternalName,
    #[error("the URL's address is not public")]
    ForbiddenAddress,
}

/// Names that never lead to the public Internet, with everything below them.
const INTERNAL_SUFFIXES: [&str; 5] = ["localhost", "internal", "local", "localdomain", "home.arpa"];

/// Judges the URL as far as that is possible without DNS. Where the name leads must be judged again
/// with [`is_public`] when it has been resolved.
pub fn vet_url(text: &str, policy: UrlPolicy) -> Result<Url, UrlRefused> {
    vet_text(text)?;
    let url = Url::parse(text).map_err(|_| UrlRefused::Malformed)?;
    match (url.scheme(), policy) {
        ("https", _) | ("http", UrlPolicy::PrivateAllowed) => {}
        _ => return Err(UrlRefused::Scheme),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlRefused::Credentials);
    }
    if url.port() == Some(0) {
        return Err(UrlRefused::Malformed);
    }
    let host = url.host().ok_or(UrlRefused::NoHost)?;
    if policy == UrlPolicy::Public {
        vet_host(&host, text)?;
    }
    Ok(url)
}

/// What the parser would silently repair.
fn vet_text(text: &str) -> Result<(), UrlRefused> {
    if text.len() > URL_LENGTH_MAX {
        return Err(UrlRefused::TooLong);
    }
    if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
        return Err(UrlRefused::Malformed);
    }
    let (scheme, rest) = text.split_once("://").ok_or(UrlRefused::Malformed)?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return Err(UrlRefused::Scheme);
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(UrlRefused::Credentials);
    }
    if authority.is_empty() || authority.starts_with(':') {
        return Err(UrlRefused::NoHost);
    }
    Ok(())
}

fn vet_host(host: &Host<&str>, text: &str) -> Result<(), UrlRefused> {
    match *host {
        Host::Ipv4(ip) => {
            // 0x08080808 and full-width digits are read as addresses by some and as names by
            // others: only the dotted form means the same to everyone.
            let plain = text.contains(&ip.to_string());
            if !plain || !is_public(IpAddr::V4(ip)) {
                return Err(UrlRefused::ForbiddenAddress);
            }
        }
        Host::Ipv6(ip) => {
            if !is_public(IpAddr::V6(ip)) {
                return Err(UrlRefused::ForbiddenAddress);
            }
        }
        Host::Domain(name) => {
            // A final dot makes `localhost.` of `localhost`, a name without a dot is completed by
            // whatever the local resolver appends: neither is a public name.
            if name.ends_with('.') || !name.contains('.') || is_internal(name) {
                return Err(UrlRefused::InternalName);
            }
            if embeds_forbidden_address(name) {
                return Err(UrlRefused::ForbiddenAddress);
            }
        }
    }
    Ok(())
}

fn is_internal(name: &str) -> bool {
    INTERNAL_SUFFIXES.iter().any(|suffix| {
        name.strip_suffix(suffix)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// `127.0.0.1.nip.io` and `127-0-0-1.nip.io` exist to lead to the address they spell. The resolved
/// address is judged anyway; this tells the merchant at once, even where there is no DNS.
fn embeds_forbidden_address(name: &str) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    let dotted = labels.windows(4).map(|window| window.join("."));
    let dashed = labels.iter().map(|label| label.replace('-', "."));
    dotted
        .chain(dashed)
        .filter_map(|spelling| spelling.parse::<Ipv4Addr>().ok())
        .any(|ip| !is_public(IpAddr::V4(ip)))
}

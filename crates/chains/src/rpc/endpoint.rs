//! A node's address. Providers put keys into its path, its query or its user, so it is shown only as scheme,
//! host and port, and what a node says is searched for its secrets before anybody reads it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use url::Url;

use super::pace::Pace;

/// Shorter parts of an address, such as `v2` or `jsonrpc`, are words and not keys.
const SECRET_CHARS_MIN: usize = 8;
/// Shorter ones protect nothing, and would take letters out of every remark.
const USER_CHARS_MIN: usize = 3;
const REMARK_CHARS_MAX: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an http or https address")]
pub struct EndpointError;

/// How an endpoint is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    JsonRpc,
    /// Pages below its address, as Esplora has them: transactions are asked for by address there.
    Esplora,
}

#[derive(Clone)]
pub struct Endpoint {
    pub(super) uri: Uri,
    kind: Kind,
    pub(super) authorization: Option<HeaderValue>,
    /// Where the name and password are, which a node may change at each start.
    pub(super) cookie_file: Option<Arc<Path>>,
    place: String,
    secrets: Vec<String>,
    pub(super) pace: Arc<Pace>,
}

impl Endpoint {
    pub fn parse(text: &str) -> Result<Endpoint, EndpointError> {
        let mut url = Url::parse(text).map_err(|_| EndpointError)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(EndpointError);
        }
        let authorization = basic(&url);
        let secrets = secrets(&url, authorization.as_ref());
        let place = till_net::place(&url);
        url.set_fragment(None);
        url.set_username("").map_err(|()| EndpointError)?;
        url.set_password(None).map_err(|()| EndpointError)?;
        Ok(Endpoint {
            uri: url.as_str().parse().map_err(|_| EndpointError)?,
            kind: Kind::JsonRpc,
            authorization,
            cookie_file: None,
            place,
            secrets,
            pace: Arc::default(),
        })
    }

    /// A provider whose pages are those of Esplora, by the address that all of them begin with.
    pub fn parse_esplora(text: &str) -> Result<Endpoint, EndpointError> {
        let endpoint = Endpoint::parse(text)?;
        Ok(Endpoint {
            kind: Kind::Esplora,
            ..endpoint
        })
    }

    /// Whether it is somebody else's service that answers for addresses, and not a node that lists all that it has.
    pub fn is_asked_by_address(&self) -> bool {
        self.kind == Kind::Esplora
    }

    /// Where a page below its address is. What follows a question mark stays behind it: it may be a key.
    pub(super) fn page(&self, path: &str) -> Result<Uri, http::Error> {
        let base = self.uri.path().trim_end_matches('/');
        let query = self.uri.query().map(|query| format!("?{query}"));
        let below = format!("{base}/{path}{}", query.unwrap_or_default());
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(below.parse()?);
        Ok(Uri::from_parts(parts)?)
    }

    /// With the name and password of a file, read anew for every question, unless it has its own.
    #[must_use]
    pub fn or_cookie_of(mut self, cookie_file: &Path) -> Endpoint {
        if self.authorization.is_none() {
            self.cookie_file = Some(cookie_file.into());
        }
        self
    }

    /// Whether both lead to one place, whoever asks there.
    pub fn is_same(&self, other: &Endpoint) -> bool {
        self.uri == other.uri
    }

    /// What somebody else said, fit to be shown: one short line without this endpoint's keys.
    pub(super) fn remark(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret, "…");
        }
        text.chars()
            .take(REMARK_CHARS_MAX)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect()
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)
    }
}

fn basic(url: &Url) -> Option<HeaderValue> {
    let password = url.password().unwrap_or_default();
    if url.username().is_empty() && password.is_empty() {
        return None;
    }
    let mut pair: Vec<u8> = percent_decode_str(url.username()).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(password));
    basic_of(&pair)
}

/// The header of a name and a password, with the colon between them.
pub(super) fn basic_of(pair: &[u8]) -> Option<HeaderValue> {
    let value = format!("Basic {}", STANDARD.encode(pair));
    // Base64 has only characters that a header may carry.
    let mut value = HeaderValue::from_str(&value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// As they stand in the address and decoded, the longest first so that none is left half hidden.
fn secrets(url: &Url, authorization: Option<&HeaderValue>) -> Vec<String> {
    let path = url.path_segments().into_iter().flatten();
    let query = url.query().into_iter().flat_map(|q| q.split(['&', '=']));
    let rest = [url.fragment(), url.query()];
    let words = path.chain(query).chain(rest.into_iter().flatten());
    let words = words.map(|part| (part, SECRET_CHARS_MIN));
    // Nobody writes a word where a name and a password stand.
    let user = [Some(url.username()), url.password()];
    let user = user
        .into_iter()
        .flatten()
        .map(|part| (part, USER_CHARS_MIN));
    // Whoever repeats the question repeats what they became.
    let header = authorization.and_then(|value| value.to_str().ok());
    let header = header.and_then(|value| value.strip_prefix("Basic "));
    let mut secrets: Vec<String> = words
        .chain(user)
        .chain(header.map(|part| (part, 1)))
        .flat_map(|(part, least)| {
            let decoded = percent_decode_str(part).decode_utf8_lossy().into_owned();
            let both = [part.to_owned(), decoded];
            both.into_iter()
                .filter(move |part| part.chars().count() >= least)
        })
        .collect();
    secrets.sort_by_key(|part| std::cmp::Reverse(part.len()));
    secrets.dedup();
    secrets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_shows_neither_path_nor_query_nor_user() {
        let text = "https://user:p%40ssword1@node.example:8545/v2/abcdef0123456789?key=fedcba98#x";
        let endpoint = Endpoint::parse(text).unwrap();
        assert_eq!(endpoint.to_string(), "https://node.example:8545");
        assert_eq!(format!("{endpoint:?}"), "https://node.example:8545");
        assert_eq!(
            endpoint.uri,
            "https://node.example:8545/v2/abcdef0123456789?key=fedcba98"
        );
        let header = endpoint.authorization.unwrap();
        assert_eq!(header, "Basic dXNlcjpwQHNzd29yZDE=");
        assert_eq!(format!("{header:?}"), "Sensitive");
    }

    #[test]
    fn what_a_node_says_is_shown_without_our_keys() {
        let text = "https://u:p%40ssword1@node.example/v2/abcdef0123456789?key=fedcba98";
        let endpoint = Endpoint::parse(text).unwrap();
        let said = "no project abcdef0123456789\n/v2/abcdef0123456789?key=fedcba98 p@ssword1";
        assert_eq!(endpoint.remark(said), "no project … /v2/…?… …");
        assert_eq!(
            endpoint.remark(&"ä".repeat(1000)).chars().count(),
            REMARK_CHARS_MAX
        );
    }

    #[test]
    fn a_short_password_and_what_becomes_of_it_are_not_shown_either() {
        let endpoint = Endpoint::parse("https://us3r:pa55@node.example/v2").unwrap();
        let said = "who is us3r with pa55? Authorization: Basic dXMzcjpwYTU1 at v2";
        let shown = "who is … with …? Authorization: Basic … at v2";
        assert_eq!(endpoint.remark(said), shown);
    }

    #[test]
    fn an_endpoint_is_the_same_however_it_is_written() {
        let endpoint = |text: &str| Endpoint::parse(text).unwrap();
        let one = endpoint("https://n.example/k");
        assert!(one.is_same(&endpoint("HTTPS://user:pass@N.example:443/k#x")));
        assert!(!one.is_same(&endpoint("https://n.example/other")));
    }

    #[test]
    fn a_page_is_below_the_address_and_keeps_its_key() {
        let page = |text: &str| {
            let endpoint = Endpoint::parse_esplora(text).unwrap();
            assert!(endpoint.is_asked_by_address());
            endpoint.page("block/00ff/raw").unwrap().to_string()
        };
        let plain = "https://n.example/block/00ff/raw";
        assert_eq!(
            [page("https://n.example"), page("https://n.example/")],
            [plain, plain]
        );
        assert_eq!(
            page("http://u:p@n.example:3000/testnet4/api/?key=k"),
            "http://n.example:3000/testnet4/api/block/00ff/raw?key=k"
        );
        let node = Endpoint::parse("https://n.example").unwrap();
        assert!(!node.is_asked_by_address());
    }

    #[test]
    fn only_http_addresses_are_endpoints() {
        for text in [
            "",
            "node",
            "wss://node.example",
            "file:///etc/passwd",
            "http://",
        ] {
            assert!(Endpoint::parse(text).is_err(), "{text}");
        }
        for text in [
            "http://localhost:8545",
            "http://[::1]:8545",
            "https://n.example/k",
        ] {
            assert!(Endpoint::parse(text).is_ok(), "{text}");
        }
    }
}

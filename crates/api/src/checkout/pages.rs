//! The checkout pages as this program carries them: built by `make web`, embedded compressed, and served
//! under `/checkout` with a policy that lets nothing else run.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, HeaderValue, header};
use till_core::error::{Code, Refusal};

use crate::handler::pages::unpack;
use crate::handler::{Answered, Api};
use till_http::query::peek;

/// Every page lies one level below the folder: it looks for its files from there.
pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/checkout/i/{id}", get(invoice))
        .route("/checkout/l/{slug}", get(other))
        .route("/checkout/r/{token}", get(other))
        .route("/checkout/r/", get(other))
        .route("/checkout/assets/{name}", get(asset))
}

/// Scripts and styles from here alone, requests to here alone, and no text that becomes a script. Wallets'
/// icons are pictures in their announcements.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types 'none'",
);

/// Where the server puts what it knows of the page that was asked for.
const MARK: &str = "<!--status-->";
const HTML: &str = "text/html; charset=utf-8";
/// Asked for again each time: it names the files of this version.
const FRESH: &str = "no-cache";
/// Its name holds the hash of its content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

fn headers(kind: &'static str, cache: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    let fixed = [
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
}

/// A page: the same for all, but for where it leads who has no JavaScript.
async fn page(api: &Api, no_script: Option<String>) -> Response {
    let Some(index) = api.config.pages.index() else {
        let line = "This server was built without the checkout pages: run `make web`, then build it again.\n";
        let kind = headers("text/plain; charset=utf-8", FRESH);
        return (kind, line).into_response();
    };
    let html = index.replacen(MARK, &no_script.unwrap_or_default(), 1);
    (headers(HTML, FRESH), html).into_response()
}

/// The page of an invoice.
async fn invoice(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let key = peek(request.uri().query(), "key");
    page(&api, no_script(&id, key.as_deref())).await
}

/// The page of a payment link or a refund: without JavaScript neither can do anything.
async fn other(State(api): State<Arc<Api>>) -> Response {
    page(&api, None).await
}

/// Sends who has no JavaScript to a page that needs none. Nothing of a request gets into the page but what
/// can be nothing else than an id or a key.
fn no_script(id: &str, key: Option<&str>) -> Option<String> {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let key = key.filter(|key| is_plain(key))?;
    is_plain(id).then(|| {
        format!("<noscript><meta http-equiv=\"refresh\" content=\"0; url=../../pay/{id}?key={key}\"></noscript>")
    })
}

/// A script, a style or words.
async fn asset(
    State(api): State<Arc<Api>>,
    Path(name): Path<String>,
    request: HeaderMap,
) -> Answered {
    let path = format!("assets/{name}");
    let packed = api
        .config
        .pages
        .find(&path)
        .ok_or_else(|| Refusal::of(Code::RouteNotFound))?;
    let kind = match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let mut headers = headers(kind, FOR_EVER);
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !takes_gzip(&request) {
        return Ok((headers, unpack(packed)).into_response());
    }
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Ok((headers, packed).into_response())
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let named = headers.get_all(header::ACCEPT_ENCODING).iter();
    let named = named.filter_map(|value| value.to_str().ok());
    named
        .flat_map(|value| value.split(','))
        .map(|coding| coding.split(';').map(str::trim).collect::<Vec<_>>())
        .any(|coding| matches!(coding[..], ["gzip" | "*"]) || is_wanted(&coding))
}

/// `gzip;q=0.5`, and not `gzip;q=0`.
fn is_wanted(coding: &[&str]) -> bool {
    let ["gzip" | "*", weight] = coding else {
        return false;
    };
    let digits = weight.strip_prefix("q=").unwrap_or_default();
    digits.bytes().any(|digit| digit != b'0' && digit != b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_who_takes_it() {
        let takes = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            takes_gzip(&headers)
        };
        for yes in [
            "gzip",
            "br, gzip",
            "gzip;q=0.5, br",
            "*",
            "deflate , gzip ; q=1",
        ] {
            assert!(takes(yes), "{yes}");
        }
        for no in ["", "br", "identity", "gzip;q=0", "gzip; q=0.000", "gzipped"] {
            assert!(!takes(no), "{no}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn nothing_but_an_id_and_a_key_gets_into_the_page() {
        let link = no_script("inv_01", Some("till_test_pk_a1")).unwrap();
        assert!(link.contains("url=../../pay/inv_01?key=till_test_pk_a1\""));
        for (id, key) in [
            ("inv_01", None),
            ("inv_01", Some("")),
            ("inv_01", Some("a\"><script>")),
            ("inv_01", Some("a&lang=x")),
            ("..", Some("a")),
            ("inv_01\"", Some("a")),
            ("", Some("a")),
        ] {
            assert_eq!(no_script(id, key), None, "{id} {key:?}");
        }
    }
}

//! Pages that were built before this program and are carried in it, compressed.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use till_core::error::{Code, Refusal};

use super::answers::Answered;
use super::packed::{file, is_known, not_modified, tag_of, unpack};

/// Files by their path, each compressed with gzip.
pub type Files = &'static [(&'static str, &'static [u8])];

/// All pages that the program carries.
#[derive(Clone, Debug, Default)]
pub struct CarriedPages {
    pub checkout: Pages,
    pub dashboard: Pages,
    /// What pages of others include: one script.
    pub button: Pages,
}

/// The pages of one kind. A program that was built without them has none, and says so.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    files: Files,
    index: Option<Arc<str>>,
}

const INDEX: &str = "index.html";

/// Scripts and styles from here alone, requests to here alone, and no text that becomes a script. Wallets'
/// icons are pictures in their announcements.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types 'none'",
);

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");
const HTML: &str = "text/html; charset=utf-8";
/// Asked for again each time: it names the files of this version.
const FRESH: &str = "no-cache";
/// Its name holds the hash of its content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Its name stays the same when this program is upgraded, so that browsers ask again after a day.
const FOR_A_DAY: &str = "public, max-age=86400";
const MISSING: &str =
    "This server was built without its web pages: run `make web`, then build it again.\n";

impl Pages {
    pub fn new(files: Files) -> Pages {
        let mut pages = Pages { files, index: None };
        let index = pages.unpacked().find(|(name, _)| *name == INDEX);
        pages.index = index.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into());
        pages
    }

    /// The page that all of them begin with.
    pub fn index(&self) -> Option<&str> {
        self.index.as_deref()
    }

    /// A file as it is carried.
    fn find(&self, path: &str) -> Option<&'static [u8]> {
        let found = self.files.iter().find(|(name, _)| *name == path);
        found.map(|(_, packed)| *packed)
    }

    /// The page that was asked for, made from the one that all begin with.
    pub fn page(&self, fill: impl FnOnce(&str) -> String) -> Response {
        match self.index() {
            Some(index) => (headers(HTML, FRESH), fill(index)).into_response(),
            None => (headers("text/plain; charset=utf-8", FRESH), MISSING).into_response(),
        }
    }

    /// A script, a style or words, packed for who takes that.
    pub fn asset(&self, name: &str, request: &HeaderMap) -> Answered {
        let packed = self
            .find(&format!("assets/{name}"))
            .ok_or_else(|| Refusal::of(Code::RouteNotFound))?;
        Ok(file(packed, headers_of_file(name, FOR_EVER), request))
    }

    /// A file that pages of any origin may include.
    pub fn shared(&self, name: &str, request: &HeaderMap) -> Answered {
        let packed = self
            .find(name)
            .ok_or_else(|| Refusal::of(Code::RouteNotFound))?;
        let mut headers = headers_of_file(name, FOR_A_DAY);
        headers.insert(
            header::ACCESS_CONTROL_ALLOW_ORIGIN,
            HeaderValue::from_static("*"),
        );
        headers.insert(
            CROSS_ORIGIN_RESOURCE_POLICY,
            HeaderValue::from_static("cross-origin"),
        );
        Ok(match is_known(&tag_of(packed), &mut headers, request) {
            true => not_modified(headers),
            false => file(packed, headers, request),
        })
    }

    /// Every file as it was built.
    pub fn unpacked(&self) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
        let files = self.files.iter();
        files.map(|(name, packed)| (*name, unpack(packed)))
    }
}

fn headers_of_file(name: &str, cache: &'static str) -> HeaderMap {
    let kind = match name.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    headers(kind, cache)
}

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

//! What is sent compressed with gzip to clients that take it: when they do, and the tag by which they ask whether they have it.

use std::io::{Read as _, Write as _};

use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};

const VARY: HeaderValue = HeaderValue::from_static("accept-encoding");
const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// A text that stays the same for as long as the server runs, compressed once.
#[derive(Clone, Debug)]
pub struct Packed {
    plain: Bytes,
    gzip: Bytes,
    tag: String,
}

impl Packed {
    pub fn new(text: String) -> Packed {
        let gzip: Bytes = compress(text.as_bytes()).into();
        Packed {
            tag: tag_of(&gzip),
            plain: text.into(),
            gzip,
        }
    }

    /// The answer to a request with these headers, with headers of its own.
    pub fn answer(&self, mut headers: HeaderMap, request: &HeaderMap) -> Response {
        if is_known(&self.tag, &mut headers, request) {
            return not_modified(headers);
        }
        headers.insert(header::VARY, VARY);
        if !takes_gzip(request) {
            return (headers, self.plain.clone()).into_response();
        }
        headers.insert(header::CONTENT_ENCODING, GZIP);
        (headers, self.gzip.clone()).into_response()
    }
}

/// The answer with a file in it that was compressed when this program was built.
pub(super) fn file(packed: &'static [u8], mut headers: HeaderMap, request: &HeaderMap) -> Response {
    headers.insert(header::VARY, VARY);
    if !takes_gzip(request) {
        return (headers, unpack(packed)).into_response();
    }
    headers.insert(header::CONTENT_ENCODING, GZIP);
    (headers, packed).into_response()
}

/// The answer to a client that has it already.
pub(super) fn not_modified(mut headers: HeaderMap) -> Response {
    headers.insert(header::VARY, VARY);
    (StatusCode::NOT_MODIFIED, headers).into_response()
}

/// Puts the tag into the answer's headers. Says whether the client has what it names.
pub(super) fn is_known(tag: &str, headers: &mut HeaderMap, request: &HeaderMap) -> bool {
    if let Ok(value) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, value);
    }
    let named = request.get_all(header::IF_NONE_MATCH).iter();
    let named = named.filter_map(|value| value.to_str().ok());
    named
        .flat_map(|value| value.split(','))
        .any(|value| value.trim() == tag)
}

/// Weak, because it is the same for the packed and the unpacked text.
pub(super) fn tag_of(packed: &[u8]) -> String {
    let hash = Sha256::digest(packed);
    format!("W/\"{}\"", hex::encode(&hash[..16]))
}

pub(super) fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What was packed when this program was built unpacks.
    let _ = GzDecoder::new(packed).read_to_end(&mut bytes);
    bytes
}

fn compress(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Memory takes whatever is written to it.
    let _ = encoder.write_all(text);
    encoder.finish().unwrap_or_default()
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
}

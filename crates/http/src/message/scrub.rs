//! Keys in URLs: found wherever they hide, and kept out of the log.

use std::borrow::Cow;

use http::Uri;
use percent_encoding::percent_decode;

const SECRET: [&[u8]; 2] = [b"till_test_sk_", b"till_live_sk_"];
const KEYS: [&str; 4] = [
    "till_test_sk_",
    "till_live_sk_",
    "till_test_pk_",
    "till_live_pk_",
];

/// How often an address may have been encoded on its way here. Proxies and careless clients do it twice.
const DECODINGS_MAX: usize = 3;

/// Whether a secret key stands anywhere in the address, plainly or percent-encoded.
pub fn has_secret_key(uri: &Uri) -> bool {
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    holds_secret(target) || holds_secret(authority)
}

/// The secret key in the address, where it stands there plainly.
pub fn secret_key(uri: &Uri) -> Option<String> {
    let target = uri.path_and_query()?.as_str();
    let start = KEYS[..2]
        .iter()
        .filter_map(|prefix| target.find(prefix))
        .min()?;
    let key = target[start..]
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next()?;
    Some(key.to_owned())
}

fn holds_secret(text: &str) -> bool {
    if text.len() < SECRET[0].len() {
        return false;
    }
    let mut bytes = Cow::Borrowed(text.as_bytes());
    for _ in 0..DECODINGS_MAX {
        if contains_secret(&bytes) {
            return true;
        }
        // What is decodable; the rest stays.
        let decoded = match percent_decode(&bytes).into() {
            Cow::Owned(decoded) => decoded,
            Cow::Borrowed(_) => return false,
        };
        bytes = Cow::Owned(decoded);
    }
    contains_secret(&bytes)
}

fn contains_secret(bytes: &[u8]) -> bool {
    bytes
        .windows(SECRET[0].len())
        .any(|window| window[0] == b't' && SECRET.contains(&window))
}

/// The path for the log. Keys are cut after their prefix, and so is what follows a path whose next
/// segment is itself a credential; a path that only decodes into a key is not shown at all.
pub fn loggable_path<'a>(path: &'a str, credential_paths: &[&str]) -> Cow<'a, str> {
    if let Some(prefix) = credential_paths
        .iter()
        .find(|prefix| path.starts_with(**prefix))
    {
        let rest = &path[prefix.len()..];
        let after = rest.find('/').map_or("", |slash| &rest[slash..]);
        return Cow::Owned(format!("{prefix}***{}", without_keys(after)));
    }
    without_keys(path)
}

fn without_keys(path: &str) -> Cow<'_, str> {
    if !path.contains("till_") {
        return match path.contains('%') && holds_secret(path) {
            true => Cow::Borrowed("***"),
            false => Cow::Borrowed(path),
        };
    }
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((at, prefix)) = KEYS
        .iter()
        .filter_map(|prefix| rest.find(prefix).map(|at| (at, *prefix)))
        .min()
    {
        out.push_str(&rest[..at + prefix.len()]);
        out.push_str("***");
        let tail = &rest[at + prefix.len()..];
        let end = tail
            .find(|c: char| !(c.is_ascii_alphanumeric() || "_-%".contains(c)))
            .unwrap_or(tail.len());
        rest = &tail[end..];
    }
    out.push_str(rest);
    match holds_secret(&out) && out.contains('%') {
        true => Cow::Borrowed("***"),
        false => Cow::Owned(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secret(uri: &str) -> bool {
        has_secret_key(&uri.parse().unwrap())
    }

    #[test]
    fn a_secret_key_is_found_wherever_it_hides() {
        for uri in [
            "/v1/invoices?key=till_test_sk_abc",
            "/v1/invoices/till_live_sk_abc",
            "/no/such/route/till_test_sk_",
            "/?a=b&c=xtill_live_sk_1",
            "/v1?key=till%5Ftest%5Fsk%5Fabc",
            "/v1?key=%74%69%6c%6c%5f%74%65%73%74%5f%73%6b%5f",
            "/v1?key=till%255Ftest%255Fsk%255Fabc",
            "/v1?x=%zz%&key=till%5flive%5fsk%5fabc",
            "http://till_test_sk_abc@host/v1",
        ] {
            assert!(secret(uri), "{uri}");
        }
    }

    #[test]
    fn other_addresses_hold_none() {
        for uri in [
            "/",
            "/v1/invoices?limit=10",
            "/v1/invoices/inv_1/events?key=till_test_pk_abc",
            "/v1/x?key=till_test_s%",
            "/till_test_xk_a",
        ] {
            assert!(!secret(uri), "{uri}");
        }
    }

    #[test]
    fn the_log_shows_no_credential() {
        let check = |path: &str, expected: &str| {
            assert_eq!(loggable_path(path, &["/v1/refund_claims/"]), expected);
        };
        check("/v1/invoices/inv_1", "/v1/invoices/inv_1");
        check("/v1/till_live_sk_CANARY/x", "/v1/till_live_sk_***/x");
        check(
            "/till_test_pk_CANARY/till_live_sk_CANARY",
            "/till_test_pk_***/till_live_sk_***",
        );
        check("/v1/till%5Flive%5Fsk%5FCANARY", "***");
        check("/till_/till%5Flive%5Fsk%5FCANARY", "***");
        check("/v1/refund_claims/CANARY", "/v1/refund_claims/***");
        check(
            "/v1/refund_claims/CANARY/submit",
            "/v1/refund_claims/***/submit",
        );
    }

    proptest! {
        #[test]
        fn a_key_is_found_and_scrubbed_in_any_surroundings(
            before in "/[a-z%0-9/_]{0,12}", rest in "[A-Z]{4,12}", after in "(/[a-z%]{0,6})?",
            encoded in prop::collection::vec(any::<bool>(), 13),
        ) {
            let key: String = "till_live_sk_".bytes().zip(encoded)
                .map(|(b, encode)| if encode { format!("%{b:02x}") } else { char::from(b).to_string() })
                .collect();
            // A dangling `%` before the key would swallow its first letters.
            let before = before.trim_end_matches(|c: char| c.is_ascii_hexdigit() || c == '%');
            let path = format!("{before}/{key}{rest}{after}");
            prop_assert!(holds_secret(&path));
            prop_assert!(!loggable_path(&path, &[]).contains(&rest));
        }
    }
}

//! Who the request says it is, before anyone has looked it up.

use std::fmt;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use till_core::error::{Code, Refusal};

#[derive(Clone, PartialEq, Eq)]
pub enum Presented {
    None,
    Bearer(String),
    /// The username; a key has no password.
    Basic(String),
    /// From `?key=`, for clients that cannot set a header.
    Query(String),
}

/// Says which way the key came and never which key.
impl fmt::Debug for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Presented::None => "None",
            Presented::Bearer(_) => "Bearer(…)",
            Presented::Basic(_) => "Basic(…)",
            Presented::Query(_) => "Query(…)",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMode {
    Test,
    Live,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Secret,
    Publishable,
}

/// What a key says about itself in its first letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShape {
    pub mode: KeyMode,
    pub kind: KeyKind,
}

/// Longer than any key ever issued: what is longer is not worth hashing.
const KEY_CHARS_MAX: usize = 128;

impl KeyShape {
    pub fn parse(key: &str) -> Option<KeyShape> {
        let rest = key.strip_prefix("till_")?;
        let (mode, rest) = match rest.strip_prefix("test_") {
            Some(rest) => (KeyMode::Test, rest),
            None => (KeyMode::Live, rest.strip_prefix("live_")?),
        };
        let (kind, secret) = match rest.strip_prefix("sk_") {
            Some(secret) => (KeyKind::Secret, secret),
            None => (KeyKind::Publishable, rest.strip_prefix("pk_")?),
        };
        let fits = !secret.is_empty()
            && key.len() <= KEY_CHARS_MAX
            && secret
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
        fits.then_some(KeyShape { mode, kind })
    }
}

/// The header wins over `?key=`: it is the one a client sets on purpose.
pub fn presented(headers: &HeaderMap, query_key: Option<String>) -> Result<Presented, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(match query_key {
            Some(key) if key.is_empty() => Presented::None,
            Some(key) => Presented::Query(key),
            None => Presented::None,
        });
    };
    if values.next().is_some() {
        return Err(malformed(
            "The Authorization header is sent more than once.",
        ));
    }
    // `to_str` takes visible ASCII, spaces and tabs only.
    let value = value
        .to_str()
        .map_err(|_| malformed("The Authorization header holds more than ASCII."))?;
    let (scheme, token) = value
        .split_once(' ')
        .ok_or_else(|| malformed("The Authorization header must be `Bearer <key>`."))?;
    let token = token.trim_matches(' ');
    if token.is_empty() || token.contains([' ', '\t', ',']) {
        return Err(malformed(
            "The Authorization header must be `Bearer <key>`.",
        ));
    }
    if scheme.eq_ignore_ascii_case("bearer") {
        Ok(Presented::Bearer(token.to_owned()))
    } else if scheme.eq_ignore_ascii_case("basic") {
        basic(token)
    } else {
        Err(malformed(
            "The Authorization header must use the scheme Bearer or Basic.",
        ))
    }
}

fn basic(token: &str) -> Result<Presented, Refusal> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let pair = LENIENT
        .decode(token)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| malformed("The Basic credentials are not valid base64."))?;
    let (username, password) = pair
        .split_once(':')
        .filter(|(username, _)| !username.is_empty())
        .ok_or_else(|| malformed("The Basic credentials must be the key and a colon."))?;
    // An e-mail and password are no malformed header but simply no key, and are told so.
    if KeyShape::parse(username).is_none() {
        return Err(Refusal::of(Code::ApiKeyInvalid));
    }
    if !password.is_empty() {
        return Err(malformed(
            "The key is the username of the Basic credentials and the password is empty.",
        ));
    }
    Ok(Presented::Basic(username.to_owned()))
}

fn malformed(message: &'static str) -> Refusal {
    Refusal::new(Code::AuthorizationHeaderInvalid, message).param("Authorization")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD as BASE64;
    use http::HeaderValue;
    use proptest::prelude::*;

    fn headers(values: &[&[u8]]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for value in values {
            map.append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        map
    }

    fn check(value: &str, expected: Result<Presented, Code>) {
        let read = presented(&headers(&[value.as_bytes()]), None).map_err(|refusal| refusal.code);
        assert_eq!(read, expected, "{value}");
    }

    fn basic_of(pair: &str) -> String {
        format!("Basic {}", BASE64.encode(pair))
    }

    #[test]
    fn a_key_comes_as_bearer_as_basic_username_or_in_the_query() {
        let key = || "till_test_sk_abc".to_owned();
        check("Bearer till_test_sk_abc", Ok(Presented::Bearer(key())));
        check("bearer  till_test_sk_abc", Ok(Presented::Bearer(key())));
        check(&basic_of("till_test_sk_abc:"), Ok(Presented::Basic(key())));
        check("BASIC dGlsbF90ZXN0X3NrX2FiYzo", Ok(Presented::Basic(key())));
        let none = HeaderMap::new();
        assert_eq!(presented(&none, Some(key())), Ok(Presented::Query(key())));
        assert_eq!(presented(&none, Some(String::new())), Ok(Presented::None));
        assert_eq!(presented(&none, None), Ok(Presented::None));
        assert_eq!(
            presented(&headers(&[b"Bearer x"]), Some(key())),
            Ok(Presented::Bearer("x".into()))
        );
    }

    #[test]
    fn a_malformed_header_is_told_from_an_unknown_key() {
        for value in [
            "",
            " ",
            "Bearer",
            "Bearer ",
            "till_test_sk_abc",
            "Token abc",
            "Bearer a b",
            "Bearer a,b",
            "Digest username=a",
            "Basic",
            "Basic !!!",
            "Basic Og==",
            "Basic //79",
            &basic_of("till_test_sk_abc"),
            &basic_of("till_test_sk_abc:secret"),
        ] {
            check(value, Err(Code::AuthorizationHeaderInvalid));
        }
        let twice = headers(&[b"Bearer a", b"Bearer a"]);
        let refusal = presented(&twice, None).unwrap_err();
        assert_eq!(refusal.code, Code::AuthorizationHeaderInvalid);
        let beyond = presented(&headers(&["Bearer é".as_bytes()]), None).unwrap_err();
        assert_eq!(beyond.code, Code::AuthorizationHeaderInvalid);
    }

    #[test]
    fn an_email_and_password_are_no_key() {
        check(&basic_of("a@example.com:hunter2"), Err(Code::ApiKeyInvalid));
        check(&basic_of("a@example.com:"), Err(Code::ApiKeyInvalid));
    }

    #[test]
    fn a_key_says_its_mode_and_kind() {
        let shape = |key| KeyShape::parse(key).map(|shape| (shape.mode, shape.kind));
        assert_eq!(
            shape("till_test_sk_a"),
            Some((KeyMode::Test, KeyKind::Secret))
        );
        assert_eq!(
            shape("till_live_pk_Z9"),
            Some((KeyMode::Live, KeyKind::Publishable))
        );
        let long = format!("till_test_sk_{}", "a".repeat(200));
        for other in [
            "",
            "till_",
            "till_test_sk_",
            "till_prod_sk_a",
            "till_test_ak_a",
            "Till_test_sk_a",
            "till_test_sk_a b",
            "till_test_sk_é",
            "clm_abc",
            &long,
        ] {
            assert_eq!(shape(other), None, "{other}");
        }
    }

    #[test]
    fn what_was_presented_is_not_printed() {
        let shown = format!("{:?}", Presented::Bearer("till_live_sk_canary".into()));
        assert!(!shown.contains("canary"));
    }

    proptest! {
        #[test]
        fn any_header_is_read_or_refused(value in prop::collection::vec(0x20u8..=0xff, 0..40), scheme in "(Bearer |Basic |)") {
            let mut bytes = scheme.into_bytes();
            bytes.extend(value);
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let mut map = HeaderMap::new();
                map.insert(AUTHORIZATION, value);
                let _ = presented(&map, None);
            }
        }

        #[test]
        fn any_text_has_a_key_shape_or_none(text in "(till_(test|live)_(sk|pk)_)?.{0,10}") {
            let _ = KeyShape::parse(&text);
        }
    }
}

//! The query string, read as strictly as a body: every name known, once, and decoded without guessing.

use std::ops::RangeInclusive;

use percent_encoding::percent_decode_str;
use till_core::error::{Code, Refusal};

use super::fields::Typed;
use super::read::{Read, choose, clip, invalid, out_of_range, whole_text};

#[derive(Debug, Default)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// `known` are the names the route takes; `key` is one of them only where the route says so.
    pub fn of(raw: Option<&str>, known: &[&str]) -> Read<Query> {
        let mut pairs = Vec::new();
        for part in parts(raw) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let name = decode(name).ok_or_else(|| {
                Refusal::new(
                    Code::ParameterInvalid,
                    "The query string has a name that is not valid percent-encoded UTF-8.",
                )
            })?;
            if !known.contains(&name.as_str()) {
                let shown = clip(&name);
                return Err(Refusal::new(
                    Code::ParameterUnknown,
                    format!("`{shown}` is not a query parameter of this request."),
                )
                .param(shown));
            }
            pairs.push((name, value));
        }
        // Only now the values: an unknown name wins wherever it stands.
        let mut read: Vec<(String, String)> = Vec::with_capacity(pairs.len());
        for (name, value) in pairs {
            if read.iter().any(|(seen, _)| *seen == name) {
                let message = format!("`{name}` is given more than once.");
                return Err(invalid(&name, message));
            }
            let value = decode(value).ok_or_else(|| {
                invalid(
                    &name,
                    format!("`{name}` is not valid percent-encoded UTF-8."),
                )
            })?;
            let value = whole_text(&name, value)?;
            read.push((name, value));
        }
        Ok(Query { pairs: read })
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let index = self.pairs.iter().position(|(sent, _)| sent == name)?;
        Some(self.pairs.swap_remove(index).1)
    }

    pub fn read<P: Parameter>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str, String) -> Read<P::Value>,
    ) -> Read<P> {
        P::read(name, self.text(name), read)
    }
}

/// A query parameter by its Rust type: `T` is required, `Option<T>` is not.
pub trait Parameter: Sized {
    type Value;

    fn read(
        at: &str,
        sent: Option<String>,
        read: impl FnOnce(&str, String) -> Read<Self::Value>,
    ) -> Read<Self>;
}

impl<T: Typed> Parameter for T {
    type Value = T;

    fn read(at: &str, sent: Option<String>, read: impl FnOnce(&str, String) -> Read<T>) -> Read<T> {
        let value = sent.ok_or_else(|| {
            Refusal::new(Code::ParameterMissing, format!("`{at}` is required.")).param(at)
        })?;
        read(at, value)
    }
}

impl<T> Parameter for Option<T> {
    type Value = T;

    fn read(
        at: &str,
        sent: Option<String>,
        read: impl FnOnce(&str, String) -> Read<T>,
    ) -> Read<Option<T>> {
        sent.map(|value| read(at, value)).transpose()
    }
}

/// A value before anything is known of the route, for what must be looked at first (`key`).
/// Given twice it is not usable, and the route's own reader will say why.
pub fn peek(raw: Option<&str>, name: &str) -> Option<String> {
    let mut found = None;
    for part in parts(raw) {
        let (sent, value) = part.split_once('=').unwrap_or((part, ""));
        if decode(sent).as_deref() == Some(name) && found.replace(decode(value)?).is_some() {
            return None;
        }
    }
    found
}

pub fn integer(range: RangeInclusive<i64>) -> impl Fn(&str, String) -> Read<i64> {
    move |at, value| {
        // `parse` alone would take "+5" and "007", which no other reader of the API takes.
        let digits = value.strip_prefix('-').unwrap_or(&value);
        let plain = digits.bytes().all(|b| b.is_ascii_digit())
            && (digits.len() == 1 || !digits.starts_with('0'));
        plain
            .then(|| value.parse().ok())
            .flatten()
            .filter(|n| range.contains(n))
            .ok_or_else(|| out_of_range(at, &range))
    }
}

/// Any text; an empty one is text.
pub fn text(_: &str, value: String) -> Read<String> {
    Ok(value)
}

/// One of these, by the word each is called.
pub fn one_of<T: Copy>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl Fn(&str, String) -> Read<T> {
    move |at, value| choose(all, word, at, &value)
}

pub fn boolean(at: &str, value: String) -> Read<bool> {
    match value.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(invalid(at, format!("`{at}` must be true or false."))),
    }
}

fn parts(raw: Option<&str>) -> impl Iterator<Item = &str> {
    raw.unwrap_or("").split('&').filter(|part| !part.is_empty())
}

/// Percent-decoding with `+` as a space; nothing for a broken escape, which the library would let pass, or what is not
/// UTF-8, which `form_urlencoded` would replace.
fn decode(text: &str) -> Option<String> {
    let is_escape = |after: &str| {
        let digits = after.as_bytes().first_chunk::<2>();
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_escape) {
        return None;
    }
    let spaced = text.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Page = (Option<i64>, Option<String>);

    fn read(raw: &str) -> Read<Page> {
        let mut query = Query::of(Some(raw), &["limit", "cursor"])?;
        Ok((
            query.read("limit", integer(1..=100))?,
            query.read("cursor", text)?,
        ))
    }

    fn check(raw: &str, expected: Result<Page, (Code, Option<&str>)>) {
        let read = read(raw).map_err(|refusal| (refusal.code, refusal.param));
        let expected = expected.map_err(|(code, param)| (code, param.map(str::to_owned)));
        assert_eq!(read, expected, "{raw}");
    }

    #[test]
    fn values_are_decoded_and_an_empty_one_is_one() {
        check("", Ok((None, None)));
        check("limit=1", Ok((Some(1), None)));
        check(
            "cursor=a%2Bb+c&limit=100&",
            Ok((Some(100), Some("a+b c".to_owned()))),
        );
        check("cursor=", Ok((None, Some(String::new()))));
    }

    #[test]
    fn a_limit_that_is_not_one_to_a_hundred_is_refused() {
        for raw in [
            "0",
            "101",
            "-1",
            "+1",
            "1.0",
            "1e1",
            "01",
            "abc",
            "",
            "%20",
            "4294967297",
            "99999999999999999999",
            "٣",
            "0x1",
            "-",
        ] {
            check(
                &format!("limit={raw}"),
                Err((Code::ParameterInvalid, Some("limit"))),
            );
        }
    }

    #[test]
    fn unknown_names_win_over_bad_values_wherever_they_stand() {
        check("limt=5", Err((Code::ParameterUnknown, Some("limt"))));
        check(
            "limit=0&limit=0&cursor=%zz&key=x",
            Err((Code::ParameterUnknown, Some("key"))),
        );
        check("=1", Err((Code::ParameterUnknown, Some(""))));
    }

    #[test]
    fn a_name_given_twice_is_refused_even_when_encoded() {
        check(
            "limit=5&%6cimit=5",
            Err((Code::ParameterInvalid, Some("limit"))),
        );
    }

    #[test]
    fn a_broken_escape_is_refused() {
        for value in ["%", "%2", "%zz", "%ff", "%00"] {
            check(
                &format!("cursor={value}"),
                Err((Code::ParameterInvalid, Some("cursor"))),
            );
        }
        check("%zz=1", Err((Code::ParameterInvalid, None)));
    }

    #[test]
    fn required_and_typed_values_name_themselves() {
        let mut query = Query::of(Some("a=true&b=no"), &["a", "b", "c"]).unwrap();
        assert_eq!(query.read("a", boolean), Ok(Some(true)));
        let yes = one_of(&["yes"], |word| word);
        let refusal = query.read::<Option<&str>>("b", yes).unwrap_err();
        assert_eq!(refusal.param.as_deref(), Some("b"));
        let refusal = query.read::<bool>("c", boolean).unwrap_err();
        assert_eq!(refusal.code, Code::ParameterMissing);
    }

    #[test]
    fn a_value_peeked_at_must_be_alone() {
        assert_eq!(peek(Some("a=1&key=x"), "key").as_deref(), Some("x"));
        assert_eq!(peek(Some("key=x&key=y"), "key"), None);
        assert_eq!(peek(None, "key"), None);
    }

    proptest! {
        #[test]
        fn any_query_is_read_or_refused(raw in ".{0,60}") {
            let _ = read(&raw);
            let _ = peek(Some(&raw), "key");
        }

        #[test]
        fn what_was_encoded_reads_back(value in "[^\0]{0,20}") {
            let encoded: String = value.bytes().map(|b| format!("%{b:02x}")).collect();
            let mut query = Query::of(Some(&format!("cursor={encoded}")), &["cursor"]).unwrap();
            prop_assert_eq!(query.text("cursor"), Some(value));
        }
    }
}

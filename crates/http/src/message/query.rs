//! The query string, read as strictly as a body: every name known, once, and decoded without guessing.

use std::ops::RangeInclusive;

use till_core::error::{Code, Refusal};
use till_core::limits;

use super::read::{Read, choose, clip, invalid, out_of_range, whole_text};

#[derive(Debug, Default)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub limit: u32,
    /// As sent; what it means is the store's business.
    pub cursor: Option<String>,
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

    pub fn text(&mut self, name: &str) -> Option<String> {
        let index = self.pairs.iter().position(|(sent, _)| sent == name)?;
        Some(self.pairs.swap_remove(index).1)
    }

    pub fn required<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str, String) -> Read<T>,
    ) -> Read<T> {
        let value = self.text(name).ok_or_else(|| {
            Refusal::new(Code::ParameterMissing, format!("`{name}` is required.")).param(name)
        })?;
        read(name, value)
    }

    pub fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str, String) -> Read<T>,
    ) -> Read<Option<T>> {
        self.text(name).map(|value| read(name, value)).transpose()
    }

    pub fn page(&mut self) -> Read<Page> {
        let max = i64::from(limits::PAGE_LIMIT_MAX);
        let limit = match self.optional("limit", integer(1..=max))? {
            // The reader has bounded it by a u32.
            Some(limit) => u32::try_from(limit).unwrap_or(limits::PAGE_LIMIT_MAX),
            None => limits::PAGE_LIMIT_DEFAULT,
        };
        Ok(Page {
            limit,
            cursor: self.text("cursor"),
        })
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

pub fn one_of(words: &'static [&'static str]) -> impl Fn(&str, String) -> Read<&'static str> {
    move |at, value| choose(words, at, &value)
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

/// Percent-decoding with `+` as a space; nothing for a broken escape or what is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => (hex(rest.next()?)? << 4) | hex(rest.next()?)?,
            b'+' => b' ',
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

pub(super) fn hex(digit: u8) -> Option<u8> {
    // A hexadecimal digit is below 16.
    char::from(digit)
        .to_digit(16)
        .and_then(|n| u8::try_from(n).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(raw: &str, expected: Result<Page, (Code, Option<&str>)>) {
        let read = Query::of(Some(raw), &["limit", "cursor"]).and_then(|mut query| query.page());
        match (read, expected) {
            (Ok(page), Ok(expected)) => assert_eq!(page, expected, "{raw}"),
            (Err(refusal), Err((code, param))) => {
                assert_eq!(
                    (refusal.code, refusal.param.as_deref()),
                    (code, param),
                    "{raw}"
                )
            }
            (read, expected) => panic!("{raw}: {read:?}, expected {expected:?}"),
        }
    }

    fn page(limit: u32, cursor: Option<&str>) -> Result<Page, (Code, Option<&'static str>)> {
        Ok(Page {
            limit,
            cursor: cursor.map(str::to_owned),
        })
    }

    #[test]
    fn a_page_is_ten_unless_told() {
        check("", page(10, None));
        check("limit=1", page(1, None));
        check("cursor=a%2Bb+c&limit=100&", page(100, Some("a+b c")));
        check("cursor=", page(10, Some("")));
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
        assert_eq!(query.optional("a", boolean).unwrap(), Some(true));
        assert_eq!(
            query
                .optional("b", one_of(&["yes"]))
                .unwrap_err()
                .param
                .as_deref(),
            Some("b")
        );
        let refusal = query.required("c", boolean).unwrap_err();
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
            let _ = Query::of(Some(&raw), &["limit", "cursor"]).and_then(|mut query| query.page());
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

//! Readers: from one value of a body to what a handler works with.
//!
//! A reader is a function of the value's name (as errors carry it in `param`) and the value.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use till_core::error::{Code, Refusal};
use till_core::limits;
use till_core::text::may_be_shown;

use super::json::{Json, Number};

pub type Read<T> = Result<T, Refusal>;

/// A name in an error is an echo of what the client sent, so it is cut.
const PARAM_CHARS_MAX: usize = 100;

pub fn invalid(at: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(Code::ParameterInvalid, message.into()).param(clip(at))
}

pub fn clip(name: &str) -> String {
    name.chars().take(PARAM_CHARS_MAX).collect()
}

pub fn wrong_type(at: &str, wanted: &str, got: &Json) -> Refusal {
    let name = clip(at);
    invalid(
        at,
        format!("`{name}` must be {wanted}, not {}.", got.describe()),
    )
}

/// Any text without NUL, which PostgreSQL cannot hold.
pub fn text(at: &str, value: Json) -> Read<String> {
    match value {
        Json::String(text) => whole_text(at, text),
        other => Err(wrong_type(at, "a string", &other)),
    }
}

pub(super) fn whole_text(at: &str, text: String) -> Read<String> {
    if text.contains('\0') {
        return Err(invalid(
            at,
            format!("`{}` must not contain the character NUL.", clip(at)),
        ));
    }
    Ok(text)
}

/// Text of at most so many characters; empty text is text.
pub fn text_max(chars_max: usize) -> impl Fn(&str, Json) -> Read<String> {
    text_len(0..=chars_max)
}

/// Text whose number of characters lies in the range.
pub fn text_len(chars: RangeInclusive<usize>) -> impl Fn(&str, Json) -> Read<String> {
    move |at, value| {
        let text = text(at, value)?;
        if chars.contains(&text.chars().count()) {
            return Ok(text);
        }
        let (name, min, max) = (clip(at), chars.start(), chars.end());
        Err(invalid(
            at,
            match min {
                0 => format!("`{name}` must be at most {max} characters."),
                _ => format!("`{name}` must be {min} to {max} characters."),
            },
        ))
    }
}

/// The same for what payers see: nothing in it may make it look like something else. Lines and tabs are fine.
pub fn shown_text(chars: RangeInclusive<usize>) -> impl Fn(&str, Json) -> Read<String> {
    let read = text_len(chars);
    move |at, value| {
        let text = read(at, value)?;
        if may_be_shown(&text) {
            return Ok(text);
        }
        let name = clip(at);
        Err(invalid(
            at,
            format!("`{name}` must not contain control or direction characters."),
        ))
    }
}

pub fn boolean(at: &str, value: Json) -> Read<bool> {
    match value {
        Json::Bool(value) => Ok(value),
        other => Err(wrong_type(at, "true or false", &other)),
    }
}

pub fn integer(range: RangeInclusive<i64>) -> impl Fn(&str, Json) -> Read<i64> {
    move |at, value| match value {
        Json::Number(Number::Whole(n)) => i64::try_from(n)
            .ok()
            .filter(|n| range.contains(n))
            .ok_or_else(|| out_of_range(at, &range)),
        Json::Number(Number::Other) => {
            Err(invalid(at, format!("`{}` must be an integer.", clip(at))))
        }
        other => Err(wrong_type(at, "an integer", &other)),
    }
}

pub(super) fn out_of_range(at: &str, range: &RangeInclusive<i64>) -> Refusal {
    let (name, min, max) = (clip(at), range.start(), range.end());
    invalid(
        at,
        format!("`{name}` must be an integer from {min} to {max}."),
    )
}

/// One of these, by the word each is called.
pub fn one_of<T: Copy>(
    all: &'static [T],
    word: fn(T) -> &'static str,
) -> impl Fn(&str, Json) -> Read<T> {
    move |at, value| {
        let text = text(at, value)?;
        choose(all, word, at, &text)
    }
}

pub(super) fn choose<T: Copy>(
    all: &[T],
    word: fn(T) -> &'static str,
    at: &str,
    text: &str,
) -> Read<T> {
    let found = all.iter().copied().find(|one| word(*one) == text);
    found.ok_or_else(|| {
        let words: Vec<&str> = all.iter().copied().map(word).collect();
        let (name, words) = (clip(at), words.join(", "));
        invalid(at, format!("`{name}` must be one of {words}."))
    })
}

/// A list of at most so many items, each read with the same reader under its own name: `assets[1]`.
pub fn list<T>(
    items_max: usize,
    item: impl Fn(&str, Json) -> Read<T>,
) -> impl Fn(&str, Json) -> Read<Vec<T>> {
    move |at, value| {
        let items = match value {
            Json::Array(items) => items,
            other => return Err(wrong_type(at, "a list", &other)),
        };
        if items.len() > items_max {
            let name = clip(at);
            return Err(invalid(
                at,
                format!("`{name}` must have at most {items_max} items."),
            ));
        }
        items
            .into_iter()
            .enumerate()
            .map(|(index, value)| item(&format!("{at}[{index}]"), value))
            .collect()
    }
}

/// A map of string to string within the limits every resource shares.
pub fn metadata(at: &str, value: Json) -> Read<BTreeMap<String, String>> {
    let members = match value {
        Json::Object(members) => members,
        other => return Err(wrong_type(at, "an object", &other)),
    };
    if members.len() > limits::METADATA_PAIRS_MAX {
        return Err(invalid(
            at,
            format!(
                "`{at}` must have at most {} pairs.",
                limits::METADATA_PAIRS_MAX
            ),
        ));
    }
    let value_text = text_max(limits::METADATA_VALUE_CHARS_MAX);
    members
        .into_iter()
        .map(|(key, value)| {
            let pair = format!("{at}.{key}");
            let key = whole_text(&pair, key)?;
            if !(1..=limits::METADATA_KEY_CHARS_MAX).contains(&key.chars().count()) {
                return Err(invalid(
                    &pair,
                    format!(
                        "A key of `{at}` must be 1 to {} characters.",
                        limits::METADATA_KEY_CHARS_MAX
                    ),
                ));
            }
            Ok((key, value_text(&pair, value)?))
        })
        .collect()
}

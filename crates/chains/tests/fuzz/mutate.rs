//! Answers as nodes give them, spoiled: byte by byte as a broken line does, and value by value as a broken or lying node does.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// One thing that is changed. Places are counted round: every number is a place in every answer.
#[derive(Clone, Debug)]
pub enum Change {
    Bit(usize, u8),
    Cut(usize),
    Remove(usize, usize),
    Repeat(usize, usize),
    Insert(usize, Vec<u8>),
    /// A part of another answer.
    Splice(usize, usize, usize),
    /// A value inside becomes another.
    Value(usize, Odd),
    /// A digit, or any other character, of a text inside.
    Character(usize, usize, char),
    /// A text inside becomes shorter or longer.
    Length(usize, i8),
    /// What is in a list or an object once more, or not at all.
    Again(usize),
    Missing(usize),
}

/// Values that somebody did not think of.
#[derive(Clone, Debug)]
pub enum Odd {
    Null,
    Bool(bool),
    Number(i64),
    Float,
    Text(String),
    Hex(Vec<u8>),
    Quantity(u64),
    Word(u128),
    List(usize),
    Deep(u8),
    Empty,
}

fn odd() -> impl Strategy<Value = Odd> {
    prop_oneof![
        Just(Odd::Null),
        any::<bool>().prop_map(Odd::Bool),
        any::<i64>().prop_map(Odd::Number),
        Just(Odd::Float),
        "\\PC{0,12}".prop_map(Odd::Text),
        "(0x)?[0-9a-fA-FxX]{0,68}".prop_map(Odd::Text),
        vec(any::<u8>(), 0..70).prop_map(Odd::Hex),
        prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()].prop_map(Odd::Quantity),
        prop_oneof![Just(0), Just(1 << 127), Just(u128::MAX), any::<u128>()].prop_map(Odd::Word),
        (0usize..40).prop_map(Odd::List),
        (0u8..200).prop_map(Odd::Deep),
        Just(Odd::Empty),
    ]
}

pub fn changes() -> impl Strategy<Value = Vec<Change>> {
    let at = || any::<u16>().prop_map(usize::from);
    let change = prop_oneof![
        2 => (at(), 0u8..8).prop_map(|(at, bit)| Change::Bit(at, bit)),
        1 => at().prop_map(Change::Cut),
        1 => (at(), 1usize..40).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => (at(), 1usize..40).prop_map(|(at, count)| Change::Repeat(at, count)),
        1 => (at(), vec(any::<u8>(), 1..8)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        1 => (at(), at(), 1usize..200).prop_map(|(at, from, count)| Change::Splice(at, from, count)),
        8 => (at(), odd()).prop_map(|(at, odd)| Change::Value(at, odd)),
        4 => (at(), at(), prop_oneof!["[0-9a-f]", "[g-zG-Z +-]", "\\PC"])
            .prop_map(|(at, place, text)| Change::Character(at, place, text.chars().next().unwrap_or('0'))),
        4 => (at(), any::<i8>()).prop_map(|(at, by)| Change::Length(at, by)),
        2 => at().prop_map(Change::Again),
        2 => at().prop_map(Change::Missing),
    ];
    vec(change, 1..6)
}

/// An answer after all changes.
pub fn changed(answer: &[u8], other: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = answer.to_vec();
    for change in changes {
        bytes = inside(&bytes, change).unwrap_or_else(|| raw(bytes, other, change));
    }
    bytes
}

fn raw(mut bytes: Vec<u8>, other: &[u8], change: &Change) -> Vec<u8> {
    let place = |at: usize, bytes: &[u8]| at % bytes.len().max(1);
    let part = |at: usize, count: usize, of: &[u8]| {
        let from = place(at, of).min(of.len());
        of[from..(from + count).min(of.len())].to_vec()
    };
    match change {
        Change::Bit(at, bit) if !bytes.is_empty() => {
            let at = place(*at, &bytes);
            bytes[at] ^= 1 << bit;
        }
        Change::Cut(at) => bytes.truncate(place(*at, &bytes)),
        Change::Remove(at, count) => {
            let from = place(*at, &bytes).min(bytes.len());
            let to = (from + count).min(bytes.len());
            bytes.drain(from..to);
        }
        Change::Repeat(at, count) => {
            let (again, at) = (part(*at, *count, &bytes), place(*at, &bytes));
            bytes.splice(at..at, again);
        }
        Change::Insert(at, more) => {
            let at = place(*at, &bytes);
            bytes.splice(at..at, more.iter().copied());
        }
        Change::Splice(at, from, count) => {
            let (more, at) = (part(*from, *count, other), place(*at, &bytes));
            bytes.splice(at..at, more);
        }
        _ => {}
    }
    bytes
}

/// What is changed inside; nothing where the answer is no JSON, or the change is none of values.
fn inside(bytes: &[u8], change: &Change) -> Option<Vec<u8>> {
    let at = match change {
        Change::Value(at, _)
        | Change::Character(at, ..)
        | Change::Length(at, _)
        | Change::Again(at)
        | Change::Missing(at) => *at,
        _ => return None,
    };
    let mut value: Value = serde_json::from_slice(bytes).ok()?;
    let count = count(&value);
    let mut left = at % count;
    let found = nth(&mut value, &mut left)?;
    match change {
        Change::Value(_, odd) => *found = shown(odd),
        Change::Again(_) => again(found),
        Change::Missing(_) => missing(found),
        Change::Character(_, place, to) => text(found, |characters| {
            let place = place % characters.len().max(1);
            if let Some(character) = characters.get_mut(place) {
                *character = *to;
            }
        }),
        Change::Length(_, by) => text(found, |characters| match by {
            0.. => characters.extend(
                "0123456789abcdef"
                    .chars()
                    .cycle()
                    .take(usize::from(by.unsigned_abs())),
            ),
            _ => characters.truncate(
                characters
                    .len()
                    .saturating_sub(usize::from(by.unsigned_abs())),
            ),
        }),
        _ => {}
    }
    Some(value.to_string().into_bytes())
}

fn shown(odd: &Odd) -> Value {
    match odd {
        Odd::Null => Value::Null,
        Odd::Bool(value) => json!(value),
        Odd::Number(value) => json!(value),
        Odd::Float => json!(1.5e300),
        Odd::Text(value) => json!(value),
        Odd::Hex(value) => json!(format!("0x{}", hex::encode(value))),
        Odd::Quantity(value) => json!(format!("0x{value:x}")),
        Odd::Word(value) => json!(format!("0x{value:064x}")),
        Odd::List(count) => Value::Array(vec![json!("0x0"); *count]),
        Odd::Deep(depth) => (0..*depth).fold(Value::Null, |inner, _| json!([inner])),
        Odd::Empty => Value::Object(Map::new()),
    }
}

fn text(value: &mut Value, change: impl FnOnce(&mut Vec<char>)) {
    if let Value::String(text) = value {
        let mut characters: Vec<char> = text.chars().collect();
        change(&mut characters);
        *text = characters.into_iter().collect();
    }
}

fn again(value: &mut Value) {
    match value {
        Value::Array(list) => list.extend(list.last().cloned()),
        other => *other = json!([other.take()]),
    }
}

fn missing(value: &mut Value) {
    match value {
        Value::Array(list) => drop(list.pop()),
        Value::Object(map) => {
            let last = map.keys().next_back().cloned();
            last.map(|key| map.remove(&key));
        }
        other => *other = Value::Null,
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

fn nth<'v>(value: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    let inner: Box<dyn Iterator<Item = &'v mut Value>> = match value {
        Value::Array(list) => Box::new(list.iter_mut()),
        Value::Object(map) => Box::new(map.values_mut()),
        _ => return None,
    };
    for value in inner {
        let size = count(value);
        if *left < size {
            return nth(value, left);
        }
        *left -= size;
    }
    None
}

//! The one reader of request objects.
//!
//! A request declares its fields by their Rust types; [`Fields::of`] holds a body against all of them before any
//! value is looked at. So which error wins does not depend on the order in which fields happen to be
//! read: unknown fields, then missing ones, then wrong types, then values in the order they are read.

use std::collections::BTreeMap;

use till_core::error::{Code, Refusal};

use super::json::{Json, Number};
use super::read::{Read, clip, invalid, wrong_type};

#[derive(Clone, Copy, Debug)]
pub struct Field {
    name: &'static str,
    json: JsonType,
    presence: Presence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Required,
    Optional,
}

/// What a value must be in JSON.
#[derive(Clone, Copy, Debug)]
pub enum JsonType {
    Text,
    Integer,
    Boolean,
    /// Any names, text values.
    Map,
    List(&'static JsonType),
    Any,
}

/// A Rust type and the JSON it is read from.
pub trait Typed {
    const JSON: JsonType;
}

impl Typed for String {
    const JSON: JsonType = JsonType::Text;
}

impl Typed for i64 {
    const JSON: JsonType = JsonType::Integer;
}

impl Typed for bool {
    const JSON: JsonType = JsonType::Boolean;
}

impl Typed for BTreeMap<String, String> {
    const JSON: JsonType = JsonType::Map;
}

impl<T: Typed> Typed for Vec<T> {
    const JSON: JsonType = JsonType::List(&T::JSON);
}

/// What an update says about a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patch<T> {
    Absent,
    Null,
    Value(T),
}

/// A field of a request by its Rust type. `T` is required, of `Option<T>` absent and null are the same, and
/// `Patch<T>` tells absent from null from a value.
pub trait Member: Sized {
    type Value;
    const JSON: JsonType;
    const PRESENCE: Presence;

    /// `sent` is what came under the name, if anything did.
    fn read(
        at: &str,
        sent: Option<Json>,
        read: impl FnOnce(&str, Json) -> Read<Self::Value>,
    ) -> Read<Self>;
}

impl<T: Typed> Member for T {
    type Value = T;
    const JSON: JsonType = T::JSON;
    const PRESENCE: Presence = Presence::Required;

    fn read(at: &str, sent: Option<Json>, read: impl FnOnce(&str, Json) -> Read<T>) -> Read<T> {
        match sent {
            None | Some(Json::Null) => Err(absent(at)),
            Some(value) => read(at, value),
        }
    }
}

impl<T: Typed> Member for Option<T> {
    type Value = T;
    const JSON: JsonType = T::JSON;
    const PRESENCE: Presence = Presence::Optional;

    fn read(
        at: &str,
        sent: Option<Json>,
        read: impl FnOnce(&str, Json) -> Read<T>,
    ) -> Read<Option<T>> {
        match sent {
            None | Some(Json::Null) => Ok(None),
            Some(value) => read(at, value).map(Some),
        }
    }
}

impl<T: Typed> Member for Patch<T> {
    type Value = T;
    const JSON: JsonType = T::JSON;
    const PRESENCE: Presence = Presence::Optional;

    fn read(
        at: &str,
        sent: Option<Json>,
        read: impl FnOnce(&str, Json) -> Read<T>,
    ) -> Read<Patch<T>> {
        match sent {
            None => Ok(Patch::Absent),
            Some(Json::Null) => Ok(Patch::Null),
            Some(value) => read(at, value).map(Patch::Value),
        }
    }
}

/// The declaration of a field that is read as an `M`.
pub const fn field<M: Member>(name: &'static str) -> Field {
    Field {
        name,
        json: M::JSON,
        presence: M::PRESENCE,
    }
}

/// The fields of a body whose names and types are right, not yet read.
#[derive(Debug)]
pub struct Fields {
    members: Vec<(String, Json)>,
    shape: &'static [Field],
}

impl Fields {
    /// The body against its shape. An absent body is `{}`.
    pub fn of(body: Option<&[u8]>, shape: &'static [Field]) -> Read<Fields> {
        let members = match body {
            Some(bytes) => Json::object(bytes)?,
            None => Vec::new(),
        };
        for check in [unknown, missing, mistyped] {
            check(&members, shape)?;
        }
        Ok(Fields { members, shape })
    }

    pub fn read<M: Member>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str, Json) -> Read<M::Value>,
    ) -> Read<M> {
        debug_assert!(
            self.shape.iter().any(|field| field.name == name),
            "`{name}` is read but not declared: every client would be refused"
        );
        let index = self.members.iter().position(|(sent, _)| sent == name);
        let sent = index.map(|index| self.members.swap_remove(index).1);
        M::read(name, sent, read)
    }
}

fn absent(at: &str) -> Refusal {
    Refusal::new(Code::ParameterMissing, format!("`{at}` is required.")).param(clip(at))
}

type Members = [(String, Json)];

fn unknown(members: &Members, shape: &[Field]) -> Read<()> {
    let known = |name: &str| shape.iter().any(|field| field.name == name);
    match members.iter().find(|(name, _)| !known(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let shown = clip(name);
            let message = format!("`{shown}` is not a field of this request.");
            Err(Refusal::new(Code::ParameterUnknown, message).param(shown))
        }
    }
}

fn sent<'m>(members: &'m Members, field: &Field) -> Option<&'m Json> {
    let member = members.iter().find(|(name, _)| name == field.name);
    member.map(|(_, value)| value)
}

fn missing(members: &Members, shape: &[Field]) -> Read<()> {
    for field in shape {
        if field.presence == Presence::Required
            && matches!(sent(members, field), None | Some(Json::Null))
        {
            return Err(absent(field.name));
        }
    }
    Ok(())
}

fn mistyped(members: &Members, shape: &[Field]) -> Read<()> {
    for field in shape {
        match sent(members, field) {
            None | Some(Json::Null) => {}
            Some(value) => type_of(field.name, value, field.json)?,
        }
    }
    Ok(())
}

fn type_of(at: &str, value: &Json, json: JsonType) -> Read<()> {
    match (json, value) {
        (JsonType::Any, _)
        | (JsonType::Text, Json::String(_))
        | (JsonType::Integer, Json::Number(Number::Whole(_)))
        | (JsonType::Boolean, Json::Bool(_)) => Ok(()),
        (JsonType::Integer, Json::Number(Number::Other)) => {
            Err(invalid(at, format!("`{}` must be an integer.", clip(at))))
        }
        (JsonType::Map, Json::Object(members)) => members
            .iter()
            .try_for_each(|(name, value)| type_of(&format!("{at}.{name}"), value, JsonType::Text)),
        (JsonType::List(item), Json::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| type_of(&format!("{at}[{index}]"), value, *item)),
        (json, value) => Err(wrong_type(at, json.describe(), value)),
    }
}

impl JsonType {
    fn describe(self) -> &'static str {
        match self {
            JsonType::Text => "a string",
            JsonType::Integer => "an integer",
            JsonType::Boolean => "true or false",
            JsonType::Map => "an object",
            JsonType::List(_) => "a list",
            JsonType::Any => "a value",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::{boolean, integer, list, metadata, one_of, text, text_max};
    use super::*;
    use proptest::prelude::*;

    type Map = BTreeMap<String, String>;

    const SHAPE: &[Field] = &[
        field::<String>("amount"),
        field::<String>("currency"),
        field::<Option<String>>("description"),
        field::<Patch<Vec<String>>>("assets"),
        field::<Option<Map>>("metadata"),
        field::<Option<i64>>("count"),
        field::<Option<bool>>("active"),
    ];

    #[derive(Debug)]
    struct Order {
        assets: Patch<Vec<String>>,
        description: Option<String>,
        count: Option<i64>,
    }

    fn read(body: &[u8]) -> Read<Order> {
        let mut f = Fields::of(Some(body), SHAPE)?;
        f.read::<String>("amount", text_max(9))?;
        f.read::<String>("currency", |at, value| {
            one_of(&["USD", "EUR"], |word| word)(at, value).map(str::to_owned)
        })?;
        let assets = f.read("assets", list(3, text))?;
        let description = f.read("description", text_max(5))?;
        f.read::<Option<Map>>("metadata", metadata)?;
        let count = f.read("count", integer(1..=9))?;
        f.read::<Option<bool>>("active", boolean)?;
        Ok(Order {
            assets,
            description,
            count,
        })
    }

    /// The fields are added to a body that is otherwise right.
    fn order(rest: &str) -> Read<Order> {
        read(format!(r#"{{"amount":"1","currency":"USD"{rest}}}"#).as_bytes())
    }

    fn check(body: &str, code: Code, param: &str) {
        let refusal = read(body.as_bytes()).expect_err(body);
        assert_eq!(
            (refusal.code, refusal.param.as_deref()),
            (code, Some(param)),
            "{body}"
        );
    }

    fn check_rest(rest: &str, param: &str) {
        let refusal = order(rest).expect_err(rest);
        assert_eq!(
            (refusal.code, refusal.param.as_deref()),
            (Code::ParameterInvalid, Some(param)),
            "{rest}"
        );
    }

    #[test]
    fn shape_wins_over_values_and_unknown_over_all() {
        use Code::*;
        check(r#"{"amount":1,"amuont":"1"}"#, ParameterUnknown, "amuont");
        check(r#"{"amount":1}"#, ParameterMissing, "currency");
        check(
            r#"{"amount":"x","currency":null}"#,
            ParameterMissing,
            "currency",
        );
        check(
            r#"{"amount":"x","currency":"USD","count":"1"}"#,
            ParameterInvalid,
            "count",
        );
        check(
            r#"{"count":99,"currency":"ZZZ","amount":"1234567890"}"#,
            ParameterInvalid,
            "amount",
        );
    }

    #[test]
    fn a_bad_element_or_pair_names_its_place() {
        check_rest(r#","assets":["a",2]"#, "assets[1]");
        check_rest(r#","assets":["a","\u0000"]"#, "assets[1]");
        check_rest(r#","assets":["a","b","c","d"]"#, "assets");
        check_rest(r#","metadata":{"color":1}"#, "metadata.color");
        check_rest(r#","metadata":{"color":null}"#, "metadata.color");
        check_rest(r#","metadata":[]"#, "metadata");
        check_rest(
            &format!(r#","metadata":{{"a":"{}"}}"#, "é".repeat(501)),
            "metadata.a",
        );
        let long = "k".repeat(41);
        check_rest(
            &format!(r#","metadata":{{"{long}":"v"}}"#),
            &format!("metadata.{long}"),
        );
        let pairs: Vec<_> = (0..21).map(|n| format!(r#""k{n}":"v""#)).collect();
        check_rest(
            &format!(r#","metadata":{{{}}}"#, pairs.join(",")),
            "metadata",
        );
    }

    #[test]
    fn limits_count_characters_and_not_bytes() {
        let order = order(r#","description":"éééé😀""#).unwrap();
        assert_eq!(order.description.as_deref(), Some("éééé😀"));
        check_rest(r#","description":"éééé😀x""#, "description");
    }

    #[test]
    fn integers_are_exact_and_booleans_strict() {
        assert_eq!(order(r#","count":9"#).unwrap().count, Some(9));
        for count in [
            "0",
            "10",
            "1.0",
            "1e0",
            "\"1\"",
            "true",
            "18446744073709551616",
            "[1]",
        ] {
            check_rest(&format!(",\"count\":{count}"), "count");
        }
        for active in ["0", "1", "\"true\"", "\"\""] {
            check_rest(&format!(",\"active\":{active}"), "active");
        }
    }

    #[test]
    fn an_update_tells_absent_from_null_from_value() {
        assert_eq!(order("").unwrap().assets, Patch::Absent);
        assert_eq!(order(r#","assets":null"#).unwrap().assets, Patch::Null);
        assert_eq!(
            order(r#","assets":[]"#).unwrap().assets,
            Patch::Value(vec![])
        );
        assert_eq!(order(r#","description":null"#).unwrap().description, None);
    }

    #[test]
    fn an_absent_body_is_an_empty_object() {
        const OPTIONAL: &[Field] = &[field::<Option<String>>("reason")];
        let mut f = Fields::of(None, OPTIONAL).unwrap();
        assert_eq!(f.read::<Option<String>>("reason", text).unwrap(), None);
        let refusal = Fields::of(None, SHAPE).unwrap_err();
        assert_eq!(refusal.param.as_deref(), Some("amount"));
        assert!(Fields::of(Some(b"{}"), &[]).is_ok());
        let refusal = Fields::of(Some(br#"{"a":1}"#), &[]).unwrap_err();
        assert_eq!(refusal.code, Code::ParameterUnknown);
    }

    #[test]
    fn an_echoed_name_is_cut() {
        let body = format!(r#"{{"{}":1}}"#, "é".repeat(100_000));
        let refusal = Fields::of(Some(body.as_bytes()), &[]).unwrap_err();
        assert_eq!(refusal.param.unwrap().chars().count(), 100);
        assert!(refusal.message.len() < 400);
    }

    proptest! {
        #[test]
        fn any_body_is_read_or_refused(
            name in "amount|currency|assets|metadata|count|active|[a-z]{0,3}",
            value in r#"[0-9]{1,30}|"[a-z\\u0]{0,6}"|\[("a",?)*\]|\{("a":("b"|1),?)*\}|null|true|-?[0-9]e[0-9]{1,3}"#,
        ) {
            let _ = order(&format!(",\"{name}\":{value}"));
        }
    }
}

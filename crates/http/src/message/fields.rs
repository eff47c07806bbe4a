//! The one reader of request objects.
//!
//! A handler declares the shape of its body; `Fields::of` holds the body against all of it before any
//! value is looked at. So which error wins does not depend on the order in which a handler happens to
//! read: unknown fields, then missing ones, then wrong types, then values in the order they are read.

use till_core::error::{Code, Refusal};

use super::json::{Json, Number};
use super::read::{Read, clip, invalid, wrong_type};

#[derive(Clone, Copy, Debug)]
pub struct Field {
    name: &'static str,
    kind: Kind,
    presence: Presence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Text,
    Integer,
    Boolean,
    /// Any names, text values.
    Map,
    List(&'static Kind),
    Object(&'static [Field]),
    /// Left to the handler's reader, where a field has more than one form.
    Any,
}

pub const fn need(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Required,
    }
}

pub const fn may(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        presence: Presence::Optional,
    }
}

/// What an update says about a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patch<T> {
    Absent,
    Null,
    Value(T),
}

#[derive(Debug)]
pub struct Fields {
    /// What stands before a name in `param`: empty, or `parent.`.
    prefix: String,
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
            check("", &members, shape)?;
        }
        Ok(Fields {
            prefix: String::new(),
            members,
            shape,
        })
    }

    pub fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str, Json) -> Read<T>,
    ) -> Read<T> {
        match self.take(name) {
            None | Some(Json::Null) => Err(absent(&self.path(name))),
            Some(value) => read(&self.path(name), value),
        }
    }

    /// Absent and null are the same.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str, Json) -> Read<T>,
    ) -> Read<Option<T>> {
        match self.take(name) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => read(&self.path(name), value).map(Some),
        }
    }

    /// Absent, null and a value are three things.
    pub fn patch<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str, Json) -> Read<T>,
    ) -> Read<Patch<T>> {
        match self.take(name) {
            None => Ok(Patch::Absent),
            Some(Json::Null) => Ok(Patch::Null),
            Some(value) => read(&self.path(name), value).map(Patch::Value),
        }
    }

    /// The fields of an object inside this one, declared as `Kind::Object`.
    pub fn nested(&mut self, name: &'static str) -> Read<Option<Fields>> {
        let Some(shape) = self.shape_of(name) else {
            return Ok(None);
        };
        self.optional(name, |at, value| match value {
            Json::Object(members) => Ok(Fields {
                prefix: format!("{at}."),
                members,
                shape,
            }),
            other => Err(wrong_type(at, "an object", &other)),
        })
    }

    /// Whether the client sent the field at all, be it null.
    pub fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(sent, _)| sent == name)
    }

    fn shape_of(&self, name: &str) -> Option<&'static [Field]> {
        match self.shape.iter().find(|field| field.name == name)?.kind {
            Kind::Object(shape) => Some(shape),
            _ => None,
        }
    }

    fn take(&mut self, name: &'static str) -> Option<Json> {
        debug_assert!(
            self.shape.iter().any(|field| field.name == name),
            "`{name}` is read but not declared: every client would be refused"
        );
        let index = self.members.iter().position(|(sent, _)| sent == name)?;
        Some(self.members.swap_remove(index).1)
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

fn absent(at: &str) -> Refusal {
    Refusal::new(Code::ParameterMissing, format!("`{at}` is required.")).param(clip(at))
}

type Members = [(String, Json)];

fn unknown(prefix: &str, members: &Members, shape: &[Field]) -> Read<()> {
    for (name, value) in members {
        let Some(field) = shape.iter().find(|field| field.name == name) else {
            let shown = clip(&format!("{prefix}{name}"));
            return Err(Refusal::new(
                Code::ParameterUnknown,
                format!("`{shown}` is not a field of this request."),
            )
            .param(shown));
        };
        if field.kind.has_fields() {
            inside(&format!("{prefix}{name}"), value, field.kind, unknown)?;
        }
    }
    Ok(())
}

fn missing(prefix: &str, members: &Members, shape: &[Field]) -> Read<()> {
    for field in shape {
        let at = || format!("{prefix}{}", field.name);
        match members.iter().find(|(name, _)| name == field.name) {
            None | Some((_, Json::Null)) if field.presence == Presence::Required => {
                return Err(absent(&at()));
            }
            Some((_, value)) if field.kind.has_fields() => {
                inside(&at(), value, field.kind, missing)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn mistyped(prefix: &str, members: &Members, shape: &[Field]) -> Read<()> {
    for field in shape {
        if let Some((_, value)) = members.iter().find(|(name, _)| name == field.name)
            && *value != Json::Null
            && !field.kind.is_plainly(value)
        {
            type_of(&format!("{prefix}{}", field.name), value, field.kind)?;
        }
    }
    Ok(())
}

/// Carries a check into the objects inside a value; a value of another type is `mistyped`'s to name.
fn inside(
    at: &str,
    value: &Json,
    kind: Kind,
    check: fn(&str, &Members, &[Field]) -> Read<()>,
) -> Read<()> {
    match (kind, value) {
        (Kind::Object(shape), Json::Object(members)) => check(&format!("{at}."), members, shape),
        (Kind::List(item), Json::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| inside(&format!("{at}[{index}]"), value, *item, check)),
        _ => Ok(()),
    }
}

fn type_of(at: &str, value: &Json, kind: Kind) -> Read<()> {
    match (kind, value) {
        (kind, value) if kind.is_plainly(value) => Ok(()),
        (Kind::Integer, Json::Number(Number::Other)) => {
            Err(invalid(at, format!("`{}` must be an integer.", clip(at))))
        }
        (Kind::Object(shape), Json::Object(members)) => mistyped(&format!("{at}."), members, shape),
        (Kind::Map, Json::Object(members)) => members
            .iter()
            .try_for_each(|(name, value)| type_of(&format!("{at}.{name}"), value, Kind::Text)),
        (Kind::List(item), Json::Array(items)) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| type_of(&format!("{at}[{index}]"), value, *item)),
        (kind, value) => Err(wrong_type(at, kind.describe(), value)),
    }
}

impl Kind {
    /// Needs no look inside: the common case, decided without naming the place.
    fn is_plainly(self, value: &Json) -> bool {
        matches!(
            (self, value),
            (Kind::Any, _)
                | (Kind::Text, Json::String(_))
                | (Kind::Integer, Json::Number(Number::Whole(_)))
                | (Kind::Boolean, Json::Bool(_))
        )
    }

    fn has_fields(self) -> bool {
        match self {
            Kind::Object(_) => true,
            Kind::List(item) => item.has_fields(),
            _ => false,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Kind::Text => "a string",
            Kind::Integer => "an integer",
            Kind::Boolean => "true or false",
            Kind::Map | Kind::Object(_) => "an object",
            Kind::List(_) => "a list",
            Kind::Any => "a value",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::{amount, boolean, integer, list, metadata, one_of, text, text_max};
    use super::*;
    use proptest::prelude::*;

    const PRICE: &[Field] = &[need("amount", Kind::Text), need("currency", Kind::Text)];
    const SHAPE: &[Field] = &[
        need("amount", Kind::Text),
        need("currency", Kind::Text),
        may("description", Kind::Text),
        may("assets", Kind::List(&Kind::Text)),
        may("metadata", Kind::Map),
        may("count", Kind::Integer),
        may("active", Kind::Boolean),
        may("price", Kind::Object(PRICE)),
        may("steps", Kind::List(&Kind::Object(PRICE))),
    ];

    #[derive(Debug)]
    struct Order {
        assets: Patch<Vec<String>>,
        description: Option<String>,
        count: Option<i64>,
        currency_of_price: Option<String>,
    }

    fn read(body: &[u8]) -> Read<Order> {
        let mut f = Fields::of(Some(body), SHAPE)?;
        f.required("amount", amount)?;
        f.required("currency", one_of(&["USD", "EUR"]))?;
        let assets = f.patch("assets", list(3, text))?;
        let description = f.optional("description", text_max(5))?;
        f.optional("metadata", metadata)?;
        let count = f.optional("count", integer(1..=9))?;
        f.optional("active", boolean)?;
        let currency_of_price = match f.nested("price")? {
            Some(mut price) => Some(price.required("currency", text_max(3))?),
            None => None,
        };
        Ok(Order {
            assets,
            description,
            count,
            currency_of_price,
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
            r#"{"count":99,"currency":"ZZZ","amount":"x"}"#,
            ParameterInvalid,
            "amount",
        );
        check(
            r#"{"amount":"1","currency":"USD","price":{"amount":1}}"#,
            ParameterMissing,
            "price.currency",
        );
        check(
            r#"{"amount":1,"price":{"x":1}}"#,
            ParameterUnknown,
            "price.x",
        );
        check(
            r#"{"amount":"1","currency":"USD","steps":[{"amount":"1","currency":"USD"},{"currency":"USD"}]}"#,
            ParameterMissing,
            "steps[1].amount",
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
        check_rest(
            r#","price":{"amount":"1","currency":"EURO"}"#,
            "price.currency",
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
        let price = r#","price":{"amount":"1","currency":"EUR"}"#;
        assert_eq!(
            order(price).unwrap().currency_of_price.as_deref(),
            Some("EUR")
        );
    }

    #[test]
    fn an_amount_is_plain_digits_only() {
        for good in ["0", "1", "007", "12.50", "0.000000000000000001"] {
            assert!(super::super::read::is_amount(good), "{good}");
        }
        let long = "1".repeat(41);
        let longer = format!("{}.{}", "1".repeat(20), "1".repeat(21));
        for bad in [
            "", "1e5", "1E-7", "+1", "-1", " 1", "1 ", "1,0", "٣", "0x10", "NaN", "-0", "1.", ".5",
            ".", "1.2.3", &long, &longer,
        ] {
            assert!(!super::super::read::is_amount(bad), "{bad}");
        }
        assert!(super::super::read::is_amount(&longer[1..]));
    }

    #[test]
    fn an_absent_body_is_an_empty_object() {
        const OPTIONAL: &[Field] = &[may("reason", Kind::Text)];
        let mut f = Fields::of(None, OPTIONAL).unwrap();
        assert!(!f.has("reason"));
        assert_eq!(f.optional("reason", text).unwrap(), None);
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
            name in "amount|currency|assets|metadata|count|active|price|steps|[a-z]{0,3}",
            value in r#"[0-9]{1,30}|"[a-z\\u0]{0,6}"|\[("a",?)*\]|\{("a":("b"|1),?)*\}|null|true|-?[0-9]e[0-9]{1,3}"#,
        ) {
            let _ = order(&format!(",\"{name}\":{value}"));
        }
    }
}

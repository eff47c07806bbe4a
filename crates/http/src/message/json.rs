//! JSON as it was sent, read strictly: what two readers could understand differently is refused.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use till_core::error::{Code, Refusal};

/// Deeper than any request of the API, shallow enough for any stack.
pub const DEPTH_MAX: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Json>),
    /// In the order sent; no name occurs twice.
    Object(Vec<(String, Json)>),
}

/// Money travels as text, so the only numbers a request may hold are whole ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Whole(i128),
    /// `1.0`, `1e3`, `-0`, or beyond 64 bits.
    Other,
}

impl Json {
    /// The names and values of a body, which must be an object.
    pub fn object(body: &[u8]) -> Result<Vec<(String, Json)>, Refusal> {
        let text = std::str::from_utf8(body).map_err(|_| invalid("it is not UTF-8"))?;
        let mut reader = serde_json::Deserializer::from_str(text);
        let tree = Node { depth: 0 }
            .deserialize(&mut reader)
            .map_err(|error| invalid(&error.to_string()))?;
        reader.end().map_err(|error| invalid(&error.to_string()))?;
        match tree {
            Json::Object(members) => Ok(members),
            _ => Err(invalid("it is not an object")),
        }
    }

    /// What this is, in a sentence for people.
    pub fn describe(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "a list",
            Json::Object(_) => "an object",
        }
    }
}

fn invalid(why: &str) -> Refusal {
    Refusal::new(
        Code::BodyInvalidJson,
        format!("The body is not a valid JSON object: {why}."),
    )
}

#[derive(Clone, Copy)]
struct Node {
    depth: usize,
}

impl Node {
    fn deeper<E: Error>(self) -> Result<Node, E> {
        if self.depth >= DEPTH_MAX {
            return Err(E::custom(format_args!(
                "it is nested more than {DEPTH_MAX} deep"
            )));
        }
        Ok(Node {
            depth: self.depth + 1,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Node {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Json, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(Number::Whole(value.into())))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(Number::Whole(value.into())))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Number(Number::Other))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let inner = self.deeper()?;
        let mut members: Vec<(String, Json)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            members.push((name, map.next_value_seed(inner)?));
        }
        if has_duplicate(&members) {
            return Err(A::Error::custom("an object names the same field twice"));
        }
        Ok(Json::Object(members))
    }
}

/// Pairwise while that is cheapest, by sorting beyond: a body full of names must not cost their square.
fn has_duplicate(members: &[(String, Json)]) -> bool {
    const PAIRWISE_MAX: usize = 16;
    if members.len() <= PAIRWISE_MAX {
        return (1..members.len())
            .any(|i| members[..i].iter().any(|(name, _)| *name == members[i].0));
    }
    let mut names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(body: &[u8]) {
        match Json::object(body) {
            Err(refusal) => assert_eq!(refusal.code, Code::BodyInvalidJson),
            Ok(tree) => panic!("{:?} was read as {tree:?}", String::from_utf8_lossy(body)),
        }
    }

    fn whole(n: i128) -> Json {
        Json::Number(Number::Whole(n))
    }

    #[test]
    fn an_object_is_read_in_the_order_sent() {
        let tree =
            Json::object(br#" {"b":[1,-2,null,true],"a":{"\u00e9":"\ud83d\ude00"}} "#).unwrap();
        assert_eq!(
            tree,
            vec![
                (
                    "b".into(),
                    Json::Array(vec![whole(1), whole(-2), Json::Null, Json::Bool(true)])
                ),
                (
                    "a".into(),
                    Json::Object(vec![("é".into(), Json::String("😀".into()))])
                ),
            ]
        );
    }

    #[test]
    fn only_exact_integers_are_whole() {
        let tree = Json::object(b"[1.0,1e3,-0,18446744073709551616]").is_err();
        assert!(tree, "a list is no body");
        let tree =
            Json::object(br#"{"a":1.0,"b":1e3,"c":-0,"d":18446744073709551616,"e":0}"#).unwrap();
        let kinds: Vec<_> = tree.into_iter().map(|(_, value)| value).collect();
        let other = Json::Number(Number::Other);
        assert_eq!(
            kinds,
            vec![other.clone(), other.clone(), other.clone(), other, whole(0)]
        );
    }

    #[test]
    fn what_is_not_one_json_object_is_refused() {
        for body in [
            &b""[..],
            b" ",
            b"null",
            b"[]",
            b"\"a\"",
            b"1",
            b"{",
            b"{}}",
            b"{} x",
            b"{}{}",
            b"\xef\xbb\xbf{}",
            b"{\"a\":\"\xff\"}",
            b"{\"a\":1,}",
            b"{'a':1}",
            b"{\"a\":01}",
            b"{\"a\":+1}",
            b"{\"a\":NaN}",
            b"{\"a\":\"\n\"}",
            br#"{"a":"\ud800"}"#,
            br#"{"a":"\udc00"}"#,
            br#"{"a":"\ud800\u0041"}"#,
            br#"{"\ud800":1}"#,
            b"{\"a\":1}//x",
        ] {
            refused(body);
        }
    }

    #[test]
    fn a_name_twice_in_one_object_is_refused_however_it_is_written() {
        refused(br#"{"a":1,"a":1}"#);
        refused(br#"{"a":1,"\u0061":2}"#);
        refused(br#"{"x":{"a":1,"b":2,"a":3}}"#);
        let mut many: Vec<String> = (0..40).map(|n| format!("\"k{n}\":{n}")).collect();
        let body = format!("{{{}}}", many.join(","));
        assert_eq!(Json::object(body.as_bytes()).unwrap().len(), 40);
        many.push("\"k7\":0".into());
        refused(format!("{{{}}}", many.join(",")).as_bytes());
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |lists: usize| {
            format!("{{\"a\":{}{}}}", "[".repeat(lists), "]".repeat(lists)).into_bytes()
        };
        assert!(Json::object(&nested(DEPTH_MAX - 1)).is_ok());
        refused(&nested(DEPTH_MAX));
        refused(&nested(100_000));
        refused("[".repeat(100_000).as_bytes());
    }

    #[test]
    fn a_nul_survives_parsing_for_the_readers_to_name() {
        let tree = Json::object(br#"{"a":"\u0000"}"#).unwrap();
        assert_eq!(tree[0].1, Json::String("\0".into()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Json::object(&body);
        }

        #[test]
        fn whatever_is_accepted_serde_json_accepts(body in r#"\{("[a-c]":([0-9]{1,3}|"[^"]{0,4}"|\[\]|null),?){0,4}\}?"#) {
            if Json::object(body.as_bytes()).is_ok() {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&body).is_ok());
            }
        }
    }
}

//! What a browser gives of a passkey, as a field of a request.

use serde_json::{Map, Value};
use till_http::fields::{JsonType, Typed};
use till_http::json::{Json, Number};
use till_http::read::{Read, wrong_type};
use utoipa::ToSchema;

/// What the `toJSON()` of a browser's credential gives.
#[derive(Debug, ToSchema)]
#[schema(value_type = Object)]
pub struct CredentialJson(pub Value);

impl Typed for CredentialJson {
    const JSON: JsonType = JsonType::Any;
}

pub fn credential(at: &str, value: Json) -> Read<CredentialJson> {
    match value {
        Json::Object(_) => Ok(CredentialJson(plain(value))),
        other => Err(wrong_type(at, "an object", &other)),
    }
}

fn plain(value: Json) -> Value {
    match value {
        Json::Bool(value) => value.into(),
        Json::Number(Number::Whole(number)) => {
            i64::try_from(number).map_or(Value::Null, Value::from)
        }
        Json::Null | Json::Number(Number::Other) => Value::Null,
        Json::String(text) => text.into(),
        Json::Array(items) => items.into_iter().map(plain).collect(),
        Json::Object(members) => {
            let members = members.into_iter();
            let members: Map<String, Value> =
                members.map(|(name, value)| (name, plain(value))).collect();
            members.into()
        }
    }
}

//! The description of the API, held against what the server really says: nothing that is not described, and
//! everything that is.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut document =
        serde_json::from_str(till_api::openapi_json()).expect("the document is JSON");
    close(&mut document);
    document
});

/// Says of every object that it has no further fields.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(close);
            if object.get("type") == Some(&json!("object")) && object.contains_key("properties") {
                object.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(list) => list.iter_mut().for_each(close),
        _ => {}
    }
}

/// Holds an answer of an endpoint against its description.
pub fn check_answer(method: &str, path: &str, status: u16, body: &Value) {
    let path = path.split('?').next().unwrap_or_default();
    let Some(template) = template(path) else {
        // The description describes neither itself nor what only our own pages ask; refusals it does.
        let is_ours = path == "/openapi.json" || path.starts_with("/checkout/");
        if !(is_ours && status < 400) {
            check_against("/components/schemas/ErrorEnvelope", body);
        }
        return;
    };
    let escaped = template.replace('~', "~0").replace('/', "~1");
    let method = match method {
        "HEAD" => return,
        method => method.to_ascii_lowercase(),
    };
    let operation = &DOCUMENT["paths"][template][&method];
    if status >= 400 && operation.is_object() {
        check_code(operation, body);
    }
    let answers = format!("/paths/{escaped}/{method}/responses");
    let place = format!("{answers}/{status}/content/application~1json/schema");
    if DOCUMENT.pointer(&place).is_some() {
        return check_against(&place, body);
    }
    // What the outer layers refuse, they refuse everywhere alike.
    assert!(
        status >= 400,
        "{method} {template} answers {status}, which is not described"
    );
    check_against("/components/schemas/ErrorEnvelope", body);
}

/// A refusal has one of the codes that its endpoint declares (`document::codes`).
fn check_code(operation: &Value, body: &Value) {
    let code = &body["error"]["code"];
    // There is no such endpoint on this server, or with such a path.
    if code == "route_not_found" {
        return;
    }
    let declared = operation["x-error-codes"].as_array().expect("codes");
    assert!(
        declared.contains(code),
        "{} answers {code}, which crates/api/src/document/codes/own.rs does not declare",
        operation["operationId"]
    );
}

pub fn check_webhook(body: &Value) {
    let event_type = body["type"].as_str().unwrap_or_default();
    let schema = "post/requestBody/content/application~1json/schema";
    check_against(&format!("/webhooks/{event_type}/{schema}"), body);
}

pub fn check_streamed(data: &Value) {
    check_against("/components/schemas/InvoiceEvent", data);
}

fn template(path: &str) -> Option<&'static str> {
    let given: Vec<&str> = path.split('/').collect();
    let fits = |template: &str| {
        let parts: Vec<&str> = template.split('/').collect();
        parts.len() == given.len()
            && parts
                .iter()
                .zip(&given)
                .all(|(part, given)| part == given || part.starts_with('{'))
    };
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    paths.keys().map(String::as_str).find(|known| fits(known))
}

fn check_against(place: &str, value: &Value) {
    let told: Vec<String> = validator(place)
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(
        told.is_empty(),
        "not as {place} describes it: {told:?} in {value}"
    );
}

fn validator(place: &str) -> Arc<Validator> {
    static MADE: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut made = MADE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let make = || {
        let schema = DOCUMENT.pointer(place);
        let schema = schema.unwrap_or_else(|| panic!("{place} is not in the description"));
        let whole = json!({ "allOf": [schema], "components": DOCUMENT["components"] });
        Arc::new(jsonschema::validator_for(&whole).expect("a schema"))
    };
    Arc::clone(made.entry(place.to_owned()).or_insert_with(make))
}

/// An endpoint of the document.
pub struct Endpoint {
    /// With something in the place of each id.
    pub path: String,
    operation: &'static Value,
}

/// Every endpoint of that method.
pub fn endpoints(method: &str) -> Vec<Endpoint> {
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    let described = paths.iter().filter_map(|(path, item)| {
        let path = path.split('/').map(|part| match part.starts_with('{') {
            true => "some_id",
            false => part,
        });
        Some(Endpoint {
            path: path.collect::<Vec<_>>().join("/"),
            operation: item.get(method)?,
        })
    });
    described.collect()
}

impl Endpoint {
    pub fn takes(&self, is_it: impl Fn(&Value) -> bool) -> bool {
        let all = self.operation["security"].as_array();
        all.is_some_and(|all| all.iter().any(is_it))
    }

    pub fn wants_a_key(&self) -> bool {
        self.takes(|one| one.get("session").is_none())
    }

    fn body(&self) -> Value {
        let place = "/requestBody/content/application~1json/schema";
        let schema = self.operation.pointer(place);
        schema.map_or(Value::Null, resolved)
    }

    /// The fields of its body, with their schemas.
    pub fn fields(&self) -> Vec<(String, Value)> {
        let body = self.body();
        let fields = body["properties"].as_object();
        let fields = fields.into_iter().flatten();
        fields
            .map(|(name, schema)| (name.clone(), resolved(schema)))
            .collect()
    }

    pub fn requires(&self, field: &str) -> bool {
        let body = self.body();
        let required = body["required"].as_array();
        required.is_some_and(|required| required.contains(&json!(field)))
    }

    /// Its query parameters, with their schemas.
    pub fn parameters(&self) -> Vec<(String, Value)> {
        let all = self.operation["parameters"].as_array();
        let in_query = all
            .into_iter()
            .flatten()
            .filter(|parameter| parameter["in"] == "query");
        let named = |parameter: &Value| {
            let name = parameter["name"].as_str().expect("a name").to_owned();
            (name, resolved(&parameter["schema"]))
        };
        in_query.map(named).collect()
    }
}

/// A schema itself, where there is a reference to it, alone or beside null.
fn resolved(schema: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let place = reference.strip_prefix('#').expect("in this document");
        return resolved(DOCUMENT.pointer(place).expect("a schema"));
    }
    let choices = schema["oneOf"].as_array();
    let choice = choices
        .into_iter()
        .flatten()
        .find(|one| one["type"] != "null");
    choice.map_or_else(|| schema.clone(), resolved)
}

//! The tools, made of the OpenAPI document: one for each endpoint that a secret key may call.

use std::collections::BTreeSet;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Whether a tool only looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Reads,
    Changes,
}

/// A tool, and the endpoint behind it.
#[derive(Debug)]
pub struct ApiTool {
    pub shown: Tool,
    pub effect: Effect,
    /// As in the document: `/v1/invoices/{id}`.
    pub path: String,
    pub path_names: Vec<String>,
    pub query_names: Vec<String>,
}

/// The argument that is a request's body.
pub const BODY: &str = "body";

/// Its answer is a secret, which has no place in a conversation.
const LEFT_OUT: &[&str] = &["rollWebhookSecret"];
const SCHEMAS: &str = "#/components/schemas/";

pub fn from_document(document: &str) -> Vec<ApiTool> {
    let document: Value = serde_json::from_str(document).unwrap_or(Value::Null);
    let paths = document["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| (path, method, operation))
    });
    operations
        .filter(|(_, _, operation)| is_for_a_secret_key(operation) && !is_a_stream(operation))
        .filter_map(|(path, method, operation)| tool(&document, path, method, operation))
        .collect()
}

fn is_for_a_secret_key(operation: &Value) -> bool {
    let ways = operation["security"].as_array().into_iter().flatten();
    ways.into_iter().any(|way| way.get("secret_key").is_some())
}

/// A stream does not end, and a tool's answer has to.
fn is_a_stream(operation: &Value) -> bool {
    let content = operation.pointer("/responses/200/content");
    content.is_some_and(|content| content.get("text/event-stream").is_some())
}

fn tool(document: &Value, path: &str, method: &str, operation: &Value) -> Option<ApiTool> {
    let id = operation["operationId"]
        .as_str()
        .filter(|id| !LEFT_OUT.contains(id))?;
    let effect = match method {
        "get" => Effect::Reads,
        "post" => Effect::Changes,
        _ => return None,
    };
    let is_read = effect == Effect::Reads;
    let annotations = ToolAnnotations::new()
        .read_only(is_read)
        .destructive(!is_read)
        .open_world(false);
    let input = input(document, operation);
    let shown = Tool::new(snake_case(id), description(operation), input);
    Some(ApiTool {
        shown: shown.with_annotations(annotations),
        effect,
        path: path.to_owned(),
        path_names: names(operation, "path"),
        query_names: names(operation, "query"),
    })
}

fn description(operation: &Value) -> String {
    let texts = [&operation["summary"], &operation["description"]];
    let texts: Vec<&str> = texts.into_iter().filter_map(Value::as_str).collect();
    texts.join(". ")
}

/// `listInvoices` is `list_invoices`.
fn snake_case(id: &str) -> String {
    let mut name = String::new();
    for letter in id.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// The parameters in one place. `key` is another way of sending a key, and none of a tool's business.
fn parameters<'d>(operation: &'d Value, place: &str) -> impl Iterator<Item = &'d Value> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    all.filter(move |it| it["in"] == place && it["name"] != "key")
}

fn names(operation: &Value, place: &str) -> Vec<String> {
    parameters(operation, place)
        .filter_map(|it| it["name"].as_str().map(str::to_owned))
        .collect()
}

/// What the tool takes: the parameters by their names, and the body as one of its own, with the schemas that it refers to.
fn input(document: &Value, operation: &Value) -> JsonObject {
    let (mut properties, mut required) = (JsonObject::new(), Vec::new());
    let given = parameters(operation, "path").chain(parameters(operation, "query"));
    for parameter in given {
        let Some(name) = parameter["name"].as_str() else {
            continue;
        };
        let mut schema = parameter["schema"].clone();
        if parameter["description"].is_string() {
            schema["description"] = parameter["description"].clone();
        }
        properties.insert(name.to_owned(), schema);
        if parameter["required"] == true {
            required.push(name);
        }
    }
    let body = &operation["requestBody"];
    if let Some(schema) = body.pointer("/content/application~1json/schema") {
        properties.insert(BODY.to_owned(), schema.clone());
        if body["required"] == true {
            required.push(BODY);
        }
    }
    let mut input = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    let definitions = definitions(document, &input);
    if !definitions.is_empty() {
        input["$defs"] = Value::Object(definitions);
    }
    point_to_definitions(&mut input);
    input.as_object().cloned().unwrap_or_default()
}

/// The document's schemas that these refer to, and those that they refer to in turn.
fn definitions(document: &Value, of: &Value) -> JsonObject {
    let mut found = JsonObject::new();
    let mut waiting = references(of);
    while let Some(name) = waiting.pop_first() {
        if found.contains_key(&name) {
            continue;
        }
        let schema = &document["components"]["schemas"][&name];
        waiting.extend(references(schema));
        found.insert(name, schema.clone());
    }
    found
}

fn references(within: &Value) -> BTreeSet<String> {
    match within {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str);
            let own = own.and_then(|it| it.strip_prefix(SCHEMAS));
            let below = fields.values().flat_map(references);
            own.map(str::to_owned).into_iter().chain(below).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => BTreeSet::new(),
    }
}

fn point_to_definitions(within: &mut Value) {
    match within {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(to) if name == "$ref" => {
                        *to = to.replacen(SCHEMAS, "#/$defs/", 1);
                    }
                    value => point_to_definitions(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(point_to_definitions),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<ApiTool> {
        from_document(till_api::openapi_json())
    }

    fn names(effect: Effect) -> Vec<String> {
        let tools = tools().into_iter().filter(|it| it.effect == effect);
        tools.map(|it| it.shown.name.into_owned()).collect()
    }

    #[test]
    fn every_endpoint_of_a_secret_key_is_a_tool_but_streams_and_secrets() {
        let document: Value = serde_json::from_str(till_api::openapi_json()).unwrap();
        let methods = document["paths"].as_object().unwrap().values();
        let operations = methods.flat_map(|methods| methods.as_object().unwrap().values());
        let of_a_key = operations.filter(|it| is_for_a_secret_key(it)).count();
        assert_eq!(tools().len(), of_a_key - 2);
        let (reads, changes) = (names(Effect::Reads), names(Effect::Changes));
        for name in [
            "list_invoices",
            "retrieve_invoice",
            "list_events",
            "reconcile",
        ] {
            assert!(reads.contains(&name.to_owned()), "{name}");
        }
        for name in ["create_invoice", "simulate_payment", "create_refund"] {
            assert!(changes.contains(&name.to_owned()), "{name}");
        }
        for name in [
            "roll_webhook_secret",
            "stream_invoice_events",
            "retrieve_session",
            "create_api_key",
        ] {
            let all = [reads.clone(), changes.clone()].concat();
            assert!(!all.contains(&name.to_owned()), "{name}");
        }
    }

    #[test]
    fn a_tool_takes_what_its_endpoint_takes_and_no_key() {
        for tool in tools() {
            let name = &tool.shown.name;
            let input = Value::Object((*tool.shown.input_schema).clone());
            let text = input.to_string();
            assert!(!text.contains(SCHEMAS), "{name}");
            for part in text.split("#/$defs/").skip(1) {
                let to = part.split('"').next().unwrap();
                assert!(input["$defs"].get(to).is_some(), "{name}: {to}");
            }
            let properties = input["properties"].as_object().unwrap();
            assert!(!properties.contains_key("key"), "{name}");
            assert!(!properties.contains_key("Idempotency-Key"), "{name}");
            assert_eq!(
                tool.path.matches('{').count(),
                tool.path_names.len(),
                "{name}"
            );
            assert!(tool.shown.description.is_some_and(|it| it.len() > 5));
        }
    }
}

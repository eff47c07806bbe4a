//! The API reference, made of the OpenAPI document: every endpoint, object, code and limit, with the recorded examples.

mod examples;
mod limits;
mod operation;
mod schema;

use std::sync::OnceLock;

use serde_json::Value;
use till_core::error::Code;

use super::page::Page;
use super::pieces::{h2, h3, link, list, p, plain, table};
use crate::document::openapi::openapi_json;

/// Stands for the server's own address in the text.
pub(super) const SERVER: &str = "{server}";

/// For people who are signed in at the dashboard, and for probes: the last chapters.
const LAST: &[&str] = &["Dashboard", "Health"];

pub(super) fn page() -> &'static Page {
    static PAGE: OnceLock<Page> = OnceLock::new();
    PAGE.get_or_init(|| {
        let document: Value = serde_json::from_str(openapi_json()).unwrap_or(Value::Null);
        let chapters = chapters(&document);
        let body = [
            intro(),
            contents(&chapters),
            chapters.iter().map(chapter).collect(),
            events(&document),
            objects(&document),
            limits::chapter(),
            codes(),
        ];
        Page {
            has_search: true,
            ..Page::new("/api", "API reference", body.concat())
        }
    })
}

/// A group of endpoints, as the document tags them.
struct Chapter<'d> {
    tag: &'d str,
    operations: Vec<operation::Operation<'d>>,
}

impl Chapter<'_> {
    fn id(&self) -> String {
        format!("chapter-{}", self.tag.to_lowercase().replace(' ', "-"))
    }
}

fn chapters(document: &Value) -> Vec<Chapter<'_>> {
    let mut chapters: Vec<Chapter<'_>> = Vec::new();
    for operation in operation::all(document) {
        let tag = operation.tag();
        match chapters.iter_mut().find(|chapter| chapter.tag == tag) {
            Some(chapter) => chapter.operations.push(operation),
            None => chapters.push(Chapter {
                tag,
                operations: vec![operation],
            }),
        }
    }
    chapters.sort_by_key(|chapter| LAST.contains(&chapter.tag));
    chapters
}

fn intro() -> String {
    let rules = [
        format!("The address of this server is `{SERVER}`. Samples have it in `TILL_URL`."),
        "A secret key goes into the header `Authorization: Bearer`; samples have it in `TILL_SECRET_KEY`, and a publishable \
         key in `TILL_PUBLISHABLE_KEY`."
            .to_owned(),
        "Every POST needs a header `Idempotency-Key` with a value of its own.".to_owned(),
        "At the dashboard a session's cookie takes the place of a key: samples have its value in `TILL_SESSION`, its CSRF token in \
         `TILL_CSRF`, and where a passkey must have said yes, the [confirmation](#beginConfirmation)'s id in `TILL_CONFIRMATION`."
            .to_owned(),
        format!(
            "The same as an OpenAPI 3.1 document: [openapi.json](/openapi.json). What all endpoints have in common: {}.",
            link("#conventions", "conventions")
        ),
        "Requests and answers below were recorded by a test that made them. Ids, slugs, tokens and hashes in them are that \
         test's: put your own."
            .to_owned(),
    ];
    list(rules)
}

fn contents(chapters: &[Chapter<'_>]) -> String {
    let lines = chapters.iter().map(|chapter| {
        let names = chapter.operations.iter();
        let names = names.map(|it| format!("[{}](#{})", it.title(), it.id()));
        let names: Vec<String> = names.collect();
        format!("[{}](#{}): {}", chapter.tag, chapter.id(), names.join(", "))
    });
    let others = [
        "[Events](#events)",
        "[Objects](#objects)",
        "[Limits](#limits)",
        "[Codes](#codes)",
    ];
    let others = others.iter().map(ToString::to_string);
    [h2("contents", "Contents"), list(lines.chain(others))].concat()
}

fn chapter(chapter: &Chapter<'_>) -> String {
    let operations: String = chapter.operations.iter().map(|it| it.text()).collect();
    [h2(&chapter.id(), chapter.tag), operations].concat()
}

fn events(document: &Value) -> String {
    let webhooks = document["webhooks"].as_object();
    let lines = webhooks.into_iter().flatten().map(|(name, webhook)| {
        let schema = &webhook["post"]["requestBody"]["content"]["application/json"]["schema"];
        let data = &schema["properties"]["data"];
        let fields = data["properties"].as_object();
        let fields = fields
            .into_iter()
            .flatten()
            .map(|(field, of)| format!("`{field}`: {}", schema::type_of(of)));
        let fields: Vec<String> = fields.collect();
        format!("`{name}`: {}", fields.join(", "))
    });
    [
        h2("events", "Events"),
        p(&format!(
            "What webhooks deliver and [the log of events](#listEvents) lists, each with what its `data` has. {} says when each \
             is sent, and how a receiver knows that it is Till's.",
            link("/webhooks", "Webhooks")
        )),
        list(lines),
    ]
    .concat()
}

fn objects(document: &Value) -> String {
    let schemas = document["components"]["schemas"].as_object();
    let schemas = schemas.into_iter().flatten();
    let shown = schemas.filter(|(name, _)| !schema::is_list(name));
    let objects: String = shown
        .map(|(name, of)| [h3(name, name), schema::text(name, of)].concat())
        .collect();
    [h2("objects", "Objects"), objects].concat()
}

fn codes() -> String {
    let row = |code: &Code| {
        let name = code.as_str();
        vec![
            link(&format!("/errors/{name}"), &format!("`{name}`")),
            code.status().to_string(),
            plain(code.summary()),
        ]
    };
    let rows: Vec<Vec<String>> = Code::ALL.iter().map(row).collect();
    [
        h2("codes", "Codes"),
        p("Every endpoint refuses in [one shape](#ErrorEnvelope), with one of the codes that it lists."),
        p(
            "Headers: `x-request-id` on every answer names the request, 429 says in `Retry-After` how many seconds to wait, and the \
             first answer to an idempotency key once more has `idempotent-replayed: true`.",
        ),
        table("Codes of errors", &["Code", "Status", "When"], &rows),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn document() -> Value {
        serde_json::from_str(openapi_json()).unwrap()
    }

    #[test]
    fn every_endpoint_field_and_code_is_there_once_under_an_anchor_of_its_own() {
        let html = page().html();
        let document = document();
        let mut ids = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                ids.push(operation["operationId"].as_str().unwrap().to_owned());
                let shown = format!("<code>{} {path}</code>", method.to_uppercase());
                assert!(html.contains(&shown), "{shown}");
            }
        }
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            if schema::is_list(name) {
                continue;
            }
            ids.push(name.clone());
            add_fields(&mut ids, schema, name);
        }
        assert!(ids.contains(&"Event.data.review.decision".to_owned()));
        assert!(ids.contains(&"AddressDerivation.bip84_v1.account_xpub".to_owned()));
        for id in ids {
            let count = html.matches(&format!(" id=\"{id}\"")).count();
            assert_eq!(count, 1, "{id}");
        }
        for code in Code::ALL {
            assert!(html.contains(&format!("/docs/errors/{}", code.as_str())));
        }
    }

    /// Adds the anchors of an object's fields, and of the fields of those that have no name of their own. One of several objects
    /// is told from the others by the one word that a field of it has.
    fn add_fields(ids: &mut Vec<String>, schema: &Value, anchor: &str) {
        for (field, of) in schema["properties"].as_object().into_iter().flatten() {
            let anchor = format!("{anchor}.{field}");
            add_fields(ids, of, &anchor);
            ids.push(anchor);
        }
        for choice in schema["oneOf"].as_array().into_iter().flatten() {
            let fields = choice["properties"].as_object().into_iter().flatten();
            let mut words = fields.filter_map(|(_, field)| field["enum"][0].as_str());
            if let Some(word) = words.next() {
                add_fields(ids, choice, &format!("{anchor}.{word}"));
            }
        }
    }

    /// How many objects with fields a part of the document has.
    fn objects_within(part: &Value) -> usize {
        let own = usize::from(part["properties"].is_object());
        let inner: usize = match part {
            Value::Object(map) => map.values().map(objects_within).sum(),
            Value::Array(items) => items.iter().map(objects_within).sum(),
            _ => 0,
        };
        own + inner
    }

    #[test]
    fn no_field_is_described_where_the_page_does_not_look() {
        let document = document();
        assert_eq!(objects_within(&document["paths"]), 0);
        let page = page().html();
        for (name, webhook) in document["webhooks"].as_object().unwrap() {
            let schema = &webhook["post"]["requestBody"]["content"]["application/json"]["schema"];
            assert_eq!(objects_within(webhook), objects_within(schema));
            let mut fields = Vec::new();
            add_fields(&mut fields, schema, "Event");
            for field in fields {
                assert!(
                    page.contains(&format!(" id=\"{field}\"")),
                    "{name}: {field}"
                );
            }
        }
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let (mut ids, mut told) = (Vec::new(), 0);
        for (name, schema) in schemas.iter().filter(|(name, _)| !schema::is_list(name)) {
            add_fields(&mut ids, schema, name);
            told += objects_within(schema);
        }
        // Each object has a field at least, and one that is reached neither by name nor by its place has none here.
        let parents: HashSet<&str> = ids
            .iter()
            .filter_map(|id| Some(id.rsplit_once('.')?.0))
            .collect();
        assert_eq!(parents.len(), told);
    }

    #[test]
    fn every_endpoint_has_a_recorded_example() {
        let document = document();
        for operation in operation::all(&document) {
            assert!(examples::of(operation.id()).is_some(), "{}", operation.id());
        }
    }
}

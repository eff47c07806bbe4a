//! Requests, as the OpenAPI document describes them: whatever it says of an endpoint, the server holds to. These
//! go over every endpoint of the document, so that a new one is tested by being described.

use serde_json::{Map, Value, json};

use crate::harness::described::{Endpoint, endpoints};
use crate::harness::{Call, Setup, Till, World};

const KEY: &str = "Idempotency-Key";

/// Enough calls for everything a document can say.
async fn till(world: &World) -> Till {
    let setup = Setup {
        checkout_per_minute: 10_000,
        ..Setup::default()
    };
    world.till_with(setup).await
}

/// A claim's token is a credential that is looked at first; its tests have one.
fn posts() -> Vec<Endpoint> {
    let posts = endpoints("post").into_iter();
    posts.filter(Endpoint::wants_a_key).collect()
}

fn post(till: &Till, endpoint: &Endpoint, body: &Value) -> Call {
    till.posting(&endpoint.path, body.clone())
}

/// A value that the field takes, as far as the document says.
fn sample(schema: &Value) -> Value {
    match (&schema["enum"], kind(schema)) {
        (Value::Array(words), _) => words[0].clone(),
        (_, "integer") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        (_, "boolean") => json!(true),
        (_, "array") => json!([]),
        (_, "object") => json!({}),
        _ if schema["format"] == "date-time" => json!("2999-01-01T00:00:00Z"),
        _ => json!("x"),
    }
}

/// The type of a value that may be null as well.
fn kind(schema: &Value) -> &str {
    let named = |value: &'_ Value| value.as_str().filter(|name| *name != "null").is_some();
    match &schema["type"] {
        Value::Array(types) => types.iter().find(|one| named(one)).and_then(Value::as_str),
        one => one.as_str(),
    }
    .unwrap_or("string")
}

/// Every required field, with something in it, and `field` with `value`.
fn with(endpoint: &Endpoint, field: &str, value: Value) -> Value {
    let mut body: Map<String, Value> = endpoint
        .fields()
        .into_iter()
        .filter(|(name, _)| endpoint.requires(name))
        .map(|(name, schema)| (name, sample(&schema)))
        .collect();
    body.insert(field.to_owned(), value);
    Value::Object(body)
}

/// What the document says a field does not take, each in a way of its own.
fn refused(schema: &Value) -> Vec<Value> {
    let mut wrong = vec![match kind(schema) {
        "string" => json!(7),
        _ => json!("x"),
    }];
    if schema["enum"].is_array() {
        wrong.push(json!("no such word"));
    }
    if schema["format"] == "date-time" {
        wrong.push(json!("yesterday"));
    }
    if let Some(max) = schema["maxLength"].as_u64() {
        wrong.push(json!("x".repeat(usize::try_from(max).unwrap() + 1)));
    }
    if schema["minLength"].as_u64() == Some(1) {
        wrong.push(json!(""));
    }
    if let Some(max) = schema["maxItems"].as_u64() {
        wrong.push(json!(vec!["x"; usize::try_from(max).unwrap() + 1]));
    }
    if let Some(max) = schema["maxProperties"].as_u64() {
        let pairs = (0..=max).map(|number| (format!("key_{number}"), json!("x")));
        wrong.push(pairs.collect::<Map<_, _>>().into());
    }
    if let Some(min) = schema["minimum"].as_i64() {
        wrong.push(json!(min - 1));
    }
    if let Some(max) = schema["maximum"].as_i64() {
        wrong.push(json!(max + 1));
    }
    wrong
}

on_every_engine! {
    async fn every_post_wants_an_idempotency_key(world: World) {
        let till = till(&world).await;
        for endpoint in posts() {
            let call = post(&till, &endpoint, &json!({ "no_such_field": 1 }));
            let reply = call.without("idempotency-key").send().await;
            reply.refused(400, "idempotency_key_required", KEY);
        }
    }

    async fn a_key_bound_to_another_request_is_told_before_anything_is_said_of_the_body(world: World) {
        let till = till(&world).await;
        till.posting("/v1/invoices", json!({ "amount": "25.00", "currency": "USD" })).once("k").send().await.ok(201);
        for endpoint in posts() {
            for bytes in [&b"{"[..], b"[]", b"{\"no_such_field\":1}"] {
                let call = post(&till, &endpoint, &json!({})).bytes(bytes);
                call.clone().once("k").send().await.refused(409, "idempotency_key_reused", KEY);
                let fresh = call.send().await;
                assert_eq!(fresh.status, 400, "{}", endpoint.path);
            }
        }
    }

    async fn a_field_that_is_not_described_is_unknown(world: World) {
        let till = till(&world).await;
        for endpoint in posts() {
            let reply = post(&till, &endpoint, &with(&endpoint, "no_such_field", json!(1))).send().await;
            reply.refused(400, "parameter_unknown", "no_such_field");
        }
    }

    async fn a_required_field_that_is_absent_or_null_is_missing(world: World) {
        let till = till(&world).await;
        let mut seen = 0;
        for endpoint in posts() {
            for (name, _) in endpoint.fields().into_iter().filter(|(name, _)| endpoint.requires(name)) {
                let mut body = with(&endpoint, &name, Value::Null);
                post(&till, &endpoint, &body).send().await.refused(400, "parameter_missing", name.as_str());
                body.as_object_mut().unwrap().remove(&name);
                post(&till, &endpoint, &body).send().await.refused(400, "parameter_missing", name.as_str());
                seen += 1;
            }
        }
        assert!(seen > 5, "the document was read");
    }

    async fn what_a_described_field_does_not_take_is_refused_by_its_name(world: World) {
        let till = till(&world).await;
        let mut seen = 0;
        for endpoint in posts() {
            for (name, schema) in endpoint.fields() {
                for value in refused(&schema) {
                    let reply = post(&till, &endpoint, &with(&endpoint, &name, value)).send().await;
                    reply.refused(400, "parameter_invalid", name.as_str());
                    seen += 1;
                }
            }
        }
        assert!(seen > 40, "the document was read");
    }

    async fn every_get_takes_the_parameters_it_describes_and_no_others(world: World) {
        let till = till(&world).await;
        for endpoint in endpoints("get").into_iter().filter(|endpoint| endpoint.wants_a_key()) {
            let get = async |query: &str| till.get(&format!("{}?{query}", endpoint.path)).await;
            get("no_such_parameter=1").await.refused(400, "parameter_unknown", "no_such_parameter");
            for (name, schema) in endpoint.parameters() {
                for value in refused(&schema).into_iter().filter(|_| schema["type"] != "string" || schema["enum"].is_array()) {
                    let text = value.as_str().map_or_else(|| value.to_string(), |text| text.replace(' ', "+"));
                    get(&format!("{name}={text}")).await.refused(400, "parameter_invalid", name.as_str());
                }
            }
        }
    }
}

//! The error codes of every endpoint. Most follow from who may call it and how it is called, which [`common`] works out; the rest is
//! declared in `own`, endpoint by endpoint. The contract tests hold every refusal of the server against both.

mod own;

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};
use till_core::error::Code;

use crate::handler::access::{self, Access, Confirm};

pub use own::own;

/// Says of every endpoint which codes it answers with, all together and by status.
pub fn declare(document: &mut Value) {
    let paths = document["paths"].as_object_mut().into_iter().flatten();
    for (route, methods) in paths {
        for (method, operation) in methods.as_object_mut().into_iter().flatten() {
            let Ok(method) = Method::from_bytes(method.to_ascii_uppercase().as_bytes()) else {
                continue;
            };
            let told = Told::of(&method, route, operation);
            operation["x-error-codes"] = names(&told.all);
            if takes(operation, "secret_key") && !told.by_session.is_empty() {
                operation["x-session-error-codes"] = names(&told.by_session);
            }
            // Probes know two answers, which are described where they are given.
            if operation["tags"][0] != "Health" {
                describe_answers(operation, &told.all);
            }
        }
    }
}

fn names(codes: &[Code]) -> Value {
    let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    json!(names)
}

/// The codes of an endpoint, in the order of the catalogue.
struct Told {
    all: Vec<Code>,
    /// Those among them that only requests by session are told.
    by_session: Vec<Code>,
}

impl Told {
    fn of(method: &Method, route: &str, operation: &Value) -> Told {
        let mut codes = common(method, route, operation);
        codes.extend(own(operation));
        let access = access::of(method, route);
        let by_session = access.map_or_else(Vec::new, |access| of_session(method, access));
        let of = |is_it: &dyn Fn(&Code) -> bool| Code::ALL.iter().copied().filter(is_it).collect();
        Told {
            all: of(&|code| codes.contains(code) || by_session.contains(code)),
            by_session: of(&|code| by_session.contains(code) && !codes.contains(code)),
        }
    }
}

/// Those that follow from which keys the endpoint takes, and how it is called.
fn common(method: &Method, route: &str, operation: &Value) -> Vec<Code> {
    use Code::*;
    let mut codes = vec![
        SecretKeyInUrl,
        ParameterInvalid,
        ParameterUnknown,
        // Also where nobody counts requests: a client that holds too many connections is told so on all of them.
        RateLimited,
        InternalError,
        ServiceUnavailable,
    ];
    let access = access::of(method, route);
    if takes(operation, "secret_key") {
        codes.extend([
            ApiKeyMissing,
            ApiKeyInvalid,
            AuthorizationHeaderInvalid,
            ApiKeyPermissionDenied,
            LivemodeDisabled,
            ModeNotConfigured,
        ]);
        if route.starts_with("/v1/test_helpers/") {
            codes.push(TestModeOnly);
        } else if !takes(operation, "publishable_key") {
            codes.push(PublishableKeyNotAllowed);
        }
    }
    if *method == Method::POST {
        codes.extend([
            IdempotencyKeyRequired,
            IdempotencyKeyInvalid,
            BodyInvalidJson,
            BodyTooLarge,
            ContentTypeInvalid,
        ]);
        // Of those that nobody is signed in for, no answer is kept.
        if access != Some(Access::Public) {
            codes.extend([IdempotencyKeyReused, IdempotencyKeyInUse]);
        }
    }
    if requires_something(operation) {
        codes.push(ParameterMissing);
    }
    if route.contains('{') {
        codes.push(ResourceMissing);
    }
    codes
}

fn takes(operation: &Value, scheme: &str) -> bool {
    let schemes = operation["security"].as_array().into_iter().flatten();
    let mut names = schemes.filter_map(Value::as_object).flatten();
    names.any(|(name, _)| name == scheme)
}

/// Whether it has a body or a parameter that must be sent.
fn requires_something(operation: &Value) -> bool {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let mut in_query = parameters.filter(|it| it["in"] == "query");
    operation["requestBody"]["required"] == true || in_query.any(|it| it["required"] == true)
}

/// Those that people at the dashboard are told, in the order in which `handler::session` looks.
fn of_session(method: &Method, access: Access) -> Vec<Code> {
    use Code::*;
    let mut codes = vec![OriginNotAllowed, FeatureUnavailable];
    if access == Access::Public {
        return codes;
    }
    codes.extend([SessionMissing, SessionExpired, AccountDisabled]);
    if *method == Method::POST {
        codes.push(CsrfFailed);
    }
    match access {
        Access::Pending => codes.push(MfaNotPending),
        Access::AnySession => {}
        _ => codes.push(SecondFactorRequired),
    }
    let (of_organization, has_mode, confirm) = match access {
        Access::Organization {
            has_mode, confirm, ..
        } => (true, has_mode, confirm),
        Access::Resource(_) => (true, true, Confirm::No),
        Access::Own(confirm) | Access::Operator(confirm) => (false, false, confirm),
        _ => (false, false, Confirm::No),
    };
    if of_organization {
        codes.extend([ParameterMissing, ResourceMissing, NoOrganization]);
    }
    if of_organization || matches!(access, Access::Operator(_)) {
        codes.push(PermissionDenied);
    }
    if has_mode {
        codes.extend([LivemodeDisabled, ApplicationNotApproved, PasskeyRequired]);
    }
    if confirm == Confirm::ToGoLive {
        codes.push(LivemodeDisabled);
    }
    match confirm {
        Confirm::No => {}
        Confirm::IfPasskey => codes.push(StepUpRequired),
        _ => codes.extend([StepUpRequired, PasskeyRequired]),
    }
    codes
}

/// Endpoints whose body names other objects by their ids.
const ID_IN_BODY: &[&str] = &["createSubscription"];

/// The statuses that a code is answered with, where they are more than its own.
fn statuses(code: Code, operation: &str) -> &'static [u16] {
    match code {
        // A head that is too large.
        Code::ParameterInvalid => &[400, 431],
        // A body that does not arrive.
        Code::BodyInvalidJson => &[400, 408],
        // An id inside a body.
        Code::ResourceMissing if ID_IN_BODY.contains(&operation) => &[404, 400],
        // On the demo server.
        Code::TestModeOnly => &[403, 409],
        _ => &[],
    }
}

/// Puts an endpoint's own codes in the place of those that all have together.
fn describe_answers(operation: &mut Value, codes: &[Code]) {
    let id = operation["operationId"].as_str();
    let id = id.unwrap_or_default().to_owned();
    let mut by_status: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for code in codes {
        let own = [code.status()];
        let statuses = match statuses(*code, &id) {
            [] => &own[..],
            several => several,
        };
        for status in statuses {
            let names = by_status.entry(status.to_string()).or_default();
            names.push(code.as_str());
        }
    }
    let Some(answers) = operation["responses"].as_object_mut() else {
        return;
    };
    answers.retain(|status, _| status.starts_with('2') || by_status.contains_key(status));
    for (status, names) in by_status {
        let answer = answers.entry(status).or_insert_with(|| {
            let schema = json!({ "$ref": "#/components/schemas/ErrorEnvelope" });
            json!({ "content": { "application/json": { "schema": schema } } })
        });
        answer["description"] = json!(format!("One of: {}.", names.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::own::OWN;
    use super::*;
    use crate::document::openapi::openapi_json;

    /// Every endpoint of the document with its method and route.
    fn operations(document: &Value) -> Vec<(Method, &str, &Value)> {
        let paths = document["paths"].as_object().unwrap().iter();
        let all = paths.flat_map(|(route, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| {
                let method = Method::from_bytes(method.to_ascii_uppercase().as_bytes());
                (method.unwrap(), route.as_str(), operation)
            })
        });
        all.collect()
    }

    #[test]
    fn what_is_declared_belongs_to_an_endpoint_and_is_not_said_of_all_like_it() {
        let document: Value = serde_json::from_str(openapi_json()).unwrap();
        let operations = operations(&document);
        let ids: BTreeSet<&str> = operations
            .iter()
            .map(|(.., operation)| operation["operationId"].as_str().unwrap())
            .collect();
        let declared: BTreeSet<&str> = OWN.iter().map(|(id, _)| *id).collect();
        assert_eq!(declared.len(), OWN.len(), "each once");
        let unknown: Vec<_> = declared.difference(&ids).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        for (method, route, operation) in &operations {
            let common = common(method, route, operation);
            for code in own(operation) {
                assert!(
                    !common.contains(code),
                    "{method} {route}: {}",
                    code.as_str()
                );
            }
        }
    }

    /// What no endpoint answers with: it is told where there is none.
    const OF_NONE: [Code; 1] = [Code::MethodNotAllowed];

    #[test]
    fn every_code_is_some_endpoints() {
        let document: Value = serde_json::from_str(openapi_json()).unwrap();
        let told: BTreeSet<&str> = operations(&document)
            .into_iter()
            .flat_map(|(.., operation)| operation["x-error-codes"].as_array().unwrap())
            .map(|code| code.as_str().unwrap())
            .collect();
        for code in Code::ALL {
            let is_told = told.contains(code.as_str());
            assert_eq!(is_told, !OF_NONE.contains(code), "{}", code.as_str());
        }
    }
}

//! Errors, as the document describes them. They are written by `till_http::answer`, and the contract tests hold
//! every one against this.

use std::collections::{BTreeMap, BTreeSet};

use till_core::error::{Code, Section};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{IntoResponses, ToSchema};

/// Every error has this shape.
#[derive(ToSchema)]
#[expect(dead_code, reason = "described here, and written by till_http")]
pub struct ErrorEnvelope {
    error: ErrorObject,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "described here, and written by till_http")]
#[schema(as = Error)]
pub struct ErrorObject {
    /// The class of the error.
    r#type: String,
    /// Stable; branch on it.
    code: String,
    /// For people; may change.
    message: String,
    /// The field concerned, when there is one.
    #[schema(required)]
    param: Option<String>,
    /// The code's documentation.
    doc_url: String,
    /// The same as the `x-request-id` header.
    request_id: String,
}

/// The error answers any endpoint can give, by status.
pub struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let statuses: BTreeSet<u16> = [
            400, 401, 403, 404, 405, 408, 409, 413, 415, 429, 431, 500, 503,
        ]
        .into_iter()
        .collect();
        let describe = |status: u16| {
            let codes: Vec<&str> = Code::ALL
                .iter()
                .filter(|code| code.status() == status && !is_dashboard(**code))
                .map(|code| code.as_str())
                .collect();
            if codes.is_empty() {
                "Refused.".to_owned()
            } else {
                format!("One of: {}.", codes.join(", "))
            }
        };
        let answer = |status: u16| {
            let body = ContentBuilder::new()
                .schema(Some(Ref::from_schema_name("ErrorEnvelope")))
                .build();
            let response = ResponseBuilder::new()
                .description(describe(status))
                .content("application/json", body);
            (status.to_string(), RefOr::T(response.build()))
        };
        statuses.into_iter().map(answer).collect()
    }
}

fn is_dashboard(code: Code) -> bool {
    code.section() == Section::Dashboard
}

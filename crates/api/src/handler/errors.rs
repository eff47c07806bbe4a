//! Errors, as the document describes them. They are written by `till_http::answer`, and the contract tests hold
//! every one against this.

use std::collections::BTreeMap;

use utoipa::openapi::{RefOr, Response};
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

/// The error answers of an endpoint. `document::codes` writes them, once it is known who may call it.
pub struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        BTreeMap::new()
    }
}

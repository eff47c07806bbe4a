//! Answers, as every handler gives them.

use axum::response::Response;
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use till_engine::{Answer, Fail};
use till_http::answer;
use utoipa::ToSchema;

use super::failure::Failure;

pub type Answered = Result<Response, Failure>;

/// What a GET found.
pub fn shown(view: &impl Serialize) -> Answered {
    Ok(answer::json(StatusCode::OK, view))
}

/// What a POST made or changed, as its answer keeps it.
pub fn text(view: &impl Serialize) -> Result<String, Fail> {
    serde_json::to_string(view).map_err(Fail::broken)
}

/// One page of a list, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct List<T> {
    #[schema(example = "list", pattern = "^list$")]
    pub object: &'static str,
    pub data: Vec<T>,
    /// Pass it back as `cursor` for the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

/// An answer of the engine; one that was given before says so.
pub fn answered(done: Answer) -> Response {
    let status = StatusCode::from_u16(done.status).unwrap_or(StatusCode::OK);
    let mut response = answer::raw_json(status, done.body);
    if done.replayed {
        response
            .headers_mut()
            .insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

//! Answers, as every handler gives them.

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use till_engine::Answer;
use till_engine::base::Change;
use utoipa::ToSchema;

use till_http::answer::{self, Failure};
use till_http::fields::{Fields, Patch};

pub type Answered = Result<Response, Failure>;

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

pub fn list<T: Serialize>(data: Vec<T>, next_cursor: Option<String>) -> Response {
    answer::json(
        StatusCode::OK,
        &List {
            object: "list",
            data,
            next_cursor,
        },
    )
}

/// An answer of the engine; one that was given before says so.
pub fn answered(done: Answer) -> Response {
    let status = StatusCode::from_u16(done.status).unwrap_or(StatusCode::OK);
    let mut response = answer::raw_json(status, done.body).into_response();
    if done.replayed {
        response
            .headers_mut()
            .insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

pub fn change<T>(patch: Patch<T>) -> Change<T> {
    match patch {
        Patch::Absent => Change::Keep,
        Patch::Null => Change::Clear,
        Patch::Value(value) => Change::Set(value),
    }
}

/// Where no body is taken, `{}` is accepted and any field is unknown.
pub fn no_body(body: Option<&[u8]>) -> Result<(), Failure> {
    Ok(Fields::of(body, &[]).map(drop)?)
}

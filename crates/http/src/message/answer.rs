//! Answers: the one shape of an error, and plain JSON for everything else.
//!
//! A handler does not know its request id or where the documentation lives, so its failure travels to
//! the edge as a mark on the response and is put into words there.

use std::fmt;
use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Serialize;
use till_core::error::{Code, Refusal};

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// When nothing better is known, a client that was turned away waits this long.
const RETRY_AFTER_S: u32 = 1;

/// In the extensions of every request and the `x-request-id` of every answer.
#[derive(Clone, Debug)]
pub struct RequestId(HeaderValue);

impl RequestId {
    pub fn new(id: String) -> RequestId {
        // Ids are letters, digits and an underscore; anything else could not be sent.
        RequestId(HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("req_unknown")))
    }

    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or("req_unknown")
    }

    pub fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

/// A fault of ours. The cause is for the log; the client learns only that there was one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl Broken {
    pub fn new(cause: impl fmt::Display) -> Broken {
        Broken(cause.to_string())
    }
}

/// What a handler returns when it has no answer.
#[derive(Clone, Debug)]
pub enum Failure {
    Refused(Arc<Refusal>),
    Broken(Broken),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Refused(Arc::new(refusal))
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Failure {
        Failure::Broken(broken)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = match &self {
            Failure::Refused(refusal) => status(refusal),
            Failure::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        response.extensions_mut().insert(self);
        response
    }
}

/// A success. What cannot be serialised is a fault of ours.
pub fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(bytes) => raw_json(status, bytes),
        Err(error) => Failure::from(Broken::new(error)).into_response(),
    }
}

/// A success whose bytes are already JSON, such as a stored answer.
pub fn raw_json(status: StatusCode, bytes: impl Into<Body>) -> Response {
    let mut response = Response::new(bytes.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// A failure in words. A broken one is logged here, where its request id is known.
pub fn failure(failure: &Failure, docs_url: &str, id: &RequestId) -> Response {
    match failure {
        Failure::Refused(refusal) => error(refusal, docs_url, id),
        Failure::Broken(Broken(cause)) => {
            tracing::error!(
                request_id = id.as_str(),
                cause,
                "a request failed on our side, for the reason in `cause`, and was answered 500; please report it if the database was well"
            );
            error(&Refusal::of(Code::InternalError), docs_url, id)
        }
    }
}

pub fn error(refusal: &Refusal, docs_url: &str, id: &RequestId) -> Response {
    let mut response = raw_json(status(refusal), error_body(refusal, docs_url, id));
    let headers = response.headers_mut();
    if let Some(seconds) = retry_after_s(refusal) {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if refusal.status == 401 {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    headers.insert(REQUEST_ID, id.header());
    response
}

/// The body every error has, wherever in the server it came from.
pub fn error_body(refusal: &Refusal, docs_url: &str, id: &RequestId) -> Vec<u8> {
    #[derive(Serialize)]
    struct Envelope<'a> {
        error: Inner<'a>,
    }
    #[derive(Serialize)]
    struct Inner<'a> {
        r#type: &'a str,
        code: &'a str,
        message: &'a str,
        param: Option<&'a str>,
        doc_url: String,
        request_id: &'a str,
    }
    let code = refusal.code.as_str();
    let envelope = Envelope {
        error: Inner {
            r#type: refusal.error_type().as_str(),
            code,
            message: &refusal.message,
            param: refusal.param.as_deref(),
            doc_url: format!("{docs_url}/errors/{code}"),
            request_id: id.as_str(),
        },
    };
    // Strings in a struct always serialise.
    serde_json::to_vec(&envelope).unwrap_or_default()
}

pub(crate) fn retry_after_s(refusal: &Refusal) -> Option<u32> {
    match refusal.status {
        429 | 503 => Some(refusal.retry_after_s.unwrap_or(RETRY_AFTER_S)),
        _ => refusal.retry_after_s,
    }
}

fn status(refusal: &Refusal) -> StatusCode {
    StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(refusal: &Refusal) -> serde_json::Value {
        let id = RequestId::new("req_1".into());
        serde_json::from_slice(&error_body(refusal, "https://pay.example/docs", &id)).unwrap()
    }

    #[test]
    fn an_error_has_all_six_fields_always() {
        let refusal = Refusal::new(Code::ParameterInvalid, "No.").param("assets[1]");
        assert_eq!(
            body(&refusal),
            serde_json::json!({"error": {
                "type": "invalid_request_error",
                "code": "parameter_invalid",
                "message": "No.",
                "param": "assets[1]",
                "doc_url": "https://pay.example/docs/errors/parameter_invalid",
                "request_id": "req_1",
            }})
        );
        let bare = body(&Refusal::of(Code::InternalError));
        assert_eq!(bare["error"]["param"], serde_json::Value::Null);
        assert_eq!(bare["error"].as_object().unwrap().len(), 6);
    }

    #[test]
    fn who_must_wait_is_told_how_long() {
        let id = RequestId::new("req_1".into());
        let after = |refusal: Refusal| {
            let response = error(&refusal, "", &id);
            response.headers().get(RETRY_AFTER).cloned()
        };
        assert_eq!(
            after(Refusal::of(Code::RateLimited).retry_after(7)).unwrap(),
            "7"
        );
        assert_eq!(after(Refusal::of(Code::RateLimited)).unwrap(), "1");
        assert_eq!(after(Refusal::of(Code::ServiceUnavailable)).unwrap(), "1");
        assert_eq!(after(Refusal::of(Code::ParameterInvalid)), None);
    }

    #[test]
    fn a_cause_never_reaches_the_client() {
        let id = RequestId::new("req_1".into());
        let broken = Failure::from(Broken::new("relation \"invoices\" does not exist"));
        let response = failure(&broken, "", &id);
        assert_eq!(response.status(), 500);
        assert!(!format!("{response:?}").contains("relation"));
    }

    #[test]
    fn an_id_that_cannot_be_sent_is_replaced() {
        assert_eq!(RequestId::new("a\r\nb".into()).as_str(), "req_unknown");
    }
}

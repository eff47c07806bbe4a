//! How a handler ends without an answer.

use axum::response::{IntoResponse, Response};
use till_core::error::{Code, Refusal};
use till_engine::Fail;
use till_http::answer::{self, Broken};

/// Whatever went wrong below, in HTTP's terms.
#[derive(Clone, Debug)]
pub struct Failure(answer::Failure);

impl Failure {
    /// Whether the caller is told this code.
    pub fn is(&self, code: Code) -> bool {
        match &self.0 {
            answer::Failure::Refused(refusal) => refusal.code == code,
            answer::Failure::Broken(_) => false,
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure(refusal.into())
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Failure {
        Failure(broken.into())
    }
}

impl From<Fail> for Failure {
    fn from(fail: Fail) -> Failure {
        match fail.into_refusal() {
            Ok(refusal) => refusal.into(),
            Err(cause) => Broken(cause).into(),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

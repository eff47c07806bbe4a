//! Every public error: its code, type, status and documentation, and the refusal that carries one.

mod catalogue;
mod kinds;
#[cfg(test)]
mod tests;

pub use catalogue::Code;
pub use kinds::{ErrorType, Section};

use std::borrow::Cow;
use std::fmt;

/// A refusal: what the caller did wrong, in public words.
///
/// Nothing internal belongs in here; a cause that only operators may read is logged where it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    pub status: u16,
    pub message: Cow<'static, str>,
    pub param: Option<String>,
    pub retry_after_s: Option<u32>,
}

impl Refusal {
    /// Messages are sentences that end with a full stop. One that begins with a parameter's name is a phrase about it and
    /// has none: `amount is too large for an on-chain payment`.
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal {
            code,
            status: code.status(),
            message: message.into(),
            param: None,
            retry_after_s: None,
        }
    }

    /// For codes whose summary already says everything the caller can be told.
    pub fn of(code: Code) -> Refusal {
        Refusal::new(code, code.summary())
    }

    pub fn param(self, name: impl Into<String>) -> Refusal {
        Refusal {
            param: Some(name.into()),
            ..self
        }
    }

    /// An id inside a body that names nothing is a bad request: the path itself was found.
    pub fn in_body(self) -> Refusal {
        self.status(400)
    }

    /// The few answers whose status depends on where they are given: `test_mode_only` is 409 on the
    /// demo server, and headers beyond the limit are `parameter_invalid` with 431.
    pub fn status(self, status: u16) -> Refusal {
        Refusal { status, ..self }
    }

    /// The class of its code; of its status, where that is not the code's own.
    pub fn error_type(&self) -> ErrorType {
        match self.status {
            status if status == self.code.status() => self.code.kind(),
            401 => ErrorType::Authentication,
            403 => ErrorType::Permission,
            429 => ErrorType::RateLimit,
            500.. => ErrorType::Api,
            _ => ErrorType::InvalidRequest,
        }
    }

    pub fn retry_after(self, s: u32) -> Refusal {
        Refusal {
            retry_after_s: Some(s),
            ..self
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)?;
        match &self.param {
            Some(param) => write!(f, " ({param})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}

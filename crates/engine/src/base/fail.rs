//! How a use case can end without an answer, for two audiences: the caller and whoever reads the log.

use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_store::{Retryable, StoreError};

#[derive(Clone, Debug)]
pub enum Fail {
    /// The caller's doing; told in public words.
    Refused(Refusal),
    /// The database's doing; retried, answered 503, or a defect.
    Store(StoreError),
    /// Ours; logged with the cause, answered `internal_error`.
    Broken(String),
}

impl Fail {
    pub fn broken(cause: impl ToString) -> Fail {
        Fail::Broken(cause.to_string())
    }
}

impl From<Refusal> for Fail {
    fn from(refusal: Refusal) -> Fail {
        Fail::Refused(refusal)
    }
}

impl From<StoreError> for Fail {
    fn from(error: StoreError) -> Fail {
        Fail::Store(error)
    }
}

impl Retryable for Fail {
    fn retryable(&self) -> bool {
        matches!(self, Fail::Store(error) if error.retryable())
    }
}

/// Nothing of that id here. `hint` says more where more may be said.
pub fn missing(what: &str, id: &str) -> Refusal {
    Refusal::new(
        Code::ResourceMissing,
        format!("No such {what}: {}", short(id)),
    )
}

/// The id exists in the caller's other mode, which is worth saying: it is the caller's own.
pub fn missing_in_mode(what: &str, id: &str, mode: &str, other: &str) -> Refusal {
    Refusal::new(
        Code::ResourceMissing,
        format!(
            "No such {what} in {mode} mode: {}. It exists in {other} mode; use a {other} key.",
            short(id)
        ),
    )
}

/// Missing here; `found` says whether the caller's other mode has it.
pub fn missing_or_in_mode<T>(what: &str, id: &str, scope: &Scope, found: Option<T>) -> Refusal {
    let other = scope.in_other_mode();
    match found {
        Some(_) => missing_in_mode(what, id, scope.mode.as_str(), other.mode.as_str()),
        None => missing(what, id),
    }
}

/// Echoed input is cut to the length of any real id.
fn short(text: &str) -> String {
    text.chars().take(64).collect()
}

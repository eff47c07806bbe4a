//! How a use case can end without an answer, for two audiences: the caller and whoever reads the log.

use std::panic::Location;

use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_store::{Retryable, StoreError, Unwritable};

/// Where in the program something failed, for the log.
pub type CodeLocation = &'static Location<'static>;

#[derive(Clone, Debug)]
pub enum Fail {
    /// The caller's doing; told in public words.
    Refused(Refusal),
    /// Somebody else was faster: the unit of work begins anew.
    Again,
    /// The database's doing; retried, answered 503, or a defect.
    Store(StoreError, CodeLocation),
    /// Ours; logged with the cause, answered `internal_error`.
    Broken(String, CodeLocation),
}

impl Fail {
    #[track_caller]
    pub fn broken(cause: impl ToString) -> Fail {
        Fail::Broken(cause.to_string(), Location::caller())
    }

    /// Whether the database is away or overrun, for whatever is asked of it.
    pub fn is_outage(&self) -> bool {
        matches!(
            self,
            Fail::Store(
                StoreError::Unavailable | StoreError::Unwritable(_) | StoreError::Busy,
                _
            )
        )
    }

    /// Whether somebody else holds a row for too long.
    pub fn is_lock(&self) -> bool {
        matches!(self, Fail::Store(StoreError::LockTimeout { .. }, _))
    }

    /// What the caller is told, or the cause, for the log alone, where the fault is ours. A database that is
    /// away is not a defect: the caller may retry.
    pub fn into_refusal(self) -> Result<Refusal, String> {
        match self {
            Fail::Refused(refusal) => Ok(refusal),
            Fail::Again
            | Fail::Store(
                StoreError::Unavailable
                | StoreError::Unwritable(_)
                | StoreError::Busy
                | StoreError::Serialization
                | StoreError::LockTimeout { .. },
                _,
            ) => Ok(Refusal::of(Code::ServiceUnavailable)),
            Fail::Store(error, place) => Err(format!("{error}{}", at(place))),
            Fail::Broken(cause, place) => Err(format!("{cause}{}", at(place))),
        }
    }
}

/// Where it was, unless that is somewhere in the standard library, which tells nobody anything.
fn at(place: CodeLocation) -> String {
    match place.file().starts_with("/rustc/") {
        true => String::new(),
        false => format!(" (at {place})"),
    }
}

impl From<Refusal> for Fail {
    fn from(refusal: Refusal) -> Fail {
        Fail::Refused(refusal)
    }
}

impl From<StoreError> for Fail {
    #[track_caller]
    fn from(error: StoreError) -> Fail {
        Fail::Store(error, Location::caller())
    }
}

impl Retryable for Fail {
    fn retryable(&self) -> bool {
        match self {
            Fail::Again => true,
            Fail::Store(error, _) => error.retryable(),
            Fail::Refused(_) | Fail::Broken(..) => false,
        }
    }

    fn unwritable(&self) -> Option<Unwritable> {
        match self {
            Fail::Store(error, _) => error.unwritable(),
            Fail::Again | Fail::Refused(_) | Fail::Broken(..) => None,
        }
    }
}

/// Nothing of that id here. `hint` says more where more may be said.
pub fn missing(what: &str, id: &str) -> Refusal {
    Refusal::new(
        Code::ResourceMissing,
        format!("No such {what}: {}.", short(id)),
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

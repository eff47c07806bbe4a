//! What can go wrong when a node is asked.

use std::time::Duration;

/// A receipt with a thousand transfers has about half of this.
pub(super) const ANSWER_BYTES_MAX: usize = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum RpcError {
    #[error("{0}")]
    Unreachable(String),
    #[error("no answer within {} seconds", .0.as_secs())]
    Timeout(Duration),
    #[error("answered with status {0}")]
    Status(u16),
    #[error("the answer broke off")]
    CutOff,
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    #[error("not an answer: {0}")]
    NotAnAnswer(String),
    #[error("asked too often: {message}")]
    TooOften {
        message: String,
        /// For how long it wants not to be asked, where it says so.
        wait: Option<Duration>,
    },
    #[error("refused with {code}: {message}")]
    Refused { code: i64, message: String },
}

impl RpcError {
    /// That it is asked too often, without a word about when it may be asked again.
    pub(super) fn too_often(message: String) -> RpcError {
        RpcError::TooOften {
            message,
            wait: None,
        }
    }
}

//! Why no connection was opened, in words for the merchant.

use thiserror::Error;
use till_core::webhook::UrlRefused;
use till_net::DialError;

/// The texts are shown to the merchant. They name no address, so that a name which leads inside
/// cannot be used to learn what our resolver knows.
#[derive(Debug, Error)]
pub(super) enum ConnectError {
    #[error("{0}")]
    Refused(#[from] UrlRefused),
    #[error("forbidden address: the host leads to an address that is not public")]
    Forbidden,
    #[error("forbidden address: the host leads to this server")]
    OwnAddress,
    #[error("{0}")]
    Dial(#[from] DialError),
}

impl ConnectError {
    pub(super) fn is_forbidden(&self) -> bool {
        matches!(self, ConnectError::Forbidden | ConnectError::OwnAddress)
    }
}

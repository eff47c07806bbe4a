//! What a webhook delivery is made of, without sending it: where it may go, how it is signed, and
//! when it is tried again. The socket is opened by `till_engine::outbound`, and only there.

mod address;
mod schedule;
mod signature;
mod vet;

pub use address::is_public;
pub use schedule::{fails_for_a_day, retry_delay_ms};
pub use signature::{VerifyError, new_secret, sign, verify};
pub use vet::{URL_LENGTH_MAX, UrlPolicy, UrlRefused, vet_url};

pub const SIGNATURE_HEADER: &str = "x-service-signature";
pub const EVENT_ID_HEADER: &str = "x-service-event-id";
pub const EVENT_TYPE_HEADER: &str = "x-service-event-type";

/// How far a receiver lets the clock of a signature differ from its own.
pub const SIGNATURE_TOLERANCE_S: i64 = 300;

/// How far an attempt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryStatus {
    Pending,
    Succeeded,
    Failed,
}

impl DeliveryStatus {
    pub const ALL: [DeliveryStatus; 3] = [
        DeliveryStatus::Pending,
        DeliveryStatus::Succeeded,
        DeliveryStatus::Failed,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            DeliveryStatus::Pending => "pending",
            DeliveryStatus::Succeeded => "succeeded",
            DeliveryStatus::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<DeliveryStatus> {
        DeliveryStatus::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

//! The door through which transfers come in, observed on a chain or simulated: whose each one is, and what follows, for many
//! invoices of many accounts at once.

mod apply;
mod attribute;
pub mod chain;
mod depth;
mod displaced;
mod door;
mod network_update;
mod observation;
mod quarantine;
mod record;

pub use apply::IntakeOutcome;
pub use attribute::Reason;
pub use door::{Door, take_in};
pub use observation::{Observation, Sighting, TransferOrigin};
pub use quarantine::retry;

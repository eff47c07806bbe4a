//! The operator's endpoints: which of them may be asked, and what enough of them agree on. Nothing here knows the
//! database, an invoice or a lease.

mod agreed;
mod disputes;
mod endpoint;
mod nodes;
mod watching;

pub use agreed::agreed;
pub use disputes::Disputes;
pub use endpoint::{Endpoint, Exclusion, Progress};
pub use nodes::{EndpointSettings, Nodes};
pub use watching::{Known, WatchSettings, WatchedNetwork, WatchedSet, Watching};

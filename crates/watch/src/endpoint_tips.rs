//! The tips that one endpoint reports.

use till_chains::observer::Header;

use crate::endpoint::Endpoint;

/// An endpoint's head, and the blocks that it calls safe and final.
#[derive(Clone)]
pub struct EndpointTips<'s> {
    pub source: &'s Endpoint,
    pub latest: Header,
    pub safe: Option<Header>,
    pub last_final: Option<Header>,
}

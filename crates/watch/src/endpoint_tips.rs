//! What an endpoint says of its chain.

use till_chains::observer::Header;

use crate::endpoint::Endpoint;

/// The last block that an endpoint has, and how far it says that its chain is settled.
#[derive(Clone)]
pub struct EndpointTips<'s> {
    pub source: &'s Endpoint,
    pub latest: Header,
    pub safe: Option<Header>,
    pub last_final: Option<Header>,
}

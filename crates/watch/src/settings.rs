//! What an operator says of a network.

use till_chains::rpc::Endpoint;
use till_chains::zmq::Publisher;

/// The operator's endpoints of one network.
#[derive(Clone, Debug)]
pub struct EndpointSettings {
    /// In the operator's order.
    pub of: Vec<Endpoint>,
    /// How many must agree, where the operator says so.
    pub quorum: Option<usize>,
}

impl EndpointSettings {
    /// Two where there are as many, unless the operator says otherwise.
    pub fn quorum(&self) -> usize {
        self.quorum.unwrap_or(2).clamp(1, self.of.len().max(1))
    }
}

/// What an operator says about a network that is watched.
#[derive(Clone, Debug)]
pub struct WatchSettings {
    pub endpoints: EndpointSettings,
    /// Where nodes say at once that something is new.
    pub publishers: Vec<Publisher>,
    pub scan_from: Option<i64>,
}

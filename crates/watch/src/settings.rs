//! What an operator configured for a network.

use till_chains::rpc::Endpoint;
use till_chains::zmq::Publisher;

/// The operator's endpoints of one network.
#[derive(Clone, Debug)]
pub struct EndpointSettings {
    /// In the operator's order.
    pub of: Vec<Endpoint>,
    /// The configured quorum, if there is one.
    pub quorum: Option<usize>,
}

impl EndpointSettings {
    /// How many endpoints must agree: as configured, or else two; never more than there are endpoints.
    pub fn quorum(&self) -> usize {
        self.quorum.unwrap_or(2).clamp(1, self.of.len().max(1))
    }
}

/// What an operator configured for a network whose chain is watched.
#[derive(Clone, Debug)]
pub struct WatchSettings {
    pub endpoints: EndpointSettings,
    /// Nodes that publish new blocks and transactions over ZeroMQ.
    pub publishers: Vec<Publisher>,
    pub scan_from: Option<i64>,
}

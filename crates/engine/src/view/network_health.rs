//! How networks stand.

use serde::Serialize;
use utoipa::ToSchema;

/// How a network stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = NetworkHealth)]
pub struct NetworkHealthView {
    /// The CAIP-2 id.
    pub network: String,
    pub network_name: String,
    /// `ok`; `behind` when blocks are read late; `halted` when none are, or nothing may be credited; `simulated` where
    /// test payments need no chain.
    pub status: &'static str,
    /// The last block that was read.
    #[schema(required)]
    pub head_height: Option<i64>,
    #[schema(required)]
    pub final_height: Option<i64>,
    /// When the last block that was read was made.
    #[schema(required, format = DateTime)]
    pub head_at: Option<String>,
    #[schema(required)]
    pub lag_seconds: Option<i64>,
}

/// How a network stands, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = OperatedNetwork)]
pub struct OperatedNetworkView {
    /// The CAIP-2 id.
    pub network: String,
    pub network_name: String,
    /// `ok`; `behind` when blocks are read late; `halted` when none are, or nothing may be credited; `simulated` where
    /// test payments need no chain.
    pub status: &'static str,
    /// The last block that was read.
    #[schema(required)]
    pub head_height: Option<i64>,
    #[schema(required)]
    pub final_height: Option<i64>,
    /// When the last block that was read was made.
    #[schema(required, format = DateTime)]
    pub head_at: Option<String>,
    #[schema(required)]
    pub lag_seconds: Option<i64>,
    /// `test` or `live`.
    pub mode: &'static str,
    pub endpoints: Vec<EndpointView>,
}

impl OperatedNetworkView {
    pub fn new(
        health: NetworkHealthView,
        mode: &'static str,
        endpoints: Vec<EndpointView>,
    ) -> OperatedNetworkView {
        OperatedNetworkView {
            network: health.network,
            network_name: health.network_name,
            status: health.status,
            head_height: health.head_height,
            final_height: health.final_height,
            head_at: health.head_at,
            lag_seconds: health.lag_seconds,
            mode,
            endpoints,
        }
    }
}

/// An endpoint of a network, without what may be secret of its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = NetworkEndpoint)]
pub struct EndpointView {
    pub host: String,
    /// `ok`, or `failing`, `wrong`, `contradicted` or `doubted` while it is not asked or not believed.
    pub status: &'static str,
    #[schema(required)]
    pub height: Option<i64>,
    #[schema(required)]
    pub error: Option<String>,
}

/// How much work waits.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Queues)]
pub struct QueuesView {
    #[schema(example = "queues", pattern = "^queues$")]
    pub object: &'static str,
    pub queues: Vec<QueueView>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Queue)]
pub struct QueueView {
    /// `webhooks`, `mail` or `timers`.
    pub queue: &'static str,
    /// What is still to be done; of timers what fell due.
    pub waiting: i64,
    #[schema(required, format = DateTime)]
    pub oldest_due_at: Option<String>,
    /// What failed in the last 24 hours.
    pub failed_24h: i64,
}

/// What came of a mail to the operator's own address.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = MailTest)]
pub struct MailTestView {
    #[schema(example = "mail_test", pattern = "^mail_test$")]
    pub object: &'static str,
    pub to: String,
    /// `sent` or `failed`.
    pub status: &'static str,
    /// Why it failed.
    #[schema(required)]
    pub detail: Option<String>,
}

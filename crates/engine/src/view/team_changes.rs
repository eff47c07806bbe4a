//! What the dashboard shows of destinations and of changes that wait.

use serde::Serialize;
use utoipa::ToSchema;

use super::team::PersonView;

/// A change of where money or webhooks go.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Change)]
pub struct ChangeView {
    pub id: String,
    #[schema(example = "change", pattern = "^change$")]
    pub object: &'static str,
    pub livemode: bool,
    /// `destination`, `webhook_url` or `webhook_secret`.
    pub kind: &'static str,
    /// Of a destination: `eip155`, `tron`, `bip122` or `solana`.
    #[schema(required)]
    pub family: Option<String>,
    /// The address or URL before; null for none, and for secrets.
    #[schema(required)]
    pub from: Option<String>,
    #[schema(required)]
    pub to: Option<String>,
    /// `pending`, `effective` or `cancelled`.
    pub status: &'static str,
    /// Of one from the command line the id is `cli`, and the address empty.
    pub requested_by: PersonView,
    #[schema(format = DateTime)]
    pub requested_at: String,
    #[schema(format = DateTime)]
    pub effective_at: String,
    #[schema(required)]
    pub cancelled_by: Option<PersonView>,
    #[schema(required, format = DateTime)]
    pub cancelled_at: Option<String>,
    /// The new webhook secret, only in the answer that asks for it.
    #[schema(required)]
    pub secret: Option<String>,
}

/// Where a merchant is paid on the networks of one family.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Destination)]
pub struct DestinationView {
    #[schema(example = "destination", pattern = "^destination$")]
    pub object: &'static str,
    pub family: &'static str,
    #[schema(required)]
    pub address: Option<String>,
    pub networks: Vec<DestinationNetwork>,
    #[schema(required, format = DateTime)]
    pub effective_since: Option<String>,
    /// The id of the change that waits.
    #[schema(required)]
    pub pending_change: Option<String>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DestinationNetwork {
    pub network: String,
    pub network_name: String,
    /// Whether it can be paid on now.
    pub enabled: bool,
}

//! How exchanges name the networks.

use std::sync::Arc;

use serde::Serialize;
use till_core::exchange::{Exchange, Withdrawal, exchanges};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::{Answered, Api, Got, KeyParam, Payer, Refusals, shown};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Exchanges a payer may pay from.
#[derive(Serialize, ToSchema)]
struct ExchangeList {
    #[schema(example = "list", pattern = "^list$")]
    object: &'static str,
    data: Vec<ExchangeEntry>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct ExchangeEntry {
    exchange: &'static str,
    name: &'static str,
    networks: Vec<ExchangeNetwork>,
}

#[derive(Serialize, ToSchema)]
struct ExchangeNetwork {
    /// CAIP-2 id.
    network: &'static str,
    /// The network's name on the withdrawal screen; null unless verified.
    #[schema(required)]
    label: Option<&'static str>,
    #[schema(required)]
    withdrawal_fee: Option<&'static str>,
    source_url: &'static str,
    #[schema(required, format = DateTime)]
    verified_at: Option<&'static str>,
}

impl ExchangeEntry {
    fn of(known: &'static Exchange) -> ExchangeEntry {
        ExchangeEntry {
            exchange: &known.exchange,
            name: &known.name,
            networks: known.networks.iter().map(ExchangeNetwork::of).collect(),
        }
    }
}

impl ExchangeNetwork {
    fn of(known: &'static Withdrawal) -> ExchangeNetwork {
        ExchangeNetwork {
            network: &known.network,
            label: known.label.as_deref(),
            withdrawal_fee: known.withdrawal_fee.as_deref(),
            source_url: &known.source_url,
            verified_at: known.verified_at.as_deref(),
        }
    }
}

/// How networks are called on exchanges' withdrawal screens
#[utoipa::path(
    get, path = "/v1/checkout/exchanges", tag = "Checkout", operation_id = "listExchanges",
    params(KeyParam),
    responses((status = 200, description = "Exchanges and their networks", body = ExchangeList), Refusals),
    security(("publishable_key" = []), ("publishable_key_query" = []), ("secret_key" = []))
)]
async fn list(_: Got<Payer>) -> Answered {
    shown(&ExchangeList {
        object: "list",
        data: exchanges().iter().map(ExchangeEntry::of).collect(),
        next_cursor: None,
    })
}

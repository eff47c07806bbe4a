//! How exchanges name the networks.

use http::StatusCode;
use serde::Serialize;
use till_core::exchange::{Exchange, exchanges as all_exchanges};

use crate::face::answers::Answered;
use crate::face::callers::{Got, Payer};
use crate::face::words;
use till_http::answer;

#[derive(Serialize)]
struct ExchangeList {
    object: &'static str,
    data: &'static [Exchange],
    next_cursor: Option<String>,
}

/// How networks are called on exchanges' withdrawal screens
#[utoipa::path(
    get, path = "/v1/checkout/exchanges", tag = "Checkout", operation_id = "listExchanges",
    params(words::KeyParam),
    responses((status = 200, description = "Exchanges and their networks", body = words::ExchangeList), words::Refusals),
    security(("publishable_key" = []), ("publishable_key_query" = []), ("secret_key" = []))
)]
pub async fn list(got: Got<Payer>) -> Answered {
    got.query(&[])?;
    let list = ExchangeList {
        object: "list",
        data: all_exchanges(),
        next_cursor: None,
    };
    Ok(answer::json(StatusCode::OK, &list))
}

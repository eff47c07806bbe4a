//! The configuration of the pages that this server serves itself. It serves all its merchants, so the pins
//! come with the publishable key.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::routing::get;
use http::{HeaderValue, header};
use till_engine::checkout::hosted_config;
use till_engine::refunds;
use till_engine::view::PageConfig;
use till_http::query::peek;

use crate::handler::{Answered, Api, Got, Payer, shown};

/// The token of a refund's link. Not in the query, where logs and histories would keep it.
const CLAIM: &str = "x-refund-claim";

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route("/checkout/config.json", get(retrieve))
}

async fn retrieve(State(api): State<Arc<Api>>, request: Request) -> Answered {
    let (mut parts, _) = request.into_parts();
    // A refund's page has a token and no key: it names the merchant whose refund it is, also when that has ended.
    let claim = parts
        .headers
        .get(CLAIM)
        .and_then(|token| token.to_str().ok());
    let config = match (peek(parts.uri.query(), "key"), claim) {
        (None, None) => PageConfig::hosted(None, api.engine.config.demo),
        (None, Some(token)) => {
            let claim = refunds::find_claim(&api.engine, token).await?;
            hosted_config(&api.engine, &claim.scope).await?
        }
        (Some(_), _) => {
            let got = Got::<Payer>::from_request_parts(&mut parts, &api).await?;
            hosted_config(&api.engine, got.scope()).await?
        }
    };
    let mut response = shown(&config)?;
    let fresh = HeaderValue::from_static("no-cache");
    response.headers_mut().insert(header::CACHE_CONTROL, fresh);
    Ok(response)
}

//! The configuration of the pages that this server serves itself. It serves all its merchants, so the pins
//! come with the publishable key.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::routing::get;
use http::{HeaderValue, header};
use till_engine::checkout::hosted_config;
use till_engine::view::PageConfig;
use till_http::query::peek;

use crate::face::{Answered, Api, Got, Payer, shown};

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route("/checkout/config.json", get(retrieve))
}

async fn retrieve(State(api): State<Arc<Api>>, request: Request) -> Answered {
    let (mut parts, _) = request.into_parts();
    // A refund's page has a token and no key.
    let config = match peek(parts.uri.query(), "key") {
        None => PageConfig::hosted(None, api.engine.config.demo),
        Some(_) => {
            let got = Got::<Payer>::from_request_parts(&mut parts, &api).await?;
            hosted_config(&api.engine, got.scope()).await?
        }
    };
    let mut response = shown(&config)?;
    let fresh = HeaderValue::from_static("no-cache");
    response.headers_mut().insert(header::CACHE_CONTROL, fresh);
    Ok(response)
}

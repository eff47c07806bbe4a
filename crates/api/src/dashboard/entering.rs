//! POSTs of people who are not signed in yet. Of their idempotency key only the form is looked at: nothing is kept.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use till_core::actor::Origin;
use till_engine::team::attempts;
use till_http::body::{self, READ_TIME_LIMIT};
use till_http::idempotency;
use till_http::query::Query;

use crate::handler::client::{header, origin_of};
use crate::handler::request::{Body, NoBody};
use crate::handler::{Api, Failure, cookies, origin};

/// A POST for which nobody needs to be signed in.
pub struct Entering<B = NoBody> {
    pub body: B,
    pub origin: Origin,
    /// The token of the session that came with it, for the few that look at one.
    pub session: Option<String>,
    /// `Till-CSRF`, for the same.
    pub csrf: Option<String>,
    /// The token of the browser that asked for a link.
    pub browser: Option<String>,
}

impl<B> Entering<B> {
    /// What limits count by.
    pub fn client_key(&self) -> String {
        attempts::client_of(&self.origin)
    }
}

impl<B: Body> FromRequest<Arc<Api>> for Entering<B> {
    type Rejection = Failure;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Entering<B>, Failure> {
        let (parts, content) = request.into_parts();
        let config = &api.engine.config.dashboard;
        origin::check(config, &parts)?;
        idempotency::key(&parts.headers)?;
        Query::of(parts.uri.query(), &[])?;
        let bytes = body::read(&parts.headers, content, READ_TIME_LIMIT).await?;
        Ok(Entering {
            body: B::read(bytes.as_deref())?,
            origin: origin_of(api, &parts)?,
            session: cookies::session(config, &parts.headers).map(str::to_owned),
            csrf: header(&parts, "till-csrf"),
            browser: cookies::browser(config, &parts.headers).map(str::to_owned),
        })
    }
}

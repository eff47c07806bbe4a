//! POSTs of people who are not signed in yet. Of their idempotency key only the form is looked at: nothing is kept.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use http::header::USER_AGENT;
use http::request::Parts;
use till_core::actor::Origin;
use till_engine::team::attempts;
use till_http::answer::RequestId;
use till_http::body::{self, READ_TIME_LIMIT};
use till_http::idempotency;
use till_http::query::Query;

use super::{cookies, origin};
use crate::handler::request::{Body, NoBody};
use crate::handler::{Api, Client, Failure, client};

/// As much of a browser's name as is kept.
const USER_AGENT_CHARS_MAX: usize = 500;

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

/// Where a request came from, for sessions and the audit log.
pub fn origin_of(api: &Api, parts: &Parts) -> Result<Origin, Failure> {
    let agent = parts.headers.get(USER_AGENT);
    let agent = agent.and_then(|agent| agent.to_str().ok());
    let request = parts.extensions.get::<RequestId>();
    Ok(Origin {
        ip: Some(client::address(api, parts)?.to_string()),
        user_agent: agent.map(|agent| agent.chars().take(USER_AGENT_CHARS_MAX).collect()),
        session: None,
        request: request.map(|id| id.as_str().to_owned()),
    })
}

/// A header's text, if it is there once.
pub fn header(parts: &Parts, name: &str) -> Option<String> {
    let mut all = parts.headers.get_all(name).iter();
    let first = all.next()?;
    let text = first.to_str().ok()?.to_owned();
    all.next().is_none().then_some(text)
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

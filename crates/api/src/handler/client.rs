//! Where requests come from.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use http::header::USER_AGENT;
use http::request::Parts;
use till_core::actor::Origin;
use till_http::answer::{Broken, RequestId};
use till_http::client_addr::{client_addr, limit_key};

use super::failure::Failure;
use super::state::Api;

/// As much of a browser's name as is kept.
const USER_AGENT_CHARS_MAX: usize = 500;

/// Where a request came from, as far as it may be believed; what limits count by.
#[derive(Clone, Copy, Debug)]
pub struct Client(pub IpAddr);

impl Client {
    pub fn of(api: &Api, parts: &Parts) -> Result<Client, Failure> {
        Ok(Client(limit_key(address(api, parts)?)))
    }
}

/// The whole address that a request came from, as far as it may be believed.
pub fn address(api: &Api, parts: &Parts) -> Result<IpAddr, Failure> {
    let peer = parts
        .extensions
        .get::<ConnectInfo<SocketAddr>>()
        .ok_or_else(|| Broken::new("a request without a peer"))?;
    let proxies = &api.config.trusted_proxies;
    Ok(client_addr(peer.0.ip(), &parts.headers, proxies))
}

impl FromRequestParts<Arc<Api>> for Client {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Client, Failure> {
        Client::of(api, parts)
    }
}

/// Where a request came from, for sessions and the audit log.
pub fn origin_of(api: &Api, parts: &Parts) -> Result<Origin, Failure> {
    let agent = parts.headers.get(USER_AGENT);
    let agent = agent.and_then(|agent| agent.to_str().ok());
    let request = parts.extensions.get::<RequestId>();
    Ok(Origin {
        ip: Some(address(api, parts)?.to_string()),
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

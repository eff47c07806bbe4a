//! Where requests come from.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, FromRequestParts};
use http::request::Parts;
use till_http::answer::Broken;
use till_http::client_addr::{client_addr, limit_key};

use super::failure::Failure;
use super::state::Api;

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

//! The only place that opens sockets to hosts a merchant chose, and to those that an operator's lists come from.
//!
//! What holds here for a merchant's: no connection is attempted before its address has been vetted, the address that
//! was vetted is the address that is connected to, no redirect is followed, and an answer costs us
//! at most [`Sender`]'s deadline in time and a few kilobytes in memory.

mod answer;
mod connect;
mod fetch;
mod gate;
mod resolve;
mod user_agent;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Request, Uri};
use http_body_util::Full;
use till_core::webhook::{UrlPolicy, UrlRefused, vet_url};
use till_net::{Client, Roots, client_config};
use tokio::time::timeout;

use answer::Answer;
use gate::Gate;
use user_agent::USER_AGENT_VALUE;

pub use answer::Outcome;
pub use fetch::{Fetcher, UNWANTED};
pub use resolve::{Addresses, Resolve, SystemResolver};
pub use till_net::TlsError as SenderError;

/// Setting a URL waits for DNS, but not as long as a delivery may.
const CHECK_DEADLINE: Duration = Duration::from_secs(3);

const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub struct SenderConfig {
    pub policy: UrlPolicy,
    /// Trusted besides the system's; each entry is a PEM file.
    pub trusted_certificates_pem: Vec<Vec<u8>>,
    /// Where we listen ourselves: a merchant must not make us call our own API.
    pub own_addresses: Vec<SocketAddr>,
    /// How many may be open at a time.
    pub sockets: usize,
    /// For one delivery in total, from resolving the name to the end of the answer's body.
    pub deadline: Duration,
}

/// Cheap to share behind a reference; connections are pooled inside.
pub struct Sender {
    client: Client<Gate>,
    gate: Arc<Gate>,
    deadline: Duration,
}

impl Sender {
    pub fn new(config: SenderConfig) -> Result<Sender, SenderError> {
        let resolver = SystemResolver::new();
        Sender::with_resolver(config, Arc::new(resolver))
    }

    pub fn with_resolver(
        config: SenderConfig,
        resolver: Arc<dyn Resolve>,
    ) -> Result<Sender, SenderError> {
        // Development gets by with http.
        let roots = match config.policy {
            UrlPolicy::Public => Roots::Needed,
            UrlPolicy::PrivateAllowed => Roots::Optional,
        };
        let tls = client_config(roots, &config.trusted_certificates_pem)?;
        let gate = Arc::new(Gate {
            policy: config.policy,
            own_addresses: config.own_addresses,
            resolver,
        });
        let route = Arc::clone(&gate);
        let client = till_net::client_of(config.sockets, route, tls, config.deadline);
        Ok(Sender {
            client,
            gate,
            deadline: config.deadline,
        })
    }

    /// Delivers `body` once. Never fails as such: what went wrong is part of the outcome.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: Bytes,
    ) -> Outcome {
        let request = match self.request(url, headers, body) {
            Ok(request) => request,
            Err(error) => return Outcome::not_sent(error),
        };
        // Filled in as the answer arrives, so that a timeout still shows what came before it.
        let mut answer = Answer::default();
        let end = timeout(self.deadline, self.exchange(request, &mut answer)).await;
        answer.into_outcome(end)
    }

    /// Whether the URL may be set: as vetted at delivery, DNS included. A name that does not resolve
    /// at the moment is not refused; deliveries to it fail until it does.
    pub async fn check(&self, url: &str) -> Result<(), UrlRefused> {
        let url = vet_url(url, self.gate.policy)?;
        let within = CHECK_DEADLINE.min(self.deadline);
        match timeout(within, self.gate.addresses(&url)).await {
            Ok(Err(error)) if error.is_forbidden() => Err(UrlRefused::ForbiddenAddress),
            _ => Ok(()),
        }
    }

    fn request(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: Bytes,
    ) -> Result<Request<Full<Bytes>>, String> {
        // The URL was vetted when it was set, perhaps by an older release or another policy.
        let url = vet_url(url, self.gate.policy).map_err(|refused| refused.to_string())?;
        let uri: Uri = url
            .as_str()
            .parse()
            .map_err(|_| UrlRefused::Malformed.to_string())?;
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        let sent = request.headers_mut();
        sent.insert(USER_AGENT, USER_AGENT_VALUE);
        sent.insert(CONTENT_TYPE, JSON);
        for (name, value) in headers {
            let unsendable = || format!("header {name} cannot be sent");
            let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable())?;
            let value = HeaderValue::from_str(value).map_err(|_| unsendable())?;
            sent.insert(key, value);
        }
        Ok(request)
    }

    async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        answer: &mut Answer,
    ) -> Result<(), hyper_util::client::legacy::Error> {
        let response = self.client.request(request).await?;
        answer.read(response).await;
        Ok(())
    }
}

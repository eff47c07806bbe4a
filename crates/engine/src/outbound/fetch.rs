//! GETs what an operator's configuration names. The first address may be anywhere, as a node's may; where it sends
//! us on must be https and public: whoever publishes a list must not choose what we reach inside.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONTENT_LENGTH, HeaderValue, LOCATION, TRANSFER_ENCODING, USER_AGENT,
};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use till_core::webhook::{UrlPolicy, vet_url};
use till_net::{Client, Roots, TlsError, client_config};
use tokio::sync::mpsc;
use tokio::time::timeout;
use url::Url;

use super::connect::ConnectError;
use super::gate::Gate;
use super::resolve::{Resolve, SystemResolver};
use super::user_agent::USER_AGENT_VALUE;

const CONNECT_TIME: Duration = Duration::from_secs(30);
/// Between two pieces of an answer.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// The Treasury's address leads on twice.
const REDIRECTS_MAX: usize = 5;

/// How a download ends whose reader has given it up.
pub const UNWANTED: &str = "nobody wanted the rest";

pub struct Fetcher {
    first: Client<Gate>,
    onward: Client<Gate>,
}

impl Fetcher {
    pub fn new(trusted_certificates_pem: &[Vec<u8>]) -> Result<Fetcher, TlsError> {
        let resolver: Arc<dyn Resolve> = Arc::new(SystemResolver::new());
        let client = |policy| -> Result<Client<Gate>, TlsError> {
            let gate = Arc::new(Gate {
                policy,
                own_addresses: Vec::new(),
                resolver: Arc::clone(&resolver),
            });
            let tls = client_config(Roots::Optional, trusted_certificates_pem)?;
            Ok(till_net::client(gate, tls, CONNECT_TIME))
        };
        Ok(Fetcher {
            first: client(UrlPolicy::PrivateAllowed)?,
            onward: client(UrlPolicy::Public)?,
        })
    }

    /// Hands the body over piece by piece. An error is one short line, without the address, which may hold a key.
    pub async fn get(
        &self,
        url: &str,
        bytes_max: u64,
        pieces: mpsc::Sender<Bytes>,
    ) -> Result<(), String> {
        let response = self.answer(url).await?;
        let headers = response.headers();
        // Without one of them, a body that broke off looks like one that ended.
        if !headers.contains_key(CONTENT_LENGTH) && !headers.contains_key(TRANSFER_ENCODING) {
            return Err("the answer does not say where it ends".to_owned());
        }
        let mut body = response.into_body();
        let mut read_bytes = 0;
        while let Some(frame) = timeout(SILENCE_MAX, body.frame())
            .await
            .map_err(|_| "the answer stopped coming".to_owned())?
        {
            let frame = frame.map_err(|_| "the answer broke off".to_owned())?;
            let Ok(piece) = frame.into_data() else {
                continue;
            };
            read_bytes += piece.len() as u64;
            if read_bytes > bytes_max {
                return Err("the answer is too long".to_owned());
            }
            if pieces.send(piece).await.is_err() {
                return Err(UNWANTED.to_owned());
            }
        }
        Ok(())
    }

    async fn answer(&self, url: &str) -> Result<Response<Incoming>, String> {
        let mut at =
            vet_url(url, UrlPolicy::PrivateAllowed).map_err(|refused| refused.to_string())?;
        let mut client = &self.first;
        for _ in 0..=REDIRECTS_MAX {
            let response = ask(client, &at).await?;
            let status = response.status();
            if status.is_success() {
                return Ok(response);
            }
            let location = response.headers().get(LOCATION);
            let Some(location) = location.filter(|_| status.is_redirection()) else {
                return Err(format!("answered with status {}", status.as_u16()));
            };
            at = led_on(&at, location)?;
            client = &self.onward;
        }
        Err("it leads on and on".to_owned())
    }
}

async fn ask(client: &Client<Gate>, url: &Url) -> Result<Response<Incoming>, String> {
    let mut request = Request::new(Full::new(Bytes::new()));
    *request.uri_mut() = url.as_str().parse().map_err(|_| "a malformed address")?;
    let headers = request.headers_mut();
    headers.insert(USER_AGENT, USER_AGENT_VALUE);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let answer = timeout(SILENCE_MAX, client.request(request)).await;
    let answer = answer.map_err(|_| "no answer in time".to_owned())?;
    answer.map_err(|error| till_net::describe::<ConnectError>(&error))
}

fn led_on(from: &Url, location: &HeaderValue) -> Result<Url, String> {
    let wrong = || "it leads to a malformed address".to_owned();
    let target = from.join(location.to_str().map_err(|_| wrong())?);
    let target = target.map_err(|_| wrong())?;
    vet_url(target.as_str(), UrlPolicy::Public)
        .map_err(|refused| format!("it leads to where we do not go: {refused}"))
}

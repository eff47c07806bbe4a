//! The one place that opens sockets to nodes. An answer costs at most [`DEADLINE`] in time and what the caller allows
//! in memory, [`ANSWER_BYTES_MAX`] mostly; no redirect is followed, and no address is shown but its host.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{Method, Request};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use till_net::{Anywhere, Client, DialError, Roots, TlsError};
use tokio::time::timeout;

use super::endpoint::{Endpoint, basic_of};
use super::envelope;
use super::error::{ANSWER_BYTES_MAX, RpcError};

pub const DEADLINE: Duration = Duration::from_secs(5);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const USER_AGENT_VALUE: HeaderValue =
    HeaderValue::from_static(concat!("Till/", env!("CARGO_PKG_VERSION")));

/// Cheap to share behind a reference; connections are pooled inside.
pub struct RpcClient {
    http: Client<Anywhere>,
    next_id: AtomicU64,
    deadline: Duration,
}

impl RpcClient {
    pub fn new() -> Result<RpcClient, TlsError> {
        RpcClient::with_deadline(DEADLINE)
    }

    pub fn with_deadline(deadline: Duration) -> Result<RpcClient, TlsError> {
        // A node on this machine is asked over http, so a machine that trusts nobody can still ask.
        let tls = till_net::client_config(Roots::Optional, &[])?;
        Ok(RpcClient {
            http: till_net::client(Arc::new(Anywhere), tls, deadline),
            next_id: AtomicU64::new(1),
            deadline,
        })
    }

    /// Asks once, for an answer of usual size. The result is its JSON text, `null` included; whoever asked knows what it must hold.
    pub async fn call(
        &self,
        endpoint: &Endpoint,
        method: &str,
        params: &Value,
    ) -> Result<Box<RawValue>, RpcError> {
        self.call_up_to(ANSWER_BYTES_MAX, endpoint, method, params)
            .await
    }

    /// The same with another bound on the answer's size.
    pub async fn call_up_to(
        &self,
        bytes_max: usize,
        endpoint: &Endpoint,
        method: &str,
        params: &Value,
    ) -> Result<Box<RawValue>, RpcError> {
        let limits = (bytes_max, self.deadline);
        self.call_within(limits, endpoint, method, params).await
    }

    /// And with another deadline, for a question over which a node thinks for long.
    pub async fn call_within(
        &self,
        limits: (usize, Duration),
        endpoint: &Endpoint,
        method: &str,
        params: &Value,
    ) -> Result<Box<RawValue>, RpcError> {
        endpoint.pace.turn().await;
        let answer = self.ask(limits, endpoint, method, params).await;
        match &answer {
            Err(RpcError::TooOften { .. }) => endpoint.pace.was_too_often(),
            // Of logs it says so, too, that one answer would have too many.
            Err(RpcError::Refused { code: -32_005, .. }) if method != "eth_getLogs" => {
                endpoint.pace.was_too_often();
            }
            Ok(_) => endpoint.pace.went_well(),
            Err(_) => {}
        }
        answer
    }

    async fn ask(
        &self,
        limits: (usize, Duration),
        endpoint: &Endpoint,
        method: &str,
        params: &Value,
    ) -> Result<Box<RawValue>, RpcError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut request = Request::new(Full::new(Bytes::from(body.to_string())));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = endpoint.uri.clone();
        let Answer { status, body, wait } = self.exchange(limits, endpoint, request).await?;
        match (status, envelope::open(id, &body)) {
            // Some servers say with the status, too, that they refuse.
            (_, Err(RpcError::Refused { code, message })) => Err(RpcError::Refused {
                code,
                message: endpoint.remark(&message),
            }),
            (_, Err(RpcError::TooOften { message, .. })) => Err(RpcError::TooOften {
                message: endpoint.remark(&message),
                wait,
            }),
            (429, _) => Err(refused(wait)),
            (200, opened) => opened,
            (status, _) => Err(RpcError::Status(status)),
        }
    }

    /// Asks once for a page below an endpoint's address. None where there is no such page.
    pub async fn page(
        &self,
        bytes_max: usize,
        endpoint: &Endpoint,
        path: &str,
    ) -> Result<Option<Bytes>, RpcError> {
        endpoint.pace.turn().await;
        let mut request = Request::new(Full::default());
        let odd = |_| RpcError::Unreachable("its address has no pages below it".to_owned());
        *request.uri_mut() = endpoint.page(path).map_err(odd)?;
        let limits = (bytes_max, self.deadline);
        let Answer { status, body, wait } = self.exchange(limits, endpoint, request).await?;
        match status {
            200 => {
                endpoint.pace.went_well();
                Ok(Some(body))
            }
            404 => Ok(None),
            429 => {
                endpoint.pace.was_too_often();
                Err(refused(wait))
            }
            status => Err(RpcError::Status(status)),
        }
    }

    /// One request and its answer, both within the deadline.
    async fn exchange(
        &self,
        (bytes_max, deadline): (usize, Duration),
        endpoint: &Endpoint,
        request: Request<Full<Bytes>>,
    ) -> Result<Answer, RpcError> {
        let answer = timeout(deadline, self.send(bytes_max, endpoint, request));
        let late = |_| RpcError::Timeout(deadline);
        answer.await.map_err(late)?
    }

    async fn send(
        &self,
        bytes_max: usize,
        endpoint: &Endpoint,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Answer, RpcError> {
        let authorization = match &endpoint.cookie_file {
            Some(file) => Some(cookie(file).await?),
            None => endpoint.authorization.clone(),
        };
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, USER_AGENT_VALUE);
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(ACCEPT, JSON);
        if let Some(value) = authorization {
            headers.insert(AUTHORIZATION, value);
        }
        let unreachable = |error| RpcError::Unreachable(till_net::describe::<DialError>(&error));
        let response = self.http.request(request).await.map_err(unreachable)?;
        let status = response.status().as_u16();
        let wait = response.headers().get(RETRY_AFTER).and_then(seconds);
        let body = Limited::new(response.into_body(), bytes_max).collect();
        let body = body.await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                RpcError::TooLong(bytes_max)
            } else {
                RpcError::CutOff
            }
        })?;
        Ok(Answer {
            status,
            body: body.to_bytes(),
            wait,
        })
    }
}

struct Answer {
    status: u16,
    body: Bytes,
    /// For how long whoever answered wants not to be asked.
    wait: Option<Duration>,
}

fn refused(wait: Option<Duration>) -> RpcError {
    RpcError::TooOften {
        message: "status 429".to_owned(),
        wait,
    }
}

/// A header may name a day instead, which nobody sends with 429.
fn seconds(value: &HeaderValue) -> Option<Duration> {
    let seconds = value.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// A node writes the file when it starts and takes it away when it stops.
async fn cookie(file: &Path) -> Result<HeaderValue, RpcError> {
    let read = tokio::fs::read(file).await.map_err(|error| {
        RpcError::Unreachable(format!("its cookie file cannot be read: {}", error.kind()))
    })?;
    let odd = || RpcError::Unreachable("its cookie file has no name and password".to_owned());
    basic_of(read.trim_ascii()).ok_or_else(odd)
}

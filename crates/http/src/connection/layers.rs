//! The edge: what every request passes before and every answer after the router.
//!
//! Whatever happens inside (an unknown route, a panic, a handler that hangs), what leaves here has a
//! request id and, when it is an error, the one shape of errors.
//!
//! CORS and panics are our own and not tower-http's: its layers stand around the router, and what is refused before it, or
//! after too long, must have the same headers and the same shape.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, MatchedPath, Request};
use axum::response::Response;
use futures::FutureExt;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, CONNECTION,
    CONTENT_TYPE, HOST, REFERRER_POLICY, TRANSFER_ENCODING, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use ipnet::IpNet;
use till_core::error::{Code, Refusal};
use till_core::limits::{HEADER_BYTES_MAX, HEADERS_MAX};
use tower_service::Service;

use super::admission::Refused;
use super::client_addr::{LoggedAddress, client_addr};
use crate::message::answer::{self, Failure, REQUEST_ID, RequestId};
use crate::message::scrub::{has_secret_key, loggable_path, secret_key};

/// What pages of other origins may read of an answer's head.
pub(super) const EXPOSED_HEADERS: &str = "date, retry-after, x-request-id, idempotent-replayed";

pub const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Is told of a key.
pub type Exposed = Arc<dyn Fn(&str) + Send + Sync>;

/// Gives whole request ids, `req_` and all.
pub type RequestIds = Arc<dyn Fn() -> String + Send + Sync>;

#[derive(Clone)]
pub struct Edge {
    /// Without a slash at its end.
    pub docs_url: String,
    pub ids: RequestIds,
    /// Microseconds on a clock that only goes forward.
    pub now_us: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// For everything up to the head of the answer; a stream may run on after it.
    pub time_limit: Duration,
    /// Paths that are given more time, and how much: what they are asked to do takes as long as there is to do.
    pub patient: (&'static [&'static str], Duration),
    /// Paths whose next segment is a credential and stays out of the log.
    pub credential_paths: &'static [&'static str],
    /// What is answered even when there is no room for another connection.
    pub health_paths: &'static [&'static str],
    /// Whether pages of any origin may read what is answered here. Said of every answer, because one that is given
    /// before the router is asked must be readable too.
    pub any_origin: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// Told of every secret key that turned up in a URL.
    pub exposed: Option<Exposed>,
    /// Whose word is taken on where a request comes from.
    pub trusted_proxies: Vec<IpNet>,
    /// How much of that is logged.
    pub client_shown: LoggedAddress,
}

/// Whose request it turned out to be, for the log. Travels with the request; set by whoever looked its key up.
#[derive(Clone, Debug, Default)]
pub struct AccountOf(Arc<OnceLock<String>>);

impl AccountOf {
    pub fn set(&self, account: &str) {
        // Whoever was first looked at the same key.
        self.0.set(account.to_owned()).ok();
    }

    fn get(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

impl Edge {
    pub fn new(docs_url: impl Into<String>, ids: RequestIds) -> Edge {
        Edge {
            docs_url: docs_url.into(),
            ids,
            now_us: Arc::new(|| 0),
            time_limit: TIME_LIMIT,
            patient: (&[], TIME_LIMIT),
            credential_paths: &[],
            health_paths: &[],
            any_origin: Arc::new(|_| false),
            exposed: None,
            trusted_proxies: Vec::new(),
            client_shown: LoggedAddress::Prefix,
        }
    }

    pub async fn answer(&self, router: Router, mut request: Request) -> Response {
        let id = RequestId::new((self.ids)());
        let uri = request.uri().clone();
        let account = AccountOf::default();
        let line = AccessLine {
            edge: self,
            started: (self.now_us)(),
            method: request.method().clone(),
            path: loggable_path(uri.path(), self.credential_paths).into_owned(),
            client: self.client(&request),
            account: account.clone(),
            id: id.clone(),
            is_written: false,
        };
        let mut route = None;
        let answered = match refuse_early(&request) {
            Some(refusal) => {
                if let (Some(exposed), Some(key)) = (&self.exposed, secret_key(request.uri())) {
                    exposed(&key);
                }
                answer::error(&refusal, &self.docs_url, &id)
            }
            None => {
                request.extensions_mut().insert(id.clone());
                request.extensions_mut().insert(account.clone());
                let mut response = self.guarded(router, request, &id).await;
                route = response.extensions_mut().remove::<MatchedPath>();
                self.in_one_shape(response, &id)
            }
        };
        let mut response = finish(answered, uri.path(), &id);
        if (self.any_origin)(uri.path()) {
            open_to_any_origin(response.headers_mut());
        }
        line.write(route.as_ref(), response.status().as_u16());
        response
    }

    /// Where a request came from, as the log is to have it.
    fn client(&self, request: &Request) -> Option<String> {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
        let addr = client_addr(peer.0.ip(), request.headers(), &self.trusted_proxies);
        self.client_shown.text(addr)
    }

    /// On a connection that there was no room for: how the server is, and nothing else.
    pub async fn answer_health(&self, router: Router, request: Request, why: Refused) -> Response {
        let is_health = self.health_paths.contains(&request.uri().path());
        let mut response = match is_health {
            true => self.answer(router, request).await,
            false => {
                let id = RequestId::new((self.ids)());
                let refused = answer::error(&too_many(why), &self.docs_url, &id);
                let mut response = finish(refused, request.uri().path(), &id);
                open_to_any_origin(response.headers_mut());
                response
            }
        };
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
        response
    }

    /// An answer in any case: a panic and a hang are failures like others.
    async fn guarded(&self, mut router: Router, request: Request, id: &RequestId) -> Response {
        let (patient, longer) = self.patient;
        let time_limit = match patient.contains(&request.uri().path()) {
            true => longer,
            false => self.time_limit,
        };
        let call = AssertUnwindSafe(async move { router.call(request).await }).catch_unwind();
        let refusal = match tokio::time::timeout(time_limit, call).await {
            Ok(Ok(Ok(response))) => return response,
            Ok(Ok(Err(never))) => never_fails(never),
            Ok(Err(_panic)) => {
                // What it said has been printed by the panic hook.
                tracing::error!(
                    request_id = id.as_str(),
                    "a request's handler panicked and the caller was answered 500; please report it with the panic message above"
                );
                Refusal::of(Code::InternalError)
            }
            Err(_elapsed) => {
                tracing::warn!(
                    request_id = id.as_str(),
                    "a request took longer than its time limit and was answered 503; check the load of the database"
                );
                Refusal::new(
                    Code::ServiceUnavailable,
                    "The request took too long. Retry with the same Idempotency-Key.",
                )
            }
        };
        answer::error(&refusal, &self.docs_url, id)
    }

    fn in_one_shape(&self, mut response: Response, id: &RequestId) -> Response {
        if let Some(failure) = response.extensions_mut().remove::<Failure>() {
            if let Failure::Refused(refusal) = &failure {
                metrics::counter!("till_refusals_total", "code" => refusal.code.as_str())
                    .increment(1);
            }
            return carry_headers(response, answer::failure(&failure, &self.docs_url, id));
        }
        match bare_refusal(&response) {
            Some(refusal) => carry_headers(response, answer::error(&refusal, &self.docs_url, id)),
            None => response,
        }
    }
}

/// As what a request is counted whose client was gone before its answer was there.
const CLIENT_GONE: u16 = 499;

/// The line and the count of one request. Whatever becomes of it, there is one: what it asked for may have happened though
/// nobody waited for the answer.
struct AccessLine<'e> {
    edge: &'e Edge,
    started: u64,
    method: Method,
    path: String,
    client: Option<String>,
    account: AccountOf,
    id: RequestId,
    is_written: bool,
}

impl AccessLine<'_> {
    /// The route is what the router has left in the answer. A path that is no route's may have anything in it, and is not
    /// logged; nor is it counted by, or there would be a series for every id.
    fn write(mut self, route: Option<&MatchedPath>, status: u16) {
        self.is_written = true;
        let path = route.map(|_| self.path.as_str());
        self.tell(route.map_or("none", MatchedPath::as_str), path, status);
    }

    fn tell(&self, route: &str, path: Option<&str>, status: u16) {
        let took = (self.edge.now_us)().saturating_sub(self.started);
        let (of_route, of_status) = (route.to_owned(), status.to_string());
        metrics::counter!("till_http_requests_total", "route" => of_route.clone(), "status" => of_status)
            .increment(1);
        metrics::histogram!("till_http_request_seconds", "route" => of_route)
            .record(Duration::from_micros(took));
        tracing::info!(
            target: "till::access",
            method = self.method.as_str(),
            route,
            path,
            status,
            duration_us = took,
            account = self.account.get(),
            client = self.client,
            request_id = self.id.as_str(),
        );
    }
}

impl Drop for AccessLine<'_> {
    fn drop(&mut self) {
        if !self.is_written {
            self.tell("none", Some(&self.path), CLIENT_GONE);
        }
    }
}

fn never_fails(never: Infallible) -> Refusal {
    match never {}
}

/// What is refused without asking the router. A secret key in the address comes before all else.
fn refuse_early(request: &Request) -> Option<Refusal> {
    if has_secret_key(request.uri()) {
        return Some(Refusal::new(
            Code::SecretKeyInUrl,
            "A secret key was sent in the URL. Treat it as exposed: roll it, and send keys in the Authorization header.",
        ));
    }
    let headers = request.headers();
    let target_bytes = request
        .uri()
        .path_and_query()
        .map_or(0, |target| target.as_str().len());
    // Four for the colon, the space and the line's end.
    let header_bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum();
    if headers.len() > HEADERS_MAX || target_bytes + header_bytes > HEADER_BYTES_MAX {
        return Some(head_too_large());
    }
    refuse_host(request)
        .or_else(|| refuse_two_lengths(request))
        .or_else(|| refuse_coding(request))
}

/// In the extensions of a request whose head has both Content-Length and Transfer-Encoding: hyper leaves one of them out.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwoLengths;

fn refuse_two_lengths(request: &Request) -> Option<Refusal> {
    request.extensions().get::<TwoLengths>()?;
    let message = "The request has both Content-Length and Transfer-Encoding. Send one of them.";
    Some(Refusal::new(Code::ParameterInvalid, message).param("Content-Length"))
}

/// A body is chunked, or as long as it says. Another coding would have to be undone before anything is read, and a proxy
/// may have undone it, or not.
fn refuse_coding(request: &Request) -> Option<Refusal> {
    let mut codings = request.headers().get_all(TRANSFER_ENCODING).iter();
    let is_fine = match (codings.next(), codings.next()) {
        (None, _) => true,
        (Some(only), None) => only
            .as_bytes()
            .trim_ascii()
            .eq_ignore_ascii_case(b"chunked"),
        (Some(_), Some(_)) => false,
    };
    let message = "The only Transfer-Encoding that is taken is `chunked`.";
    (!is_fine).then(|| Refusal::new(Code::ParameterInvalid, message).param("Transfer-Encoding"))
}

/// A request names its host once. What has none or two is read differently by a proxy and by us, which is how one
/// client's request is smuggled into another's. HTTP/1.0 knows no hosts.
fn refuse_host(request: &Request) -> Option<Refusal> {
    let hosts = request.headers().get_all(HOST).iter().count();
    let is_fine = match request.version() {
        Version::HTTP_10 => hosts <= 1,
        // The address of the request itself names it there.
        Version::HTTP_2 => hosts <= 1 && (hosts == 1 || request.uri().host().is_some()),
        _ => hosts == 1,
    };
    let message = "The request must have exactly one Host header.";
    (!is_fine).then(|| Refusal::new(Code::ParameterInvalid, message).param("Host"))
}

/// Of one client, or of all together.
pub(super) fn too_many(refused: Refused) -> Refusal {
    match refused {
        Refused::Client => {
            let message = "Too many connections are open from this address. Close some.";
            Refusal::new(Code::RateLimited, message).retry_after(1)
        }
        Refused::Everybody => {
            let message = "The server has too many connections open. Retry shortly.";
            Refusal::new(Code::ServiceUnavailable, message)
        }
    }
}

pub(super) fn head_too_large() -> Refusal {
    Refusal::new(
        Code::ParameterInvalid,
        format!(
            "The URL and headers are larger than {HEADER_BYTES_MAX} bytes or the headers more than {HEADERS_MAX}."
        ),
    )
    .status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE.as_u16())
}

/// The refusal behind an error that the router or an extractor answered on its own. Those have no
/// body or plain text; an error that a handler wrote as JSON or as a page is left as it is.
fn bare_refusal(response: &Response) -> Option<Refusal> {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return None;
    }
    let plain = response
        .headers()
        .get(CONTENT_TYPE)
        .is_none_or(|value| value.as_bytes().starts_with(b"text/plain"));
    if !plain {
        return None;
    }
    let code = match status.as_u16() {
        404 => Code::RouteNotFound,
        405 => Code::MethodNotAllowed,
        413 => Code::BodyTooLarge,
        415 => Code::ContentTypeInvalid,
        503 => Code::ServiceUnavailable,
        500.. => Code::InternalError,
        _ => Code::ParameterInvalid,
    };
    Some(Refusal::of(code).status(status.as_u16()))
}

/// What a handler or the router said in headers stays true when the body is put into words.
fn carry_headers(from: Response, mut to: Response) -> Response {
    let (parts, _) = from.into_parts();
    for (name, value) in &parts.headers {
        if name == ALLOW
            || name.as_str().starts_with("access-control-")
            || name == http::header::VARY
        {
            to.headers_mut().append(name, value.clone());
        }
    }
    to
}

/// Without cookies, so there is nothing that another origin could borrow.
fn open_to_any_origin(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(EXPOSED_HEADERS),
    );
}

fn finish(mut response: Response, path: &str, id: &RequestId) -> Response {
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id.header());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers
        .entry(REFERRER_POLICY)
        .or_insert(HeaderValue::from_static("no-referrer"));
    if path.starts_with("/v1/") {
        headers
            .entry(CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
    }
    response
}

//! A pool of connections, each opened only to where its route leads.

use std::error::Error as StdError;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Uri;
use http_body_util::Full;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use tokio::time::timeout;
use tower_service::Service;
use url::Url;

use crate::dial::{DialError, Dialer};
use crate::stream::Stream;

/// Enough for a busy host to find every connection warm.
const IDLE_PER_HOST_MAX: usize = 64;
/// Below the five seconds after which common receivers hang up, so that we rarely write into a
/// connection that is being closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Bounds the status line and headers of an answer; hyper reads no more than this at a time.
const ANSWER_BUFFER_BYTES: usize = 16 * 1024;
const ANSWER_HEADERS_MAX: usize = 100;

/// Decides where an address leads, and whether it may.
pub trait Route: Send + Sync + 'static {
    type Error: StdError + From<DialError> + Send + Sync + 'static;

    fn find(
        &self,
        uri: &Uri,
    ) -> impl Future<Output = Result<(Url, Vec<SocketAddr>), Self::Error>> + Send;
}

pub type Client<R> = legacy::Client<Connector<R>, Full<Bytes>>;

pub fn client<R: Route>(route: Arc<R>, tls: ClientConfig, connect_within: Duration) -> Client<R> {
    pooled(route, Dialer::new(Arc::new(tls), connect_within, None))
}

/// The same with at most so many sockets open at a time, those that idle in the pool included.
pub fn client_of<R: Route>(
    sockets: usize,
    route: Arc<R>,
    tls: ClientConfig,
    connect_within: Duration,
) -> Client<R> {
    let dialer = Dialer::new(Arc::new(tls), connect_within, Some(sockets));
    pooled(route, dialer)
}

fn pooled<R: Route>(route: Arc<R>, dialer: Dialer) -> Client<R> {
    let connector = Connector { route, dialer };
    legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(IDLE_PER_HOST_MAX)
        .http1_max_buf_size(ANSWER_BUFFER_BYTES)
        .http1_max_headers(ANSWER_HEADERS_MAX)
        .build(connector)
}

pub struct Connector<R> {
    route: Arc<R>,
    dialer: Dialer,
}

impl<R> Clone for Connector<R> {
    fn clone(&self) -> Self {
        Connector {
            route: Arc::clone(&self.route),
            dialer: self.dialer.clone(),
        }
    }
}

impl<R: Route> Connector<R> {
    async fn connect(&self, uri: Uri) -> Result<TokioIo<Stream>, R::Error> {
        let (url, addresses) = self.route.find(&uri).await?;
        Ok(self.dialer.dial(&url, &addresses).await?)
    }
}

type Connecting<E> = Pin<Box<dyn Future<Output = Result<TokioIo<Stream>, E>> + Send>>;

impl<R: Route> Service<Uri> for Connector<R> {
    type Response = TokioIo<Stream>;
    type Error = R::Error;
    type Future = Connecting<R::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), R::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Connecting<R::Error> {
        let connector = self.clone();
        Box::pin(async move {
            // The client may go on connecting after the request that asked for it has found
            // another connection, so the request's own deadline does not bound this.
            timeout(connector.dialer.deadline, connector.connect(uri))
                .await
                .unwrap_or_else(|_| Err(DialError::Timeout.into()))
        })
    }
}

/// Short and about the receiver: what its owner can act on, nothing of our insides. `E` is the route's error.
pub fn describe<E: StdError + 'static>(error: &legacy::Error) -> String {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(connect) = cause.downcast_ref::<E>() {
            return connect.to_string();
        }
        if let Some(http) = cause.downcast_ref::<hyper::Error>() {
            return if http.is_parse_too_large() {
                "the answer's headers are too large"
            } else if http.is_parse() {
                "the answer is not HTTP/1.1"
            } else {
                "connection closed before an answer"
            }
            .to_owned();
        }
        source = cause.source();
    }
    "connection failed".to_owned()
}

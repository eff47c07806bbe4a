//! A connection that speaks HTTP/2: many requests at once, each answered as it would be by HTTP/1.1.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use till_core::limits::HEADER_BYTES_MAX;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use super::admission::Use;
use super::layers::Edge;
use super::wire::{Phase, Wire, WireLimits};

/// Requests under way on one connection.
const REQUESTS_MAX: u32 = 100;
const HEADERS_BYTES_MAX: u32 = 64 * 1024;
/// What is kept for a client that does not take it.
const BUFFER_BYTES_MAX: usize = 256 * 1024;
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIME: Duration = Duration::from_secs(20);

const _: () = assert!(HEADER_BYTES_MAX <= 64 * 1024);

/// What a connection is answered with.
pub(super) struct Answers {
    pub peer: SocketAddr,
    pub edge: Arc<Edge>,
    pub router: Router,
    pub what_for: Use,
    pub wire: WireLimits,
    pub idle_time: Duration,
}

/// What goes on at a connection, for whoever ends it when nothing does.
#[derive(Default)]
struct Traffic {
    begun: AtomicU64,
    under_way: AtomicUsize,
}

/// Counts a request until the last byte of its answer is dropped.
struct UnderWay(Arc<Traffic>);

impl UnderWay {
    fn begin(traffic: &Arc<Traffic>) -> UnderWay {
        traffic.begun.fetch_add(1, Ordering::Relaxed);
        traffic.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(Arc::clone(traffic))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(super) async fn run<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    socket: S,
    answers: Answers,
    mut stopping: watch::Receiver<()>,
) {
    let Answers {
        peer,
        edge,
        router,
        what_for,
        wire,
        idle_time,
    } = answers;
    // Heads come in between everything else, so that nobody waits for one; how fast a client reads counts all the same.
    let phase = Arc::new(Phase::default());
    phase.busy();
    let wire = Wire::new(socket, phase, wire, Arc::new(|_, _| Vec::new()));
    let traffic: Arc<Traffic> = Arc::default();
    let seen = Arc::clone(&traffic);
    let service = service_fn(move |mut request: http::Request<Incoming>| {
        let under_way = UnderWay::begin(&traffic);
        request.extensions_mut().insert(ConnectInfo(peer));
        let (edge, router) = (Arc::clone(&edge), router.clone());
        Box::pin(async move {
            let request = request.map(Body::new);
            let response = match what_for {
                Use::Anything => edge.answer(router, request).await,
                Use::Health => edge.answer_health(router, request).await,
            };
            Ok::<_, Infallible>(response.map(|body| counted(body, under_way)))
        })
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(REQUESTS_MAX)
        .max_header_list_size(HEADERS_BYTES_MAX)
        .max_send_buf_size(BUFFER_BYTES_MAX)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIME)
        .serve_connection(TokioIo::new(wire), service);
    let mut connection = pin!(connection);
    let (mut is_ending, mut begun) = (false, 0);
    loop {
        let ends = tokio::select! {
            biased;
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "connection ended");
                }
                return;
            }
            // The sender says nothing; it only goes away.
            _ = stopping.changed(), if !is_ending => true,
            () = tokio::time::sleep(idle_time), if !is_ending => {
                let now = seen.begun.load(Ordering::Relaxed);
                let was_quiet = now == begun && seen.under_way.load(Ordering::Relaxed) == 0;
                begun = now;
                was_quiet
            }
        };
        if ends {
            is_ending = true;
            connection.as_mut().graceful_shutdown();
        }
    }
}

/// A body that counts as under way until it is dropped.
fn counted(body: Body, under_way: UnderWay) -> Body {
    Body::new(Counted {
        body,
        _under_way: under_way,
    })
}

struct Counted {
    body: Body,
    _under_way: UnderWay,
}

impl http_body::Body for Counted {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, axum::Error>>> {
        std::pin::Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

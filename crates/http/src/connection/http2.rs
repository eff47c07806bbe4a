//! A connection that speaks HTTP/2: many requests at once, each answered as it would be by HTTP/1.1.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use till_core::limits::HEADER_BYTES_MAX;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::admission::Use;
use super::layers::Edge;
use super::wire::{Phase, Wire, WireLimits};

/// Requests under way on one connection.
const REQUESTS_MAX: u32 = 100;
const HEADERS_BYTES_MAX: u32 = 64 * 1024;
/// What is kept for a client that does not take it.
const BUFFER_BYTES_MAX: usize = 256 * 1024;
/// An answer is handed over in pieces, so that a client without room for them leaves the rest where it is.
const PIECE_BYTES_MAX: usize = 16 * 1024;
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
    /// Answers of which more is there than the client has room for.
    owed: AtomicUsize,
    /// Bytes of answers that were handed over.
    taken: AtomicU64,
}

impl Traffic {
    /// Nothing was begun since it was this, and nothing is under way.
    fn is_quiet_since(&self, begun: &mut u64) -> bool {
        let now = self.begun.load(Ordering::Relaxed);
        let before = std::mem::replace(begun, now);
        now == before && self.under_way.load(Ordering::Relaxed) == 0
    }
}

/// Whether a client takes what it asked for, looked at twice in the time that it may be slow.
struct StreamPace {
    bytes_least: u64,
    taken: u64,
    was_owed: bool,
}

impl StreamPace {
    fn is_too_slow(&mut self, traffic: &Traffic) -> bool {
        let is_owed = traffic.owed.load(Ordering::Relaxed) > 0;
        let taken = traffic.taken.load(Ordering::Relaxed);
        let since = taken.saturating_sub(std::mem::replace(&mut self.taken, taken));
        let was_owed = std::mem::replace(&mut self.was_owed, is_owed);
        was_owed && is_owed && since < self.bytes_least
    }
}

/// Whose first tick comes after one period.
async fn ticks(every: Duration) -> Interval {
    let mut ticks = interval(every.max(Duration::from_millis(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    ticks
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
        wire: limits,
        idle_time,
    } = answers;
    // Heads come in between everything else, so that nobody waits for one; how fast a client reads counts all the same.
    let phase = Arc::new(Phase::default());
    phase.busy();
    let wire = Wire::new(socket, phase, limits, Arc::new(|_, _, _| Vec::new()));
    let pace_limits = limits.pace;
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
                Use::Health(why) => edge.answer_health(router, request, why).await,
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
    let mut pace = StreamPace {
        bytes_least: pace_limits.slow_bytes / 2,
        taken: 0,
        was_owed: false,
    };
    let mut idle_ticks = ticks(idle_time).await;
    let mut pace_ticks = ticks(pace_limits.slow_time / 2).await;
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
            _ = pace_ticks.tick() => {
                if pace.is_too_slow(&seen) {
                    tracing::debug!("a client does not take its answers");
                    return;
                }
                false
            }
            _ = idle_ticks.tick() => {
                let is_quiet = seen.is_quiet_since(&mut begun);
                if is_quiet && is_ending {
                    return;
                }
                is_quiet
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
    let mut counted = Counted {
        body,
        rest: Bytes::new(),
        is_owed: false,
        under_way,
    };
    counted.owe(true);
    Body::new(counted)
}

struct Counted {
    body: Body,
    /// What is left of the frame that is being handed over.
    rest: Bytes,
    /// Nobody has asked for more since the last piece: the client has no room.
    is_owed: bool,
    under_way: UnderWay,
}

impl Counted {
    fn owe(&mut self, is_owed: bool) {
        if is_owed != std::mem::replace(&mut self.is_owed, is_owed) {
            let owed = &self.under_way.0.owed;
            match is_owed {
                true => owed.fetch_add(1, Ordering::Relaxed),
                false => owed.fetch_sub(1, Ordering::Relaxed),
            };
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.owe(false);
    }
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        this.owe(false);
        if this.rest.is_empty() {
            let frame = ready!(Pin::new(&mut this.body).poll_frame(cx));
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => this.rest = data,
                Some(Ok(Err(other))) => return Poll::Ready(Some(Ok(other))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let piece = this.rest.split_to(this.rest.len().min(PIECE_BYTES_MAX));
        let bytes = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        this.under_way.0.taken.fetch_add(bytes, Ordering::Relaxed);
        this.owe(true);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, of_body) = (SizeHint::new(), self.body.size_hint());
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        hint.set_lower(of_body.lower().saturating_add(rest));
        if let Some(upper) = of_body.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use http_body_util::{BodyExt as _, Empty};
    use hyper::client::conn::http2 as client;
    use tokio::task::JoinHandle;
    use tokio::time::timeout;

    use super::*;
    use crate::connection::pace::PaceLimits;

    const ANSWER_BYTES: usize = 1 << 20;
    const PATIENCE: Duration = Duration::from_secs(30);

    /// A server of one connection, on which a client may be slow for a fifth of a second, and the answer to the first request of
    /// a client with so much room for it.
    async fn asked(room: u32) -> (JoinHandle<()>, http::Response<Incoming>) {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let long = Duration::from_secs(60);
        let pace = PaceLimits {
            stalled_time: long,
            slow_time: Duration::from_millis(200),
            slow_bytes: 1024,
        };
        let answers = Answers {
            peer: SocketAddr::from(([127, 0, 0, 1], 1)),
            edge: Arc::new(Edge::new(
                "https://pay.example/docs",
                Arc::new(|| "req_1".to_owned()),
            )),
            router: Router::new().route("/", get(|| async { vec![7_u8; ANSWER_BYTES] })),
            what_for: Use::Anything,
            wire: WireLimits {
                head_time: long,
                pace,
                linger_time: long,
                linger_bytes: 0,
            },
            idle_time: long,
        };
        let (stop, stopping) = watch::channel(());
        let served = tokio::spawn(async move {
            run(far, answers, stopping).await;
            drop(stop);
        });
        let (mut requests, connection) = client::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(room)
            .handshake(TokioIo::new(near))
            .await
            .unwrap();
        tokio::spawn(connection);
        let request = http::Request::get("http://pay.example/");
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let answer = requests.send_request(request).await.unwrap();
        // A client that drops it has hung up.
        tokio::spawn(async move {
            let _requests = requests;
            std::future::pending::<()>().await;
        });
        (served, answer)
    }

    #[tokio::test]
    async fn a_client_without_room_for_its_answers_is_ended() {
        for room in [0, 1] {
            let (served, answer) = asked(room).await;
            timeout(PATIENCE, served).await.expect("an end").unwrap();
            drop(answer);
        }
    }

    #[tokio::test]
    async fn a_client_that_reads_gets_all_of_its_answer() {
        let (served, answer) = asked(20_000).await;
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(body.len() == ANSWER_BYTES && body.iter().all(|byte| *byte == 7));
        assert!(!served.is_finished());
    }
}

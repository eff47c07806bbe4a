//! From a listening socket to requests at the edge, and an orderly end.
//!
//! The drain is our own and not hyper-util's `GracefulShutdown`: that one watches hyper's connections, and a stream's has been
//! taken out of hyper's hands by then; it also has no time after which it gives up.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use till_core::error::{Code, Refusal};
use till_core::limits::HEADER_BYTES_MAX;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::admission::{Admission, AdmissionLimits, Refused, Ticket, Use};
use super::head::Fault;
use super::http2;
use super::layers::{EXPOSED_HEADERS, Edge, TwoLengths, head_too_large, too_many};
use super::pace::PaceLimits;
use super::tls::{Certificates, is_http2};
use super::unread::Unread;
use super::wire::{Phase, Reword, Wire, WireLimits};
use crate::message::answer::{self, RequestId, error_body};
use crate::message::idempotency;

#[derive(Clone, Debug)]
pub struct ServerLimits {
    pub admission: AdmissionLimits,
    /// From a head's first byte, or from the connection, to the head's end.
    pub head_time: Duration,
    /// Between two requests.
    pub idle_time: Duration,
    /// How long a client may take nothing of an answer.
    pub stalled_write_time: Duration,
    /// How long it may take less than a kibibyte a second.
    pub slow_reader_time: Duration,
    /// How long requests underway may take once the server is told to stop.
    pub drain_time: Duration,
}

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        ServerLimits {
            admission: AdmissionLimits {
                listener: "api",
                connections: 20_000,
                connections_per_client: 500,
                trusted_proxies: Vec::new(),
            },
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(75),
            stalled_write_time: Duration::from_secs(30),
            slow_reader_time: Duration::from_secs(60),
            drain_time: Duration::from_secs(30),
        }
    }
}

/// hyper gives up on a head here. Above our own limit, so that a head somewhat too large is answered
/// by the edge and keeps its connection; below what would make many such heads expensive.
const HYPER_HEAD_BYTES_MAX: usize = 2 * HEADER_BYTES_MAX;
const HYPER_BUFFER_BYTES_MAX: usize = 128 * 1024;

/// A client that takes less than this, for as long as `slow_reader_time`, is ended.
const SLOW_BYTES_PER_S: u64 = 1024;

const LINGER_TIME: Duration = Duration::from_secs(1);
const LINGER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The pause after an accept that failed for lack of something (file handles, memory).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown` resolves, then lets what is underway finish within `limits.drain_time`. With certificates it speaks
/// TLS, and HTTP/2 to those who can.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Arc<Certificates>>,
    edge: Edge,
    router: Router,
    limits: ServerLimits,
    shutdown: impl Future<Output = ()>,
) {
    let edge = Arc::new(edge);
    let admission = Admission::new(limits.admission.clone());
    let times = Times::of(&limits);
    let (stop, stopping) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            Some(_ended) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((socket, peer)) => match admission.admit(peer.ip()) {
                Err(refused) => {
                    let listener = limits.admission.listener;
                    metrics::counter!("till_http_connections_refused_total", "listener" => listener)
                        .increment(1);
                    // Whoever expects TLS would not understand the answer.
                    if tls.is_none() {
                        turn_away(socket, &edge, refused);
                    }
                }
                Ok(ticket) => {
                    let connection = Connection {
                        peer,
                        edge: Arc::clone(&edge),
                        router: router.clone(),
                        tls: tls.clone(),
                        times: times.of_use(ticket.what_for),
                        ticket,
                    };
                    connections.spawn(connection.run(socket, stopping.clone()));
                }
            },
            Err(error) if is_the_clients(&error) => {}
            Err(error) => {
                tracing::error!(%error, "connections cannot be accepted; check the limit of open files (ulimit -n)");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    drop(stop);
    let drained = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.drain_time, drained)
        .await
        .is_err()
    {
        tracing::warn!(
            "requests were cut off at shutdown because they took longer than it waits for them"
        );
    }
}

/// What a connection has to do within what time.
#[derive(Clone, Copy)]
struct Times {
    idle_time: Duration,
    wire: WireLimits,
}

/// Whoever asks only how we are asks at once.
const HEALTH_TIME: Duration = Duration::from_secs(2);

impl Times {
    fn of(limits: &ServerLimits) -> Times {
        Times {
            idle_time: limits.idle_time,
            wire: wire_limits(limits),
        }
    }

    fn of_use(mut self, what_for: Use) -> Times {
        if matches!(what_for, Use::Health(_)) {
            self.idle_time = self.idle_time.min(HEALTH_TIME);
            self.wire.head_time = self.wire.head_time.min(HEALTH_TIME);
        }
        self
    }
}

struct Connection {
    peer: SocketAddr,
    edge: Arc<Edge>,
    router: Router,
    tls: Option<Arc<Certificates>>,
    times: Times,
    ticket: Ticket,
}

impl Connection {
    async fn run(self, socket: TcpStream, stopping: watch::Receiver<()>) {
        // Without it small answers wait for the client's acknowledgements; it only fails on a dead socket.
        if socket.set_nodelay(true).is_err() {
            return;
        }
        let Some(tls) = &self.tls else {
            return self.run_http1(socket, stopping).await;
        };
        let accepting = tls.acceptor().accept(socket);
        let secured = match tokio::time::timeout(self.times.wire.head_time, accepting).await {
            Ok(Ok(secured)) => secured,
            Ok(Err(error)) => return tracing::debug!(%error, "TLS was not agreed on"),
            Err(_) => return tracing::debug!("TLS was not agreed on in time"),
        };
        // Boxed: what TLS keeps for a connection is large.
        match is_http2(secured.get_ref().1.alpn_protocol()) {
            true => Box::pin(self.run_http2(secured, stopping)).await,
            false => Box::pin(self.run_http1(secured, stopping)).await,
        }
    }

    async fn run_http2(
        self,
        socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        stopping: watch::Receiver<()>,
    ) {
        let answers = http2::Answers {
            peer: self.peer,
            edge: Arc::clone(&self.edge),
            router: self.router.clone(),
            what_for: self.ticket.what_for,
            wire: self.times.wire,
            idle_time: self.times.idle_time,
        };
        http2::run(socket, answers, stopping).await;
    }

    async fn run_http1(
        self,
        socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        mut stopping: watch::Receiver<()>,
    ) {
        let Connection {
            peer,
            edge,
            router,
            times,
            ticket,
            ..
        } = self;
        let what_for = ticket.what_for;
        let phase = Arc::new(Phase::default());
        let wire = Wire::new(socket, Arc::clone(&phase), times.wire, reword(&edge));
        let handed: HandedBody = Arc::default();
        let (phase_seen, body_handed) = (Arc::clone(&phase), Arc::clone(&handed));
        let service = service_fn(move |mut request: http::Request<Incoming>| {
            phase.busy();
            request.extensions_mut().insert(ConnectInfo(peer));
            if phase.has_two_lengths() {
                request.extensions_mut().insert(TwoLengths);
            }
            let done = AnswerEnd(Arc::clone(&phase));
            let (edge, router) = (Arc::clone(&edge), router.clone());
            let handed = Arc::clone(&handed);
            let in_chunks = request.version() == http::Version::HTTP_11;
            // Boxed: hyper keeps room for the whole of it as long as the connection lives.
            Box::pin(async move {
                let unread = Unread::default();
                let (head, body) = request.into_parts();
                let body = unread.lend(&head.headers, body);
                let request = http::Request::from_parts(head, body);
                let response = match what_for {
                    Use::Anything => edge.answer(router, request).await,
                    Use::Health(why) => edge.answer_health(router, request, why).await,
                };
                if unread.drop_rest().await {
                    done.0.answers_early();
                }
                let is_long = response.extensions().get::<LongLived>().is_some();
                Ok::<_, Infallible>(response.map(|body| {
                    if is_long && in_chunks {
                        *handed.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
                        return Answer::HandedOver(done);
                    }
                    Answer::Hypers { body, _done: done }
                }))
            })
        });
        let mut connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(times.idle_time)
            .max_header_size(HYPER_HEAD_BYTES_MAX)
            .max_buf_size(HYPER_BUFFER_BYTES_MAX)
            .serve_connection(TokioIo::new(wire), service);
        let mut is_stopping = false;
        let ended = loop {
            let turn = poll_fn(|cx| match Pin::new(&mut connection).poll(cx) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending if phase_seen.is_handed_over() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            });
            tokio::select! {
                biased;
                ended = turn => break ended,
                // The sender says nothing; it only goes away.
                _ = stopping.changed(), if !is_stopping => {
                    is_stopping = true;
                    Pin::new(&mut connection).graceful_shutdown();
                }
            }
        };
        match ended {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::debug!(%error, "connection ended"),
            None => {
                let wire = connection.into_parts().io.into_inner();
                // hyper's part of the answer is gone, the answer is not.
                phase_seen.busy();
                let body = body_handed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
                if let Some(body) = body
                    && let Err(error) = send_chunks(wire, body).await
                {
                    tracing::debug!(%error, "stream ended");
                }
            }
        }
    }
}

/// Marks an answer whose body goes on for long. hyper writes its head; for the body it would keep two buffers
/// of 8 KiB all the time, of which thousands of quiet streams make nothing.
#[derive(Clone, Copy, Debug)]
pub struct LongLived;

type HandedBody = Arc<Mutex<Option<Body>>>;

/// The rest of an answer in chunks, until it ends or the client hangs up. The connection ends with it.
async fn send_chunks(
    mut wire: Wire<impl AsyncRead + AsyncWrite + Unpin>,
    mut body: Body,
) -> io::Result<()> {
    let mut unread = [0_u8; 64];
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            read = wire.read(&mut unread) => match read? {
                0 => return Ok(()),
                // Whatever it is, it is not answered on this connection.
                _ => continue,
            },
        };
        match frame {
            Some(Ok(frame)) => {
                let data = frame.into_data().unwrap_or_default();
                if !data.is_empty() {
                    let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
                    chunk.extend_from_slice(&data);
                    chunk.extend_from_slice(b"\r\n");
                    wire.write_all(&chunk).await?;
                    wire.flush().await?;
                }
            }
            Some(Err(error)) => return Err(io::Error::other(error)),
            None => {
                wire.write_all(b"0\r\n\r\n").await?;
                return wire.shutdown().await;
            }
        }
    }
}

fn wire_limits(limits: &ServerLimits) -> WireLimits {
    WireLimits {
        head_time: limits.head_time,
        pace: PaceLimits {
            stalled_time: limits.stalled_write_time,
            slow_time: limits.slow_reader_time,
            slow_bytes: limits.slow_reader_time.as_secs() * SLOW_BYTES_PER_S,
        },
        linger_time: LINGER_TIME,
        linger_bytes: LINGER_BYTES_MAX,
    }
}

/// hyper refuses what is not HTTP before there is a request; it gets an id and our shape all the same.
fn reword(edge: &Arc<Edge>) -> Reword {
    let edge = Arc::clone(edge);
    Arc::new(move |status, fault, date| {
        let refusal = match (status, fault) {
            (431, _) => head_too_large(),
            (414, _) => Refusal::new(Code::ParameterInvalid, "The URL is too long.").status(414),
            (400, Some(Fault::KeyByte(byte))) => idempotency::unusable_byte(byte),
            (other, _) => {
                Refusal::new(Code::ParameterInvalid, "The request is not valid HTTP/1.1.")
                    .status(other)
            }
        };
        raw_answer(&edge, &refusal, date)
    })
}

/// One client too many is told so at once instead of being left to wait in the backlog.
fn turn_away(socket: TcpStream, edge: &Edge, refused: Refused) {
    let refusal = too_many(refused);
    // As much as the socket takes without waiting, which for a new one is all of it.
    if let Ok(mut socket) = socket.into_std() {
        let _ = io::Write::write(&mut socket, &raw_answer(edge, &refusal, b""));
    }
}

/// An answer outside any exchange of hyper's. `date` is a whole header line or nothing. Where the request was going is
/// not known: a payer's page must be able to read it, and nobody is harmed by reading it.
fn raw_answer(edge: &Edge, refusal: &Refusal, date: &[u8]) -> Vec<u8> {
    let id = RequestId::new((edge.ids)());
    tracing::info!(target: "till::access", status = refusal.status, request_id = id.as_str());
    let body = error_body(refusal, &edge.docs_url, &id);
    let reason = http::StatusCode::from_u16(refusal.status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Error");
    let retry = answer::retry_after_s(refusal)
        .map_or_else(String::new, |seconds| format!("retry-after: {seconds}\r\n"));
    let mut bytes = format!(
        "HTTP/1.1 {} {reason}\r\ncontent-type: application/json\r\nx-request-id: {}\r\n\
         x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\ncache-control: no-store\r\n\
         access-control-allow-origin: *\r\naccess-control-expose-headers: {EXPOSED_HEADERS}\r\n\
         {retry}connection: close\r\ncontent-length: {}\r\n",
        refusal.status,
        id.as_str(),
        body.len(),
    )
    .into_bytes();
    bytes.extend_from_slice(date);
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&body);
    bytes
}

fn is_the_clients(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// Dropped with the last byte of an answer's body.
struct AnswerEnd(Arc<Phase>);

impl Drop for AnswerEnd {
    fn drop(&mut self) {
        self.0.idle();
    }
}

enum Answer {
    Hypers {
        body: Body,
        _done: AnswerEnd,
    },
    /// hyper has only its head.
    HandedOver(AnswerEnd),
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match &mut *self {
            Answer::Hypers { body, .. } => Pin::new(body).poll_frame(cx),
            Answer::HandedOver(done) => {
                done.0.hand_over();
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Answer::Hypers { body, .. } => body.is_end_stream(),
            Answer::HandedOver(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Answer::Hypers { body, .. } => body.size_hint(),
            Answer::HandedOver(_) => SizeHint::default(),
        }
    }
}

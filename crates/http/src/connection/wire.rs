//! The socket as hyper sees it, with what hyper leaves to us: a limit on slow heads and slow readers,
//! our words instead of its bare refusals, and an end that does not cut off the last answer.
//!
//! No library does this: hyper has no hook for what it refuses before there is a request. Its words are known by their bytes,
//! and a test has a bare hyper say them, so that a newer one that says something else does not pass unnoticed.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::head::{Fault, HeadReader};
use super::pace::{Pace, PaceLimits};

/// Where the connection is in its exchange: known to the service, needed by the socket.
#[derive(Debug, Default)]
pub struct Phase {
    stage: AtomicU8,
    sends_on: AtomicBool,
    has_two_lengths: AtomicBool,
}

/// A head is expected, because the connection is new, or has begun to arrive. The default.
const HEAD: u8 = 0;
/// A request is being answered.
const BUSY: u8 = 1;
/// The last answer is complete and nothing has arrived since. (The beginning of a head that came
/// along with the request before it goes unseen here; the idle time bounds that one.)
const IDLE: u8 = 2;
/// A long answer's head is written and waits to be sent; its body is to be taken out of hyper's hands.
const HANDING_OVER: u8 = 3;
/// The head is sent.
const HANDED_OVER: u8 = 4;

impl Phase {
    pub fn busy(&self) {
        self.stage.store(BUSY, Ordering::Relaxed);
    }

    pub fn idle(&self) {
        self.stage.store(IDLE, Ordering::Relaxed);
    }

    pub fn hand_over(&self) {
        // The head may be on its way already, or not: either way it is sent when hyper has flushed next.
        if self.stage.load(Ordering::Relaxed) == BUSY {
            self.stage.store(HANDING_OVER, Ordering::Relaxed);
        }
    }

    pub fn is_handed_over(&self) -> bool {
        self.stage.load(Ordering::Relaxed) == HANDED_OVER
    }

    /// The answer goes out although the client may not have sent all of its request.
    pub fn answers_early(&self) {
        self.sends_on.store(true, Ordering::Relaxed);
    }

    /// Whether the head says of its body both how long it is and that it comes in chunks. The connection ends with its answer.
    pub fn has_two_lengths(&self) -> bool {
        self.has_two_lengths.load(Ordering::Relaxed)
    }

    fn flushed(&self) {
        if self.stage.load(Ordering::Relaxed) == HANDING_OVER {
            self.stage.store(HANDED_OVER, Ordering::Relaxed);
        }
    }

    /// Whether what arrived begins a new head.
    fn arrived(&self) -> bool {
        // Only one task ever holds the connection, so nothing comes in between.
        let begins = self.stage.load(Ordering::Relaxed) == IDLE;
        if begins {
            self.stage.store(HEAD, Ordering::Relaxed);
        }
        begins
    }

    fn expects_head(&self) -> bool {
        self.stage.load(Ordering::Relaxed) == HEAD
    }
}

#[derive(Clone, Copy, Debug)]
pub struct WireLimits {
    /// From the first byte of a head (or from the connection) to its end.
    pub head_time: Duration,
    pub pace: PaceLimits,
    pub linger_time: Duration,
    pub linger_bytes: usize,
}

/// Our words for a refusal of hyper's: status, what was seen in the head, and date line in; a whole answer out.
pub type Reword = Arc<dyn Fn(u16, Option<Fault>, &[u8]) -> Vec<u8> + Send + Sync>;

type Timer = Option<Pin<Box<Sleep>>>;

pub struct Wire<S> {
    socket: S,
    phase: Arc<Phase>,
    limits: WireLimits,
    reword: Reword,
    head_timer: Timer,
    head: HeadReader,
    fault: Option<Fault>,
    pace: Pace,
    /// Our own bytes, which hyper believes written already.
    owed: Vec<u8>,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    /// hyper gave up on the client, which may still be sending.
    Refused,
    PeerClosed,
    /// Our side is closed; what the client still sends is read and dropped.
    Lingering {
        bytes: usize,
    },
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub fn new(socket: S, phase: Arc<Phase>, limits: WireLimits, reword: Reword) -> Wire<S> {
        Wire {
            socket,
            phase,
            limits,
            reword,
            head_timer: None,
            head: HeadReader::default(),
            fault: None,
            pace: Pace::new(limits.pace),
            owed: Vec::new(),
            end: End::Open,
        }
    }

    fn poll_owed(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.owed.is_empty() {
            let written = Pin::new(&mut self.socket).poll_write(cx, &self.owed);
            let n = ready!(self.pace.judge(cx, written))?;
            if n == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.owed.drain(..n);
        }
        Poll::Ready(Ok(()))
    }

    fn read_head(&mut self, bytes: &[u8]) {
        let Some(fault) = self.head.read(bytes) else {
            return;
        };
        self.fault = Some(fault);
        if fault == Fault::TwoLengths {
            self.phase.has_two_lengths.store(true, Ordering::Relaxed);
        }
    }

    /// Takes over when what hyper writes is a refusal of its own. The answer is what hyper may count
    /// as written: the part before the refusal is written first, on its own.
    fn poll_reworded(
        &mut self,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Option<Poll<io::Result<usize>>> {
        let (status, start) = bare_refusal(buf)?;
        if start > 0 {
            let written = Pin::new(&mut self.socket).poll_write(cx, &buf[..start]);
            return Some(self.pace.judge(cx, written));
        }
        let date = &buf[buf.len() - DATE_AND_END..buf.len() - 2];
        self.owed = (self.reword)(status, self.fault, date);
        self.end = End::Refused;
        Some(Poll::Ready(Ok(buf.len())))
    }

    /// Closing a socket with unread bytes resets it, and the reset can overtake the last answer. So
    /// the rest is read for a while, when there is one.
    fn poll_linger(&mut self, cx: &mut Context<'_>, mut bytes: usize) -> Poll<io::Result<()>> {
        let mut sink = [0_u8; 4096];
        loop {
            let mut buf = ReadBuf::new(&mut sink);
            let read = Pin::new(&mut self.socket).poll_read(cx, &mut buf);
            let n = buf.filled().len();
            match read {
                Poll::Ready(Ok(())) if n > 0 && bytes < self.limits.linger_bytes => bytes += n,
                Poll::Ready(_) => return Poll::Ready(Ok(())),
                // An idle client that is told goodbye has nothing underway: no need to wait for it.
                Poll::Pending if bytes == 0 => return Poll::Ready(Ok(())),
                Poll::Pending => {
                    self.end = End::Lingering { bytes };
                    return poll_timer(&mut self.head_timer, self.limits.linger_time, cx).map(Ok);
                }
            }
        }
    }
}

fn poll_timer(timer: &mut Timer, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
    timer
        .get_or_insert_with(|| Box::pin(tokio::time::sleep(time)))
        .as_mut()
        .poll(cx)
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buf.filled().len();
        let read = Pin::new(&mut this.socket).poll_read(cx, buf);
        match read {
            Poll::Ready(Ok(())) if buf.filled().len() > before => {
                if this.phase.arrived() {
                    this.head_timer = None;
                    this.head = HeadReader::default();
                }
                if this.phase.expects_head() {
                    this.read_head(&buf.filled()[before..]);
                }
            }
            Poll::Ready(_) => this.end = End::PeerClosed,
            // The timer is only made for a head that did not come in one piece.
            Poll::Pending if this.phase.expects_head() => {
                return poll_timer(&mut this.head_timer, this.limits.head_time, cx)
                    .map(|()| Err(io::ErrorKind::TimedOut.into()));
            }
            Poll::Pending => this.head_timer = None,
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        ready!(this.poll_owed(cx))?;
        if let Some(written) = this.poll_reworded(cx, buf) {
            return written;
        }
        let written = Pin::new(&mut this.socket).poll_write(cx, buf);
        this.pace.judge(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        ready!(this.poll_owed(cx))?;
        // hyper queues heads before bodies, so a refusal can only be in the first slice.
        if let Some(first) = bufs.first()
            && let Some(written) = this.poll_reworded(cx, first)
        {
            return written;
        }
        let written = Pin::new(&mut this.socket).poll_write_vectored(cx, bufs);
        this.pace.judge(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_owed(cx))?;
        ready!(Pin::new(&mut self.socket).poll_flush(cx))?;
        self.phase.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        ready!(this.poll_owed(cx))?;
        let bytes = match this.end {
            End::Lingering { bytes } => bytes,
            end => {
                ready!(Pin::new(&mut this.socket).poll_shutdown(cx))?;
                this.head_timer = None;
                match end {
                    End::PeerClosed => return Poll::Ready(Ok(())),
                    // One byte stands for what surely is underway.
                    End::Refused => 1,
                    _ if this.phase.sends_on.load(Ordering::Relaxed) => 1,
                    _ => 0,
                }
            }
        };
        this.poll_linger(cx, bytes)
    }
}

/// `date: `, 29 characters, and the end of the head.
const DATE_AND_END: usize = 6 + 29 + 4;
const CLOSE_AND_LENGTH: &[u8] = b"connection: close\r\ncontent-length: 0\r\n";
const REFUSALS: [(u16, &[u8]); 3] = [
    (400, b"HTTP/1.1 400 Bad Request\r\n"),
    (414, b"HTTP/1.1 414 URI Too Long\r\n"),
    (431, b"HTTP/1.1 431 Request Header Fields Too Large\r\n"),
];

/// The status of a refusal that hyper wrote by itself at the end of these bytes, and where it begins.
/// An answer of ours has more headers than these, so it is never taken for one.
fn bare_refusal(buf: &[u8]) -> Option<(u16, usize)> {
    let head = &buf[..buf.len().checked_sub(DATE_AND_END)?];
    let line = head.strip_suffix(CLOSE_AND_LENGTH)?;
    REFUSALS
        .iter()
        .find(|(_, status_line)| line.ends_with(status_line))
        .map(|(status, status_line)| (*status, line.len() - status_line.len()))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use hyper::body::Incoming;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const DATE: &str = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";

    /// What hyper itself writes when it is sent this.
    async fn said_by_hyper(request: Vec<u8>) -> Vec<u8> {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let never = service_fn(async |_: http::Request<Incoming>| {
            Ok::<_, Infallible>(http::Response::new(String::new()))
        });
        let serving = http1::Builder::new()
            .max_header_size(1 << 18)
            .max_buf_size(1 << 18)
            .serve_connection(TokioIo::new(server), never);
        let speaking = async {
            client.write_all(&request).await.unwrap();
            let mut said = Vec::new();
            client.read_to_end(&mut said).await.unwrap();
            said
        };
        // It fails, after it has said so.
        let (_, said) = tokio::join!(serving, speaking);
        said
    }

    #[tokio::test]
    async fn hyper_refuses_in_the_bytes_that_are_reworded() {
        let long_uri = format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "x".repeat(70_000));
        let large_head = format!("GET / HTTP/1.1\r\nhost: x\r\nx: {}", "x".repeat(1 << 19));
        for (status, request) in [
            (400, "nonsense\r\n\r\n".to_owned()),
            (414, long_uri),
            (431, large_head),
        ] {
            let said = said_by_hyper(request.into_bytes()).await;
            let shown = String::from_utf8_lossy(&said).into_owned();
            assert_eq!(bare_refusal(&said), Some((status, 0)), "{shown}");
        }
    }

    #[test]
    fn only_an_answer_without_anything_of_ours_is_taken_for_hypers() {
        let bare =
            format!("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n{DATE}");
        assert_eq!(bare_refusal(bare.as_bytes()), Some((400, 0)));
        let after = format!("rest of an answer{bare}");
        assert_eq!(bare_refusal(after.as_bytes()), Some((400, 17)));
        let ours = format!(
            "HTTP/1.1 400 Bad Request\r\nx-request-id: req_1\r\nconnection: close\r\ncontent-length: 0\r\n{DATE}"
        );
        for other in [
            ours.as_str(),
            "",
            DATE,
            "HTTP/1.1 200 OK\r\n\r\n",
            &bare[1..],
        ] {
            assert_eq!(bare_refusal(other.as_bytes()), None, "{other}");
        }
    }
}

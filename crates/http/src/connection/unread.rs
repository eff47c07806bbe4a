//! Bodies that nobody wanted. An answer that comes before its request has arrived leaves the client sending
//! into a connection that is being closed: it may fail at that and never read why it was refused. So the rest
//! of a body is read and dropped before the answer goes out, as long as that is bearable.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::HeaderMap;
use http::header::EXPECT;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

const BYTES_MAX: u64 = 16 * 1024 * 1024;
const TIME_MAX: Duration = Duration::from_secs(5);

/// Where a body goes that is dropped before its end.
#[derive(Default)]
pub struct Unread(Arc<Mutex<Option<Incoming>>>);

impl Unread {
    /// The request's body, which comes back here if nobody reads it.
    pub fn lend(&self, headers: &HeaderMap, body: Incoming) -> Body {
        // A client that waits to be asked for its body has not sent it.
        if body.is_end_stream() || headers.contains_key(EXPECT) {
            return Body::new(body);
        }
        Body::new(LentBody {
            body: Some(body),
            back: Arc::clone(&self.0),
        })
    }

    /// Reads what is left. Says whether the client may still be sending.
    pub async fn drop_rest(&self) -> bool {
        let body = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = body else {
            return false;
        };
        if body.size_hint().lower() > BYTES_MAX {
            return true;
        }
        let rest = async {
            let mut bytes = 0;
            while let Some(Ok(frame)) = body.frame().await {
                bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                if bytes > BYTES_MAX {
                    return true;
                }
            }
            false
        };
        tokio::time::timeout(TIME_MAX, rest).await.unwrap_or(true)
    }
}

struct LentBody {
    /// Taken only on dropping.
    body: Option<Incoming>,
    back: Arc<Mutex<Option<Incoming>>>,
}

impl Drop for LentBody {
    fn drop(&mut self) {
        let body = self.body.take().filter(|body| !body.is_end_stream());
        *self.back.lock().unwrap_or_else(PoisonError::into_inner) = body;
    }
}

impl http_body::Body for LentBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(SizeHint::default, Incoming::size_hint)
    }
}

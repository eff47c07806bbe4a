//! The live stream of one invoice: every past event first, then each as it happens.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_engine::Fail;
use till_engine::checkout::stream::{StreamItem, Subscription, events_after, follow};
use till_engine::merchants::accounts::{Caller, Creator, KeyKind};
use till_engine::team::sessions;
use till_engine::view::InvoiceEventView;
use till_http::query::integer;
use till_http::server::LongLived;
use tokio::sync::watch;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::stream_limit::StreamPermit;
use crate::handler::callers::Proof;
use crate::handler::request::params;
use crate::handler::session;
use crate::handler::{Answered, Api, Client, Got, Id, Payer, Refusals};

/// Between two looks at a database that does not answer.
const OUTAGE_PAUSE: Duration = Duration::from_secs(2);
/// A stream that is read by session ends within ten seconds of the end of its right to be read.
const SESSION_CHECK: Duration = Duration::from_secs(5);
const RETRY_MS_MIN: u16 = 1_000;
const RETRY_SPREAD_MS: u16 = 4_000;

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new().routes(routes!(events))
}

params! {
    pub struct StreamParams {
        /// Resume after this event number; from the start if the stream has not come so far.
        #[param(minimum = 0)]
        last_event_id: Option<i64> = integer(0..=i64::MAX),
    }
}

/// The key, for the document: event sources of browsers can send it in no other way.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "described here, and read before anything else")]
struct StreamKey {
    /// A publishable key, for browsers' EventSource.
    key: Option<String>,
}

/// Follow an invoice live
///
/// Server-sent events: `id` is the number of the event in this invoice's stream, `event` its type, `data` a
/// complete InvoiceEvent. Resume with `Last-Event-ID` or `last_event_id`.
#[utoipa::path(
    get, path = "/v1/invoices/{id}/events", tag = "Checkout", operation_id = "streamInvoiceEvents",
    params(
        ("id" = String, Path, description = "Invoice id"),
        ("Last-Event-ID" = Option<String>, Header, description = "The same as `last_event_id`, as event sources of browsers send it; this one counts"),
        StreamParams, StreamKey
    ),
    responses(
        (status = 200, description = "The stream", content_type = "text/event-stream", body = InvoiceEventView),
        Refusals
    ),
    security(("secret_key" = []), ("publishable_key" = []), ("publishable_key_query" = []))
)]
async fn events(
    State(api): State<Arc<Api>>,
    got: Got<Payer, StreamParams>,
    Id(id): Id,
    client: Client,
    headers: HeaderMap,
) -> Answered {
    let after = resume_after(&headers, got.query.last_event_id)?;
    let subscription = follow(&api.engine, got.scope(), &id).await?;
    // A number that this stream has not come to is of another history, as when a copy of the database was restored:
    // whoever has it is told everything there is.
    let after = match after <= subscription.head {
        true => after,
        false => 0,
    };
    let following = StreamFollower {
        _permit: StreamPermit::take(&api, client, &id)?,
        scope: got.scope().clone(),
        keys: api.engine.hub.keys(),
        stopping: api.stopping.clone(),
        api,
        proof: got.proof,
        invoice: id,
        after,
        state: StreamState::Begin,
        subscription,
    };
    let body = Body::from_stream(stream::unfold(following, StreamFollower::next));
    let mut response = (StatusCode::OK, body).into_response();
    response.extensions_mut().insert(LongLived);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// A browser that reconnects sends the header and repeats the URL: the header is the newer.
fn resume_after(headers: &HeaderMap, asked: Option<i64>) -> Result<i64, Refusal> {
    let Some(value) = headers.get("last-event-id") else {
        return Ok(asked.unwrap_or(0));
    };
    let number = value
        .to_str()
        .ok()
        .filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    number.and_then(|text| text.parse().ok()).ok_or_else(|| {
        let message = "Last-Event-ID must be a number this stream gave as an id";
        Refusal::new(Code::ParameterInvalid, message).param("Last-Event-ID")
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamState {
    Begin,
    /// There may be more to read.
    Follow,
    /// Everything was read: only somebody who says that there is more makes it look again.
    Caught,
    /// The database did not answer.
    Behind,
    End,
}

enum WakeReason {
    Changed,
    /// Some key, perhaps this stream's, works no more.
    KeysEnded,
    Quiet,
    Stopping,
}

struct StreamFollower {
    api: Arc<Api>,
    scope: Scope,
    proof: Proof,
    invoice: String,
    after: i64,
    state: StreamState,
    subscription: Subscription,
    keys: watch::Receiver<(i64, i64, i64)>,
    stopping: till_engine::base::Stopping,
    _permit: StreamPermit,
}

impl StreamFollower {
    /// The next bytes of the stream: what is committed, a heartbeat, or the end.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, StreamFollower)> {
        if self.state == StreamState::End {
            return None;
        }
        let mut head = String::new();
        match self.state {
            StreamState::Begin => head = self.retry(),
            StreamState::Behind => tokio::time::sleep(OUTAGE_PAUSE).await,
            StreamState::Follow | StreamState::Caught | StreamState::End => {}
        }
        loop {
            // Boxed, like the other question below, to keep the future small: thousands of streams wait at a time.
            if self.state != StreamState::Caught
                && let Some(text) = Box::pin(self.catch_up(std::mem::take(&mut head))).await
            {
                return Some((Ok(Bytes::from(text)), self));
            }
            let pause = self.pause();
            let woken = tokio::select! {
                () = self.subscription.changed() => WakeReason::Changed,
                Ok(()) = self.keys.changed() => WakeReason::KeysEnded,
                () = tokio::time::sleep(pause) => WakeReason::Quiet,
                _ = self.stopping.wait_for(|stop| *stop) => WakeReason::Stopping,
            };
            match woken {
                // Nothing more is told to a key that works no more.
                WakeReason::Changed if Box::pin(self.is_allowed()).await => {
                    self.state = StreamState::Follow
                }
                WakeReason::KeysEnded if Box::pin(self.is_allowed()).await => {}
                WakeReason::Quiet if Box::pin(self.still_allowed()).await => {
                    return Some((Ok(Bytes::from_static(b": heartbeat\n\n")), self));
                }
                WakeReason::Changed | WakeReason::KeysEnded | WakeReason::Quiet => return None,
                WakeReason::Stopping => {
                    // The client reconnects by itself, to a server that is up.
                    self.state = StreamState::End;
                    let text = format!("{}: reconnect\n\n", self.retry());
                    return Some((Ok(Bytes::from(text)), self));
                }
            }
        }
    }

    /// What is committed and was not sent yet, if there is anything to say.
    async fn catch_up(&mut self, head: String) -> Option<String> {
        match self.read().await {
            Ok(items) => {
                self.state = match items.is_empty() {
                    true => StreamState::Caught,
                    false => StreamState::Follow,
                };
                let mut text = head;
                for item in &items {
                    self.after = item.seq;
                    push_event(&mut text, item);
                }
                (!text.is_empty()).then_some(text)
            }
            // The database comes back, and the client need not: thousands of them at once would keep it away.
            Err(failure) => {
                tracing::debug!(?failure, "a live stream could not be read; it waits");
                self.state = StreamState::Behind;
                Some(format!("{head}: waiting\n\n"))
            }
        }
    }

    /// When to come back, should the connection end: not all at the same moment.
    fn retry(&self) -> String {
        let spread = u16::from_le_bytes(self.api.engine.ids.random()) % RETRY_SPREAD_MS;
        format!("retry: {}\n\n", RETRY_MS_MIN + spread)
    }

    async fn read(&self) -> Result<Vec<StreamItem>, Fail> {
        events_after(&self.api.engine, &self.scope, &self.invoice, self.after).await
    }

    async fn is_allowed(&self) -> bool {
        let found = match &self.proof {
            Proof::Key(key) => self.api.caller(key).await.and_then(check_reader),
            Proof::Session(signed) => self.check_session(signed).await,
        };
        !matches!(found, Err(Fail::Refused(_)))
    }

    async fn check_session(&self, signed: &session::Caller) -> Result<(), Fail> {
        sessions::check_reader(&self.api.engine, &signed.asked.session, &self.scope).await
    }

    /// How long nothing happens before a heartbeat.
    fn pause(&self) -> Duration {
        let heartbeat = self.api.config.heartbeat;
        match &self.proof {
            Proof::Key(_) => heartbeat,
            Proof::Session(_) => heartbeat.min(SESSION_CHECK),
        }
    }

    /// A key that was rolled meanwhile closes the streams it opened. That nobody can tell is no refusal.
    async fn still_allowed(&self) -> bool {
        let found = match &self.proof {
            Proof::Key(key) => self.api.caller_lately(key).await.and_then(check_reader),
            Proof::Session(signed) => self.check_session(signed).await,
        };
        !matches!(found, Err(Fail::Refused(_)))
    }
}

/// Every role may read; whoever is no member any more may not, nor may the secret keys they made.
fn check_reader(caller: Arc<Caller>) -> Result<(), Fail> {
    let has_left = |creator: &Creator| creator.role.is_none();
    match caller.kind == KeyKind::Secret && caller.creator.as_ref().is_some_and(has_left) {
        true => Err(Refusal::of(Code::ApiKeyPermissionDenied).into()),
        false => Ok(()),
    }
}

fn push_event(text: &mut String, item: &StreamItem) {
    use std::fmt::Write as _;
    // JSON from our own writer has no line breaks, so one data line holds it.
    let written = write!(
        text,
        "id: {}\nevent: {}\ndata: {}\n\n",
        item.seq, item.event_type, item.data
    );
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

//! The live stream of one invoice: every past event first, then each as it happens.

use std::convert::Infallible;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_engine::checkout::stream::{StreamItem, Subscription, events_after};
use till_engine::invoices;

use crate::face::answers::Answered;
use crate::face::callers::{Got, Id, Payer};
use crate::face::client::Client;
use crate::face::state::{Api, StreamOf, fail};
use crate::face::words;
use till_http::answer::Failure;
use till_http::credentials::{Presented, presented};
use till_http::query::{integer, peek};
use till_http::server::LongLived;

const HEARTBEAT: Duration = Duration::from_secs(15);
const STREAMS_PER_CLIENT_MAX: usize = 100;
const STREAMS_PER_INVOICE_MAX: usize = 200;

/// Follow an invoice live
///
/// Server-sent events: `id` is the number of the event in this invoice's stream, `event` its type, `data` a
/// complete InvoiceEvent. Resume with `Last-Event-ID` or `last_event_id`.
#[utoipa::path(
    get, path = "/v1/invoices/{id}/events", tag = "Checkout", operation_id = "streamInvoiceEvents",
    params(("id" = String, Path, description = "Invoice id"), words::StreamParams),
    responses(
        (status = 200, description = "The stream", content_type = "text/event-stream", body = words::InvoiceEvent),
        words::Refusals
    ),
    security(("secret_key" = []), ("publishable_key" = []), ("publishable_key_query" = []))
)]
pub async fn events(
    State(api): State<Arc<Api>>,
    got: Got<Payer>,
    Id(id): Id,
    client: Client,
    headers: HeaderMap,
) -> Answered {
    let mut query = got.query(&["last_event_id"])?;
    let asked = query.optional("last_event_id", integer(0..=i64::MAX))?;
    let after = resume_after(&headers, asked)?;
    let mut reader = api
        .engine
        .db
        .read()
        .await
        .map_err(|error| fail(error.into()))?;
    invoices::find(&mut reader, got.scope(), &id)
        .await
        .map_err(fail)?;
    drop(reader);
    let place = Place::take(&api, StreamOf::Client(client.0), &id)?;
    let key = credential(&headers, &got);
    let following = Following {
        subscription: api.engine.hub.subscribe(got.scope(), &id),
        scope: got.scope().clone(),
        stopping: api.stopping.clone(),
        api,
        key,
        invoice: id,
        after,
        step: Step::Begin,
        _place: place,
    };
    let body = Body::from_stream(stream::unfold(following, Following::next));
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

fn credential(headers: &HeaderMap, got: &Got<Payer>) -> Option<String> {
    match presented(headers, peek(got.raw_query(), "key")).ok()? {
        Presented::None => None,
        Presented::Bearer(key) | Presented::Basic(key) | Presented::Query(key) => Some(key),
    }
}

/// A counted place among the open streams, given back when the stream ends.
struct Place {
    api: Arc<Api>,
    counted: [(StreamOf, String); 2],
}

impl Place {
    fn take(api: &Arc<Api>, client: StreamOf, invoice: &str) -> Result<Place, Failure> {
        let counted = [
            (client, String::new()),
            (StreamOf::Invoice, invoice.to_owned()),
        ];
        let mut streams = api.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let limits = [STREAMS_PER_CLIENT_MAX, STREAMS_PER_INVOICE_MAX];
        let full = counted
            .iter()
            .zip(limits)
            .any(|(of, max)| streams.get(of).is_some_and(|open| *open >= max));
        if full {
            let message = "Too many live streams are open";
            return Err(Refusal::new(Code::RateLimited, message)
                .retry_after(30)
                .into());
        }
        for of in &counted {
            *streams.entry(of.clone()).or_default() += 1;
        }
        drop(streams);
        Ok(Place {
            api: Arc::clone(api),
            counted,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut streams = self
            .api
            .streams
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for of in &self.counted {
            if let Some(open) = streams.get_mut(of) {
                *open -= 1;
                if *open == 0 {
                    streams.remove(of);
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Begin,
    Follow,
    End,
}

enum Woken {
    Changed,
    Quiet,
    Stopping,
}

struct Following {
    api: Arc<Api>,
    scope: Scope,
    key: Option<String>,
    invoice: String,
    after: i64,
    step: Step,
    subscription: Subscription,
    stopping: till_engine::base::Stopping,
    _place: Place,
}

impl Following {
    /// The next bytes of the stream: what is committed, a heartbeat, or the end.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Following)> {
        if self.step == Step::End {
            return None;
        }
        let mut head = "";
        if self.step == Step::Begin {
            self.step = Step::Follow;
            head = "retry: 3000\n\n";
        }
        loop {
            // Boxed, like the other question below: a stream waits nearly all of its life and should not hold
            // room for what it does in between.
            match Box::pin(self.read()).await {
                Ok(items) if !items.is_empty() || !head.is_empty() => {
                    let mut text = String::from(head);
                    for item in &items {
                        self.after = item.seq;
                        push_event(&mut text, item);
                    }
                    return Some((Ok(Bytes::from(text)), self));
                }
                Ok(_) => {}
                Err(failure) => {
                    tracing::warn!(?failure, "a live stream could not be read and was ended");
                    return None;
                }
            }
            let woken = tokio::select! {
                () = self.subscription.changed() => Woken::Changed,
                () = tokio::time::sleep(HEARTBEAT) => Woken::Quiet,
                _ = self.stopping.wait_for(|stop| *stop) => Woken::Stopping,
            };
            match woken {
                Woken::Changed => {}
                Woken::Quiet if Box::pin(self.still_allowed()).await => {
                    return Some((Ok(Bytes::from_static(b": heartbeat\n\n")), self));
                }
                Woken::Quiet => return None,
                Woken::Stopping => {
                    // The client reconnects by itself, to a server that is up.
                    self.step = Step::End;
                    return Some((Ok(Bytes::from_static(b": reconnect\n\n")), self));
                }
            }
        }
    }

    async fn read(&self) -> Result<Vec<StreamItem>, Failure> {
        let mut reader = self
            .api
            .engine
            .db
            .read()
            .await
            .map_err(|error| fail(error.into()))?;
        events_after(&mut reader, &self.scope, &self.invoice, self.after)
            .await
            .map_err(fail)
    }

    /// A key that was rolled meanwhile closes the streams it opened.
    async fn still_allowed(&self) -> bool {
        match &self.key {
            Some(key) => !matches!(self.api.caller(key).await, Err(Failure::Refused(_))),
            None => false,
        }
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

//! One attempt: signed, sent, and what came of it recorded.

use std::sync::Arc;

use bytes::Bytes;
use scoped_futures::ScopedFutureExt as _;
use till_core::scope::Scope;
use till_core::time::SECOND_MS;
use till_core::webhook::{
    EVENT_ID_HEADER, EVENT_TYPE_HEADER, SIGNATURE_HEADER, fails_for_a_day, retry_delay_ms, sign,
};
use till_store::deliveries::{Attempted, Claimed};

use super::claim::Endpoint;
use super::deliver::Deliver;
use super::failing;
use super::slots::SendSlot;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::outbound::Outcome;

pub(super) struct FinishedAttempt {
    endpoint: Arc<Endpoint>,
    pub(super) delivery: Claimed,
    outcome: Outcome,
    attempted_at: i64,
    pub(super) latency_ms: i64,
    next_attempt_at: Option<i64>,
}

impl FinishedAttempt {
    /// Whether the event has failed for a day with this attempt.
    fn fails_for_a_day(&self) -> bool {
        let attempt = u32::try_from(self.delivery.attempt).unwrap_or(u32::MAX);
        !self.outcome.delivered && fails_for_a_day(attempt)
    }

    fn attempted(&self) -> Attempted<'_> {
        let outcome = &self.outcome;
        Attempted {
            id: &self.delivery.id,
            fence: self.delivery.fence,
            url: &self.endpoint.url,
            succeeded: outcome.delivered,
            status_code: outcome.status_code.map(i64::from),
            latency_ms: Some(self.latency_ms),
            error: outcome.error.as_deref(),
            response_body: outcome.status_code.map(|_| outcome.response_body.as_str()),
            attempted_at: Some(self.attempted_at),
            next_attempt_at: self.next_attempt_at,
        }
    }
}

pub(super) async fn attempt(
    engine: &Engine,
    sender: &impl Deliver,
    endpoint: Arc<Endpoint>,
    mut delivery: Claimed,
    slot: SendSlot,
) -> FinishedAttempt {
    let attempted_at = engine.clock.now_ms();
    let secrets: Vec<&str> = endpoint.secrets.iter().map(String::as_str).collect();
    let body = Bytes::from(std::mem::take(&mut delivery.body));
    let headers = [
        (
            SIGNATURE_HEADER,
            sign(&secrets, attempted_at / SECOND_MS, &body),
        ),
        (EVENT_ID_HEADER, delivery.event.clone()),
        (EVENT_TYPE_HEADER, delivery.event_type.clone()),
    ];
    let started = engine.clock.monotonic_us();
    let outcome = sender.post(&endpoint.url, &headers, body).await;
    drop(slot);
    let latency_ms = i64::try_from(engine.clock.monotonic_us().saturating_sub(started) / 1_000)
        .unwrap_or(i64::MAX);
    metrics::counter!("till_webhook_attempts_total", "delivered" => if outcome.delivered { "yes" } else { "no" })
        .increment(1);
    let jitter = u64::from_le_bytes(engine.ids.random());
    let next_attempt_at = if outcome.delivered {
        None
    } else {
        let failed = u32::try_from(delivery.attempt).unwrap_or(u32::MAX);
        retry_delay_ms(failed, jitter).map(|delay| engine.clock.now_ms() + delay)
    };
    FinishedAttempt {
        endpoint,
        delivery,
        outcome,
        attempted_at,
        latency_ms,
        next_attempt_at,
    }
}

pub(super) async fn record(
    engine: &Engine,
    scope: &Scope,
    done: Vec<FinishedAttempt>,
) -> Result<(), Fail> {
    let attempts: Vec<Attempted<'_>> = done.iter().map(FinishedAttempt::attempted).collect();
    let attempts = attempts.as_slice();
    let failing = done.iter().find(|it| it.fails_for_a_day());
    let failing = failing.map(|it| &*it.delivery.id);
    engine
        .db
        .write(move |tx| {
            async move {
                till_store::deliveries::record(tx, scope, attempts).await?;
                match failing {
                    Some(delivery) => failing::tell(tx, engine, scope, delivery).await,
                    None => Ok(()),
                }
            }
            .scope_boxed()
        })
        .await
}

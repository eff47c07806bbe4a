//! Claiming what is due for an endpoint, and holding on to it until it is sent.

use scoped_futures::ScopedFutureExt as _;
use till_core::id::IdKind;
use till_core::scope::Scope;
use till_core::time::SECOND_MS;
use till_store::deliveries::{Attempted, Claimed, DeliveryRow, Message};

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::merchants::{event_addresses, secrets};
use crate::team::changes;

/// How many are claimed together.
const CLAIM_MAX: i64 = 64;
/// What a worker that died had claimed is taken over after this; with a look once a second that is within 20 seconds.
/// Longer than an attempt may take and what may pass between a claim or its renewal and the attempt.
pub(super) const CLAIM_MS: i64 = 17 * SECOND_MS;
/// What has waited so long since it was claimed is claimed anew: receivers may be slow, and a claim does not outlive
/// the wait for all of them.
pub(super) const RENEW_MS: i64 = 4 * SECOND_MS;

pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) secrets: Vec<String>,
}

/// Claims what is due. A retry becomes a delivery of its own; with no URL any more, everything due ends.
pub(super) async fn claim(
    engine: &Engine,
    scope: &Scope,
) -> Result<Option<(Endpoint, Vec<Claimed>)>, Fail> {
    // What is sent after a change's time goes where the change says, whoever of the workers is first.
    changes::catch_up(engine, scope).await?;
    engine
        .db
        .write(move |tx| {
            async move {
                let now = engine.clock.now_ms();
                let merchant = till_store::accounts::merchant(tx, scope).await?;
                let clock_offset_ms = merchant.as_ref().map_or(0, |it| it.clock_offset_ms);
                let url = merchant.and_then(|merchant| merchant.webhook_url);
                let span = (now, now + CLAIM_MS);
                let claimed = till_store::deliveries::claim(tx, scope, span, CLAIM_MAX).await?;
                if claimed.is_empty() {
                    return Ok(None);
                }
                let (mut ready, mut retries) = (Vec::new(), Vec::new());
                for delivery in claimed {
                    if delivery.status == "pending" {
                        ready.push(delivery);
                        continue;
                    }
                    till_store::deliveries::retire(tx, scope, &delivery.id, delivery.fence).await?;
                    if let Some(url) = &url {
                        retries.push(next_attempt(engine, scope, url, &delivery, now));
                        let id = retries[retries.len() - 1].id.clone();
                        ready.push(Claimed {
                            id,
                            attempt: delivery.attempt + 1,
                            fence: 0,
                            ..delivery
                        });
                    }
                }
                till_store::deliveries::insert(tx, &retries).await?;
                let Some(url) = url else {
                    let gone: Vec<Attempted<'_>> = ready
                        .iter()
                        .map(|delivery| end_without_url(delivery, now))
                        .collect();
                    till_store::deliveries::record(tx, scope, &gone).await?;
                    return Ok(None);
                };
                let account_now = now.saturating_add(clock_offset_ms);
                let mut bodies: Vec<_> = ready.iter_mut().map(|it| &mut it.body).collect();
                event_addresses::take_out_lost(tx, scope, account_now, &mut bodies).await?;
                let secrets = secrets::current(tx, engine, scope).await?;
                Ok::<_, Fail>(Some((Endpoint { url, secrets }, ready)))
            }
            .scope_boxed()
        })
        .await
}

fn next_attempt(
    engine: &Engine,
    scope: &Scope,
    url: &str,
    failed: &Claimed,
    now: i64,
) -> DeliveryRow {
    DeliveryRow::pending(
        scope,
        engine.ids.make(IdKind::Delivery),
        Message {
            event: failed.event.clone(),
            event_type: failed.event_type.clone(),
            subject: failed.subject.clone(),
        },
        url.to_owned(),
        failed.attempt + 1,
        (now, now + CLAIM_MS),
    )
}

fn end_without_url(delivery: &Claimed, now: i64) -> Attempted<'_> {
    Attempted {
        id: &delivery.id,
        fence: delivery.fence,
        url: "",
        succeeded: false,
        status_code: None,
        latency_ms: None,
        error: Some("no webhook URL is set any more"),
        response_body: None,
        attempted_at: Some(now),
        next_attempt_at: None,
    }
}

/// What to do about what is held and not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    Longer,
    /// The server stops: whoever else is there may have it at once.
    NoMore,
}

/// Claims these for as long again, or lets them go, and says which were still ours.
pub(super) async fn renew(
    engine: &Engine,
    scope: &Scope,
    held: Vec<(String, i64)>,
    hold: Hold,
) -> Result<Vec<String>, Fail> {
    let claim_ms = match hold {
        Hold::Longer => CLAIM_MS,
        Hold::NoMore => 0,
    };
    let held = held.as_slice();
    engine
        .db
        .write(move |tx| {
            async move {
                let until = engine.clock.now_ms() + claim_ms;
                Ok::<_, Fail>(till_store::deliveries::renew(tx, scope, held, until).await?)
            }
            .scope_boxed()
        })
        .await
}

//! The webhook delivery log.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::webhook::DeliveryStatus;
use till_engine::Answer;
use till_engine::merchants::deliveries;
use till_engine::view::DeliveryView;
use till_store::deliveries::DeliveryFilter;

use crate::face::answers::{Answered, List, answered, list as listed, no_body};
use crate::face::callers::{Got, Id, Posted, Secret};
use crate::face::cursor;
use crate::face::state::{Api, fail};
use crate::face::words;
use till_http::query::one_of;

/// List webhook deliveries, newest first
///
/// One object per attempt.
#[utoipa::path(
    get, path = "/v1/webhook_deliveries", tag = "Webhook deliveries", operation_id = "listWebhookDeliveries",
    params(words::PageParams, words::DeliveryFilter),
    responses((status = 200, description = "A page of deliveries", body = List<DeliveryView>), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn list(State(api): State<Arc<Api>>, got: Got<Secret>) -> Answered {
    let mut query = got.query(&[
        "limit",
        "cursor",
        "status",
        "event_type",
        "event",
        "invoice",
    ])?;
    let asked = query.page()?;
    let status = query.optional("status", one_of(&["pending", "succeeded", "failed"]))?;
    let filter = DeliveryFilter {
        status: status.and_then(DeliveryStatus::parse),
        event_type: query.text("event_type"),
        event: query.text("event"),
        subject: query.text("invoice"),
    };
    let page = cursor::page(&api.engine, got.scope(), "deliveries", &asked)?;
    let mut reader = api
        .engine
        .db
        .read()
        .await
        .map_err(|error| fail(error.into()))?;
    let found = till_store::deliveries::list(&mut reader, got.scope(), filter, &page).await;
    let mut rows = found.map_err(|error| fail(error.into()))?;
    let next = cursor::next(
        &api.engine,
        got.scope(),
        "deliveries",
        &asked,
        &mut rows,
        |row| &row.id,
    );
    let views = rows.iter().map(DeliveryView::of).collect();
    Ok(listed(views, next))
}

/// Deliver an event again
///
/// The same event under the same id, as a new delivery, to the current webhook URL.
#[utoipa::path(
    post, path = "/v1/webhook_deliveries/{id}/replay", tag = "Webhook deliveries",
    operation_id = "replayWebhookDelivery",
    params(("id" = String, Path, description = "Delivery id"), words::IdempotencyKey),
    responses((status = 200, description = "The new delivery", body = DeliveryView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn replay(State(api): State<Arc<Api>>, Id(id): Id, posted: Posted<Secret>) -> Answered {
    posted.read(&api, no_body(posted.body.as_deref())).await?;
    let id = id.as_str();
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move {
                let row = deliveries::replay(tx, context, id).await?;
                Answer::json(200, &DeliveryView::of(&row))
            }
            .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

//! The webhook delivery log.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_engine::merchants::deliveries;
use till_engine::view::DeliveryView;
use till_http::query;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::params;
use crate::handler::words::{DeliveryStatus, word_param};
use crate::handler::{
    Answered, Api, Got, Id, IdempotencyKey, List, Listing, PageParams, Posted, Refusals, Secret,
    text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(replay))
}

params! {
    pub struct DeliveryFilter {
        /// Only attempts that ended so.
        #[param(inline)]
        status: Option<DeliveryStatus> = word_param,
        /// Such as `invoice.paid`.
        event_type: Option<String> = query::text,
        /// Event id.
        event: Option<String> = query::text,
        /// Invoice id.
        invoice: Option<String> = query::text,
    }
}

/// List webhook deliveries, newest first
///
/// One object per attempt.
#[utoipa::path(
    get, path = "/v1/webhook_deliveries", tag = "Webhook deliveries", operation_id = "listWebhookDeliveries",
    params(PageParams, DeliveryFilter),
    responses((status = 200, description = "A page of deliveries", body = List<DeliveryView>), Refusals),
    security(("secret_key" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: Got<Secret, Listing<DeliveryFilter>>) -> Answered {
    let asked = got.filter().clone();
    let filter = deliveries::DeliveryFilter {
        status: asked.status.map(|status| status.0),
        event_type: asked.event_type,
        event: asked.event,
        subject: asked.invoice,
    };
    let pager = got.pager(&api, "deliveries").await?;
    let found = deliveries::list(&pager.reads, got.scope(), filter, &pager.page);
    pager.shown(found.await?).await
}

/// Deliver an event again
///
/// The same event under the same id, as a new delivery, to the current webhook URL.
#[utoipa::path(
    post, path = "/v1/webhook_deliveries/{id}/replay", tag = "Webhook deliveries",
    operation_id = "replayWebhookDelivery",
    params(("id" = String, Path, description = "Delivery id"), IdempotencyKey),
    responses((status = 200, description = "The new delivery", body = DeliveryView), Refusals),
    security(("secret_key" = []))
)]
async fn replay(State(api): State<Arc<Api>>, Id(id): Id, posted: Posted<Secret>) -> Answered {
    let id = id.as_str();
    let replay = posted.perform(&api, |tx, context| {
        async move { text(&deliveries::replay(tx, context, id).await?) }.scope_boxed()
    });
    replay.await
}

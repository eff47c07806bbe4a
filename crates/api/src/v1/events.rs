//! The log of events.

use std::sync::Arc;

use axum::extract::State;
use till_engine::merchants::events;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::params;
use crate::handler::words::{Moment, WebhookEventType, word_param};
use crate::handler::{Answered, Api, Got, Id, List, Listing, PageParams, Refusals, Secret, shown};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(retrieve))
}

params! {
    pub struct EventParams {
        /// Only those of this type.
        #[param(inline)]
        r#type: Option<WebhookEventType> = word_param,
        /// The first moment of `created_at`, as an RFC 3339 date-time or a date (midnight UTC).
        #[param(value_type = Option<String>)]
        from: Option<Moment> = Moment::param,
        /// The moment after the last.
        #[param(value_type = Option<String>)]
        to: Option<Moment> = Moment::param,
    }
}

/// An event in the document, where `openapi::complete` describes it together with the webhooks.
struct Event;

impl PartialSchema for Event {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().into()
    }
}

impl ToSchema for Event {}

/// List events, newest first
///
/// What webhooks deliver, whether or not a webhook URL was set when it happened: for a server that missed some. An event is kept
/// for 400 days unless the server's operator says otherwise. A deposit address that its invoice has lost since is null.
/// Events of one moment may appear a little later than newer ones: who follows the log reads its last minute again, and tells
/// what it knows already by `id`.
#[utoipa::path(
    get, path = "/v1/events", tag = "Events", operation_id = "listEvents",
    params(PageParams, EventParams),
    responses((status = 200, description = "A page of events", body = List<Event>), Refusals),
    security(("secret_key" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: Got<Secret, Listing<EventParams>>) -> Answered {
    let asked = got.filter();
    let filter = events::EventFilter {
        event_type: asked.r#type.map(|event| event.0),
        from: asked.from.map(|at| at.0),
        to: asked.to.map(|at| at.0),
    };
    let pager = got.pager(&api, "events").await?;
    let (reads, page) = (&pager.reads, &pager.page);
    let found = events::list(&api.engine, reads, got.scope(), filter, page);
    pager.shown(found.await?).await
}

/// Retrieve an event
///
/// As the list of events shows it.
#[utoipa::path(
    get, path = "/v1/events/{id}", tag = "Events", operation_id = "retrieveEvent",
    params(("id" = String, Path, description = "Event id")),
    responses((status = 200, description = "The event", body = Event), Refusals),
    security(("secret_key" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>, Id(id): Id) -> Answered {
    shown(&events::retrieve(&api.engine, got.scope(), &id).await?)
}

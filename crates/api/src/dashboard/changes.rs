//! Destinations, and changes of them, of the webhook URL and of the webhook secret.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::asset::Mode;
use till_core::change::ChangeKind;
use till_core::error::{Code, Refusal};
use till_engine::merchants::settings::url_forbidden;
use till_engine::team::changes::{self, ChangeValue, NewChange};
use till_engine::team::destinations;
use till_engine::view::{ChangeView, DestinationView};
use till_http::fields::Patch;
use till_http::read::{self, Read};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::{Body, body, params};
use crate::handler::words::{self, word, word_param};
use crate::handler::{
    Answered, Api, Id, IdempotencyKey, List, Listing, ModeHeaders, PageParams, Refusals, shown,
    text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list_destinations))
        .routes(routes!(list, request))
        .routes(routes!(retrieve))
        .routes(routes!(cancel))
        .routes(routes!(checkout_config))
}

/// List where payments go, family by family
#[utoipa::path(
    get, path = "/v1/dashboard/destinations", tag = "Dashboard", operation_id = "listDestinations",
    params(ModeHeaders, PageParams),
    responses((status = 200, description = "A page of destinations", body = List<DestinationView>), Refusals),
    security(("session" = []))
)]
async fn list_destinations(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let pager = got.pager(&api, "destinations")?.on_one_page();
    pager
        .shown(destinations::list(&api.engine, &got.scope()?, &pager.page).await?)
        .await
}

const DELAY_S_MAX: i64 = 604_800;

body! {
    pub struct CreateChangeRequest {
        kind: words::ChangeKind = word,
        /// Of a destination: `eip155`, `tron`, `bip122` or `solana`.
        family: Option<String> = read::text,
        /// Of a destination: where payments go; null takes it away.
        #[schema(value_type = Option<String>)]
        address: Patch<String> = read::text,
        /// Where webhooks go; null stops deliveries.
        #[schema(value_type = Option<String>)]
        webhook_url: Patch<String> = read::text,
        /// In test mode only: how long the change waits, by the test clock.
        #[schema(minimum = 0, maximum = 604800, default = 0)]
        delay_seconds: Option<i64> = read::integer(0..=DELAY_S_MAX),
    }
}

fn unknown(field: &str) -> Refusal {
    let message = format!("`{field}` is not taken here.");
    Refusal::new(Code::ParameterUnknown, message).param(field)
}

fn missing(field: &str) -> Refusal {
    let message = format!("`{field}` is missing.");
    Refusal::new(Code::ParameterMissing, message).param(field)
}

fn given(patch: Patch<String>, field: &str) -> Read<Option<String>> {
    match patch {
        Patch::Absent => Err(missing(field)),
        Patch::Null => Ok(None),
        Patch::Value(value) => Ok(Some(value)),
    }
}

/// What was asked for, and whether it says how long it waits.
#[derive(Debug)]
pub struct RequestedChange {
    new: NewChange,
    has_delay: bool,
}

impl Body for RequestedChange {
    fn read(bytes: Option<&[u8]>) -> Read<RequestedChange> {
        let request = CreateChangeRequest::read(bytes)?;
        let kind = request.kind.0;
        let is_of_destination = kind == ChangeKind::Destination;
        let foreign = [
            ("family", request.family.is_some() && !is_of_destination),
            (
                "address",
                !matches!(request.address, Patch::Absent) && !is_of_destination,
            ),
            (
                "webhook_url",
                !matches!(request.webhook_url, Patch::Absent) && kind != ChangeKind::WebhookUrl,
            ),
        ];
        if let Some((field, _)) = foreign.into_iter().find(|(_, is_foreign)| *is_foreign) {
            return Err(unknown(field));
        }
        let asked = match kind {
            ChangeKind::Destination => ChangeValue::Destination {
                family: request.family.ok_or_else(|| missing("family"))?,
                address: given(request.address, "address")?,
            },
            ChangeKind::WebhookUrl => {
                ChangeValue::WebhookUrl(given(request.webhook_url, "webhook_url")?)
            }
            ChangeKind::WebhookSecret => ChangeValue::WebhookSecret,
        };
        Ok(RequestedChange {
            has_delay: request.delay_seconds.is_some(),
            new: NewChange {
                asked,
                delay_s: request.delay_seconds.unwrap_or(0),
            },
        })
    }
}

/// Ask for a change of a destination, of the webhook URL or of the webhook secret
///
/// In live mode it waits before it takes effect, except until the account's first live invoice.
#[utoipa::path(
    post, path = "/v1/dashboard/changes", tag = "Dashboard", operation_id = "createChange",
    params(ModeHeaders, IdempotencyKey), request_body = CreateChangeRequest,
    responses((status = 201, description = "The change", body = ChangeView), Refusals),
    security(("session" = []))
)]
async fn request(State(api): State<Arc<Api>>, posted: SignedPosted<RequestedChange>) -> Answered {
    let RequestedChange { new, has_delay } = &posted.body;
    if *has_delay && posted.caller.asked.mode == Some(Mode::Live) {
        return Err(unknown("delay_seconds").into());
    }
    posted.caller.require(new.asked.kind().needs())?;
    if let Some(kept) = posted.kept(&api).await? {
        return Ok(kept);
    }
    // Asked here, because a unit of work must not wait for DNS.
    if let ChangeValue::WebhookUrl(Some(url)) = &new.asked {
        api.sender.check(url).await.map_err(url_forbidden)?;
    }
    let request = posted.create(&api, |tx, context| {
        async move { text(&changes::request(tx, context, new).await?) }.scope_boxed()
    });
    request.await
}

params! {
    pub struct ChangeFilter {
        /// Only those that stand there.
        #[param(inline)]
        status: Option<words::ChangeStatus> = word_param,
        /// Only changes of this.
        #[param(inline)]
        kind: Option<words::ChangeKind> = word_param,
    }
}

/// List changes, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/changes", tag = "Dashboard", operation_id = "listChanges",
    params(ModeHeaders, PageParams, ChangeFilter),
    responses((status = 200, description = "A page of changes", body = List<ChangeView>), Refusals),
    security(("session" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: SignedGot<Listing<ChangeFilter>>) -> Answered {
    let (pager, filter) = (got.pager(&api, "changes")?, got.filter());
    let filter = (
        filter.status.map(|status| status.0),
        filter.kind.map(|kind| kind.0),
    );
    let found = changes::list(&api.engine, &got.scope()?, filter, &pager.page).await?;
    pager.shown(found).await
}

/// Retrieve a change
#[utoipa::path(
    get, path = "/v1/dashboard/changes/{id}", tag = "Dashboard", operation_id = "retrieveChange",
    params(("id" = String, Path, description = "Change id"), ModeHeaders),
    responses((status = 200, description = "The change", body = ChangeView), Refusals),
    security(("session" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, Id(id): Id, got: SignedGot) -> Answered {
    shown(&changes::retrieve(&api.engine, &got.scope()?, &id).await?)
}

/// Stop a change that waits
#[utoipa::path(
    post, path = "/v1/dashboard/changes/{id}/cancel", tag = "Dashboard", operation_id = "cancelChange",
    params(("id" = String, Path, description = "Change id"), ModeHeaders, IdempotencyKey),
    responses((status = 200, description = "The change", body = ChangeView), Refusals),
    security(("session" = []))
)]
async fn cancel(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let cancel = posted.perform(&api, |tx, context| {
        async move { text(&changes::cancel(tx, context, id).await?) }.scope_boxed()
    });
    cancel.await
}

/// Retrieve the configuration of a checkout page on the merchant's own host
///
/// It pins the destinations in effect: the page shows no address that does not follow from them.
#[utoipa::path(
    get, path = "/v1/dashboard/checkout_config", tag = "Dashboard", operation_id = "retrieveCheckoutConfig",
    params(ModeHeaders),
    responses((status = 200, description = "The page's config.json", body = serde_json::Value), Refusals),
    security(("session" = []))
)]
async fn checkout_config(State(api): State<Arc<Api>>, got: SignedGot) -> Answered {
    shown(&destinations::checkout_config(&api.engine, &got.scope()?).await?)
}

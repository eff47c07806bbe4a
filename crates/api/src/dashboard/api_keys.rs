//! API keys, as members see, make and end them.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_engine::team::api_keys;
use till_engine::view::ApiKeyView;
use till_http::read;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::body;
use crate::handler::words::{KeyKind, word};
use crate::handler::{
    Answered, Api, Id, IdempotencyKey, List, Listing, ModeHeaders, PageParams, Refusals, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(roll))
        .routes(routes!(revoke))
        .routes(routes!(take_over))
}

/// List the API keys of a mode, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/api_keys", tag = "Dashboard", operation_id = "listApiKeys",
    params(ModeHeaders, PageParams),
    responses((status = 200, description = "A page of keys", body = List<ApiKeyView>), Refusals),
    security(("session" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let (pager, scope) = (got.pager(&api, "api_keys")?, got.scope()?);
    let found = api_keys::list(&api.engine, &scope, &pager.page);
    pager.shown(found.await?).await
}

body! {
    pub struct CreateApiKeyRequest {
        kind: KeyKind = word,
        /// What it is for.
        #[schema(min_length = 1, max_length = 100)]
        name: String = read::shown_text(1..=100),
    }
}

/// Create an API key
///
/// A secret key is shown whole only here. It may do what the role of whoever made it allows.
#[utoipa::path(
    post, path = "/v1/dashboard/api_keys", tag = "Dashboard", operation_id = "createApiKey",
    params(ModeHeaders, IdempotencyKey), request_body = CreateApiKeyRequest,
    responses((status = 201, description = "The key", body = ApiKeyView), Refusals),
    security(("session" = []))
)]
async fn create(
    State(api): State<Arc<Api>>,
    posted: SignedPosted<CreateApiKeyRequest>,
) -> Answered {
    let asked = &posted.body;
    let create = posted.create(&api, |tx, context| {
        async move { text(&api_keys::create(tx, context, asked.kind.0, &asked.name).await?) }
            .scope_boxed()
    });
    create.await
}

/// Replace an API key
///
/// This one key stops at once; all others go on.
#[utoipa::path(
    post, path = "/v1/dashboard/api_keys/{id}/roll", tag = "Dashboard", operation_id = "rollApiKey",
    params(("id" = String, Path, description = "API key id"), ModeHeaders, IdempotencyKey),
    responses((status = 200, description = "The new key", body = ApiKeyView), Refusals),
    security(("session" = []))
)]
async fn roll(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let roll = posted.perform(&api, |tx, context| {
        async move { text(&api_keys::roll(tx, context, id).await?) }.scope_boxed()
    });
    roll.await
}

/// End an API key
#[utoipa::path(
    post, path = "/v1/dashboard/api_keys/{id}/revoke", tag = "Dashboard", operation_id = "revokeApiKey",
    params(("id" = String, Path, description = "API key id"), ModeHeaders, IdempotencyKey),
    responses((status = 200, description = "The key that ended", body = ApiKeyView), Refusals),
    security(("session" = []))
)]
async fn revoke(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let revoke = posted.perform(&api, |tx, context| {
        async move { text(&api_keys::revoke(tx, context, id).await?) }.scope_boxed()
    });
    revoke.await
}

/// Answer for an API key
///
/// From then on it may do what the caller's role allows.
#[utoipa::path(
    post, path = "/v1/dashboard/api_keys/{id}/take_over", tag = "Dashboard", operation_id = "takeOverApiKey",
    params(("id" = String, Path, description = "API key id"), ModeHeaders, IdempotencyKey),
    responses((status = 200, description = "The key", body = ApiKeyView), Refusals),
    security(("session" = []))
)]
async fn take_over(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let take_over = posted.perform(&api, |tx, context| {
        async move { text(&api_keys::take_over(tx, context, id).await?) }.scope_boxed()
    });
    take_over.await
}

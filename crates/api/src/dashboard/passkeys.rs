//! The user's own passkeys.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::error::Code;
use till_engine::team::passkeys;
use till_engine::view::{CeremonyView, PasskeyView};
use till_http::read;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::credential::{CredentialJson, credential};
use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::body;
use crate::handler::{
    Answered, Api, Id, IdempotencyKey, List, Listing, PageParams, Refusals, text,
};

const NAME_CHARS_MAX: usize = 100;

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list, register))
        .routes(routes!(begin))
        .routes(routes!(rename))
        .routes(routes!(remove))
}

/// List the user's passkeys, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/passkeys", tag = "Dashboard", operation_id = "listPasskeys",
    params(PageParams),
    responses((status = 200, description = "A page of passkeys", body = List<PasskeyView>), Refusals),
    security(("session" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let pager = got.pager(&api, "passkeys")?;
    let found = passkeys::list(&api.engine, &got.caller.signed, &pager.page);
    pager.shown(found.await?).await
}

/// Begin to register a passkey
#[utoipa::path(
    post, path = "/v1/dashboard/passkeys/begin", tag = "Dashboard", operation_id = "beginPasskey",
    params(IdempotencyKey),
    responses((status = 200, description = "What the browser is asked", body = CeremonyView), Refusals),
    security(("session" = []))
)]
async fn begin(State(api): State<Arc<Api>>, posted: SignedPosted) -> Answered {
    let begin = posted.perform(&api, |tx, context| {
        async move { text(&passkeys::begin(tx, context).await?) }.scope_boxed()
    });
    begin.await
}

body! {
    /// A passkey that the browser made, and what its user calls it.
    pub struct RegisterPasskey {
        ceremony: String = read::text,
        #[schema(value_type = Object)]
        credential: CredentialJson = credential,
        #[schema(min_length = 1, max_length = 100)]
        name: String = read::shown_text(1..=NAME_CHARS_MAX),
    }
}

/// Register a passkey
#[utoipa::path(
    post, path = "/v1/dashboard/passkeys", tag = "Dashboard", operation_id = "registerPasskey",
    params(IdempotencyKey), request_body = RegisterPasskey,
    responses((status = 201, description = "The passkey", body = PasskeyView), Refusals),
    security(("session" = []))
)]
async fn register(State(api): State<Arc<Api>>, posted: SignedPosted<RegisterPasskey>) -> Answered {
    let asked = &posted.body;
    let registered = posted.create(&api, |tx, context| {
        async move {
            let (ceremony, credential) = (&asked.ceremony, &asked.credential.0);
            text(&passkeys::register(tx, context, ceremony, credential, &asked.name).await?)
        }
        .scope_boxed()
    });
    let registered = registered.await;
    if let Err(failure) = &registered
        && failure.is(Code::PasskeyFailed)
    {
        let by = &posted.caller.asked;
        passkeys::registration_failed(&api.engine, by, &asked.ceremony).await?;
    }
    registered
}

body! {
    /// What a passkey is called.
    pub struct RenamePasskey {
        #[schema(min_length = 1, max_length = 100)]
        name: String = read::shown_text(1..=NAME_CHARS_MAX),
    }
}

/// Rename a passkey
#[utoipa::path(
    post, path = "/v1/dashboard/passkeys/{id}", tag = "Dashboard", operation_id = "renamePasskey",
    params(("id" = String, Path, description = "Passkey id"), IdempotencyKey), request_body = RenamePasskey,
    responses((status = 200, description = "The passkey", body = PasskeyView), Refusals),
    security(("session" = []))
)]
async fn rename(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: SignedPosted<RenamePasskey>,
) -> Answered {
    let (id, name) = (&*id, &*posted.body.name);
    let rename = posted.perform(&api, |tx, context| {
        async move { text(&passkeys::rename(tx, context, id, name).await?) }.scope_boxed()
    });
    rename.await
}

/// Remove a passkey
#[utoipa::path(
    post, path = "/v1/dashboard/passkeys/{id}/remove", tag = "Dashboard", operation_id = "removePasskey",
    params(("id" = String, Path, description = "Passkey id"), IdempotencyKey),
    responses((status = 200, description = "The passkey that is gone", body = PasskeyView), Refusals),
    security(("session" = []))
)]
async fn remove(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let remove = posted.perform(&api, |tx, context| {
        async move { text(&passkeys::remove(tx, context, id).await?) }.scope_boxed()
    });
    remove.await
}

//! Who is signed in, and where.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use serde::Serialize;
use till_engine::team::sessions;
use till_engine::view::SessionView;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::{
    Answered, Api, Id, IdempotencyKey, List, Listing, PageParams, Refusals, cookies, shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(retrieve))
        .routes(routes!(list))
        .routes(routes!(sign_out))
        .routes(routes!(revoke_others))
        .routes(routes!(revoke))
}

/// Retrieve the session that asks
#[utoipa::path(
    get, path = "/v1/dashboard/session", tag = "Dashboard", operation_id = "retrieveSession",
    responses((status = 200, description = "The session", body = SessionView), Refusals),
    security(("session" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: SignedGot) -> Answered {
    shown(&sessions::view(&api.engine, &got.caller.signed, true)?)
}

/// List the user's own sessions, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/sessions", tag = "Dashboard", operation_id = "listSessions",
    params(PageParams),
    responses((status = 200, description = "A page of sessions", body = List<SessionView>), Refusals),
    security(("session" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let pager = got.pager(&api, "sessions")?;
    let found = sessions::list(&api.engine, &got.caller.signed, &pager.page);
    pager.shown(found.await?).await
}

/// What signing out answers.
#[derive(Serialize, ToSchema)]
pub struct SignedOut {
    #[schema(example = "signed_out", pattern = "^signed_out$")]
    object: &'static str,
}

/// Sign out
#[utoipa::path(
    post, path = "/v1/dashboard/sign_out", tag = "Dashboard", operation_id = "signOut",
    params(IdempotencyKey),
    responses((status = 200, description = "Signed out", body = SignedOut), Refusals),
    security(("session" = []))
)]
async fn sign_out(State(api): State<Arc<Api>>, posted: SignedPosted) -> Answered {
    let session = &*posted.caller.signed.session.id;
    let signed_out = posted.perform(&api, |tx, context| {
        async move {
            sessions::end(tx, context, session).await?;
            text(&SignedOut {
                object: "signed_out",
            })
        }
        .scope_boxed()
    });
    let response = signed_out.await?;
    Ok(cookies::without_session(
        &api.engine.config.dashboard,
        response,
    ))
}

/// End one of the user's sessions
#[utoipa::path(
    post, path = "/v1/dashboard/sessions/{id}/revoke", tag = "Dashboard", operation_id = "revokeSession",
    params(("id" = String, Path, description = "Session id"), IdempotencyKey),
    responses((status = 200, description = "The session that ended", body = SessionView), Refusals),
    security(("session" = []))
)]
async fn revoke(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let revoke = posted.perform(&api, |tx, context| {
        async move { text(&sessions::revoke(tx, context, id).await?) }.scope_boxed()
    });
    revoke.await
}

/// How many sessions were ended.
#[derive(Serialize, ToSchema)]
pub struct Revoked {
    #[schema(example = "revoked", pattern = "^revoked$")]
    object: &'static str,
    count: u64,
}

/// End all of the user's sessions but this one
#[utoipa::path(
    post, path = "/v1/dashboard/sessions/revoke_others", tag = "Dashboard", operation_id = "revokeOtherSessions",
    params(IdempotencyKey),
    responses((status = 200, description = "How many ended", body = Revoked), Refusals),
    security(("session" = []))
)]
async fn revoke_others(State(api): State<Arc<Api>>, posted: SignedPosted) -> Answered {
    let revoke = posted.perform(&api, |tx, context| {
        async move {
            let count = sessions::revoke_others(tx, context).await?;
            let object = "revoked";
            text(&Revoked { object, count })
        }
        .scope_boxed()
    });
    revoke.await
}

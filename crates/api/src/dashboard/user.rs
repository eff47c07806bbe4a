//! The signed-in user: name and language, sign-ins, notices.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_engine::team::{audit_log, notices, users};
use till_engine::view::{AuditEventView, MemberNoticeView, UserView};
use till_http::fields::Patch;
use till_http::json::Json;
use till_http::read::{self, Read, invalid};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::{body, change};
use crate::handler::{
    Answered, Api, Id, IdempotencyKey, List, Listing, PageParams, Refusals, shown, text,
};

const NAME_CHARS_MAX: usize = 100;

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(retrieve, update))
        .routes(routes!(list_sign_ins))
        .routes(routes!(list_notices))
        .routes(routes!(read_notice))
}

/// Retrieve the signed-in user
#[utoipa::path(
    get, path = "/v1/dashboard/user", tag = "Dashboard", operation_id = "retrieveUser",
    responses((status = 200, description = "The user", body = UserView), Refusals),
    security(("session" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: SignedGot) -> Answered {
    let signed = &got.caller.signed;
    shown(&users::view(&api.engine, &signed.user, signed.passkeys)?)
}

fn locale(at: &str, value: Json) -> Read<String> {
    let text = read::text(at, value)?;
    match till_engine::mail::Locale::parse(&text) {
        Some(_) => Ok(text),
        None => Err(invalid(
            at,
            format!("`{at}` must be the tag of a language, like `en` or `pt-BR`."),
        )),
    }
}

body! {
    /// What to change of the user.
    pub struct UpdateUser {
        #[schema(value_type = Option<String>, max_length = 100)]
        name: Patch<String> = read::shown_text(0..=NAME_CHARS_MAX),
        /// The language of mails.
        #[schema(value_type = Option<String>)]
        locale: Patch<String> = locale,
    }
}

/// Change the signed-in user's name or language
#[utoipa::path(
    post, path = "/v1/dashboard/user", tag = "Dashboard", operation_id = "updateUser",
    params(IdempotencyKey), request_body = UpdateUser,
    responses((status = 200, description = "The user", body = UserView), Refusals),
    security(("session" = []))
)]
async fn update(State(api): State<Arc<Api>>, posted: SignedPosted<UpdateUser>) -> Answered {
    let name = &change(posted.body.name.clone());
    let locale = &change(posted.body.locale.clone());
    let update = posted.perform(&api, |tx, context| {
        async move { text(&users::update(tx, context, name, locale).await?) }.scope_boxed()
    });
    update.await
}

/// List the user's own sign-ins, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/sign_ins", tag = "Dashboard", operation_id = "listSignIns",
    params(PageParams),
    responses((status = 200, description = "A page of events", body = List<AuditEventView>), Refusals),
    security(("session" = []))
)]
async fn list_sign_ins(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let pager = got.pager(&api, "sign_ins")?;
    let user = &got.caller.signed.user.id;
    let found = audit_log::sign_ins(&api.engine, user, &pager.page);
    pager.shown(found.await?).await
}

/// List what the user was told, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/notices", tag = "Dashboard", operation_id = "listNotices",
    params(PageParams),
    responses((status = 200, description = "A page of notices", body = List<MemberNoticeView>), Refusals),
    security(("session" = []))
)]
async fn list_notices(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let pager = got.pager(&api, "notices")?;
    let user = &got.caller.signed.user.id;
    let found = notices::list(&api.engine, user, &pager.page);
    pager.shown(found.await?).await
}

/// Mark a notice as read
#[utoipa::path(
    post, path = "/v1/dashboard/notices/{id}/read", tag = "Dashboard", operation_id = "readNotice",
    params(("id" = String, Path, description = "Notice id"), IdempotencyKey),
    responses((status = 200, description = "The notice", body = MemberNoticeView), Refusals),
    security(("session" = []))
)]
async fn read_notice(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let read = posted.perform(&api, |tx, context| {
        async move { text(&notices::read(tx, context, id).await?) }.scope_boxed()
    });
    read.await
}

//! The members of an organisation.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_engine::team::members;
use till_engine::view::MemberView;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::body;
use crate::handler::words::{MemberRole, word};
use crate::handler::{
    Answered, Api, Id, IdempotencyKey, List, Listing, PageParams, Refusals, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(leave))
        .routes(routes!(set_role))
        .routes(routes!(remove))
}

/// List the members, the newest user first
#[utoipa::path(
    get, path = "/v1/dashboard/members", tag = "Dashboard", operation_id = "listMembers",
    params(PageParams),
    responses((status = 200, description = "A page of members", body = List<MemberView>), Refusals),
    security(("session" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let pager = got.pager(&api, "members")?;
    let found = members::list(&api.engine, got.caller.account()?, &pager.page);
    pager.shown(found.await?).await
}

body! {
    pub struct ChangeRole {
        role: MemberRole = word,
    }
}

/// Give a member another role
#[utoipa::path(
    post, path = "/v1/dashboard/members/{id}", tag = "Dashboard", operation_id = "changeMemberRole",
    params(("id" = String, Path, description = "User id"), IdempotencyKey), request_body = ChangeRole,
    responses((status = 200, description = "The member", body = MemberView), Refusals),
    security(("session" = []))
)]
async fn set_role(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: SignedPosted<ChangeRole>,
) -> Answered {
    let (id, role) = (&*id, posted.body.role.0);
    let change = posted.perform(&api, |tx, context| {
        async move { text(&members::set_role(tx, context, id, role).await?) }.scope_boxed()
    });
    change.await
}

/// Remove a member
///
/// Access ends at once. Secret keys that the member made stop working with it, unless somebody takes them over first.
#[utoipa::path(
    post, path = "/v1/dashboard/members/{id}/remove", tag = "Dashboard", operation_id = "removeMember",
    params(("id" = String, Path, description = "User id"), IdempotencyKey),
    responses((status = 200, description = "Who was removed", body = MemberView), Refusals),
    security(("session" = []))
)]
async fn remove(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let remove = posted.perform(&api, |tx, context| {
        async move { text(&members::remove(tx, context, id).await?) }.scope_boxed()
    });
    remove.await
}

/// Leave the organization
#[utoipa::path(
    post, path = "/v1/dashboard/members/leave", tag = "Dashboard", operation_id = "leaveOrganization",
    params(IdempotencyKey),
    responses((status = 200, description = "Who left", body = MemberView), Refusals),
    security(("session" = []))
)]
async fn leave(State(api): State<Arc<Api>>, posted: SignedPosted) -> Answered {
    let leave = posted.perform(&api, |tx, context| {
        async move { text(&members::leave(tx, context).await?) }.scope_boxed()
    });
    leave.await
}

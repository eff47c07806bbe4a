//! Inviting people into an organisation.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_engine::team::inviting;
use till_engine::view::InviteView;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::body;
use crate::handler::words::{EmailAddress, MemberRole, word};
use crate::handler::{
    Answered, Api, Id, IdempotencyKey, List, Listing, PageParams, Refusals, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(withdraw))
}

/// List the invitations, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/invites", tag = "Dashboard", operation_id = "listInvites",
    params(PageParams),
    responses((status = 200, description = "A page of invitations", body = List<InviteView>), Refusals),
    security(("session" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let pager = got.pager(&api, "invites")?;
    let found = inviting::list(&api.engine, got.caller.account()?, &pager.page);
    pager.shown(found.await?).await
}

body! {
    pub struct CreateInvite {
        #[schema(value_type = String, format = "email")]
        email: EmailAddress = EmailAddress::read,
        role: MemberRole = word,
    }
}

/// Invite somebody
///
/// The link is mailed, or is in the answer where the server sends no mail.
#[utoipa::path(
    post, path = "/v1/dashboard/invites", tag = "Dashboard", operation_id = "createInvite",
    params(IdempotencyKey), request_body = CreateInvite,
    responses((status = 201, description = "The invitation", body = InviteView), Refusals),
    security(("session" = []))
)]
async fn create(State(api): State<Arc<Api>>, posted: SignedPosted<CreateInvite>) -> Answered {
    let (email, role) = (&posted.body.email.0, posted.body.role.0);
    let invite = posted.create(&api, |tx, context| {
        async move { text(&inviting::invite(tx, context, email, role).await?) }.scope_boxed()
    });
    invite.await
}

/// Withdraw an invitation
#[utoipa::path(
    post, path = "/v1/dashboard/invites/{id}/withdraw", tag = "Dashboard", operation_id = "withdrawInvite",
    params(("id" = String, Path, description = "Invitation id"), IdempotencyKey),
    responses((status = 200, description = "The invitation", body = InviteView), Refusals),
    security(("session" = []))
)]
async fn withdraw(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let withdraw = posted.perform(&api, |tx, context| {
        async move { text(&inviting::withdraw(tx, context, id).await?) }.scope_boxed()
    });
    withdraw.await
}

//! Organisations: a new one, and the one that a request is about.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::error::{Code, Refusal};
use till_engine::team::{founding, organizations};
use till_engine::view::{NewOrganizationView, OrganizationView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::body;
use crate::handler::words::organization;
use crate::handler::{Answered, Api, IdempotencyKey, Refusals, shown, text};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(create))
        .routes(routes!(retrieve, rename))
}

body! {
    /// What the organisation is called.
    pub struct CreateOrganization {
        #[schema(min_length = 1, max_length = 100)]
        name: String = organization,
    }
}

/// Create an organization
///
/// With test mode set up; its keys are shown once. For anybody where anybody may sign up, and for operators.
#[utoipa::path(
    post, path = "/v1/dashboard/organizations", tag = "Dashboard", operation_id = "createOrganization",
    params(IdempotencyKey), request_body = CreateOrganization,
    responses((status = 201, description = "The organization and its keys", body = NewOrganizationView), Refusals),
    security(("session" = []))
)]
async fn create(State(api): State<Arc<Api>>, posted: SignedPosted<CreateOrganization>) -> Answered {
    let name = &*posted.body.name;
    let create = posted.create(&api, |tx, context| {
        async move { text(&founding::found(tx, context, name).await?) }.scope_boxed()
    });
    create.await
}

/// Retrieve the organization
#[utoipa::path(
    get, path = "/v1/dashboard/organization", tag = "Dashboard", operation_id = "retrieveOrganization",
    responses((status = 200, description = "The organization", body = OrganizationView), Refusals),
    security(("session" = []))
)]
async fn retrieve(got: SignedGot) -> Answered {
    let membership = got.caller.membership();
    let membership = membership.ok_or_else(|| Refusal::of(Code::ResourceMissing))?;
    shown(&organizations::view(membership))
}

body! {
    /// What the organization is called from now on.
    pub struct RenameOrganization {
        #[schema(min_length = 1, max_length = 100)]
        name: String = organization,
    }
}

/// Rename the organization
#[utoipa::path(
    post, path = "/v1/dashboard/organization", tag = "Dashboard", operation_id = "renameOrganization",
    params(IdempotencyKey), request_body = RenameOrganization,
    responses((status = 200, description = "The organization", body = OrganizationView), Refusals),
    security(("session" = []))
)]
async fn rename(State(api): State<Arc<Api>>, posted: SignedPosted<RenameOrganization>) -> Answered {
    let name = &*posted.body.name;
    let rename = posted.perform(&api, |tx, context| {
        async move { text(&organizations::rename(tx, context, name).await?) }.scope_boxed()
    });
    rename.await
}

//! What operators see and decide: applications and organisations.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_engine::team::applications::{self, Decision};
use till_engine::team::operator::{self, OrganizationFilter};
use till_engine::view::{
    ApplicationView, InvitedOrganizationView, OperatedOrganizationView, ReviewedApplicationView,
};
use till_http::{query, read};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::{body, params};
use crate::handler::words::{ApplicationStatus, EmailAddress, organization, word_param};
use crate::handler::{
    Answered, Api, Id, IdempotencyKey, List, Listing, PageParams, Refusals, shown, text,
};

const REASON_CHARS_MAX: usize = 500;

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list_applications))
        .routes(routes!(retrieve_application))
        .routes(routes!(approve))
        .routes(routes!(reject))
        .routes(routes!(list_organizations, create_organization))
        .routes(routes!(disable))
        .routes(routes!(enable))
}

params! {
    pub struct ApplicationParams {
        /// Only those that stand there.
        #[param(inline)]
        status: Option<ApplicationStatus> = word_param,
    }
}

/// List all applications for live mode, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/operator/applications", tag = "Dashboard", operation_id = "listApplications",
    params(PageParams, ApplicationParams),
    responses((status = 200, description = "A page of applications", body = List<ReviewedApplicationView>), Refusals),
    security(("session" = []))
)]
async fn list_applications(
    State(api): State<Arc<Api>>,
    got: SignedGot<Listing<ApplicationParams>>,
) -> Answered {
    let pager = got.pager(&api, "applications")?;
    let status = got.filter().status.map(|status| status.0);
    let found = applications::list(&api.engine, status, &pager.page);
    pager.shown(found.await?).await
}

/// Retrieve an application
#[utoipa::path(
    get, path = "/v1/dashboard/operator/applications/{id}", tag = "Dashboard", operation_id = "retrieveReviewedApplication",
    params(("id" = String, Path, description = "Application id")),
    responses((status = 200, description = "The application", body = ReviewedApplicationView), Refusals),
    security(("session" = []))
)]
async fn retrieve_application(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    _got: SignedGot,
) -> Answered {
    shown(&applications::retrieve_any(&api.engine, &id).await?)
}

body! {
    pub struct ApproveApplication {
        /// What the organization is told with the approval.
        #[schema(min_length = 1, max_length = 500)]
        note: Option<String> = read::shown_text(1..=REASON_CHARS_MAX),
        /// The `submitted_at` of the application that you read: one that was handed in again since is not decided on.
        submitted_at: Option<String> = read::text,
    }
}

/// Approve an application
#[utoipa::path(
    post, path = "/v1/dashboard/operator/applications/{id}/approve", tag = "Dashboard", operation_id = "approveApplication",
    params(("id" = String, Path, description = "Application id"), IdempotencyKey), request_body = ApproveApplication,
    responses((status = 200, description = "The application", body = ApplicationView), Refusals),
    security(("session" = []))
)]
async fn approve(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: SignedPosted<ApproveApplication>,
) -> Answered {
    let id = &*id;
    let decision = Decision {
        is_approved: true,
        reason: posted.body.note.as_deref(),
        read: posted.body.submitted_at.as_deref(),
    };
    let approve = posted.perform(&api, |tx, context| {
        async move { text(&applications::decide(tx, context, id, decision).await?) }.scope_boxed()
    });
    approve.await
}

body! {
    pub struct RejectApplication {
        /// What the organization is told.
        #[schema(min_length = 1, max_length = 500)]
        reason: String = read::shown_text(1..=REASON_CHARS_MAX),
        /// The `submitted_at` of the application that you read: one that was handed in again since is not decided on.
        submitted_at: Option<String> = read::text,
    }
}

/// Reject an application
#[utoipa::path(
    post, path = "/v1/dashboard/operator/applications/{id}/reject", tag = "Dashboard", operation_id = "rejectApplication",
    params(("id" = String, Path, description = "Application id"), IdempotencyKey), request_body = RejectApplication,
    responses((status = 200, description = "The application", body = ApplicationView), Refusals),
    security(("session" = []))
)]
async fn reject(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: SignedPosted<RejectApplication>,
) -> Answered {
    let id = &*id;
    let decision = Decision {
        is_approved: false,
        reason: Some(&posted.body.reason),
        read: posted.body.submitted_at.as_deref(),
    };
    let reject = posted.perform(&api, |tx, context| {
        async move { text(&applications::decide(tx, context, id, decision).await?) }.scope_boxed()
    });
    reject.await
}

params! {
    pub struct OrganizationParams {
        /// A part of the name, in any case of letters.
        name: Option<String> = query::text,
        /// Only those that are disabled, or not.
        disabled: Option<bool> = query::boolean,
    }
}

/// List all organizations, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/operator/organizations", tag = "Dashboard", operation_id = "listOrganizations",
    params(PageParams, OrganizationParams),
    responses((status = 200, description = "A page of organizations", body = List<OperatedOrganizationView>), Refusals),
    security(("session" = []))
)]
async fn list_organizations(
    State(api): State<Arc<Api>>,
    got: SignedGot<Listing<OrganizationParams>>,
) -> Answered {
    let pager = got.pager(&api, "organizations")?;
    let OrganizationParams { name, disabled } = got.filter().clone();
    let filter = OrganizationFilter { name, disabled };
    let found = operator::list(&api.engine, &filter, &pager.page);
    pager.shown(found.await?).await
}

body! {
    pub struct CreateOperatedOrganization {
        #[schema(min_length = 1, max_length = 100)]
        name: String = organization,
        #[schema(value_type = String, format = "email")]
        owner_email: EmailAddress = EmailAddress::read,
    }
}

/// Make an organization and invite its owner
#[utoipa::path(
    post, path = "/v1/dashboard/operator/organizations", tag = "Dashboard", operation_id = "createOperatedOrganization",
    params(IdempotencyKey), request_body = CreateOperatedOrganization,
    responses((status = 201, description = "The organization and the invitation", body = InvitedOrganizationView), Refusals),
    security(("session" = []))
)]
async fn create_organization(
    State(api): State<Arc<Api>>,
    posted: SignedPosted<CreateOperatedOrganization>,
) -> Answered {
    let (name, owner) = (&*posted.body.name, &posted.body.owner_email.0);
    let create = posted.create(&api, |tx, context| {
        async move { text(&operator::create(tx, context, name, owner).await?) }.scope_boxed()
    });
    create.await
}

body! {
    pub struct GiveReason {
        /// What the organization is told.
        #[schema(min_length = 1, max_length = 500)]
        reason: String = read::shown_text(1..=REASON_CHARS_MAX),
    }
}

/// Disable an organization
///
/// Its members and keys are refused. Observing and crediting go on.
#[utoipa::path(
    post, path = "/v1/dashboard/operator/organizations/{id}/disable", tag = "Dashboard", operation_id = "disableOrganization",
    params(("id" = String, Path, description = "Account id"), IdempotencyKey), request_body = GiveReason,
    responses((status = 200, description = "The organization", body = OperatedOrganizationView), Refusals),
    security(("session" = []))
)]
async fn disable(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: SignedPosted<GiveReason>,
) -> Answered {
    let (id, reason) = (&*id, Some(&*posted.body.reason));
    let disable = posted.perform(&api, |tx, context| {
        async move { text(&operator::set_disabled(tx, context, id, reason).await?) }.scope_boxed()
    });
    disable.await
}

/// Enable an organization again
#[utoipa::path(
    post, path = "/v1/dashboard/operator/organizations/{id}/enable", tag = "Dashboard", operation_id = "enableOrganization",
    params(("id" = String, Path, description = "Account id"), IdempotencyKey),
    responses((status = 200, description = "The organization", body = OperatedOrganizationView), Refusals),
    security(("session" = []))
)]
async fn enable(State(api): State<Arc<Api>>, Id(id): Id, posted: SignedPosted) -> Answered {
    let id = &*id;
    let enable = posted.perform(&api, |tx, context| {
        async move { text(&operator::set_disabled(tx, context, id, None).await?) }.scope_boxed()
    });
    enable.await
}

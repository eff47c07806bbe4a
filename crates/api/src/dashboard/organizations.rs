//! New organisations.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_engine::team::founding;
use till_engine::view::NewOrganizationView;
use till_http::read;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::SignedPosted;
use crate::handler::request::body;
use crate::handler::{Answered, Api, IdempotencyKey, Refusals, text};

const NAME_CHARS_MAX: usize = 100;

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new().routes(routes!(create))
}

body! {
    /// What the organisation is called.
    pub struct CreateOrganization {
        #[schema(min_length = 1, max_length = 100)]
        name: String = read::shown_text(1..=NAME_CHARS_MAX),
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

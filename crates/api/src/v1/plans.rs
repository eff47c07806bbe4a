//! Plans.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::limits::{
    ASSETS_MAX, ATTEMPTS_DEFAULT, ATTEMPTS_MAX, ATTEMPTS_MIN, GRACE_DAYS_DEFAULT, GRACE_DAYS_MAX,
    PLAN_INTERVAL_COUNT_DEFAULT, PLAN_NAME_CHARS_MAX, TRIAL_DAYS_DEFAULT, TRIAL_DAYS_MAX,
};
use till_engine::subscriptions::plans::{self, NewPlan};
use till_engine::view::PlanView;
use till_http::json::Json;
use till_http::read::{self, Read, list as list_of};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::{Body, body};
use crate::handler::words::{IntervalUnit, word};
use crate::handler::{
    Answered, Api, Got, Id, IdempotencyKey, List, Listing, PageParams, Posted, Refusals, Secret,
    shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(retrieve))
        .routes(routes!(archive))
}

/// A whole number in these bounds.
pub(super) fn whole(min: u32, max: u32) -> impl Fn(&str, Json) -> Read<i64> {
    read::integer(i64::from(min)..=i64::from(max))
}

body! {
    pub struct CreatePlanRequest {
        #[schema(min_length = 1, max_length = 200)]
        name: String = read::shown_text(1..=PLAN_NAME_CHARS_MAX),
        /// Price per period in major units of the currency.
        #[schema(example = "25.00")]
        amount: String = read::text,
        /// ISO 4217 code.
        #[schema(example = "USD")]
        currency: String = read::text,
        interval: IntervalUnit = word,
        /// At most 365 days, 52 weeks, 12 months or 1 year.
        #[schema(value_type = Option<i32>, minimum = 1, maximum = 365, default = 1)]
        interval_count: Option<i64> = whole(1, 365),
        #[schema(value_type = Option<i32>, minimum = 0, maximum = 365, default = 0)]
        trial_days: Option<i64> = whole(0, TRIAL_DAYS_MAX),
        /// How long a renewal may stay unpaid before the subscription is past due.
        #[schema(value_type = Option<i32>, minimum = 0, maximum = 30, default = 3)]
        grace_days: Option<i64> = whole(0, GRACE_DAYS_MAX),
        /// Invoices per period before the subscription is cancelled.
        #[schema(value_type = Option<i32>, minimum = 1, maximum = 7, default = 4)]
        max_attempts: Option<i64> = whole(ATTEMPTS_MIN, ATTEMPTS_MAX),
        /// Default: the merchant's defaults when each invoice is made.
        #[schema(max_items = 20)]
        assets: Option<Vec<String>> = list_of(ASSETS_MAX, read::text),
        /// IANA name of the time zone in which periods are counted.
        #[schema(default = "UTC")]
        billing_timezone: Option<String> = read::text,
    }
}

impl Body for NewPlan {
    fn read(bytes: Option<&[u8]>) -> Read<NewPlan> {
        let request = CreatePlanRequest::read(bytes)?;
        // The readers hold the bounds; how many units a period may have is the domain's to say.
        let or = |given: Option<i64>, default: u32| {
            given
                .and_then(|given| u32::try_from(given).ok())
                .unwrap_or(default)
        };
        Ok(NewPlan {
            name: request.name,
            amount: request.amount,
            currency: request.currency,
            interval: request.interval.0,
            interval_count: or(request.interval_count, PLAN_INTERVAL_COUNT_DEFAULT),
            trial_days: or(request.trial_days, TRIAL_DAYS_DEFAULT),
            grace_days: or(request.grace_days, GRACE_DAYS_DEFAULT),
            max_attempts: or(request.max_attempts, ATTEMPTS_DEFAULT),
            assets: request.assets,
            billing_timezone: request.billing_timezone,
        })
    }
}

/// Create a plan
#[utoipa::path(
    post, path = "/v1/plans", tag = "Subscriptions", operation_id = "createPlan",
    params(IdempotencyKey), request_body = CreatePlanRequest,
    responses((status = 201, description = "The plan", body = PlanView), Refusals),
    security(("secret_key" = []))
)]
async fn create(State(api): State<Arc<Api>>, posted: Posted<Secret, NewPlan>) -> Answered {
    let plan = &posted.body;
    let create = posted.create(&api, |tx, context| {
        async move { text(&plans::create(tx, context, plan).await?) }.scope_boxed()
    });
    create.await
}

/// Archive a plan
///
/// It takes no new subscriptions; those it has keep renewing.
#[utoipa::path(
    post, path = "/v1/plans/{id}/archive", tag = "Subscriptions", operation_id = "archivePlan",
    params(("id" = String, Path, description = "Plan id"), IdempotencyKey),
    responses((status = 200, description = "The archived plan", body = PlanView), Refusals),
    security(("secret_key" = []))
)]
async fn archive(State(api): State<Arc<Api>>, Id(id): Id, posted: Posted<Secret>) -> Answered {
    let id = id.as_str();
    let archive = posted.perform(&api, |tx, context| {
        async move { text(&plans::archive(tx, context, id).await?) }.scope_boxed()
    });
    archive.await
}

/// Retrieve a plan
#[utoipa::path(
    get, path = "/v1/plans/{id}", tag = "Subscriptions", operation_id = "retrievePlan",
    params(("id" = String, Path, description = "Plan id")),
    responses((status = 200, description = "The plan", body = PlanView), Refusals),
    security(("secret_key" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>, Id(id): Id) -> Answered {
    shown(&plans::retrieve(&api.engine, got.scope(), &id).await?)
}

/// List plans, newest first
#[utoipa::path(
    get, path = "/v1/plans", tag = "Subscriptions", operation_id = "listPlans",
    params(PageParams),
    responses((status = 200, description = "A page of plans", body = List<PlanView>), Refusals),
    security(("secret_key" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: Got<Secret, Listing>) -> Answered {
    let pager = got.pager(&api, "plans").await?;
    let found = plans::list(&pager.reads, got.scope(), &pager.page);
    pager.shown(found.await?).await
}

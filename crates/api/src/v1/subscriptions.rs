//! Subscriptions.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::limits::TRIAL_DAYS_MAX;
use till_core::subscription::When;
use till_engine::subscriptions::{self, NewSubscription};
use till_engine::view::SubscriptionView;
use till_http::query;
use till_http::read::{self, Read};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::plans::whole;
use crate::handler::request::{Body, body, params};
use crate::handler::words::{SubscriptionStatus, word_param};
use crate::handler::{
    Answered, Api, Got, Id, IdempotencyKey, List, Listing, PageParams, Posted, Refusals, Secret,
    shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(retrieve))
        .routes(routes!(cancel))
        .routes(routes!(pause))
        .routes(routes!(resume))
}

body! {
    pub struct CreateSubscriptionRequest {
        customer: String = read::text,
        /// Must be active.
        plan: String = read::text,
        /// In place of the plan's own trial; 0 starts billing now.
        #[schema(value_type = Option<i32>, minimum = 0, maximum = 365)]
        trial_days: Option<i64> = whole(0, TRIAL_DAYS_MAX),
        /// Up to 20 pairs, keys of at most 40 and values of at most 500 characters.
        metadata: Option<BTreeMap<String, String>> = read::metadata,
    }
}

impl Body for NewSubscription {
    fn read(bytes: Option<&[u8]>) -> Read<NewSubscription> {
        let request = CreateSubscriptionRequest::read(bytes)?;
        Ok(NewSubscription {
            customer: request.customer,
            plan: request.plan,
            trial_days: request.trial_days.and_then(|days| u32::try_from(days).ok()),
            metadata: request.metadata.unwrap_or_default(),
        })
    }
}

body! {
    pub struct CancelSubscriptionRequest {
        /// True: the subscription ends with the period that is paid for.
        #[schema(default = false)]
        at_period_end: Option<bool> = read::boolean,
    }
}

/// When it is to end. Of all bodies this one may also be null.
struct Ending(When);

impl Body for Ending {
    fn read(bytes: Option<&[u8]>) -> Read<Ending> {
        let given = bytes.filter(|bytes| bytes.trim_ascii() != b"null");
        let request = CancelSubscriptionRequest::read(given)?;
        Ok(Ending(match request.at_period_end {
            Some(true) => When::PeriodEnd,
            _ => When::Now,
        }))
    }
}

params! {
    pub struct SubscriptionFilter {
        /// Only those that stand there.
        #[param(inline)]
        status: Option<SubscriptionStatus> = word_param,
        /// Customer id.
        customer: Option<String> = query::text,
    }
}

/// Create a subscription
///
/// With a trial it is active at once; without, it is incomplete until its first invoice, made now, is paid.
#[utoipa::path(
    post, path = "/v1/subscriptions", tag = "Subscriptions", operation_id = "createSubscription",
    params(IdempotencyKey), request_body = CreateSubscriptionRequest,
    responses((status = 201, description = "The subscription", body = SubscriptionView), Refusals),
    security(("secret_key" = []))
)]
async fn create(State(api): State<Arc<Api>>, posted: Posted<Secret, NewSubscription>) -> Answered {
    let request = &posted.body;
    let create = posted.create(&api, |tx, context| {
        async move { text(&subscriptions::create(tx, context, request).await?) }.scope_boxed()
    });
    create.await
}

/// Cancel a subscription, now or at the end of the period that is paid for
#[utoipa::path(
    post, path = "/v1/subscriptions/{id}/cancel", tag = "Subscriptions", operation_id = "cancelSubscription",
    params(("id" = String, Path, description = "Subscription id"), IdempotencyKey),
    request_body(content = Option<CancelSubscriptionRequest>),
    responses((status = 200, description = "The subscription", body = SubscriptionView), Refusals),
    security(("secret_key" = []))
)]
async fn cancel(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Secret, Ending>,
) -> Answered {
    let Ending(when) = posted.body;
    let id = id.as_str();
    let cancel = posted.perform(&api, |tx, context| {
        async move { text(&subscriptions::cancel(tx, context, id, when).await?) }.scope_boxed()
    });
    cancel.await
}

/// Pause a subscription
///
/// No invoices and no reminders until it is resumed. An open renewal invoice nothing was paid to is cancelled.
#[utoipa::path(
    post, path = "/v1/subscriptions/{id}/pause", tag = "Subscriptions", operation_id = "pauseSubscription",
    params(("id" = String, Path, description = "Subscription id"), IdempotencyKey),
    responses((status = 200, description = "The subscription", body = SubscriptionView), Refusals),
    security(("secret_key" = []))
)]
async fn pause(State(api): State<Arc<Api>>, Id(id): Id, posted: Posted<Secret>) -> Answered {
    let id = id.as_str();
    let pause = posted.perform(&api, |tx, context| {
        async move { text(&subscriptions::pause(tx, context, id).await?) }.scope_boxed()
    });
    pause.await
}

/// Resume a paused subscription
///
/// Inside the period that is paid for it goes on; after it, billing starts anew now, with a new invoice.
#[utoipa::path(
    post, path = "/v1/subscriptions/{id}/resume", tag = "Subscriptions", operation_id = "resumeSubscription",
    params(("id" = String, Path, description = "Subscription id"), IdempotencyKey),
    responses((status = 200, description = "The subscription", body = SubscriptionView), Refusals),
    security(("secret_key" = []))
)]
async fn resume(State(api): State<Arc<Api>>, Id(id): Id, posted: Posted<Secret>) -> Answered {
    let id = id.as_str();
    let resume = posted.perform(&api, |tx, context| {
        async move { text(&subscriptions::resume(tx, context, id).await?) }.scope_boxed()
    });
    resume.await
}

/// Retrieve a subscription
#[utoipa::path(
    get, path = "/v1/subscriptions/{id}", tag = "Subscriptions", operation_id = "retrieveSubscription",
    params(("id" = String, Path, description = "Subscription id")),
    responses((status = 200, description = "The subscription", body = SubscriptionView), Refusals),
    security(("secret_key" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>, Id(id): Id) -> Answered {
    shown(&subscriptions::retrieve(&api.engine, got.scope(), &id).await?)
}

/// List subscriptions, newest first
#[utoipa::path(
    get, path = "/v1/subscriptions", tag = "Subscriptions", operation_id = "listSubscriptions",
    params(PageParams, SubscriptionFilter),
    responses((status = 200, description = "A page of subscriptions", body = List<SubscriptionView>), Refusals),
    security(("secret_key" = []))
)]
async fn list(
    State(api): State<Arc<Api>>,
    got: Got<Secret, Listing<SubscriptionFilter>>,
) -> Answered {
    let asked = got.filter().clone();
    let status = asked.status.map(|status| status.0);
    let pager = got.pager(&api, "subscriptions").await?;
    let (scope, page) = (got.scope(), &pager.page);
    let found = subscriptions::list(&pager.reads, scope, status, asked.customer, page);
    pager.shown(found.await?).await
}

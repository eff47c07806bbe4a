//! The routes, one file per resource. A handler extracts, loads, calls, commits and converts.

pub(crate) mod checkout;
pub(crate) mod deliveries;
pub(crate) mod health;
pub(crate) mod invoices;
pub(crate) mod links;
pub(crate) mod merchant;
pub(crate) mod pages;
pub(crate) mod payments;
pub(crate) mod stream;
pub(crate) mod test_helpers;

use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use till_core::error::{Code, Refusal};
use till_engine::Answer;
use till_engine::base::Change;
use utoipa::ToSchema;

use crate::state::Api;
use till_http::answer::{self, Failure};
use till_http::fields::{Fields, Patch};

pub(crate) use crate::state::fail;

pub fn router(api: Arc<Api>) -> Router {
    Router::new()
        .route("/v1/invoices", get(invoices::list).post(invoices::create))
        .route("/v1/invoices/{id}", get(invoices::retrieve))
        .route("/v1/invoices/{id}/cancel", post(invoices::cancel))
        .route(
            "/v1/invoices/{id}/resolve_review",
            post(invoices::resolve_review),
        )
        .route("/v1/payments", get(payments::list))
        .route("/v1/webhook_deliveries", get(deliveries::list))
        .route(
            "/v1/webhook_deliveries/{id}/replay",
            post(deliveries::replay),
        )
        .route(
            "/v1/merchant/settings",
            get(merchant::retrieve).post(merchant::update),
        )
        .route(
            "/v1/merchant/webhook_secret/roll",
            post(merchant::roll_secret),
        )
        .route(
            "/v1/test_helpers/invoices/{id}/simulate_payment",
            post(test_helpers::simulate_payment),
        )
        .route(
            "/v1/test_helpers/clock",
            get(test_helpers::clock).post(test_helpers::advance_clock),
        )
        .route(
            "/v1/test_helpers/payments/{id}/reverse",
            post(test_helpers::reverse_payment),
        )
        .route("/v1/payment_links", get(links::list).post(links::create))
        .route(
            "/v1/payment_links/{id}",
            get(links::retrieve).post(links::update),
        )
        .merge(checkout_routes())
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(pages::openapi))
        .route("/docs", get(pages::docs_index))
        .route("/docs/errors", get(pages::docs_errors))
        .route("/docs/errors/{code}", get(pages::docs_error))
        .route("/docs/webhooks", get(pages::docs_webhooks))
        .route("/docs/testing", get(pages::docs_testing))
        .route("/docs/style.css", get(pages::docs_style))
        .fallback(|| async { Failure::from(Refusal::of(Code::RouteNotFound)) })
        .method_not_allowed_fallback(|| async {
            Failure::from(Refusal::of(Code::MethodNotAllowed))
        })
        .with_state(api)
}

/// The routes that payers' browsers call from other origins.
fn checkout_routes() -> Router<Arc<Api>> {
    let preflight = stream::preflight;
    Router::new()
        .route(
            "/v1/checkout/exchanges",
            get(checkout::exchanges).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}",
            get(checkout::invoice).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}/lookup",
            get(checkout::lookup).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}/notify",
            post(checkout::notify).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}/payment_option",
            post(checkout::payment_option).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}/wallet_binding",
            post(checkout::wallet_binding).options(preflight),
        )
        .route(
            "/v1/checkout/links/{slug}",
            get(checkout::link).options(preflight),
        )
        .route(
            "/v1/checkout/links/{slug}/invoices",
            post(checkout::create_link_invoice).options(preflight),
        )
        .route(
            "/v1/invoices/{id}/events",
            get(stream::events).options(preflight),
        )
        .layer(axum::middleware::from_fn(checkout::allow_origins))
}

pub(crate) type Answered = Result<Response, Failure>;

/// One page of a list, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct List<T> {
    #[schema(example = "list", pattern = "^list$")]
    pub object: &'static str,
    pub data: Vec<T>,
    /// Pass it back as `cursor` for the next page; null on the last one.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

pub(crate) fn list<T: Serialize>(data: Vec<T>, next_cursor: Option<String>) -> Response {
    answer::json(
        StatusCode::OK,
        &List {
            object: "list",
            data,
            next_cursor,
        },
    )
}

/// An answer of the engine; one that was given before says so.
pub(crate) fn answered(done: Answer) -> Response {
    let status = StatusCode::from_u16(done.status).unwrap_or(StatusCode::OK);
    let mut response = answer::raw_json(status, done.body).into_response();
    if done.replayed {
        response
            .headers_mut()
            .insert("idempotent-replayed", HeaderValue::from_static("true"));
    }
    response
}

pub(crate) fn change<T>(patch: Patch<T>) -> Change<T> {
    match patch {
        Patch::Absent => Change::Keep,
        Patch::Null => Change::Clear,
        Patch::Value(value) => Change::Set(value),
    }
}

/// Where no body is taken, `{}` is accepted and any field is unknown.
pub(crate) fn no_body(body: Option<&[u8]>) -> Result<(), Failure> {
    Ok(Fields::of(body, &[]).map(drop)?)
}

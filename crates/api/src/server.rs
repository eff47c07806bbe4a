//! The routes, and serving them.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use till_core::error::{Code, Refusal};
use till_core::id::Kind;
use till_engine::merchants::accounts;
use tokio::net::TcpListener;

use crate::checkout::{self, origins};
use crate::document::pages;
use crate::face::state::Api;
use crate::health;
use crate::v1::{invoices, merchant, payment_links, payments, test_helpers, webhook_deliveries};
use till_http::answer::Failure;
use till_http::layers::Edge;
use till_http::server::{self, ServerLimits};

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
        .route("/v1/webhook_deliveries", get(webhook_deliveries::list))
        .route(
            "/v1/webhook_deliveries/{id}/replay",
            post(webhook_deliveries::replay),
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
        .route(
            "/v1/payment_links",
            get(payment_links::list).post(payment_links::create),
        )
        .route(
            "/v1/payment_links/{id}",
            get(payment_links::retrieve).post(payment_links::update),
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
    let preflight = origins::preflight;
    Router::new()
        .route(
            "/v1/checkout/exchanges",
            get(checkout::exchanges::list).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}",
            get(checkout::invoices::retrieve).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}/lookup",
            get(checkout::invoices::lookup).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}/notify",
            post(checkout::invoices::notify).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}/payment_option",
            post(checkout::invoices::payment_option).options(preflight),
        )
        .route(
            "/v1/checkout/invoices/{id}/wallet_binding",
            post(checkout::invoices::wallet_binding).options(preflight),
        )
        .route(
            "/v1/checkout/links/{slug}",
            get(checkout::links::retrieve).options(preflight),
        )
        .route(
            "/v1/checkout/links/{slug}/invoices",
            post(checkout::links::create_invoice).options(preflight),
        )
        .route(
            "/v1/invoices/{id}/events",
            get(checkout::stream::events).options(preflight),
        )
        .layer(axum::middleware::from_fn(origins::allow_origins))
}

/// Serves until `shutdown` resolves, then drains.
pub async fn serve(api: Arc<Api>, listener: TcpListener, shutdown: impl Future<Output = ()>) {
    let ids = api.engine.ids.clone();
    let mut edge = Edge::new(
        api.config.docs_url.clone(),
        Arc::new(move || ids.make(Kind::Request)),
    );
    edge.credential_paths = &["/v1/refund_claims/"];
    edge.exposed = Some(exposed(&api));
    server::serve(
        listener,
        edge,
        router(api),
        ServerLimits::default(),
        shutdown,
    )
    .await;
}

/// A secret key was in a URL: noted beside the key, so that its owner can be told.
fn exposed(api: &Arc<Api>) -> Arc<dyn Fn(String) + Send + Sync> {
    let engine = Arc::clone(&api.engine);
    Arc::new(move |key| {
        let engine = Arc::clone(&engine);
        tokio::spawn(async move {
            if let Err(fail) = accounts::note_exposed(&engine, &key).await {
                tracing::warn!(?fail, "an exposed key could not be noted");
            }
        });
    })
}

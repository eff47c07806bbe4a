//! Serving: the endpoints, the pages beside them, and what lies around both.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_engine::Engine;
use till_engine::team::exposed::Exposures;
use till_http::admission::AdmissionLimits;
use till_http::credentials::KeyShape;
use till_http::layers::Edge;
use till_http::server::{self, ServerLimits};
use till_http::tls::Certificates;
use tokio::net::TcpListener;

use crate::checkout;
use crate::dashboard;
use crate::document::openapi::endpoints;
use crate::document::pages;
use crate::handler::{Api, Failure, min_seq};
use crate::health::{self, Operator};

/// A few probes and scrapers.
pub const OPERATOR_CONNECTIONS: usize = 32;
/// A year of daily renewals is tens of thousands of invoices, and the clock answers when all of it has happened.
const CLOCK_TIME_LIMIT: Duration = Duration::from_secs(15 * 60);
const OPERATOR_DRAIN_TIME: Duration = Duration::from_secs(1);

fn router(api: Arc<Api>) -> Router {
    let (endpoints, _) = endpoints().split_for_parts();
    let routes = endpoints
        .merge(pages::routes())
        .merge(checkout::page_routes(api.engine.config.demo));
    let has_dashboard = api.engine.config.dashboard.is_enabled;
    let routes = match has_dashboard {
        true => routes.merge(dashboard::page_routes()),
        false => routes,
    };
    let routes = routes
        .fallback(|| async { Failure::from(Refusal::of(Code::RouteNotFound)) })
        .method_not_allowed_fallback(|| async {
            Failure::from(Refusal::of(Code::MethodNotAllowed))
        });
    // Around the fallbacks as well: no method is one that such a path does not take.
    let routes = match has_dashboard {
        true => routes,
        false => routes.layer(from_fn(without_dashboard)),
    };
    routes
        .layer(from_fn_with_state(Arc::clone(&api), around))
        .with_state(api)
}

/// Where the dashboard is switched off its endpoints are not there either.
async fn without_dashboard(request: Request, next: Next) -> Response {
    match request.uri().path().starts_with("/v1/dashboard/") {
        true => Failure::from(Refusal::of(Code::RouteNotFound)).into_response(),
        false => next.run(request).await,
    }
}

/// Leaves in the answer which route gave it, for the edge to count by, and tells whoever wrote something how far the database is.
async fn around(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let is_write = min_seq::is_write(request.method());
    let mut response = next.run(request).await;
    if is_write {
        let status = response.status();
        min_seq::tell(&api, status, response.headers_mut()).await;
    }
    if let Some(route) = route {
        response.extensions_mut().insert(route);
    }
    response
}

/// Serves until `shutdown` resolves, then drains.
pub async fn serve(
    api: Arc<Api>,
    listener: TcpListener,
    tls: Option<Arc<Certificates>>,
    shutdown: impl Future<Output = ()>,
) {
    let mut edge = edge(&api.engine, &api.config.docs_url);
    edge.credential_paths = &["/v1/refund_claims/", "/checkout/r/"];
    edge.patient = (&["/v1/test_helpers/clock"], CLOCK_TIME_LIMIT);
    edge.any_origin = Arc::new(checkout::is_for_any_origin());
    edge.exposed = Some(exposed(&api));
    edge.trusted_proxies.clone_from(&api.config.trusted_proxies);
    edge.client_shown = api.config.client_shown;
    let limits = api.config.server.clone();
    server::serve(listener, tls, edge, router(api), limits, shutdown).await;
}

/// Serves what is for the operator alone until `shutdown` resolves.
pub async fn serve_operator(
    operator: Operator,
    docs_url: &str,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) {
    let edge = edge(&operator.engine, docs_url);
    let routes = health::operator_routes(operator);
    let limits = ServerLimits {
        admission: AdmissionLimits {
            listener: "operator",
            connections: OPERATOR_CONNECTIONS,
            connections_per_client: OPERATOR_CONNECTIONS,
            trusted_proxies: Vec::new(),
        },
        drain_time: OPERATOR_DRAIN_TIME,
        ..ServerLimits::default()
    };
    server::serve(listener, None, edge, routes, limits, shutdown).await;
}

fn edge(engine: &Engine, docs_url: &str) -> Edge {
    let ids = engine.ids.clone();
    let mut edge = Edge::new(docs_url, Arc::new(move || ids.make(IdKind::Request)));
    let clock = Arc::clone(&engine.clock);
    edge.now_us = Arc::new(move || clock.monotonic_us());
    edge.health_paths = &["/healthz", "/readyz"];
    edge
}

/// A secret key was in a URL: noted beside the key, so that its owner can be told.
fn exposed(api: &Arc<Api>) -> Arc<dyn Fn(&str) + Send + Sync> {
    let exposures = Exposures::start(&api.engine);
    Arc::new(move |key| {
        // What no key of ours can look like is not worth a question.
        if KeyShape::parse(key).is_some() {
            exposures.tell(key);
        }
    })
}

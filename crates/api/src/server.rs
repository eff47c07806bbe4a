//! Serving: the endpoints, the pages beside them, and what lies around both.

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_engine::merchants::accounts;
use till_http::layers::Edge;
use till_http::server::{self, ServerLimits};
use tokio::net::TcpListener;

use crate::checkout;
use crate::document::openapi::endpoints;
use crate::document::pages;
use crate::face::{Api, Failure};
use crate::health;

fn router(api: Arc<Api>) -> Router {
    let (endpoints, _) = endpoints().split_for_parts();
    endpoints
        .merge(pages::routes())
        .merge(checkout::page_routes(api.engine.config.demo))
        .route("/metrics", get(health::metrics))
        .fallback(|| async { Failure::from(Refusal::of(Code::RouteNotFound)) })
        .method_not_allowed_fallback(|| async {
            Failure::from(Refusal::of(Code::MethodNotAllowed))
        })
        .with_state(api)
}

/// Serves until `shutdown` resolves, then drains.
pub async fn serve(api: Arc<Api>, listener: TcpListener, shutdown: impl Future<Output = ()>) {
    let ids = api.engine.ids.clone();
    let mut edge = Edge::new(
        api.config.docs_url.clone(),
        Arc::new(move || ids.make(IdKind::Request)),
    );
    edge.credential_paths = &["/v1/refund_claims/", "/checkout/r/"];
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

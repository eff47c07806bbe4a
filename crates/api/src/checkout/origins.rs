//! Payers' pages may be served from anywhere.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::options;
use http::{HeaderValue, StatusCode, header};
use utoipa_axum::router::OpenApiRouter;

use crate::face::Api;

/// Lets pages of any origin call these endpoints, and answers the browsers that ask first.
pub fn allow_any(mut routes: OpenApiRouter<Arc<Api>>) -> OpenApiRouter<Arc<Api>> {
    let paths: Vec<String> = routes.get_openapi().paths.paths.keys().cloned().collect();
    for path in paths {
        routes = routes.route(&path, options(preflight));
    }
    routes.layer(from_fn(allow_origin))
}

/// Any origin may ask, without cookies: the publishable key is all there is.
async fn allow_origin(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        HeaderValue::from_static("*"),
    );
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("date, retry-after, x-request-id, idempotent-replayed"),
    );
    response
}

async fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, OPTIONS"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key, last-event-id",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

//! Payers' pages may be served from anywhere. The edge says so of every answer (`till_http::layers`), also of those that
//! never come this far; here is which paths it says it of, and the answer to browsers that ask first.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use axum::routing::options;
use http::{StatusCode, header};
use utoipa_axum::router::OpenApiRouter;

use crate::handler::Api;

/// Whether a path is that of one of these endpoints.
pub fn is_one_of(routes: &OpenApiRouter<Arc<Api>>) -> impl Fn(&str) -> bool + use<> {
    let templates = paths(routes);
    move |path| templates.iter().any(|template| fits(template, path))
}

fn fits(template: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(wanted), Some(given)) if wanted == given || wanted.starts_with('{') => {}
            _ => return false,
        }
    }
}

fn paths(routes: &OpenApiRouter<Arc<Api>>) -> Vec<String> {
    routes.get_openapi().paths.paths.keys().cloned().collect()
}

/// Answers the browsers that ask before they call.
pub fn answer_preflights(mut routes: OpenApiRouter<Arc<Api>>) -> OpenApiRouter<Arc<Api>> {
    for path in paths(&routes) {
        routes = routes.route(&path, options(preflight));
    }
    routes
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_fits_its_template_and_no_other() {
        assert!(fits(
            "/v1/invoices/{id}/events",
            "/v1/invoices/inv_1/events"
        ));
        for other in [
            "/v1/invoices/inv_1",
            "/v1/invoices/inv_1/events/2",
            "/v1/invoices/inv_1/refunds",
            "/",
        ] {
            assert!(!fits("/v1/invoices/{id}/events", other), "{other}");
        }
    }
}

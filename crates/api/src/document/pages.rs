//! The documentation the server carries with it, error pages included: every `doc_url` leads here.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderValue, header};
use till_core::error::{Code, Refusal};

use super::docs;
use super::openapi::openapi_json;
use crate::handler::{Answered, Api};

/// Where the pages are.
pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/", get(home))
        .route("/openapi.json", get(openapi))
        .route("/docs", get(docs_index))
        .route("/docs/errors", get(docs_errors))
        .route("/docs/errors/{code}", get(docs_error))
        .route("/docs/webhooks", get(docs_webhooks))
        .route("/docs/testing", get(docs_testing))
        .route("/docs/style.css", get(docs_style))
}

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

fn html(page: String) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    (
        [
            (header::CONTENT_TYPE, kind),
            (header::CONTENT_SECURITY_POLICY, POLICY),
        ],
        page,
    )
        .into_response()
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], openapi_json()).into_response()
}

async fn home(State(api): State<Arc<Api>>) -> Response {
    html(docs::home_html(api.engine.config.demo))
}

async fn docs_index() -> Response {
    html(docs::index_html())
}

async fn docs_errors() -> Response {
    html(docs::errors_html())
}

async fn docs_error(Path(code): Path<String>) -> Answered {
    let code = Code::parse(&code).ok_or_else(|| Refusal::of(Code::RouteNotFound))?;
    Ok(html(docs::error_html(code)))
}

async fn docs_webhooks() -> Response {
    html(docs::webhooks_html())
}

async fn docs_testing() -> Response {
    let listed: Vec<(&str, &str, &str)> = till_chains::test_screening()
        .iter()
        .map(|(family, list, address)| (family.namespace(), *list, *address))
        .collect();
    html(docs::testing_html(&listed))
}

async fn docs_style() -> Response {
    (
        [(header::CONTENT_TYPE, "text/css; charset=utf-8")],
        docs::STYLE_CSS,
    )
        .into_response()
}

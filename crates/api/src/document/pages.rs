//! The documentation the server carries with it, error pages included: every `doc_url` leads here.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderValue, header};
use till_core::error::{Code, Refusal};

use super::docs::{self, Page, Site};
use super::openapi::{DEFAULT_ADDRESS, openapi_json};
use crate::handler::{Answered, Api};

/// Where the pages are.
pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/", get(home))
        .route("/openapi.json", get(openapi))
        .route("/llms.txt", get(llms))
        .route("/docs", get(docs_index))
        .route("/docs.md", get(docs_index_markdown))
        .route("/docs/style.css", get(docs_style))
        .route("/docs/search.js", get(docs_search))
        .route("/docs/{*path}", get(docs_page))
}

const STRICT: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
/// The same with the script that searches the page.
const WITH_SEARCH: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

fn html(page: &Page) -> Response {
    let policy = match page.has_search() {
        true => WITH_SEARCH,
        false => STRICT,
    };
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, page.html()).into_response()
}

fn plain(kind: &'static str, text: impl Into<String>) -> Response {
    ([(header::CONTENT_TYPE, kind)], text.into()).into_response()
}

/// The page at a path below `/docs`, as this server shows it.
fn find(api: &Api, path: &str) -> Result<Page, Refusal> {
    let screened: Vec<(&str, &str, &str)> = till_chains::test_screening()
        .iter()
        .map(|(family, list, address)| (family.namespace(), *list, *address))
        .collect();
    let site = Site {
        server_url: &api.engine.config.public_url,
        screened: &screened,
    };
    docs::find(path, &site).ok_or_else(|| Refusal::of(Code::RouteNotFound))
}

/// The document names the server that it is asked of.
async fn openapi(State(api): State<Arc<Api>>) -> Response {
    let own = &api.engine.config.public_url;
    let document = openapi_json().replacen(DEFAULT_ADDRESS, own, 1);
    plain("application/json", document)
}

async fn llms(State(api): State<Arc<Api>>) -> Response {
    let text = docs::llms_txt(&api.engine.config.public_url);
    plain("text/markdown; charset=utf-8", text)
}

async fn home(State(api): State<Arc<Api>>) -> Response {
    html(&docs::home(api.engine.config.demo))
}

async fn docs_index(State(api): State<Arc<Api>>) -> Answered {
    Ok(html(&find(&api, "")?))
}

async fn docs_index_markdown(State(api): State<Arc<Api>>) -> Answered {
    let page = find(&api, "")?;
    Ok(plain("text/markdown; charset=utf-8", page.markdown()))
}

async fn docs_page(State(api): State<Arc<Api>>, Path(path): Path<String>) -> Answered {
    match path.strip_suffix(".md") {
        Some(path) => {
            let page = find(&api, path)?;
            Ok(plain("text/markdown; charset=utf-8", page.markdown()))
        }
        None => Ok(html(&find(&api, &path)?)),
    }
}

async fn docs_style() -> Response {
    plain("text/css; charset=utf-8", docs::STYLE_CSS)
}

async fn docs_search() -> Response {
    plain("text/javascript; charset=utf-8", docs::SEARCH_JS)
}

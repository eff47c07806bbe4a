//! The documentation the server carries with it, error pages included: every `doc_url` leads here.

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderValue, header};
use till_core::error::{Code, Refusal};

use super::docs::{self, Page, Site};
use super::openapi::{DEFAULT_ADDRESS, openapi_json};
use crate::handler::{Answered, Api};

/// Where the pages are.
pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .merge(reference_routes())
        .route("/", get(home))
        .route("/llms.txt", get(llms))
        .route("/docs", get(docs_index))
        .route("/docs/", get(docs_index))
        .route("/docs.md", get(docs_index_markdown))
        .route("/docs/style.css", get(docs_style))
        .route("/docs/search.js", get(docs_search))
        .route("/docs/{*path}", get(docs_page))
}

/// The document and the page made of it, which are large: rendered when they are first asked for, and kept.
fn reference_routes() -> Router<Arc<Api>> {
    let (document, html, markdown) = (
        RenderedOnce::default(),
        RenderedOnce::default(),
        RenderedOnce::default(),
    );
    let reference_html = async move |State(api): State<Arc<Api>>| {
        let text = html.or_render(|| reference(&api).html());
        with_policy(text, WITH_SEARCH)
    };
    Router::new()
        .route(
            "/openapi.json",
            get(async move |State(api): State<Arc<Api>>| {
                let text = document.or_render(|| own_document(&api));
                plain("application/json", text)
            }),
        )
        .route("/docs/api", get(reference_html.clone()))
        .route("/docs/api/", get(reference_html))
        .route(
            "/docs/api.md",
            get(async move |State(api): State<Arc<Api>>| {
                let text = markdown.or_render(|| reference(&api).markdown());
                plain(MARKDOWN, text)
            }),
        )
}

/// A page that is rendered when it is first asked for, and is the same for as long as the server runs.
#[derive(Clone, Default)]
struct RenderedOnce(Arc<OnceLock<Bytes>>);

impl RenderedOnce {
    fn or_render(&self, render: impl FnOnce() -> String) -> Bytes {
        self.0.get_or_init(|| render().into()).clone()
    }
}

const MARKDOWN: &str = "text/markdown; charset=utf-8";
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
    with_policy(page.html().into(), policy)
}

fn with_policy(html: Bytes, policy: HeaderValue) -> Response {
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, html).into_response()
}

fn plain(kind: &'static str, text: impl Into<Bytes>) -> Response {
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
fn own_document(api: &Api) -> String {
    let own = &api.engine.config.public_url;
    openapi_json().replacen(DEFAULT_ADDRESS, own, 1)
}

fn reference(api: &Api) -> Page {
    docs::reference(&api.engine.config.public_url)
}

async fn llms(State(api): State<Arc<Api>>) -> Response {
    let text = docs::llms_txt(&api.engine.config.public_url);
    plain(MARKDOWN, text)
}

async fn home(State(api): State<Arc<Api>>) -> Response {
    html(&docs::home(api.engine.config.demo))
}

async fn docs_index(State(api): State<Arc<Api>>) -> Answered {
    Ok(html(&find(&api, "")?))
}

async fn docs_index_markdown(State(api): State<Arc<Api>>) -> Answered {
    let page = find(&api, "")?;
    Ok(plain(MARKDOWN, page.markdown()))
}

async fn docs_page(State(api): State<Arc<Api>>, Path(path): Path<String>) -> Answered {
    match path.strip_suffix(".md") {
        Some(path) => {
            let page = find(&api, path)?;
            Ok(plain(MARKDOWN, page.markdown()))
        }
        None => Ok(html(&find(&api, path.trim_end_matches('/'))?)),
    }
}

async fn docs_style() -> Response {
    plain("text/css; charset=utf-8", docs::STYLE_CSS)
}

async fn docs_search() -> Response {
    plain("text/javascript; charset=utf-8", docs::SEARCH_JS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_rendered_once() {
        let (kept, mut rendered) = (RenderedOnce::default(), 0);
        for _ in 0..3 {
            let text = kept.or_render(|| {
                rendered += 1;
                "the reference".to_owned()
            });
            assert_eq!(text, "the reference");
        }
        assert_eq!(rendered, 1);
    }
}

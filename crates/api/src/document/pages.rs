//! The documentation the server carries with it, error pages included: every `doc_url` leads here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;
use http::{HeaderMap, HeaderValue, header};
use till_core::error::{Code, Refusal};

use super::docs::{self, Page, Site};
use super::openapi::{DEFAULT_ADDRESS, openapi_json};
use crate::handler::packed::Packed;
use crate::handler::{Answered, Api};

/// Where the pages are.
const ROUTES: &[&str] = &[
    "/",
    "/llms.txt",
    "/openapi.json",
    "/docs",
    "/docs/",
    "/docs.md",
    "/docs/api",
    "/docs/api/",
    "/docs/api.md",
    "/docs/style.css",
    "/docs/search.js",
    "/docs/{*path}",
];

pub fn routes() -> Router<Arc<Api>> {
    let kept = Kept::default();
    let show = async move |State(api): State<Arc<Api>>, request: Request| -> Answered {
        let path = request.uri().path();
        let document = kept.get_or(path, || document_at(&api, path))?;
        Ok(document.answer(request.headers()))
    };
    let routes = ROUTES.iter();
    routes.fold(Router::new(), |router, path| {
        router.route(path, get(show.clone()))
    })
}

/// Something to read that is the same for as long as the server runs.
struct Document {
    kind: &'static str,
    /// What a browser lets a page do.
    policy: Option<HeaderValue>,
    text: Packed,
}

const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
/// Asked for again each time: another version of the program has other pages.
const FRESH: HeaderValue = HeaderValue::from_static("no-cache");
const STRICT: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
/// The same with the script that searches the page.
const WITH_SEARCH: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

impl Document {
    fn new(kind: &'static str, text: impl Into<String>) -> Document {
        Document {
            kind,
            policy: None,
            text: Packed::new(text.into()),
        }
    }

    fn html(page: &Page) -> Document {
        let policy = match page.has_search() {
            true => WITH_SEARCH,
            false => STRICT,
        };
        Document {
            policy: Some(policy),
            ..Document::new(HTML, page.html())
        }
    }

    fn answer(&self, request: &HeaderMap) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(header::CACHE_CONTROL, FRESH);
        if let Some(policy) = &self.policy {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy.clone());
        }
        self.text.answer(headers, request)
    }
}

/// Documents by their path, rendered and compressed when they are first asked for. Only what exists is kept.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<HashMap<String, Arc<Document>>>>);

impl Kept {
    fn get_or(
        &self,
        path: &str,
        render: impl FnOnce() -> Result<Document, Refusal>,
    ) -> Result<Arc<Document>, Refusal> {
        if let Some(document) = self.lock().get(path) {
            return Ok(Arc::clone(document));
        }
        // Two that ask at once may both render it, which comes to the same.
        let document = Arc::new(render()?);
        self.lock().insert(path.to_owned(), Arc::clone(&document));
        Ok(document)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Document>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is at one of the [`ROUTES`], as this server shows it.
fn document_at(api: &Api, path: &str) -> Result<Document, Refusal> {
    let own = &api.engine.config.public_url;
    Ok(match path {
        "/" => Document::html(&docs::home(api.engine.config.demo)),
        "/llms.txt" => Document::new(MARKDOWN, docs::llms_txt(own)),
        // It names the server that it is asked of.
        "/openapi.json" => Document::new(
            "application/json",
            openapi_json().replacen(DEFAULT_ADDRESS, own, 1),
        ),
        "/docs/style.css" => Document::new("text/css; charset=utf-8", docs::STYLE_CSS),
        "/docs/search.js" => Document::new("text/javascript; charset=utf-8", docs::SEARCH_JS),
        path => {
            let below = path.strip_prefix("/docs").unwrap_or_default();
            match below.strip_suffix(".md") {
                Some(below) => Document::new(MARKDOWN, page_at(api, below)?.markdown()),
                None => Document::html(&page_at(api, below.trim_end_matches('/'))?),
            }
        }
    })
}

/// The page at a path below `/docs`.
fn page_at(api: &Api, below: &str) -> Result<Page, Refusal> {
    let screened: Vec<(&str, &str, &str)> = till_chains::test_screening()
        .iter()
        .map(|(family, list, address)| (family.namespace(), *list, *address))
        .collect();
    let site = Site {
        server_url: &api.engine.config.public_url,
        screened: &screened,
    };
    let path = below.strip_prefix('/').unwrap_or(below);
    docs::find(path, &site).ok_or_else(|| Refusal::of(Code::RouteNotFound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_rendered_once_and_what_is_not_there_is_not_kept() {
        let (kept, mut rendered) = (Kept::default(), 0);
        for _ in 0..3 {
            let document = kept.get_or("/docs/api", || {
                rendered += 1;
                Ok(Document::new(MARKDOWN, "the reference"))
            });
            assert_eq!(document.ok().map(|it| it.kind), Some(MARKDOWN));
        }
        assert_eq!(rendered, 1);
        let missing = || Err(Refusal::of(Code::RouteNotFound));
        assert!(kept.get_or("/docs/nowhere", missing).is_err());
        assert_eq!(kept.lock().len(), 1);
    }
}

//! The checkout pages as this program carries them: built by `make web`, embedded compressed, and served
//! under `/checkout` with a policy that lets nothing else run.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::get;
use http::HeaderMap;

use crate::handler::{Answered, Api};
use till_http::query::peek;

/// Every page lies one level below the folder: it looks for its files from there.
pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/checkout/i/{id}", get(invoice))
        .route("/checkout/l/{slug}", get(other))
        .route("/checkout/r/{token}", get(other))
        .route("/checkout/r/", get(other))
        .route("/checkout/assets/{name}", get(asset))
        .route("/checkout/till-button.js", get(button))
}

/// Where the server puts what it knows of the page that was asked for.
const MARK: &str = "<!--status-->";
/// A page: the same for all, but for where it leads who has no JavaScript.
async fn page(api: &Api, no_script: Option<String>) -> Response {
    api.config
        .pages
        .checkout
        .page(|index| index.replacen(MARK, &no_script.unwrap_or_default(), 1))
}

/// The page of an invoice.
async fn invoice(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let key = peek(request.uri().query(), "key");
    page(&api, no_script(&id, key.as_deref())).await
}

/// The page of a payment link or a refund: without JavaScript neither can do anything.
async fn other(State(api): State<Arc<Api>>) -> Response {
    page(&api, None).await
}

/// Sends who has no JavaScript to a page that needs none. Nothing of a request gets into the page but what
/// can be nothing else than an id or a key.
fn no_script(id: &str, key: Option<&str>) -> Option<String> {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let key = key.filter(|key| is_plain(key))?;
    is_plain(id).then(|| {
        format!("<noscript><meta http-equiv=\"refresh\" content=\"0; url=../../pay/{id}?key={key}\"></noscript>")
    })
}

/// A script, a style or words.
async fn asset(
    State(api): State<Arc<Api>>,
    Path(name): Path<String>,
    request: HeaderMap,
) -> Answered {
    api.config.pages.checkout.asset(&name, &request)
}

/// The button that shops include from here.
async fn button(State(api): State<Arc<Api>>, request: HeaderMap) -> Answered {
    api.config.pages.button.shared("till-button.js", &request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_an_id_and_a_key_gets_into_the_page() {
        let link = no_script("inv_01", Some("till_test_pk_a1")).unwrap();
        assert!(link.contains("url=../../pay/inv_01?key=till_test_pk_a1\""));
        for (id, key) in [
            ("inv_01", None),
            ("inv_01", Some("")),
            ("inv_01", Some("a\"><script>")),
            ("inv_01", Some("a&lang=x")),
            ("..", Some("a")),
            ("inv_01\"", Some("a")),
            ("", Some("a")),
        ] {
            assert_eq!(no_script(id, key), None, "{id} {key:?}");
        }
    }
}

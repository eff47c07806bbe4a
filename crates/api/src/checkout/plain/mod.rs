//! A payment's status for who has no JavaScript: no address, because nothing there could check it.

mod words;

use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts as _, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use till_engine::checkout;
use till_engine::view::CheckoutInvoiceView;

use self::words::{Words, for_request};
use crate::handler::{Api, Failure, Got, Id, Payer};

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route("/pay/{id}", get(status))
        .route("/pay/style.css", get(style))
}

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
const STYLE: &str = include_str!("style.css");

/// How often the page loads itself anew.
const AGAIN_S: u32 = 30;

/// The status page.
async fn status(State(api): State<Arc<Api>>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let words = for_request(&parts.headers);
    let found = async {
        let Id(id) = Id::from_request_parts(&mut parts, &api)
            .await
            .unwrap_or_else(|never| match never {});
        let got = Got::<Payer>::from_request_parts(&mut parts, &api).await?;
        let view = checkout::retrieve(&api.engine, got.scope(), &id).await?;
        Ok::<_, Failure>(view)
    };
    match found.await {
        Ok(view) => html(StatusCode::OK, &invoice(words, &view)),
        Err(failure) => missing(words, failure),
    }
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

/// A link that leads nowhere is answered in words; a fault of ours as any other.
fn missing(words: &Words, failure: Failure) -> Response {
    let response = failure.into_response();
    if !response.status().is_client_error() {
        return response;
    }
    let body = paragraph(words.get("missing_text"));
    let page = Page {
        above: String::new(),
        title: words.get("missing"),
        body,
        again_s: None,
    };
    html(response.status(), &page.document(words))
}

fn html(status: StatusCode, page: &str) -> Response {
    let mut headers = HeaderMap::new();
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    (status, headers, page.to_owned()).into_response()
}

fn invoice(words: &Words, view: &CheckoutInvoiceView) -> String {
    let (status, note) = match view.status.as_str() {
        "awaiting_payment" | "partially_paid" => (view.status.as_str(), Some("no_script")),
        "expired" => ("expired", Some("do_not_send")),
        "cancelled" => ("cancelled", Some("cancelled_text")),
        other => (other, None),
    };
    let mut above = String::new();
    if !view.livemode {
        let _ = write!(above, "<p class=\"band\">{}</p>", escape(words.get("test")));
    }
    let shop = escape(&view.merchant.display_name);
    let _ = write!(above, "<header><bdi>{shop}</bdi></header>");
    let mut body = String::new();
    if let Some(described) = &view.description {
        let _ = write!(
            body,
            "<p class=\"what\"><bdi>{}</bdi></p>",
            escape(described)
        );
    }
    let price = format!("{} {}", view.amount.amount, view.amount.currency);
    let facts = [
        (words.get("price"), price.as_str()),
        (words.get("number"), view.id.as_str()),
    ];
    body.push_str("<dl>");
    for (name, value) in facts {
        let (name, value) = (escape(name), escape(value));
        let _ = write!(body, "<dt>{name}</dt><dd><bdi>{value}</bdi></dd>");
    }
    body.push_str("</dl>");
    if let Some(note) = note {
        body.push_str(&paragraph(words.get(note)));
    }
    let page = Page {
        above,
        title: words.get(status),
        body,
        again_s: Some(AGAIN_S),
    };
    page.document(words)
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>", escape(text))
}

struct Page<'a> {
    /// Who is paid, and that it is a test.
    above: String,
    title: &'a str,
    body: String,
    again_s: Option<u32>,
}

impl Page<'_> {
    fn document(&self, words: &Words) -> String {
        let again = self
            .again_s
            .map(|seconds| format!("<meta http-equiv=\"refresh\" content=\"{seconds}\">\n"));
        format!(
            "<!doctype html>\n<html lang=\"{}\" dir=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{}\
             <title>{title}</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n\
             <body>\n{}\n<main>\n<h1>{title}</h1>\n{}\n</main>\n</body>\n</html>\n",
            words.language,
            words.direction(),
            again.unwrap_or_default(),
            self.above,
            self.body,
            title = escape(self.title),
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

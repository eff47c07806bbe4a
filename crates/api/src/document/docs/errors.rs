//! The error catalogue as pages: all codes by section, and one page for each.

use till_core::error::{Code, ErrorType, Section};

use super::page::Page;
use super::pieces::{h2, link, list, p, plain, sample, table};

pub(super) fn all() -> Page {
    let contents = Section::ALL.iter();
    let contents = contents.map(|&of| format!("[{}](#{})", of.title(), section_id(of)));
    let sections: String = Section::ALL.iter().map(|&of| section_text(of)).collect();
    let body = [shape(), list(contents), sections].concat();
    Page::new("/errors", "Errors", body)
}

pub(super) fn of(code: Code) -> Page {
    let facts = [
        format!("**When**: {}", plain(code.summary())),
        format!("**What to do**: {}", plain(code.remedy())),
        format!("**HTTP status**: {}", code.status()),
        format!("**`type`**: `{}`", code.kind().as_str()),
        format!("**Retry**: {}", retry(code.kind())),
    ];
    let section = code.section();
    let path = format!("/errors#{}", section_id(section));
    let back = link(&path, &format!("All errors: {}", section.title()));
    let body = [list(facts), p(&back)].concat();
    // The heading is the bare code: it is what people paste into a search.
    Page::new("/errors", &format!("`{}`", code.as_str()), body)
}

fn shape() -> String {
    let error = r#"{
  "error": {
    "type": "invalid_request_error",
    "code": "parameter_invalid",
    "message": "The amount has more decimals than USD has.",
    "param": "amount",
    "doc_url": "…/errors/parameter_invalid",
    "request_id": "req_…"
  }
}"#;
    [
        p(
            "Every error has one shape. Branch on `code`, which never changes; `message` is meant for \
           people and may be reworded. `param` names the field concerned, or is null. `request_id` is \
           also in the `x-request-id` header of every answer: quote it when you ask for help.",
        ),
        sample("json", "An error object", error),
        p(
            "An answer of 429 or 5xx is safe to repeat with the same `Idempotency-Key`; 429 says in \
           `Retry-After` how many seconds to wait. Any other 4xx will fail again until something \
           changes.",
        ),
    ]
    .concat()
}

fn section_text(section: Section) -> String {
    let codes = Code::ALL.iter().filter(|code| code.section() == section);
    let rows: Vec<_> = codes.map(|&code| code_row(code)).collect();
    let caption = format!("Codes: {}", section.title());
    let head = ["Code", "Status", "When", "What to do"];
    [
        h2(section_id(section), section.title()),
        table(&caption, &head, &rows),
    ]
    .concat()
}

fn code_row(code: Code) -> Vec<String> {
    let wire = code.as_str();
    let name = link(&format!("/errors/{wire}"), &format!("`{wire}`"));
    vec![
        format!("<span id=\"{wire}\">{name}</span>"),
        code.status().to_string(),
        plain(code.summary()),
        plain(code.remedy()),
    ]
}

/// Hyphens and a prefix keep these apart from the anchors of the codes.
fn section_id(section: Section) -> &'static str {
    match section {
        Section::Requests => "section-requests",
        Section::Keys => "section-keys",
        Section::Idempotency => "section-idempotency",
        Section::Invoices => "section-invoices",
        Section::Checkout => "section-checkout",
        Section::Refunds => "section-refunds",
        Section::PaymentLinks => "section-payment-links",
        Section::Subscriptions => "section-subscriptions",
        Section::Settings => "section-settings",
        Section::Server => "section-server",
        Section::Dashboard => "section-dashboard",
        Section::Demo => "section-demo",
    }
}

fn retry(kind: ErrorType) -> &'static str {
    match kind {
        ErrorType::RateLimit => {
            "Yes, after the seconds in `Retry-After`, with the same `Idempotency-Key`."
        }
        ErrorType::Api => {
            "Yes, with the same `Idempotency-Key` and growing pauses; nothing is done twice."
        }
        ErrorType::InvalidRequest
        | ErrorType::Authentication
        | ErrorType::Permission
        | ErrorType::Idempotency => {
            "Not unchanged: the same request fails again until its cause is gone."
        }
    }
}

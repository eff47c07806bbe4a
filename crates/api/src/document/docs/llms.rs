//! `/llms.txt`: where language models and those who feed them find what is written here, as Markdown.

use super::guides::GUIDES;
use super::pieces::ROOT;

pub fn llms_txt(server: &str) -> String {
    let link = |path: &str, title: &str, about: &str| {
        format!("- [{title}]({server}{ROOT}{path}.md): {about}\n")
    };
    let reference = [
        link("", "Overview", "keys, modes, currencies, conventions"),
        link(
            "/api",
            "API reference",
            "every endpoint, field, limit and code, with examples",
        ),
        link(
            "/errors",
            "Errors",
            "every code, when it happens and what to do",
        ),
        link("/webhooks", "Webhooks", "events, signatures and retries"),
        link(
            "/testing",
            "Testing",
            "simulated payments, the test clock, test addresses",
        ),
        format!(
            "- [OpenAPI 3.1]({server}/openapi.json): the whole interface, for code generators\n"
        ),
    ];
    let guides: String = GUIDES
        .iter()
        .map(|guide| link(&guide.path(), guide.title, guide.about))
        .collect();
    format!(
        "# Till\n\n> A self-hosted, non-custodial payment service: invoices, checkout, payment links, refunds, subscriptions and \
         webhooks for stablecoins and Bitcoin, paid straight into the merchant's own wallet.\n\n\
         Amounts are decimal strings. Every POST needs an `Idempotency-Key`. Deliver on `invoice.paid`, and verify the signature of \
         every webhook.\n\n## Reference\n\n{}\n## Guides\n\n{guides}",
        reference.concat()
    )
}

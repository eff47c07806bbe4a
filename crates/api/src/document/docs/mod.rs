//! The documentation pages, rendered from the same catalogue and limits the server answers by.
//!
//! Pages hold no script and no inline style, so that the strictest content security policy fits. Their
//! links are absolute below `/docs`, where the server mounts them: a page reads the same with or
//! without a trailing slash.

mod errors;
mod events;
mod html;
mod testing;
#[cfg(test)]
mod tests;
mod webhooks;

pub use errors::{error_html, errors_html};
pub use testing::testing_html;
pub use webhooks::webhooks_html;

use till_core::limits::{
    IDEMPOTENCY_KEY_CHARS_MAX, IDEMPOTENCY_RETENTION_DAYS, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX,
};

use html::{h2, link, list, p, page, prose, sample};

/// Served as `/docs/style.css`.
pub const STYLE_CSS: &str = include_str!("style.css");

/// What somebody who opens the server's bare address sees.
pub fn home_html(is_demo: bool) -> String {
    let demo = match is_demo {
        true => p(
            "This is a demo: test mode, in memory, gone when it stops. Its keys, a checkout to try and a first request to paste \
             are in the terminal that it was started in.",
        ),
        false => String::new(),
    };
    let links = [
        (
            "/docs",
            "Documentation",
            "a first payment, errors, webhooks, testing",
        ),
        (
            "/openapi.json",
            "OpenAPI 3.1",
            "the whole interface, for code generators",
        ),
        ("/healthz", "Health", "whether this server runs"),
    ];
    let body = [
        p(
            "This server takes payments in stablecoins and Bitcoin straight into merchants' own wallets. The API is below `/v1/`; \
             payers come by the links that merchants send them.",
        ),
        demo,
        list(links.iter().map(|(path, name, about)| {
            format!("<a href=\"{path}\">{}</a>: {}", prose(name), prose(about))
        })),
    ];
    page("", "Till", &body.concat())
}

pub fn index_html() -> String {
    let body = [
        p(
            "Till takes payments in stablecoins and other crypto assets straight into the merchant's \
           own wallet. It watches the chains, never holds funds, and cannot move them.",
        ),
        pages(),
        first_payment(),
        keys(),
        currencies(),
        conventions(),
    ];
    page("", "Till documentation", &body.concat())
}

fn pages() -> String {
    let pages = [
        (
            "/errors",
            "Errors",
            "every code, when it happens and what to do",
        ),
        ("/webhooks", "Webhooks", "events, signatures and retries"),
        (
            "/testing",
            "Testing",
            "simulated payments and the test clock",
        ),
    ];
    list(
        pages
            .iter()
            .map(|(path, name, about)| format!("{}: {about}", link(path, name))),
    )
}

fn first_payment() -> String {
    let create = r#"curl "$TILL_URL/v1/invoices" \
  -H "Authorization: Bearer $TILL_SECRET_KEY" \
  -H "Idempotency-Key: $(uuidgen)" \
  -H "Content-Type: application/json" \
  -d '{"amount": "25.00", "currency": "USD", "description": "Order 1001"}'"#;
    [
        h2("start", "A first payment"),
        p("Create an invoice with a secret test key:"),
        sample("Creating an invoice with curl", create),
        p(
            "Send the payer to the invoice's `checkout_url`, or show the `payment_options` yourself.",
        ),
        format!(
            "<p>In test mode, {} instead of waiting for one.</p>\n",
            link("/testing#payments", "simulate a payment")
        ),
        p("Your server then receives `invoice.detected` and `invoice.paid`."),
    ]
    .concat()
}

fn keys() -> String {
    let rules = [
        "A secret key (`till_test_sk_…`, `till_live_sk_…`) belongs on your server, in the header \
         `Authorization: Bearer`. It is never sent to a browser or put into a URL.",
        "A publishable key (`till_test_pk_…`, `till_live_pk_…`) may be seen by anyone and works on the \
         checkout endpoints only, in the same header or as the query parameter `key`.",
        "A test key sees only test objects, a live key only live ones.",
    ];
    [
        h2("keys", "Keys and modes"),
        list(rules.iter().map(|rule| prose(rule))),
    ]
    .concat()
}

fn currencies() -> String {
    let rules = [
        "A stablecoin is priced in its own currency only, one to one: USDC, USDT and other dollar coins in `USD`, EURC in `EUR`.",
        "Bitcoin is priced in any currency that the server has a price of it in, from its own price sources.",
        "An invoice in another currency, or in assets of different currencies, is refused with `currency_unsupported`.",
        "`GET /v1/assets` lists the assets of the mode with their currency, and whether the account can be paid in them.",
    ];
    [
        h2("currencies", "Currencies and assets"),
        list(rules.iter().map(|rule| prose(rule))),
    ]
    .concat()
}

fn conventions() -> String {
    let rules = [
        format!(
            "Every POST needs an `Idempotency-Key` of 1 to {IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII \
             characters. The same request with the same key gets the first result again, marked \
             `idempotent-replayed: true`, for {IDEMPOTENCY_RETENTION_DAYS} days. A request that was \
             refused does not use up its key."
        ),
        "Amounts are decimal strings with a currency or an asset, never JSON numbers. An asset is \
         written `SYMBOL@network`, the network as its CAIP-2 identifier: `USDC@eip155:84532`."
            .to_owned(),
        "Times are RFC 3339 in UTC.".to_owned(),
        format!(
            "Lists are newest first, {PAGE_LIMIT_DEFAULT} to a page unless `limit` asks for another \
             number up to {PAGE_LIMIT_MAX}. Pass `next_cursor` back as `cursor` until it is null."
        ),
        "Bodies are JSON objects. Unknown fields are refused, so that a misspelt one cannot be \
         overlooked."
            .to_owned(),
        "`till openapi` prints the whole interface as an OpenAPI 3.1 document.".to_owned(),
    ];
    [
        h2("conventions", "Conventions"),
        list(rules.iter().map(|rule| prose(rule))),
    ]
    .concat()
}

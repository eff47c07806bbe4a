//! The documentation pages, rendered from the same catalogue and limits the server answers by.
//!
//! Each is Markdown, served as it is under its address with `.md`, and as HTML. Pages hold no inline script or style, so that a
//! strict content security policy fits. Their links are absolute below `/docs`, where the server mounts them: a page reads the
//! same with or without a trailing slash.

mod errors;
mod events;
mod guides;
mod llms;
mod markdown;
mod page;
mod pieces;
mod reference;
mod testing;
#[cfg(test)]
mod tests;
mod webhooks;

pub use llms::llms_txt;
pub use page::Page;

use till_core::error::Code;
use till_core::limits::{
    IDEMPOTENCY_KEY_CHARS_MAX, IDEMPOTENCY_RETENTION_DAYS, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX,
};

use pieces::{h2, link, list, p, sample};

/// Served as `/docs/style.css`.
pub const STYLE_CSS: &str = include_str!("style.css");
/// Served as `/docs/search.js`.
pub const SEARCH_JS: &str = include_str!("search.js");

/// What pages say of the server that they are served by.
pub struct Site<'s> {
    pub server_url: &'s str,
    /// Addresses that the test screening lists match, as (family, list, address).
    pub screened: &'s [(&'s str, &'s str, &'s str)],
}

/// The page at a path below `/docs`, without a slash at its start.
pub fn find(path: &str, site: &Site<'_>) -> Option<Page> {
    let page = match path {
        "" => index(),
        "guides" => guides::index(),
        "api" => reference(site.server_url),
        "errors" => errors::all(),
        "webhooks" => webhooks::page(),
        "testing" => testing::page(site.screened),
        path => match path.split_once('/')? {
            ("errors", code) => errors::of(Code::parse(code)?),
            ("guides", slug) => guides::find(slug)?,
            _ => return None,
        },
    };
    Some(page)
}

/// The API reference, with the address of the server that it is served by.
pub fn reference(server_url: &str) -> Page {
    let page = reference::page();
    let body = page.body.replace(reference::SERVER, server_url);
    Page {
        body,
        ..page.clone()
    }
}

/// What somebody who opens the server's bare address sees.
pub fn home(is_demo: bool) -> Page {
    let demo = match is_demo {
        true => p(
            "This is a demo: test mode, in memory, gone when it stops. Its keys, a checkout to try and a first request to paste \
             are in the terminal that it was started in.",
        ),
        false => String::new(),
    };
    let links = [
        "[Documentation](/docs): guides, the API reference, errors, webhooks, testing",
        "[OpenAPI 3.1](/openapi.json): the whole interface, for code generators",
        "[Health](/healthz): whether this server runs",
    ];
    let body = [
        p(
            "This server takes payments in stablecoins and Bitcoin straight into merchants' own wallets. The API is below `/v1/`; \
             payers come by the links that merchants send them.",
        ),
        demo,
        list(links.iter().map(ToString::to_string)),
    ];
    Page::new("", "Till", body.concat())
}

fn index() -> Page {
    let body = [
        p(
            "Till takes payments in stablecoins and other crypto assets straight into the merchant's \
           own wallet. It watches the chains, never holds funds, and cannot move them.",
        ),
        pages(),
        first_payment(),
        h2("guides", "Guides"),
        guides::contents(),
        keys(),
        currencies(),
        conventions(),
    ];
    Page::new("", "Till documentation", body.concat())
}

fn pages() -> String {
    let pages = [
        (
            "/guides/quickstart",
            "Quickstart",
            "from nothing to a paid test invoice",
        ),
        (
            "/api",
            "API reference",
            "every endpoint, field, limit and code",
        ),
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
    let lines = pages.iter();
    list(lines.map(|(path, name, about)| format!("{}: {about}", link(path, name))))
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
        sample("bash", "Creating an invoice with curl", create),
        p(
            "Send the payer to the invoice's `checkout_url`, or show the `payment_options` yourself.",
        ),
        p(&format!(
            "In test mode, {} instead of waiting for one.",
            link("/testing#payments", "simulate a payment")
        )),
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
        list(rules.iter().map(ToString::to_string)),
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
        list(rules.iter().map(ToString::to_string)),
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
        "A list, balances and a report may be some moments old where the server's operator uses replicas. Every successful answer to a \
         POST has `Till-Min-Seq`, a number: sent with a GET, it makes sure that the answer has at least what that POST did. \
         An object by its id is always as it is now."
            .to_owned(),
        "Bodies are JSON objects. Unknown fields are refused, so that a misspelt one cannot be \
         overlooked."
            .to_owned(),
        "[openapi.json](/openapi.json) is the whole interface as an OpenAPI 3.1 document; `till openapi` prints it. Every page here is \
         Markdown under its address with `.md` behind it; [llms.txt](/llms.txt) lists them."
            .to_owned(),
    ];
    [
        h2("conventions", "Conventions"),
        list(rules.iter().map(ToString::to_string)),
    ]
    .concat()
}

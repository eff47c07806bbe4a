//! How webhooks are sent and how a receiver verifies them.

use till_core::limits::{
    RESPONSE_EXCERPT_BYTES_MAX, SECRET_OVERLAP_H, SIGNATURE_TOLERANCE_S, WEBHOOK_ANSWER_MS_MAX,
    WEBHOOK_RETRY_H,
};

use super::events::event_types;
use super::page::Page;
use super::pieces::{h2, list, p, sample, steps, table};

const VERIFY_NODE: &str = include_str!("verify/verify.mjs");
const VERIFY_PYTHON: &str = include_str!("verify/verify.py");
const VERIFY_PHP: &str = include_str!("verify/verify.php");
const VERIFY_RUBY: &str = include_str!("verify/verify.rb");
const VERIFY_GO: &str = include_str!("verify/verify.go");
const VERIFY_RUST: &str = include_str!("verify/verify_rs.txt");

/// The worked example on the page.
const EXAMPLE_SECRET: &str = "whsec_example";
const EXAMPLE_TIMESTAMP_S: i64 = 1_767_225_600;
const EXAMPLE_BODY: &str = r#"{"id":"evt_example","object":"event","type":"invoice.paid"}"#;
const EXAMPLE_SIGNATURE: &str = "4caeef1abc9012d75cbd745597ab5f802e5d8a991ddc317a510b7a466bd8be87";

pub(super) fn page() -> Page {
    let body = [
        request(),
        verifying(),
        answering(),
        event_types(),
        address(),
    ];
    Page::new("/webhooks", "Webhooks", body.concat())
}

fn request() -> String {
    let headers = [
        (
            "x-service-signature",
            "`t=<unix seconds>,v1=<hex HMAC-SHA256>`; more than one `v1` while a secret is rotated",
        ),
        (
            "x-service-event-id",
            "`evt_…`, the same for every retry and every replay of an event",
        ),
        (
            "x-service-event-type",
            "the event's type, for example `invoice.paid`",
        ),
    ];
    let rows: Vec<_> = headers
        .iter()
        .map(|(name, value)| vec![format!("`{name}`"), (*value).to_owned()])
        .collect();
    let event = r#"{
  "id": "evt_…",
  "object": "event",
  "type": "invoice.paid",
  "livemode": false,
  "created_at": "2026-01-01T00:00:00Z",
  "invoice_id": "inv_…",
  "data": { "object": { "id": "inv_…", "object": "invoice", "status": "paid" } }
}"#;
    [
        p(
            "Till tells your server what happened by sending it a POST request with a JSON body, the \
           event, to the `webhook_url` of your settings. Test and live mode each have their own URL \
           and secret.",
        ),
        sample("json", "An event, its invoice shortened", event),
        p(
            "`invoice_id` is set on every invoice and refund event, on subscription events that are \
           about an invoice, and is null on payment link events.",
        ),
        table("Headers of every delivery", &["Header", "Value"], &rows),
    ]
    .concat()
}

fn verifying() -> String {
    let rules = [
        "Take the raw bytes of the body, before any JSON parsing.".to_owned(),
        "Split `x-service-signature` at the commas; read `t` and every `v1`, and ignore other names."
            .to_owned(),
        format!(
            "Reject the request when `t` is more than {SIGNATURE_TOLERANCE_S} seconds away from your \
             clock, in either direction."
        ),
        "Compute HMAC-SHA256 with the whole secret as the key, `whsec_` included, over `t`, a full \
         stop and the raw body. Compare its hex form with each `v1` in constant time; one match is \
         enough."
            .to_owned(),
        "Skip an event whose id you have handled before: an event may arrive more than once."
            .to_owned(),
    ];
    let example = format!(
        "secret     {EXAMPLE_SECRET}\nbody       {EXAMPLE_BODY}\n\
         signature  t={EXAMPLE_TIMESTAMP_S},v1={EXAMPLE_SIGNATURE}"
    );
    [
        h2("verify", "Verify a signature"),
        p("Anyone can send a request to your URL; only Till and you know the secret."),
        steps(&rules),
        p("In JavaScript, on Node:"),
        sample("js", "Verification in JavaScript", VERIFY_NODE),
        p("In Python:"),
        sample("python", "Verification in Python", VERIFY_PYTHON),
        p("In PHP:"),
        sample("php", "Verification in PHP", VERIFY_PHP),
        p("In Ruby:"),
        sample("ruby", "Verification in Ruby", VERIFY_RUBY),
        p("In Go:"),
        sample("go", "Verification in Go", VERIFY_GO),
        p("In Rust, with the crates `hmac`, `sha2` and `hex`:"),
        sample("rust", "Verification in Rust", VERIFY_RUST),
        p(
            "`till verify-signature --signature … --body body.json` says whether a signature is right, and if not, why.",
        ),
        p(&format!(
            "To try your own code, with the clock at {EXAMPLE_TIMESTAMP_S}:"
        )),
        sample("text", "A worked example", &example),
        p(&format!(
            "`POST /v1/merchant/webhook_secret/roll` makes a new secret and shows it once. For \
             {SECRET_OVERLAP_H} hours deliveries are signed with both, the new one first. Rolled again within \
             that time, each older secret signs until its own {SECRET_OVERLAP_H} hours are over, at most eight \
             at once. In live mode a key is refused: this is done at the dashboard, or with `till account roll-webhook-secret` on the server."
        )),
    ]
    .concat()
}

fn answering() -> String {
    let answer_s = WEBHOOK_ANSWER_MS_MAX / 1000;
    let excerpt_kib = RESPONSE_EXCERPT_BYTES_MAX / 1024;
    [
        h2("retries", "Answers and retries"),
        p(&format!(
            "Answer with any 2xx status within {answer_s} seconds; do slow work afterwards. Every \
             other status, a timeout and a redirect (none is followed) count as a failure. A failed \
             delivery is tried again with growing pauses for about {WEBHOOK_RETRY_H} hours."
        )),
        p(&format!(
            "`GET /v1/webhook_deliveries` lists every attempt with the status code and the first \
             {excerpt_kib} KiB of your answer. `POST /v1/webhook_deliveries/{{id}}/replay` sends the \
             same event, with the same id, to the URL that is set now. `GET /v1/events` lists every event, also those that \
             happened while no URL was set: a server that was away for longer reads there what it missed."
        )),
        p(
            "The events of one invoice are sent one after the other, in the order in which they happened; \
             those of a subscription that name the invoice are among them. \
             A retry comes later and may arrive after newer ones: when the order matters, retrieve the \
             object instead of trusting the one in the event.",
        ),
    ]
    .concat()
}

fn address() -> String {
    let rules = [
        "It begins with `https://` and carries no user name or password.",
        "Its host resolves to public addresses only. Private, loopback, link-local and internal \
         addresses are refused when the URL is set, and again at every delivery.",
        "Setting `webhook_url` to null stops deliveries.",
    ];
    [
        h2("url", "The webhook URL"),
        list(rules.iter().map(ToString::to_string)),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_use_the_tolerance_that_the_page_names() {
        let tolerance = format!("> {SIGNATURE_TOLERANCE_S}");
        for sample in [
            VERIFY_NODE,
            VERIFY_PYTHON,
            VERIFY_PHP,
            VERIFY_RUBY,
            VERIFY_GO,
            VERIFY_RUST,
        ] {
            assert!(sample.contains(&tolerance), "{sample}");
        }
    }

    #[test]
    fn the_worked_example_is_what_the_server_would_sign() {
        let signed = till_core::webhook::sign(
            &[EXAMPLE_SECRET],
            EXAMPLE_TIMESTAMP_S,
            EXAMPLE_BODY.as_bytes(),
        );
        assert_eq!(
            signed,
            format!("t={EXAMPLE_TIMESTAMP_S},v1={EXAMPLE_SIGNATURE}")
        );
    }

    #[test]
    fn the_page_names_headers_figures_and_the_worked_example() {
        let html = page().html();
        for text in [
            "x-service-signature",
            "x-service-event-id",
            "x-service-event-type",
            "300 seconds",
            "within 10 seconds",
            "about 72 hours",
            "first 1 KiB",
            EXAMPLE_SIGNATURE,
        ] {
            assert!(html.contains(text), "{text}");
        }
    }
}

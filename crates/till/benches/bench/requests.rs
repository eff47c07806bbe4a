//! The requests that are measured, written out.

use std::sync::Arc;

use super::load::Write;

/// Three options that share one address, as the raw databases write them too.
const CREATE_BODY: &str = r#"{"amount":"25.00","currency":"USD","assets":["USDC@eip155:84532","USDC@eip155:11155111","USDC@eip155:421614"],"description":"Two tickets","customer_ref":"order-1017","metadata":{"color":"blue"}}"#;

/// `run` keeps the idempotency keys of different runs on one database apart.
pub fn create(key: &str, run: &str) -> Write {
    let (key, run) = (key.to_owned(), run.to_owned());
    Arc::new(move |number, request| {
        let length = CREATE_BODY.len();
        put(
            request,
            format_args!(
                "POST /v1/invoices HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n\
                 idempotency-key: {run}-{number}\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\n\r\n{CREATE_BODY}"
            ),
        );
    })
}

pub fn retrieve(key: &str, ids: Vec<String>) -> Write {
    let key = key.to_owned();
    Arc::new(move |number, request| {
        let id = &ids[scattered(number, ids.len())];
        put(
            request,
            format_args!(
                "GET /v1/invoices/{id} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n\r\n"
            ),
        );
    })
}

/// A payment to one of these invoices, found by its address.
pub fn pay(key: &str, run: &str, ids: Vec<String>) -> Write {
    let (key, run) = (key.to_owned(), run.to_owned());
    Arc::new(move |number, request| {
        let id = &ids[scattered(number, ids.len())];
        put(
            request,
            format_args!(
                "POST /v1/test_helpers/invoices/{id}/simulate_payment HTTP/1.1\r\nhost: bench\r\n\
                 authorization: Bearer {key}\r\nidempotency-key: {run}-{number}\r\n\
                 content-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
            ),
        );
    })
}

pub fn list(key: &str) -> Write {
    let key = key.to_owned();
    Arc::new(move |_, request| {
        put(
            request,
            format_args!(
                "GET /v1/invoices?limit=10 HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n\r\n"
            ),
        );
    })
}

/// Whether anything still waits for a payment.
pub fn waiting(key: &str) -> Vec<u8> {
    format!(
        "GET /v1/invoices?status=awaiting_payment&limit=1 HTTP/1.1\r\nhost: bench\r\n\
         authorization: Bearer {key}\r\n\r\n"
    )
    .into_bytes()
}

pub fn advance_clock(key: &str, seconds: u64) -> Vec<u8> {
    let body = format!(r#"{{"advance_seconds":{seconds}}}"#);
    let length = body.len();
    format!(
        "POST /v1/test_helpers/clock HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n\
         idempotency-key: clock\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The same request at the handler that does nothing but read and write JSON.
pub fn bare() -> Write {
    Arc::new(|_, request| {
        let length = CREATE_BODY.len();
        put(
            request,
            format_args!(
                "POST / HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\n\r\n{CREATE_BODY}"
            ),
        );
    })
}

/// `client` stands for the payer's address: one client may hold only so many streams.
pub fn stream(key: &str, id: &str, client: usize) -> Vec<u8> {
    format!(
        "GET /v1/invoices/{id}/events HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n\
         x-forwarded-for: 192.0.2.{client}\r\n\r\n"
    )
    .into_bytes()
}

pub fn set_webhook_url(key: &str, url: &str) -> Vec<u8> {
    let body = format!(r#"{{"webhook_url":"{url}"}}"#);
    let length = body.len();
    format!(
        "POST /v1/merchant/settings HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {key}\r\n\
         idempotency-key: webhook\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn put(request: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    request.write_fmt(text).expect("a vector takes everything");
}

/// Neighbouring numbers fall far apart.
fn scattered(number: u64, count: usize) -> usize {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    usize::try_from(mixed).unwrap_or(0) % count.max(1)
}

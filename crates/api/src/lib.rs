//! HTTP: wire types, handlers, authentication, idempotency, errors, OpenAPI, live streams.

pub mod docs;

mod callers;
mod client;
mod cursor;
mod openapi;
mod routes;
mod state;
#[expect(
    dead_code,
    reason = "requests are described for the document and never built"
)]
mod words;

pub use openapi::openapi_json;
pub use routes::router;
pub use state::{Api, ApiConfig, serve};

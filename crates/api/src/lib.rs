//! HTTP: wire types, handlers, authentication, idempotency, errors, OpenAPI, live streams.

pub mod docs;
pub mod http;

//! HTTP: wire types, handlers, authentication, idempotency, errors, OpenAPI, live streams.
//!
//! The modules are rooms, listed from the ground up: a room knows only those above it in this list.

mod handler;

mod checkout;
mod dashboard;
mod health;
mod v1;
mod well_known;

mod document;

mod server;

pub use document::openapi::openapi_json;
pub use handler::access;
pub use handler::pages::{CarriedPages, Files, Pages};
pub use handler::state::{Api, ApiConfig, HEARTBEAT};
pub use health::Operator;
pub use server::{OPERATOR_CONNECTIONS, serve, serve_operator};
pub use till_http::admission::{AdmissionLimits, HEALTH_CONNECTIONS};
pub use till_http::client_addr::LoggedAddress;
pub use till_http::server::ServerLimits;
pub use till_http::tls::{Certificates, TlsFileError};

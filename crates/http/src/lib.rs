//! HTTP without the domain: from bytes on a socket to a request whose shape is known, and back.
//!
//! Nothing here knows an invoice. What a client can send wrong is refused here, in one shape and with
//! the catalogue's codes, so that a handler only meets values it asked for.

pub mod client;
mod connection;
mod message;
pub mod rate_limit;

#[cfg(test)]
mod tests;

pub use connection::{admission, client_addr, layers, server, tls};
pub use message::{answer, body, credentials, fields, idempotency, json, query, read, scrub};

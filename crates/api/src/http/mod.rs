//! HTTP without the domain: from bytes on a socket to a request whose shape is known, and back.
//!
//! Nothing here knows an invoice. What a client can send wrong is refused here, in one shape and with
//! the catalogue's codes, so that a handler only meets values it asked for.

pub mod answer;
pub mod body;
pub mod client_addr;
pub mod credentials;
pub mod fields;
pub mod idempotency;
pub mod json;
pub mod layers;
pub mod query;
pub mod rate_limit;
pub mod read;
pub mod scrub;
pub mod server;
mod unread;
mod wire;

#[cfg(test)]
mod tests;

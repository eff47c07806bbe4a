//! Asking nodes: JSON-RPC 2.0 over HTTP, to endpoints that the operator chose.

mod client;
mod endpoint;
mod envelope;
mod error;
mod pace;

pub use client::RpcClient;
pub use endpoint::{Endpoint, EndpointError};
pub use envelope::open;
pub use error::RpcError;

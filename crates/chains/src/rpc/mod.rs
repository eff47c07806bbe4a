//! Asking nodes: JSON-RPC 2.0 over HTTP, to endpoints that the operator chose.

mod client;
mod endpoint;
mod envelope;

pub use client::{RpcClient, RpcError};
pub use endpoint::{Endpoint, EndpointError};

//! Connections: accepting, limiting and draining them, and what every request on them passes through.

pub mod admission;
pub mod client_addr;
mod head;
mod http2;
pub mod layers;
mod pace;
pub mod server;
pub mod tls;
mod unread;
mod wire;

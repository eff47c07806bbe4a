//! Connections: accepting, limiting and draining them, and what every request on them passes through.

pub mod client_addr;
pub mod layers;
pub mod server;
mod unread;
mod wire;

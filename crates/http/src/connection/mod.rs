//! Connections: accepting, limiting and draining them, and what every request on them passes through.

pub mod admission;
pub mod client_addr;
pub mod layers;
mod pace;
pub mod server;
mod unread;
mod wire;

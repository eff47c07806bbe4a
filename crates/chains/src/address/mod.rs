//! Addresses of 20 bytes as each family shows them.

pub mod evm;
pub mod tron;

//! Ethereum and every network that runs its virtual machine.

pub mod address;
pub mod client;
pub mod decode;
pub mod forwarder;

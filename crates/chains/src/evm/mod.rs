//! Ethereum and every network that runs its virtual machine.

pub mod address;
pub mod forwarder;

//! TRON: the same virtual machine as Ethereum's behind other addresses.

pub mod address;
pub mod forwarder;

//! TRON: the same virtual machine as Ethereum's behind other addresses.

pub mod forwarder;

pub use crate::address::tron as address;

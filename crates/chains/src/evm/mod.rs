//! Ethereum and every network that runs its virtual machine.

pub mod balances;
pub mod blocks;
mod bloom;
pub mod client;
pub(crate) mod crowded;
pub mod decode;
pub mod forwarder;
pub mod logs;
pub mod multicall;
pub mod receipts_root;
pub mod sweep;
mod words;

pub use crate::address::evm as address;

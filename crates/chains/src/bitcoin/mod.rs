//! Bitcoin: addresses are children of the merchant's account key (BIP84), and what pays to them is read from blocks that prove
//! themselves.

pub mod account;
pub mod address;
pub mod block;
pub mod client;
pub mod decode_error;
pub mod header;
pub mod script;
pub mod transaction;

pub use account::BitcoinAccount;

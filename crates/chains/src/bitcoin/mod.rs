//! Bitcoin: addresses are children of the merchant's account key (BIP84), and what pays to them is read from blocks that prove
//! themselves.

pub mod account;
pub mod address;
pub mod block;
pub mod client;
mod core_rpc;
pub mod decode_error;
mod esplora;
pub mod esplora_answers;
pub mod header;
pub mod psbt;
pub mod script;
pub mod transaction;
pub mod unspent;
pub mod waiting_about;

pub use account::BitcoinAccount;

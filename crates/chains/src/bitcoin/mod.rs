//! Bitcoin: addresses are children of the merchant's account key (BIP84).

pub mod account;
pub mod address;

pub use account::BitcoinAccount;

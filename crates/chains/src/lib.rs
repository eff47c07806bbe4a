//! What the program knows about chains: addresses, how deposit addresses are computed, and asking nodes.

pub mod address;
pub mod bitcoin;
pub mod block_hash;
pub mod derive;
pub mod error;
pub mod evm;
pub mod examples;
pub mod feed;
pub mod lookup;
pub mod nobodys;
pub mod observer;
pub mod proof;
pub mod raw;
pub mod registers;
pub mod rpc;
pub mod solana;
pub mod testing;
pub mod tron;
pub mod tx_hash;
pub mod watched;
pub mod zmq;

pub use block_hash::BlockHash;
pub use derive::{
    DepositAddresses, Derivation, account_key, derive, is_whole_address, parse_address,
    parse_destination, salt,
};
pub use error::AddressError;
pub use examples::{example_destination, example_destination_of, test_screening};
pub use nobodys::is_nobodys;
pub use proof::{binding_message, signer};
pub use raw::wallet_address;
pub use tx_hash::{TxHashForm, is_tx_hash, normalise_tx_hash, shown_block_hash, tx_hash_of};

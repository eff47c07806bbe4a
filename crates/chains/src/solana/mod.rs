//! Solana: addresses are public keys, and a deposit address belongs to a program instead of a key.

pub mod address;
pub mod genesis;
pub mod program_address;
pub mod transfers;

//! The commands, one file each.

pub mod account;
pub mod accounts;
pub mod backup;
pub mod check;
pub mod checklist;
pub mod checkout;
pub mod config;
pub mod copies;
pub mod demo;
mod deposit_networks;
pub mod destination;
pub mod digest;
pub mod journal;
pub mod key;
pub mod key_file;
pub mod migrate;
pub mod network;
pub mod recover;
pub mod restore;
pub mod review;
pub mod screening;
pub mod serve;
pub mod sweep;
pub mod webhook;

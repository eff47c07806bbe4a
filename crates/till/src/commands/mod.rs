//! The commands, one file each.

pub mod account;
pub mod accounts;
pub mod backup;
pub mod check;
pub mod checkout;
pub mod demo;
pub mod key;
pub mod migrate;
pub mod screening;
pub mod serve;

//! Merchants: accounts and keys, settings, assets, webhook secrets, the delivery log.

pub mod accounts;
pub mod assets;
pub mod deliveries;
pub mod destinations;
pub mod names;
pub mod operator;
pub mod secrets;
pub mod settings;

//! Merchants: accounts and keys, settings, webhook secrets, the delivery log.

pub mod accounts;
pub mod deliveries;
pub mod destinations;
pub mod exposed;
pub mod operator;
pub mod secrets;
pub mod settings;

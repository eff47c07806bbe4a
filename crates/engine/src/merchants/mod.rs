//! Merchants: accounts and keys, settings, assets, webhook secrets, the logs of events and of their deliveries.

pub mod accounts;
pub mod assets;
pub mod deliveries;
pub mod destinations;
pub mod event_addresses;
pub mod events;
pub mod names;
pub mod secrets;
pub mod settings;

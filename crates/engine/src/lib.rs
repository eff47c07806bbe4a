//! Use cases (load, ask core, save) and the workers that act on what was saved.

pub mod accounts;
pub mod addresses;
pub mod change;
pub mod checkout;
pub mod clock;
pub mod context;
pub mod create;
pub mod deliveries;
pub mod events;
pub mod fail;
pub mod gather;
pub mod idempotency;
pub mod invoices;
pub mod links;
pub mod lookup;
pub mod mail;
pub mod nodes;
pub mod notify;
pub mod observe;
pub mod outbound;
pub mod plan;
pub mod prices;
pub mod reserve;
pub mod retrieve;
pub mod secrets;
pub mod session;
pub mod settings;
pub mod simulate;
pub mod stream;
#[doc(hidden)]
pub mod testing;
pub mod vault;
pub mod view;
pub mod wallets;
pub mod workers;

pub use context::{Answer, Context, Engine, EngineConfig};
pub use fail::Fail;

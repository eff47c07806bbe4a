//! Use cases (load, ask core, save) and the workers that act on what was saved.
//!
//! The modules are rooms, listed from the ground up: a room knows only those above it in this list.

pub mod outbound;
pub mod smtp;

pub mod lists;

pub mod base;

pub mod addresses;
pub mod offers;

pub mod view;

pub mod audit;
pub mod mail;
pub mod once;
pub mod outbox;
pub mod screening;

pub mod settlement;

pub mod intake;
pub mod invoices;
pub mod merchants;

pub mod customers;
pub mod digests;
pub mod links;
pub mod refunds;
pub mod team;

pub mod books;
pub mod checkout;
pub mod shell;
pub mod subscriptions;
pub mod watch;

pub mod rotation;

pub mod workers;

pub mod test_mode;

#[doc(hidden)]
pub mod testing;

pub use base::{
    Answer, Context, DashboardConfig, Engine, EngineConfig, EngineLimits, Fail, Retention, Signup,
};
/// The unit of work that a use case is given; where lists and reports are read, which decide nothing; and what that must have.
pub use till_store::{Position, ReadSource, Tx};

//! The one place where an invoice's status changes: facts in, and all that follows from them written together.

pub mod facts;
pub mod follow;
mod judge;
pub mod reopen;
mod settle;
mod tell;
pub mod wallets;

pub use facts::{LockedInvoice, Tracked, Withdrawn, hold, hold_free, hold_many, with_payments};
pub use settle::{Change, Settling, commit, settle, settle_all};
pub use tell::{Extra, render};

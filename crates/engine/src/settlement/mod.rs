//! The one place where an invoice changes: facts in, and all that follows from them written together.

pub mod facts;
pub mod follow;
mod settle;
mod tell;

pub use facts::{Held, HeldPayment, hold};
pub use settle::settle;
pub use tell::{Extra, render};

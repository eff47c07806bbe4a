//! Invoices: made, read, cancelled, and reviewed.

mod cancel;
pub mod create;
mod create_batch;
mod find;
pub mod gather;
mod list;
mod locked_accounts;
pub mod pending_request;
pub mod quote;
pub mod retrieve;
mod review;

pub use cancel::cancel;
pub use find::{find, find_locked, missing_invoice};
pub use list::{InvoiceFilter, PaymentFilter, list, list_payments, view};
pub use review::{Resolve, accepted, held_in, held_payments, resolve_review};
pub use till_core::invoice::{Decision, Via};

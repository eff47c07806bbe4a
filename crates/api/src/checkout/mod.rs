//! What payers' pages ask: with a publishable key, from any origin, some of it only so often.

pub mod exchanges;
pub mod invoices;
pub mod links;
pub mod origins;
mod shown;
pub mod stream;
